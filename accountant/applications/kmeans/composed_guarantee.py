"""The guarantee of a private fit: the costs of what it released as a profile, their certified worst case, and the budget that it kept.

Statement (docs/private-kmeans.md, Theorems 1 and 2). For a record, let z = ‖y‖/r be the norm in the public ball, as a share of its radius,
and t the largest ‖v‖/R of what it added to a cell, R being the radius to which records were clipped then; both lie in [0, 1]. What was
released costs the record

    ε(w, x) = w (Σ c_n + Σ c_mean z + Σ c_squares z² + Σ c_count + Σ c_sum t)                    (costs c are ε),
    μ(w, x) = w √(Σ c_n + Σ c_mean z² + Σ c_squares z⁴ + Σ c_count + Σ c_sum t²)                (costs c are μ²).

Where cells were released of one sample, the last two sums are replaced by s, what the rest of the budget is: the loss ψ(t) of all that was
released about the sample is at most that for every record (Theorem 3, with a proof of its own).

The worst case over z and t is certified by the kernel, and is within the budget; the rule of a fixed budget concludes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.budget.concluding import bound_costs, prove_released
from accountant.applications.budget.spending import NormalNoise, Payment, PricedNoise, PureNoise, Purpose
from accountant.guarantees import (
    Guarantee,
    Losses,
    Run,
    assume,
    compose,
    conclude_run,
    curve_of_profile,
    keep_within_budget,
    point_of_curve,
    update_hypotheses,
)
from accountant.guarantees.gaussian import bound_mu
from accountant.guarantees.rules import GIVEN_ROW, name_readings
from accountant.rules.named import PUBLIC_RATE
from profiles import InvalidTarget, Profile, Undecided, declare
from profiles.hypotheses import (
    EXACT_REALS,
    IN_RANGE,
    PUBLIC_CONSTANTS,
    WITHIN_BUDGET,
    Hypothesis,
)
from profiles.mechanisms import GaussianSum, KNormSum
from proofs_check.suprema.bound import EpsilonBound

_PAGE = "docs/private-kmeans.md"
_POWERS = {Purpose.RECORDS: None, Purpose.SUM: ("z", 1), Purpose.SQUARES: ("z", 2), Purpose.CELL_COUNTS: None, Purpose.CELL_SUMS: ("t", 1)}


@dataclass(frozen=True, slots=True)
class CertifiedPath:
    """The ``guarantee`` of a fit; the ``profile`` of what it cost, with its worst case; under normal noise the privacy ``curve``, too."""

    guarantee: Guarantee
    profile: Profile
    worst: EpsilonBound
    curve: Guarantee | None = None


def describe_path(charges: Sequence[Payment], law: PricedNoise, name: str, *, sampled: bool = False) -> Profile:
    """Return the profile of what was charged, with a parameter c1, c2, ... for the cost of each release, and, where a sample was drawn
    besides, s for what its releases may cost together: all that the charges leave.

    >>> from accountant.applications.budget.spending import PureNoise
    >>> one = Fraction(1)
    >>> describe_path([Payment(Purpose.RECORDS, one, one), Payment(Purpose.SQUARES, one, one)], PureNoise(Fraction(3)), "two releases").text
    'w*(c1 + c2*z**2)'
    >>> describe_path([Payment(Purpose.RECORDS, one, one)], PureNoise(Fraction(3)), "a count, then a sample", sampled=True).text
    'w*(c1 + s)'
    """
    normal = isinstance(law, NormalNoise)
    terms = [_term(f"c{place}", charge.part, 2 if normal else 1) for place, charge in enumerate(charges, 1)]
    costs = {f"c{place}": charge.cost for place, charge in enumerate(charges, 1)}
    if sampled:
        terms.append("s")
        costs["s"] = law.budget - sum(costs.values())
    whole = " + ".join(terms) or "0"  # where everything that a sample needs is public
    read = {_POWERS[charge.part][0] for charge in charges if _POWERS[charge.part] is not None}  # type: ignore[index]
    record = {statistic: (0, 1) for statistic in ("z", "t") if statistic in read}
    source = f"{_PAGE}, Theorem 2"
    if normal:
        return declare(name, notion="gaussian", mu=f"w*sqrt({whole})", record=record, parameters=costs, source=source)
    return declare(name, f"w*({whole})", record=record, parameters=costs, source=source)


def _term(cost: str, part: Purpose, exponent: int) -> str:
    written = _POWERS[part]
    if written is None:
        return cost
    statistic, power = written[0], written[1] * exponent
    return f"{cost}*{statistic}" + (f"**{power}" if power > 1 else "")


def certify_path(
    charges: Sequence[Payment],
    law: PricedNoise,
    *,
    epsilon: Fraction,
    delta: Fraction | None,
    dimension: int,
    name: str,
    run: Run,
    public: str = "",
    sample: Guarantee | None = None,
) -> CertifiedPath:
    """Return the guarantee of what was released at these costs under ``law``, by a run that keeps its budget.

    ``public``: what is supposed to be public, in words (:attr:`Public.sentence`). ``sample``: the guarantee of what was released besides
    about one sample, whose worst case is added. Raises :class:`InvalidTarget` where the costs are not
    proved to be within the budget, :class:`profiles.Undecided` where the kernel does not accept the proof.
    """
    profile = describe_path(charges, law, name)
    curve: Guarantee | None = None
    if isinstance(law, NormalNoise):
        worst = bound_mu(profile)
        guarantee = curve_of_profile(profile, (EXACT_REALS,))
        proxy: GaussianSum | KNormSum = GaussianSum(sigma=1, dimension=dimension)
        budget = law.mu
    else:
        derived = bound_costs(profile)
        guarantee, worst = derived.guarantee, derived.bound.evidence
        proxy, budget = KNormSum(beta_sum=1, dimension=dimension), epsilon
        if not worst.checked_by_kernel:
            raise Undecided("the costs of a private fit were to be proved, but the kernel does not accept the proof; please report it")
    guarantee = prove_released(guarantee, f"{_PAGE}, Theorem 2, of the run of {name}", proxy)
    if sample is not None:
        profile = describe_path(charges, law, name, sampled=True)
        worst = bound_costs(profile).bound.evidence
        guarantee = compose(guarantee, sample, subject=name)
    elif isinstance(law, PureNoise):
        guarantee = compose(guarantee, subject=name)  # nothing is sampled: the rule of rate 1 stands for that
    guarantee = keep_within_budget(guarantee, budget)
    # norms are computed of the row, of arguments and of released numbers; what a row was made of before is not seen
    guarantee = name_readings(update_hypotheses(guarantee, _reasons(guarantee) | {PUBLIC_RATE: "the rate is the constant 1"}), (GIVEN_ROW,))
    if public:
        guarantee = assume(guarantee, (PUBLIC_CONSTANTS.about(names=public),))
    guarantee = conclude_run(guarantee, run)
    if isinstance(law, NormalNoise):
        curve, guarantee = guarantee, point_of_curve(guarantee, at_epsilon=epsilon)
        if not isinstance(guarantee.bound, Losses) or delta is None or guarantee.bound.delta > delta:
            raise InvalidTarget("a delta was asked for at this epsilon, but the certified bound is larger; ask for another number")
    elif not isinstance(guarantee.bound, Losses):
        raise InvalidTarget("an epsilon was asked for, but the costs are not proved to be within it; ask for another number")
    return CertifiedPath(guarantee, profile, worst, curve)


def _reasons(guarantee: Guarantee) -> dict[Hypothesis, str]:
    """Return what discharges the hypotheses of a fit that hold by construction, with reasons (docs/private-kmeans.md, section 5)."""
    said = {
        WITHIN_BUDGET.id: f"the account of the run refuses a release that its budget does not have ({_PAGE}, Theorem 1)",
        IN_RANGE.id: f"each row is moved into the ball by itself ({_PAGE}, Lemma 1)",
    }
    return {item: said[item.id] for item in guarantee.hypotheses if item.id in said}
