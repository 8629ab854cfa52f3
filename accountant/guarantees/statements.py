"""What each rule of the accountant rests on: claims that the kernel proved (`pdp claims --explain ID`), or why none is needed.

A test holds the table to the code: every rule that makes a derivation is here, every id is a claim, and every one is proved.
"""

from __future__ import annotations

from dataclasses import dataclass

from profiles import InvalidArgument
from profiles.hypotheses import (
    ALL_CHARGED,
    ARITHMETIC,
    AT_MOST_RECORDS,
    DECLARED_EVENTS,
    DECLARED_LOSSES,
    DECLARED_PROFILE,
    DEFINED,
    DURABLE,
    FILE_FROM_OUTPUTS,
    FILE_IS_RIGHT,
    FIXED_IN_ADVANCE,
    FORGOTTEN_STAY_AWAY,
    FRESH_SAMPLES,
    FROM_OUTPUTS,
    IN_RANGE,
    NOT_REDRAWN,
    NULL_RECORD,
    OF_MECHANISMS,
    OF_SAMPLES,
    OF_WEIGHTED_SAMPLES,
    ONE_ANALYSIS,
    ONE_RECORD_EACH,
    ONE_USER,
    ONLY_RELEASE,
    ONLY_THROUGH_OUTPUT,
    OWN_BUDGET,
    OWN_ENTRY,
    OWN_ROWS,
    OWN_WEIGHTS,
    PARTS_RUN,
    PROBABILITY,
    RAISES_FIXED,
    RAISES_FROM_OUTPUTS,
    RECORD_STATISTICS,
    STATISTICS,
    TARGET_FIXED,
    WEIGHT_AS_GIVEN,
    WITHIN_BUDGET,
    Hypothesis,
)
from profiles.protection import Neighbors, Protection
from proofs_check.marks import mark_formal, mark_paper


@dataclass(frozen=True, slots=True)
class Basis:
    """``claims``: the algebra that carries a rule. ``besides``: what it needs that is not algebra, and where that is proved.

    ``hypotheses``: those without which the rule concludes nothing; each application leaves them open or names what discharges them.
    ``theorems``: those of ``proofs_check/formal`` that state the rule for finitely many outputs (docs/formal.md), if any. ``page``: where
    it is proved on paper, for all outputs; "" where nothing is to be proved, because an open hypothesis says it. ``neighbors``: for which
    it holds, and is refused for all others by :meth:`require`.
    """

    claims: tuple[str, ...] = ()
    besides: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    theorems: tuple[str, ...] = ()
    page: str = ""
    neighbors: tuple[Neighbors, ...] = (Neighbors.ADD_REMOVE,)

    def require(self, rule: str, *protections: Protection) -> None:
        """Refuse a protection that the rule does not hold for. Raises :class:`InvalidArgument`."""
        for item in protections:
            if item.neighbors not in self.neighbors:
                raise InvalidArgument(
                    f"the rule {rule!r} holds for neighbors {' and '.join(kind.value for kind in self.neighbors)}, but {item.describe()} "
                    "in what was given; derive the bound for the other neighbors first"
                )

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

#: A rule that does not ask how two data sets differ.
_ALL = tuple(Neighbors)

#: The rules of guarantees, by the name that a derivation prints.
RULES: dict[str, Basis] = {
    "declared profile": Basis(
        besides="a hypothesis says that the mechanism has the profile", hypotheses=(DECLARED_PROFILE, *OF_MECHANISMS)
    ),
    "declared losses": Basis(
        besides="a hypothesis says that the mechanism has the losses", hypotheses=(DECLARED_LOSSES, *OF_MECHANISMS), neighbors=_ALL
    ),
    "adaptive composition": Basis(
        ("fay-2024-proposition-13-composition",),
        "Ebadi et al. 2015: losses of one record add up",
        hypotheses=(PARTS_RUN,),
        theorems=("pdp_composition", "pdp_composition_n"),
        page="docs/one-sided.md, Theorem 2",
    ),
    "amplification by importance sampling": Basis(
        _THEOREM_6,
        "the sampled laws are mixtures (docs/one-sided.md, Theorem 1)",
        hypotheses=_WEIGHTED,
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
        "docs/sampling.md, Theorems 7 and 8: exact draws, weights as they are",
        hypotheses=(STATISTICS, ARITHMETIC, ONE_ANALYSIS, NOT_REDRAWN, WEIGHT_AS_GIVEN),
        page="docs/sampling.md, Theorems 7 and 8",
    ),
    "composition within a fixed budget": Basis(
        besides="docs/private-kmeans.md, Theorem 1: losses of one record add up on every path",
        hypotheses=(WITHIN_BUDGET,),
        page="docs/private-kmeans.md, Theorem 1",
        neighbors=_ALL,
    ),
    "post-processing": Basis(
        besides="Dwork et al. 2006",
        hypotheses=(ONLY_THROUGH_OUTPUT,),
        theorems=("pdp_post_processing", "approx_post_processing"),
        page="docs/one-sided.md, after Theorem 2",
        neighbors=_ALL,
    ),
    "both directions": Basis(besides="the definition of add/remove privacy", page="docs/one-sided.md, section 1", neighbors=_ALL),
    "adaptive composition in each direction": Basis(
        besides="docs/one-sided.md, Theorem 2: one ordered pair of laws, step by step",
        hypotheses=(FRESH_SAMPLES,),
        theorems=("chain_within", "approx_composition"),
        page="docs/one-sided.md, Theorem 2",
        neighbors=_ALL,
    ),
    "Poisson sampling in each direction": Basis(
        _TWO_SIDED,
        "the sampled laws are mixtures (docs/one-sided.md, Theorem 1)",
        hypotheses=OF_SAMPLES,
        theorems=("amplification_plus", "amplification_minus", "approx_amplification_plus", "approx_amplification_minus"),
        page="docs/one-sided.md, Theorem 1",
    ),
    "an element is covered once": Basis(
        (*_TWO_SIDED, "ghazi-2024-cover-once-budget"),
        "docs/submodular.md, Theorems 15 and 16: laws of independent samples, factor by factor",
        hypotheses=(FRESH_SAMPLES,),
        page="docs/submodular.md, Theorems 15 and 16",
    ),
    "Poisson importance sampling in each direction, worst case over records": Basis(
        _TWO_SIDED,
        "docs/one-sided.md, Corollary 1",
        hypotheses=(DECLARED_LOSSES, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/one-sided.md, Corollary 1",
    ),
    "Gaussian importance sampling by a table of weights": Basis(
        besides="docs/gaussian-weights.md, Theorems 1, 2, 6 and 9: the pair of each record is dominated by that of a row; the rows are "
        "computed by the kernel",
        hypotheses=(DECLARED_PROFILE, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/gaussian-weights.md, Theorems 1, 2, 6 and 9",
    ),
    "Gaussian importance sampling, worst case over records": Basis(
        besides="docs/gaussian-weights.md, Theorems 1, 2, 6 and 10: the pair of each record is dominated by that of a cell; the cells are "
        "computed by the kernel",
        hypotheses=(DECLARED_PROFILE, *OF_MECHANISMS, *_WEIGHTED),
        page="docs/gaussian-weights.md, Theorems 1, 2, 6 and 10",
    ),
    "declared events": Basis(
        besides="docs/composition-bounds.md: each kind of event has a dominating pair; a hypothesis says that it is what is declared",
        hypotheses=(DECLARED_EVENTS, *OF_MECHANISMS),
        page="docs/composition-bounds.md",
        neighbors=_ALL,
    ),
    "Gaussian profile, worst case over records": Basis(
        besides="docs/gaussian-weights.md, Theorem 15; the bound has a certificate of its own",
        hypotheses=(DECLARED_PROFILE, *OF_MECHANISMS, IN_RANGE, RECORD_STATISTICS, WEIGHT_AS_GIVEN),
        page="docs/gaussian-weights.md, Theorem 15",
    ),
    "Gaussian profile after privacy-constrained sampling": Basis(
        besides="docs/gaussian-weights.md, Theorem 16; each pair of zeta and weight is checked by the kernel",
        hypotheses=(DECLARED_PROFILE, *OF_MECHANISMS, *OF_WEIGHTED_SAMPLES, PROBABILITY, TARGET_FIXED),
        page="docs/gaussian-weights.md, Theorem 16",
    ),
    "privacy curve of a guarantee": Basis(
        besides="docs/interoperability.md: the pair of laws that dominates all with these losses",
        page="docs/interoperability.md, What is computed",
        neighbors=_ALL,
    ),
    "adaptive composition of privacy curves": Basis(
        besides="dominating pairs compose: Zhu, Dong, Wang 2022, Theorem 10; docs/composition-bounds.md",
        hypotheses=(FRESH_SAMPLES,),
        theorems=("dominating_pairs_compose",),
        page="docs/composition-bounds.md, Theorem 2",
        neighbors=_ALL,
    ),
    "Poisson sampling of a privacy curve": Basis(
        besides="Zhu, Dong, Wang 2022, Theorem 11; docs/composition-bounds.md",
        hypotheses=OF_SAMPLES,
        theorems=("dominates_sampled_plus", "dominates_sampled_minus"),
        page="docs/composition-bounds.md, Theorem 6",
    ),
    "point of a privacy curve": Basis(
        besides="the definition of the curve; each end has a certificate that the kernel computes again",
        page="docs/composition-bounds.md",
        neighbors=_ALL,
    ),
    "filter of a ledger": Basis(
        besides="docs/ledger.md, Theorems L1, L2, M, C and S: along every transcript, the losses of the charged releases of a unit add up "
        "to its budget at most, and that to the cap",
        hypotheses=(ALL_CHARGED, FROM_OUTPUTS, OWN_ROWS, FILE_FROM_OUTPUTS, OWN_BUDGET, RAISES_FIXED, DURABLE),
        page="docs/ledger.md, Theorems L1, L2, M, C and S",
    ),
    "group privacy": Basis(
        besides="docs/concepts.md, Theorem 1: k neighbors in a row",
        hypotheses=(AT_MOST_RECORDS,),
        page="docs/concepts.md, Theorem 1",
        neighbors=(Neighbors.ADD_REMOVE, Neighbors.ZERO_OUT),
    ),
    "one record in place of another": Basis(
        besides="docs/concepts.md, Theorem 2: one goes, the other comes",
        page="docs/concepts.md, Theorem 2",
        neighbors=_ALL,
    ),
    "one record more or less": Basis(
        besides="docs/concepts.md, Theorem 3: the empty record stands for none",
        hypotheses=(NULL_RECORD,),
        page="docs/concepts.md, Theorem 3",
        neighbors=_ALL,
    ),
    "one record in place of an empty one": Basis(
        besides="docs/concepts.md, Theorem 3: the empty record stands for none, or is one of those that another may have",
        hypotheses=(NULL_RECORD,),
        page="docs/concepts.md, Theorem 3",
        neighbors=_ALL,
    ),
    "as a file states": Basis(
        besides="an open hypothesis says that the file is right; nothing below it was replayed",
        hypotheses=(FILE_IS_RIGHT,),
        neighbors=_ALL,
    ),
}

READS_NOTHING = "the profile reads no statistic of a record"
#: Steps of code after which nobody else has the sample, by what is said of them: it is drawn and dropped in a call, was given away once, or
#: is all records.
USED_ONCE = (
    "the sample is drawn, used by this run and dropped in one call",
    "the sample gave its records to this run alone",
    "q = 1: every record is used, with weight 1",
)
#: Before what a file says of a discharge, where it is believed.
SAID_BY_FILE = "the file says: "
#: Hypotheses about the world, by their ids, with the steps of code that make them true, by what is said of them. No other words close one.
WORLD: dict[str, tuple[str, ...]] = {
    FIXED_IN_ADVANCE.id: (),
    ONE_RECORD_EACH.id: ("group privacy: ", "a unit is charged for all rows with one value of its key ("),
    ONE_USER.id: (),
    FORGOTTEN_STAY_AWAY.id: (),
    AT_MOST_RECORDS.id: (),
    IN_RANGE.id: (
        READS_NOTHING,
        "each record is moved onto the declared domain by itself",
        "each row is moved into the ball by itself",
        "each row is moved into the range by itself",
    ),
    RECORD_STATISTICS.id: (READS_NOTHING,),
    OWN_ENTRY.id: (),
    OWN_WEIGHTS.id: (),
    OWN_BUDGET.id: ("the budget is one number, the same for all units",),
    OWN_ROWS.id: (),
    FILE_FROM_OUTPUTS.id: (),
    RAISES_FIXED.id: ("no budget was raised", "what is promised is a cap that was fixed when the ledger was opened"),
    RAISES_FROM_OUTPUTS.id: (),
    ONLY_RELEASE.id: (
        "every release that was charged is added up in the account of each unit",
        "every release is charged to the account of each unit, and its account never exceeds its budget",  # earlier files
    ),
    ALL_CHARGED.id: (),
}


def may_close(hypothesis: Hypothesis, reason: str) -> bool:
    """Whether ``reason`` may discharge a hypothesis: one about the world only where it names a step of code that makes it true."""
    return hypothesis.id not in WORLD or reason.removeprefix(SAID_BY_FILE).startswith(WORLD[hypothesis.id])
