"""From a profile in the notion ``gaussian`` to a guarantee: of weights for a target (ε*, δ*), and of any sampling rule at a δ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from accountant.compositions.queries import CurvePoint, lower_text, point_at_delta, to_gap, upper_text
from accountant.guarantees.derive import SMALLER, choose_rule
from accountant.guarantees.gaussian_samples import (
    DEFAULT_CELLS,
    DEFAULT_COVER_GAP,
    bound_by_cover,
    cover_of,
    prove_kept,
    sample_by_table,
)
from accountant.guarantees.mechanism_proofs import prove_run
from accountant.guarantees.render import render, to_json
from accountant.guarantees.theorem import Guarantee
from accountant.rules import SamplingRule
from accountant.rules.gaussian import make_gaussian_rule
from accountant.weights.gaussian.branch_and_bound import WorstCaseQuery
from accountant.weights.gaussian.cover_certificate import CoveredRule
from accountant.weights.gaussian.many_steps import compose_pair
from accountant.weights.gaussian.proved import describe_record, require_gaussian
from accountant.weights.gaussian.table_format import TabulatedWeights
from accountant.weights.gaussian.target import GaussianTarget, to_gaussian_target, to_steps, to_target_delta
from profiles import Declaration, InvalidSampling, Profile, decimal_text, exact_text
from profiles.files import to_declaration
from profiles.hypotheses import EXACT_REALS
from profiles.numbers import to_number
from profiles.terms import number


@dataclass(frozen=True, slots=True)
class DerivedDelta:
    """(ε, δ) of a profile in the notion ``gaussian`` after sampling: by weights that are read off a table, or by a rule with an explicit q.

    ``evidence``: the table, or the cover of the rule with both sides of ε. The lower side is that of the pair of a record, so that no
    analysis by these pairs gives less. ``scale``: weights are at most λ/ζ, for a sample size; None for the largest ones.
    """

    guarantee: Guarantee
    rule: SamplingRule
    profile: Profile
    target: GaussianTarget
    evidence: TabulatedWeights | CoveredRule
    scale: Fraction | None = None

    @property
    def weights(self) -> TabulatedWeights:
        """The table of weights. Raises :class:`profiles.InvalidSampling` for a rule with an explicit q, which needs none."""
        if not isinstance(self.evidence, TabulatedWeights):
            raise InvalidSampling(f"a table of weights was asked for, but the rule {self.rule.name[:60]!r} has an explicit q; evaluate it")
        return self.evidence

    @property
    def upper(self) -> Fraction:
        """ε is at most this, in nats."""
        return self.target.epsilon

    @property
    def lower(self) -> Fraction:
        """ε is at least this at δ: that of the pair of the worst record, for a table of the record with the largest ζ."""
        if isinstance(self.evidence, CoveredRule):
            below = self.evidence.cover.lower
            return Fraction(0) if below is None else below.epsilon
        table = self.evidence.table
        return point_at_delta(table.compose_row(table.rows[0]), self.target.delta).lower or Fraction(0)

    @property
    def unsampled(self) -> CurvePoint:
        """Certified bounds of ε at δ after the same steps where every record is used with weight 1."""
        return bound_unsampled(self.profile, self.target)

    @property
    def smaller(self) -> str:
        """Which is smaller: ``with sampling``, ``without sampling``, or ``neither`` is shown to be. A table is read for all of its ε."""
        unsampled, least = self.unsampled, self.lower if isinstance(self.evidence, CoveredRule) else self.upper
        if unsampled.lower is not None and self.upper < unsampled.lower:
            return "with sampling"
        return "without sampling" if unsampled.upper is not None and unsampled.upper < least else "neither"

    def certificate(self) -> Mapping[str, Any]:
        """Return the certificate of the table, or of both sides, which ``pdp check`` checks."""
        return self.evidence.to_object()

    def compare_with_unsampled(self) -> dict[str, Any]:
        """Return ε without sampling and which of the two is smaller as JSON: the keys ``without_sampling`` and ``smaller``."""
        unsampled = self.unsampled
        ends = {"lower": lower_text(unsampled), "upper": upper_text(unsampled)}
        return {"without_sampling": {"epsilon": ends, "checked_by_kernel": unsampled.checked_by_kernel}, "smaller": self.smaller}

    def describe_unsampled(self) -> tuple[str, ...]:
        """Return ε without sampling in words, and which of the two is smaller."""
        delta = decimal_text(self.target.delta, 12, round_up=False)
        first = f"without sampling, every record with weight 1: epsilon <= {upper_text(self.unsampled)} at delta = {delta}"
        return first, SMALLER[self.smaller]

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp epsilon`` for a δ."""
        told = to_json(self.guarantee)
        told["epsilon"] = {"lower": decimal_text(self.lower, 12, round_up=False), **told["epsilon"]}
        if isinstance(self.evidence, CoveredRule):
            cover = self.evidence.cover
            at, reached = {} if cover.lower is None else cover.lower.at, cover.reached
            method = f"branch and bound with dominating pairs: {len(list(cover.cells(self.profile.record)))} cells"
        else:
            at, reached = self.evidence.proved.worst, True
            method = f"a table of weights with {len(self.evidence.table.rows)} rows"
        return {
            **told,
            "steps": self.target.steps,
            "rule": self.rule.name,
            "at": {name: exact_text(value) for name, value in at.items()},
            "method": method,
            "checked_by_kernel": True,
            "gap_reached": reached,
            "relative_gap": decimal_text((self.upper - self.lower) / self.upper, 3, round_up=True),
            **self.compare_with_unsampled(),
        }

    def render(self, *, everything: bool = True, explain: bool = False) -> str:
        """Return the guarantee as text for people, with the lower side, and ε without sampling beside it."""
        lines = [f"after {self.target.steps} steps, each on a fresh sample, together"] if self.target.steps > 1 else []
        wide = isinstance(self.evidence, CoveredRule) and not self.evidence.cover.reached
        if isinstance(self.evidence, TabulatedWeights):
            lines.append(f"the table of weights has {len(self.evidence.table.rows)} rows")
        elif self.evidence.cover.lower is not None:
            at = describe_record(self.evidence.cover.lower.at)
            lines.append(
                f"the pair of the record {at} has epsilon of at least {decimal_text(self.lower, 12, round_up=False)} at this delta"
            )
        lines += [*(["checked by kernel: yes"] if everything else []), *self.describe_unsampled()]
        if wide:
            lines.append(
                "gap: both sides are proved, but they are farther apart than was asked for; raise --budget, or narrow the ranges without "
                "looking at the data"
            )
        return render(self.guarantee, everything=everything, explain=explain, beside=lines, checked=True)


def derive_delta(
    reference: str | Profile | Declaration | Any,
    delta: object,
    *,
    rule: str | SamplingRule | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    steps: object = 1,
    gap: object = DEFAULT_COVER_GAP,
    budget: int = DEFAULT_CELLS,
) -> DerivedDelta:
    """Return the (ε, δ) guarantee of ``steps`` steps on fresh samples by a ``rule``, an expression ``q`` or the file's own rule.

    ``gap``: how far both sides of ε may be apart, relatively, or in nats below 1. Raises what loading, making the rule and
    :func:`bound_by_cover` raise.

    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 30})
    >>> found = derive_delta(noisy_sum, "1e-5", q="1/4")
    >>> found.to_json()["epsilon"]["upper"], found.to_json()["at"]
    ('0.925141026', {'z': '4'})
    """
    declaration = to_declaration(reference)
    require_gaussian(declaration.profile)
    chosen = choose_rule(declaration, rule, q, constants or {}, None)
    width, times, exact = to_gap(gap), to_steps(steps), to_target_delta(delta)
    hypotheses = tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses)))
    made = bound_by_cover(declaration.profile, hypotheses, rule=chosen, at_delta=exact, steps=times, gap=width, budget=budget)
    guarantee = prove_run(made, declaration.mechanism)
    covered = cover_of(declaration.profile, chosen.q or number(1), WorstCaseQuery(exact, times, width, budget))
    target = GaussianTarget(covered.cover.epsilon, exact, times)
    return DerivedDelta(guarantee, chosen, declaration.profile, target, covered)


def bound_unsampled(profile: Profile, target: GaussianTarget) -> CurvePoint:
    """Return certified bounds of ε at δ* after all steps without sampling: T steps of the record with the largest ζ."""
    return point_at_delta(compose_pair(prove_kept(profile).reach, Fraction(1), target.steps, "no sampling"), target.delta)


def derive_weights(
    reference: str | Profile | Declaration | Any,
    target_epsilon: object,
    target_delta: object,
    *,
    steps: object = 1,
    scale: Fraction | None = None,
) -> DerivedDelta:
    """Return the (ε*, δ*) guarantee of ``steps`` steps on fresh weighted samples, and the table of weights that it holds for.

    Claim: a record that is kept with probability at most 1/w, and counts at most w times, where w is read off the table, has δ(ε*) ≤ δ*
    after all steps, when it goes and when it comes (docs/gaussian-weights.md, Theorem 9). The table does not depend on any data.

    Raises :class:`profiles.Infeasible` (w = 1 exceeds the target at a record of the declared domain, which it names),
    :class:`profiles.InvalidTarget`, :class:`profiles.OtherNotion`, :class:`profiles.InvalidProfile`, :class:`profiles.Undecided`.

    >>> from profiles import declare
    >>> noisy_sum = declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [3, 4]}, parameters={"sigma": 30})
    >>> found = derive_weights(noisy_sum, 1, "1e-5")
    >>> float(found.weights.table.shift_at(found.weights.proved.reach) / found.weights.proved.reach)
    4.3350042
    """
    declaration = to_declaration(reference)
    profile = declaration.profile
    target = to_gaussian_target(target_epsilon, target_delta, steps)
    if scale is not None:
        to_number(scale, "the scale of weights", "(0, inf)", "give a positive number", InvalidSampling)
    rule = make_gaussian_rule(target.epsilon, target.delta, target.steps, scale)
    hypotheses = tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses)))
    made, table = sample_by_table(profile, hypotheses, rule)
    guarantee = prove_run(made, declaration.mechanism)
    return DerivedDelta(guarantee, rule, profile, target, table, scale)
