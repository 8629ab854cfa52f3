"""The rules of weighted samples under Gaussian noise: (ε, δ) of a profile in the notion ``gaussian`` after T steps on fresh samples.

Each docstring is the statement that it applies; proofs: docs/gaussian-weights.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from accountant.guarantees.calls import Signature
from accountant.guarantees.directions import describe_losses
from accountant.guarantees.rules import describe_sampling
from accountant.guarantees.stored import EVIDENCE, HYPOTHESES, PROFILE, SAMPLING_RULE
from accountant.guarantees.theorem import AnyGuarantee, TwoSidedDP, conclude
from accountant.rules import SamplingRule
from accountant.rules.gaussian import read_gaussian_rule
from accountant.weights.gaussian.premise import GaussianPremise, GaussianTarget, prove_gaussian, tabulate_weights
from accountant.weights.gaussian.stored import TabulatedWeights, find_fault, read_table
from profiles import NotReplayed, Profile, Undecided
from profiles.hypotheses import (
    DEFINED,
    EXACT_REALS,
    FRESH_SAMPLES,
    MOST_STEPS,
    PROBABILITY,
    Hypothesis,
    as_hypotheses,
    name_declaration,
)
from profiles.terms import to_text

_PAGE = "docs/gaussian-weights.md"
_DEFINED = "claims well-defined and homogeneous, checked by the kernel"
_KEPT = 16


def describe_promise(profile: Profile) -> str:
    """Return the promise of a profile in the notion ``gaussian``, in one line."""
    return f"mu(w, x) = {to_text(profile.promise)}"


@lru_cache(maxsize=_KEPT)
def premise_of(profile: Profile) -> GaussianPremise:
    """Return the premise of a profile; those that were asked for last are kept. Raises as :func:`prove_gaussian`."""
    return prove_gaussian(profile)


@lru_cache(maxsize=_KEPT)
def table_of(profile: Profile, target: GaussianTarget, *, whole: bool = False) -> TabulatedWeights:
    """Return the table of weights of a profile for a target, with its premise; those that were asked for last are kept.

    Its rows of one step, and of w = 1, were found by balls, and are put to the kernel here; all others were computed by the kernel.
    Raises what :func:`tabulate_weights` raises, and :class:`Undecided` where the kernel does not accept a row.
    """
    premise = premise_of(profile)
    table = tabulate_weights(premise, target, whole=whole)
    if table.find_rejected(computed=False) is not None:
        raise Undecided("a table of weights was made, but the kernel does not accept a row of it; change the target slightly")
    return TabulatedWeights(premise, table)


_TABULATED = Signature(
    "bound_by_table",
    {"profile": PROFILE, "hypotheses": HYPOTHESES, "rule": SAMPLING_RULE, "weight_table": EVIDENCE},
    premises=0,
    word=lambda _, given: f"the profile {describe_promise(given['profile'])} in the notion gaussian",
)


@_TABULATED.of
def bound_by_table(
    profile: Profile,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    *,
    rule: SamplingRule,
    weight_table: Mapping[str, Any] | None = None,
) -> AnyGuarantee:
    """If a mechanism promises μ(w, x) = wζ(x), and each of T steps runs it on a fresh sample that keeps a record with probability at most
    ζ/μ and weight at most μ/ζ, for the μ of a row of the table that serves ζ, all steps together are (ε*, δ*)-differentially private.

    ``rule``: of :func:`make_gaussian_rule`. ``weight_table``: a certificate of the table, which the kernel accepts now for this very
    profile and target; without it the table is made here. Source: docs/gaussian-weights.md, Theorems 1, 2, 6 and 9.

    Raises :class:`profiles.Infeasible` (w = 1 exceeds the target), :class:`NotReplayed` for a table that is rejected or about something
    else, and what making it raises.
    """
    epsilon, delta, steps, scale = read_gaussian_rule(rule)
    if weight_table is None:
        found = table_of(profile, GaussianTarget(epsilon, delta, steps), whole=scale is not None)
    else:
        found = read_table(weight_table, profile)
        if (found.table.epsilon, found.table.delta, found.table.steps) != (epsilon, delta, steps):
            raise NotReplayed(f"a table of weights for another target was given for {profile.name[:60]!r}; take the one of its rule")
        fault = find_fault(found)
        if fault is not None:
            raise NotReplayed(f"the kernel rejects the table of weights for {profile.name[:60]!r} at {fault}; make a new one")
    given = as_hypotheses(hypotheses, repr(profile.name))
    bound = TwoSidedDP(epsilon, epsilon, delta, delta)
    supposes, held = describe_steps(profile, rule, steps)
    rows = len(found.table.rows)
    return conclude(
        "Gaussian importance sampling by a table of weights",
        f"{profile.name} after {rule.name} sampling",
        bound,
        source=f"{_PAGE}, Theorems 1, 2, 6 and 9",
        conclusion=f"{describe_promise(profile)}; {describe_losses(bound)}; {_count(steps)}",
        claims=("well-defined", "homogeneous", f"mu(1, x) <= {found.premise.reach}", f"delta-upper in both directions, of {rows} rows"),
        supposes=(name_declaration(profile), *given, *supposes),
        discharges={**held, DEFINED: _DEFINED, PROBABILITY: "q is at most that of a row of the table, which is at most 1"},
        call=_TABULATED.record(profile=profile, hypotheses=given, rule=rule, weight_table=found.to_object()),
        profile=profile,
    )


def describe_steps(profile: Profile, rule: SamplingRule, steps: int) -> tuple[tuple[Hypothesis, ...], dict[Hypothesis, str]]:
    """Return what sampling by a rule in some steps supposes, and what of it holds because the profile reads no statistic."""
    supposes, held = describe_sampling(rule, profile)
    return (supposes if steps == 1 else (*supposes, FRESH_SAMPLES, MOST_STEPS.about(steps=steps))), held


def _count(steps: int) -> str:
    return "one step" if steps == 1 else f"{steps} steps, each on a fresh sample"


__all__ = ["bound_by_table", "describe_promise", "describe_steps", "premise_of", "table_of"]
