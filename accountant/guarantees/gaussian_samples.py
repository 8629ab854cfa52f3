"""The rules of weighted samples under Gaussian noise: (ε, δ) of a profile in the notion ``gaussian`` after T steps on fresh samples.

Each docstring is the statement that it applies; proofs: docs/gaussian-weights.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from accountant.compositions.queries import to_gap
from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import Losses, describe_losses
from accountant.guarantees.rules import describe_sampling
from accountant.guarantees.stored import EVIDENCE, HYPOTHESES, NUMBER, PROFILE, SAMPLING_RULE
from accountant.guarantees.theorem import Guarantee, Inference, conclude
from accountant.rules import SamplingRule
from accountant.rules.gaussian import read_gaussian_rule
from accountant.weights.gaussian.branch_and_bound import WorstCaseQuery, cover_records
from accountant.weights.gaussian.cover_certificate import CoveredRule, find_cover_fault, read_cover
from accountant.weights.gaussian.proved import ProvedGaussian, prove_gaussian, require_gaussian
from accountant.weights.gaussian.table import make_table
from accountant.weights.gaussian.table_format import TabulatedWeights, find_fault, read_table
from accountant.weights.gaussian.target import GaussianTarget, to_steps, to_target_delta
from profiles import InvalidSampling, NotReplayed, Profile, Undecided
from profiles.hypotheses import (
    DEFINED,
    EXACT_REALS,
    PROBABILITY,
    Hypothesis,
    as_hypotheses,
    name_declaration,
)
from profiles.protection import RECORDS
from profiles.terms import Term, to_text

_PAGE = "docs/gaussian-weights.md"
_DEFINED = "claims well-defined and homogeneous, checked by the kernel"
_KEPT = 16
#: How far both sides of a worst case may be apart, and how many cells are tried, where nothing else is asked for.
DEFAULT_COVER_GAP, DEFAULT_CELLS = Fraction(1, 100), 400


def describe_promise(profile: Profile) -> str:
    """Return the promise of a profile in the notion ``gaussian``, in one line."""
    return f"mu(w, x) = {to_text(profile.promise)}"


@lru_cache(maxsize=_KEPT)
def prove_kept(profile: Profile) -> ProvedGaussian:
    """Return what is proved of a profile; those that were asked for last are kept. Raises as :func:`prove_gaussian`."""
    return prove_gaussian(profile)


@lru_cache(maxsize=_KEPT)
def table_of(profile: Profile, target: GaussianTarget, *, whole: bool = False) -> TabulatedWeights:
    """Return the table of weights of a profile for a target, with what is proved of the profile; those that were asked for last are kept.

    Its rows of one step, and of w = 1, were found by balls, and are put to the kernel here; all others were computed by the kernel.
    Raises what :func:`make_table` raises, and :class:`Undecided` where the kernel does not accept a row.
    """
    proved = prove_kept(profile)
    table = make_table(proved, target, whole=whole)
    if table.find_rejected(computed=False) is not None:
        raise Undecided("a table of weights was made, but the kernel does not accept a row of it; change the target slightly")
    return TabulatedWeights(proved, table)


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
) -> Guarantee:
    """If a mechanism promises μ(w, x) = wζ(x), and each of T steps runs it on a fresh sample that keeps a record with probability at most
    ζ/μ and weight at most μ/ζ, for the μ of a row of the table that serves ζ, all steps together are (ε*, δ*)-differentially private.

    ``rule``: of :func:`make_gaussian_rule`. ``weight_table``: a certificate of the table, which the kernel accepts now for this very
    profile and target; without it the table is made here. Source: docs/gaussian-weights.md, Theorems 1, 2, 6 and 9.

    Raises :class:`profiles.Infeasible` (w = 1 exceeds the target), :class:`NotReplayed` for a table that is rejected or about something
    else, and what making it raises.
    """
    if weight_table is None:
        return sample_by_table(profile, hypotheses, rule)[0]
    target, _ = _read_target(rule)
    table = read_table(weight_table, profile)
    if table.table.target != target:
        raise NotReplayed(f"a table of weights for another target was given for {profile.name[:60]!r}; take the one of its rule")
    fault = find_fault(table)
    if fault is not None:
        raise NotReplayed(f"the kernel rejects the table of weights for {profile.name[:60]!r} at {fault}; make a new one")
    return _conclude_by_table(profile, hypotheses, rule, table)


def sample_by_table(profile: Profile, hypotheses: Sequence[Hypothesis | str], rule: SamplingRule) -> tuple[Guarantee, TabulatedWeights]:
    """Return what :func:`bound_by_table` concludes without a certificate, and the table that it made. Raises what making it raises."""
    target, scale = _read_target(rule)
    table = table_of(profile, target, whole=scale is not None)
    return _conclude_by_table(profile, hypotheses, rule, table), table


def _read_target(rule: SamplingRule) -> tuple[GaussianTarget, Fraction | None]:
    epsilon, delta, steps, scale = read_gaussian_rule(rule)
    return GaussianTarget(epsilon, delta, steps), scale


def _conclude_by_table(profile: Profile, hypotheses: Sequence[Hypothesis | str], rule: SamplingRule, table: TabulatedWeights) -> Guarantee:
    """Conclude from a table of which the kernel has accepted or computed every row, for this very profile and target.

    Source: docs/gaussian-weights.md, Theorems 1, 2, 6 and 9.
    """
    target, rows = table.table.target, len(table.table.rows)
    given = as_hypotheses(hypotheses, repr(profile.name))
    bound = Losses(target.epsilon, target.epsilon, target.delta, target.delta)
    supposes, held = describe_sampling(rule, profile, target.steps)
    return conclude(
        Inference(
            "Gaussian importance sampling by a table of weights",
            f"{profile.name} after {rule.name} sampling",
            source=f"{_PAGE}, Theorems 1, 2, 6 and 9",
            conclusion=f"{describe_promise(profile)}; {describe_losses(bound)}; {_count(target.steps)}",
            claims=("well-defined", "homogeneous", f"mu(1, x) <= {table.proved.reach}", f"delta-upper in both directions, of {rows} rows"),
            call=_TABULATED.record(profile=profile, hypotheses=given, rule=rule, weight_table=table.to_object()),
            profile=profile,
            protection=RECORDS,
        ),
        bound,
        supposes=(name_declaration(profile), *given, *supposes),
        discharges={**held, DEFINED: _DEFINED, PROBABILITY: "q is at most that of a row of the table, which is at most 1"},
    )


@lru_cache(maxsize=_KEPT)
def cover_of(profile: Profile, q: Term, asked: WorstCaseQuery) -> CoveredRule:
    """Return both sides of what is asked over all records of a rule, by a cover whose every claim the kernel accepted or computed.

    Raises what :func:`prove_gaussian` and :func:`cover_records` raise, and :class:`Undecided` where the kernel does not accept it.
    """
    require_gaussian(profile)
    proved = prove_kept(profile)
    cover = cover_records(proved.zeta, q, profile.record, asked)
    covered = CoveredRule(profile, q, proved.promise, cover)
    fault = find_cover_fault(covered)
    if fault is not None:
        raise Undecided(
            f"the worst record of a sampling rule was bounded, but the kernel does not accept it at {fault}; change delta slightly"
        )
    return covered


_COVERED = Signature(
    "bound_by_cover",
    {
        "profile": PROFILE, "hypotheses": HYPOTHESES, "rule": SAMPLING_RULE, "at_delta": NUMBER, "steps": NUMBER, "gap": NUMBER,
        "weight_cover": EVIDENCE,
    },
    premises=0,
    word=lambda _, given: f"the profile {describe_promise(given['profile'])} in the notion gaussian",
)  # fmt: skip


@_COVERED.of
def bound_by_cover(
    profile: Profile,
    hypotheses: Sequence[Hypothesis | str] = (EXACT_REALS,),
    *,
    rule: SamplingRule,
    at_delta: object,
    steps: object = 1,
    gap: object = DEFAULT_COVER_GAP,
    weight_cover: Mapping[str, Any] | None = None,
    budget: int = DEFAULT_CELLS,
) -> Guarantee:
    """If a mechanism promises μ(w, x) = wζ(x), and each of T steps runs it on a fresh sample that keeps a record with probability q(x) and
    weight 1/q(x), all steps together are (ε, δ)-differentially private where every record's pair is dominated by one with (ε, δ).

    ``rule`` has an explicit q. ``gap``: how far both sides may be apart, relatively, or in nats below 1. ``weight_cover``: a certificate
    that the kernel accepts now for this very profile, rule, δ and number of steps; without it the worst record is searched here, with at
    most ``budget`` cells. Source: docs/gaussian-weights.md, Theorems 1, 2, 6 and 10.

    Raises :class:`NotReplayed` for a certificate that is rejected, or about something else, and what searching raises.
    """
    delta, times, width = to_target_delta(at_delta), to_steps(steps), to_gap(gap)
    if rule.q is None:
        raise InvalidSampling(f"the rule {rule.name[:60]!r} has no explicit q; its weights have a table, and their target is the bound")
    if weight_cover is None:
        cover = cover_of(profile, rule.q, WorstCaseQuery(delta, times, width, budget))
    else:
        cover = read_cover(weight_cover, profile, rule.q)
        if (cover.cover.delta, cover.cover.steps) != (delta, times):
            raise NotReplayed(f"a bound at another delta, or for other steps, was given for {profile.name[:60]!r}; take its own")
        fault = find_cover_fault(cover)
        if fault is not None:
            raise NotReplayed(f"the kernel rejects the bound of {profile.name[:60]!r} at {fault}; make a new one")
    given = as_hypotheses(hypotheses, repr(profile.name))
    bound = Losses(cover.cover.epsilon, cover.cover.epsilon, delta, delta)
    supposes, held = describe_sampling(rule, profile, times)
    return conclude(
        Inference(
            "Gaussian importance sampling, worst case over records",
            f"{profile.name} after {rule.name} sampling",
            source=f"{_PAGE}, Theorems 1, 2, 6 and 10",
            conclusion=f"{describe_promise(profile)}; q(x) = {to_text(rule.q)}; {describe_losses(bound)}; {_count(times)}",
            claims=(
                "well-defined",
                "homogeneous",
                f"delta-upper in both directions, of {len(cover.cover.rows)} pairs",
                "cells with their pairs",
            ),
            call=_COVERED.record(
                profile=profile,
                hypotheses=given,
                rule=rule,
                at_delta=delta,
                steps=Fraction(times),
                gap=width,
                weight_cover=cover.to_object(),
            ),
            profile=profile,
            protection=RECORDS,
        ),
        bound,
        supposes=(name_declaration(profile), *given, *supposes),
        discharges={**held, DEFINED: _DEFINED, PROBABILITY: "q is at least 0, at most that of a pair, and a divisor that is defined"},
    )


def _count(steps: int) -> str:
    return "one step" if steps == 1 else f"{steps} steps, each on a fresh sample"
