"""What each rule of the accountant rests on: claims that the kernel proved (`pdp claims --explain ID`), or why none is needed.

A test holds the table to the code: every rule that makes a derivation is here, every id is a claim, and every one is proved.
"""

from __future__ import annotations

from dataclasses import dataclass

from profiles.hypotheses import (
    ALL_CHARGED,
    ARITHMETIC,
    DECLARED_EVENTS,
    DECLARED_LOSSES,
    DECLARED_PROFILE,
    DEFINED,
    DURABLE,
    FILE_IS_RIGHT,
    FRESH_SAMPLES,
    FROM_OUTPUTS,
    IN_RANGE,
    NOT_REDRAWN,
    OF_MECHANISMS,
    OF_SAMPLES,
    OF_WEIGHTED_SAMPLES,
    ONE_ANALYSIS,
    ONLY_THROUGH_OUTPUT,
    OWN_BUDGET,
    PARTS_RUN,
    PROBABILITY,
    RECORD_STATISTICS,
    STATISTICS,
    TARGET_FIXED,
    WEIGHT_AS_GIVEN,
    WITHIN_BUDGET,
    Hypothesis,
)
from proofs_check.marks import mark_formal, mark_paper


@dataclass(frozen=True, slots=True)
class Basis:
    """``claims``: the algebra that carries a rule. ``besides``: what it needs that is not algebra, and where that is proved.

    ``premises``: the hypotheses without which the rule concludes nothing; each application leaves them open or names what discharges them.
    ``theorems``: those of ``proofs_check/formal`` that state the rule for finitely many outputs (docs/formal.md), if any. ``page``: where
    it is proved on paper, for all outputs; "" where nothing is to be proved, because an open hypothesis says it.
    """

    claims: tuple[str, ...] = ()
    besides: str = ""
    premises: tuple[Hypothesis, ...] = ()
    theorems: tuple[str, ...] = ()
    page: str = ""

    @property
    def mark(self) -> str:
        """Whether the rule is proved formally, and by which theorems, or on paper, and where, in words."""
        if self.theorems:
            return f"{mark_formal(self.theorems)} for finitely many outputs; beyond them {mark_paper(self.page)}"
        return mark_paper(self.page) if self.page else "nothing is proved: a hypothesis says it"


_THEOREM_6 = (
    "fay-2024-theorem-6-range-of-q-corrected",
    "fay-2024-theorem-6-upper-inequality",
    "fay-2024-theorem-6-upper-display-corrected",
    "fay-2024-theorem-6-lower-display-corrected",
)
_TWO_SIDED = ("ghazi-2024-two-sided-plus", "ghazi-2024-two-sided-minus")

_WEIGHTED = (*OF_WEIGHTED_SAMPLES, PROBABILITY, DEFINED)

#: The rules of guarantees, by the name that a derivation prints.
RULES: dict[str, Basis] = {
    "declared profile": Basis(besides="a hypothesis says that the mechanism has the profile", premises=(DECLARED_PROFILE, *OF_MECHANISMS)),
    "declared losses": Basis(besides="a hypothesis says that the mechanism has the losses", premises=(DECLARED_LOSSES, *OF_MECHANISMS)),
    "adaptive composition": Basis(
        ("fay-2024-proposition-13-composition",),
        "Ebadi et al. 2015: losses of one record add up",
        premises=(PARTS_RUN,),
        theorems=("pdp_composition", "pdp_composition_n"),
        page="docs/one-sided.md, Theorem 2",
    ),
    "amplification by importance sampling": Basis(
        _THEOREM_6,
        "the sampled laws are mixtures (docs/one-sided.md, Theorem 1)",
        premises=_WEIGHTED,
        theorems=("importance_plus", "importance_minus", "psi_minus_le_plus", "list_amplification"),
        page="docs/one-sided.md, Theorem 1 and Corollary 1",
    ),
    "worst case over records": Basis(
        besides="the definitions; the bound has a certificate of its own",
        theorems=("worst_case", "importance_worst_case"),
        page="docs/epsilon-bounds.md, sections 3 and 4",
    ),
    "worst case of privacy-constrained sampling": Basis(
        ("fay-2024-problem-7-weight-one-feasible", "fay-2024-proposition-12-root-equation"),
        "every weight used satisfies the constraint of Problem 7",
        page="docs/sampling.md, Theorem 2",
    ),
    "Poisson sampling in binary64": Basis(
        _THEOREM_6,
        "docs/poisson-sampler.md, Theorems 1 and 3: exact draws, weights as they are",
        premises=(STATISTICS, ARITHMETIC, ONE_ANALYSIS, NOT_REDRAWN, WEIGHT_AS_GIVEN),
        page="docs/poisson-sampler.md, Theorems 1 and 3",
    ),
    "composition within a fixed budget": Basis(
        besides="docs/private-kmeans.md, Theorem 1: losses of one record add up on every path",
        premises=(WITHIN_BUDGET,),
        page="docs/private-kmeans.md, Theorem 1",
    ),
    "post-processing": Basis(
        besides="Dwork et al. 2006",
        premises=(ONLY_THROUGH_OUTPUT,),
        theorems=("pdp_post_processing", "approx_post_processing"),
        page="docs/one-sided.md, after Theorem 2",
    ),
    "both directions": Basis(besides="the definition of add/remove privacy", page="docs/one-sided.md, section 1"),
    "adaptive composition in each direction": Basis(
        besides="docs/one-sided.md, Theorem 2: one ordered pair of laws, step by step",
        premises=(FRESH_SAMPLES,),
        theorems=("chain_within", "approx_composition"),
        page="docs/one-sided.md, Theorem 2",
    ),
    "Poisson sampling in each direction": Basis(
        _TWO_SIDED,
        "the sampled laws are mixtures (docs/one-sided.md, Theorem 1)",
        premises=OF_SAMPLES,
        theorems=("amplification_plus", "amplification_minus", "approx_amplification_plus", "approx_amplification_minus"),
        page="docs/one-sided.md, Theorem 1",
    ),
    "an element is covered once": Basis(
        (*_TWO_SIDED, "ghazi-2024-cover-once-budget"),
        "docs/set-cover.md, Theorems 1 and 2: laws of independent samples, factor by factor",
        premises=(FRESH_SAMPLES,),
        page="docs/set-cover.md, Theorems 1 and 2",
    ),
    "Poisson importance sampling in each direction, worst case over records": Basis(
        _TWO_SIDED,
        "docs/one-sided.md, Corollary 1",
        premises=(DECLARED_LOSSES, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/one-sided.md, Corollary 1",
    ),
    "Gaussian importance sampling by a table of weights": Basis(
        besides="docs/gaussian-weights.md, Theorems 1, 2, 6 and 9: the pair of each record is dominated by that of a row; the rows are "
        "computed by the kernel",
        premises=(DECLARED_PROFILE, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/gaussian-weights.md, Theorems 1, 2, 6 and 9",
    ),
    "Gaussian importance sampling, worst case over records": Basis(
        besides="docs/gaussian-weights.md, Theorems 1, 2, 6 and 10: the pair of each record is dominated by that of a cell; the cells are "
        "computed by the kernel",
        premises=(DECLARED_PROFILE, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/gaussian-weights.md, Theorems 1, 2, 6 and 10",
    ),
    "declared events": Basis(
        besides="docs/composition-bounds.md: each kind of event has a dominating pair; a hypothesis says that it is what is declared",
        premises=(DECLARED_EVENTS, *OF_MECHANISMS),
        page="docs/composition-bounds.md",
    ),
    "Gaussian profile, worst case over records": Basis(
        besides="docs/gaussian-mechanisms.md, Theorem 4; the bound has a certificate of its own",
        premises=(DECLARED_PROFILE, *OF_MECHANISMS, IN_RANGE, RECORD_STATISTICS, WEIGHT_AS_GIVEN),
        page="docs/gaussian-mechanisms.md, Theorem 4",
    ),
    "Gaussian profile after privacy-constrained sampling": Basis(
        besides="docs/gaussian-mechanisms.md, Theorem 5; each pair of zeta and weight is checked by the kernel",
        premises=(DECLARED_PROFILE, *OF_MECHANISMS, *OF_WEIGHTED_SAMPLES, PROBABILITY, TARGET_FIXED),
        page="docs/gaussian-mechanisms.md, Theorem 5",
    ),
    "privacy curve of a guarantee": Basis(
        besides="docs/interoperability.md: the pair of laws that dominates all with these losses",
        page="docs/interoperability.md, What is computed",
    ),
    "adaptive composition of privacy curves": Basis(
        besides="dominating pairs compose: Zhu, Dong, Wang 2022, Theorem 10; docs/composition-bounds.md",
        premises=(FRESH_SAMPLES,),
        theorems=("dominating_pairs_compose",),
        page="docs/composition-bounds.md, Theorem 2",
    ),
    "Poisson sampling of a privacy curve": Basis(
        besides="Zhu, Dong, Wang 2022, Theorem 11; docs/composition-bounds.md",
        premises=OF_SAMPLES,
        theorems=("dominates_sampled_plus", "dominates_sampled_minus"),
        page="docs/composition-bounds.md, Theorem 6",
    ),
    "point of a privacy curve": Basis(
        besides="the definition of the curve; each end has a certificate that the kernel computes again", page="docs/composition-bounds.md"
    ),
    "filter of a ledger": Basis(
        besides="docs/ledger.md, Theorems L1 and L2: along every transcript, the losses of the charged releases of a unit add up to its "
        "budget at most",
        premises=(ALL_CHARGED, FROM_OUTPUTS, OWN_BUDGET, DURABLE),
        page="docs/ledger.md, Theorems L1 and L2",
    ),
    "as a file states": Basis(
        besides="an open hypothesis says that the file is right; nothing below it was replayed", premises=(FILE_IS_RIGHT,)
    ),
}

#: Functions outside the guarantees whose numbers rest on statements of the papers.
FUNCTIONS: dict[str, Basis] = {
    "accountant.weights.bracket:upper_bracket": Basis(
        ("fay-2024-algorithm-1-bracket-tight", "fay-2024-algorithm-1-bracket-corrected", "fay-2024-proposition-12-summary")
    ),
    "accountant.weights.bracket:evaluation_bound": Basis(("fay-2024-proposition-12-evaluations-corrected",)),
    "accountant.weights.precise:optimal_weight": Basis(
        (
            "fay-2024-proposition-12-root-equation",
            "fay-2024-proposition-12-case-2-below",
            "fay-2024-proposition-12-feasible-output-corrected",
            "fay-2024-algorithm-1-if-condition-corrected",
            "fay-2024-theorem-10-existence-corrected",
        )
    ),
    "accountant.rules.closed_form:end_point_epsilon": Basis(
        ("fay-2023-proposition-6-convex", "fay-2023-proposition-6-end-points"), "docs/sampling.md, Theorem 1"
    ),
    "accountant.rules.closed_form:coreset_l1_epsilon": Basis(
        (
            "fay-2023-proposition-6-second-derivative",
            "fay-2023-proposition-6-convex",
            "fay-2023-proposition-6-end-points",
            "fay-2023-proposition-6-probabilities",
            "fay-2023-proposition-6-any-lambda-corrected",
            "fay-2023-proposition-6-bounded-corrected",
        )
    ),
    "accountant.rules.coreset:coreset_term": Basis(
        (
            "fay-2024-section-4-expected-size",
            "fay-2024-section-4-proper-probabilities-sufficient",
            "fay-2024-equation-5-positive-constants-corrected",
        )
    ),
    "accountant.calibration.lloyd:least_error_ratio": Basis(("fay-2023-section-2-noise-split-corrected",)),
    "accountant.calibration.one_sided:calibrate_one_sided": Basis(
        ("ghazi-2024-corollary-3.2", "ghazi-2024-corollary-3.2-largest", "ghazi-2024-corollary-3.2-best-rate"),
        "docs/one-sided.md, Theorem 3",
    ),
    "accountant.calibration.rounds:calibrate_rounds": Basis(
        ("ghazi-2024-calibration-for-rounds", "ghazi-2024-corollary-3.2-best-rate"), "docs/repeated-mechanisms.md, Theorem C"
    ),
    "accountant.applications.repeated:declare_repeated": Basis(
        ("ghazi-2024-theorem-4.3", "ghazi-2024-theorem-4.3-other-direction", "ghazi-2024-theorem-5.3-rounds"),
        "docs/repeated-mechanisms.md, Theorems A, A' and B",
    ),
}
