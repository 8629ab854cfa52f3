"""Where the worst record is at a corner of the declared range: the closed form of Proposition 6 of v1, with its conditions.

Statement and proof: docs/sampling.md, section 3. It is a second way to the number that ``bound_epsilon`` certifies by search, and holds
only for profiles linear in w and rules that are concave in the statistics: not for the squared l2 rule of the published version.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from accountant.rules.coreset import coreset_term
from profiles import InvalidNumber, InvalidSampling, Profile, exact_text, to_exact
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import constant_value, exact_value
from profiles.numbers import to_number
from profiles.structure import split_weight
from profiles.terms import Term, number, to_text
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.feasibility import show_record
from proofs_check.suprema.terms import sampled_ball

if TYPE_CHECKING:
    from accountant.rules.named import SamplingRule

_BITS = 256
_MOST_CORNERS = 1_024

#: Coefficients of a sum of powers: (statistic, exponent) → coefficient; ("", 0) is the constant.
Powers = dict[tuple[str, Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class EndPointEpsilon:
    """lower ≤ sup ψ ≤ upper in nats, an enclosure of the closed form; ``at`` is the corner of the range where ψ is largest."""

    lower: Fraction
    upper: Fraction
    at: Mapping[str, Fraction]


def end_point_epsilon(profile: Profile, rule: SamplingRule) -> EndPointEpsilon:
    """Claim: sup over the declared records of ψ is the largest ψ at a corner of their ranges, which is returned as an enclosure.

        sup ψ = log(1 + max over corners c of ϑ(a(c), q(c))),   ϑ(u, v) = (e^(u/v) − 1) v.

    Conditions, all checked: ε(w, x) = w·a(x) with a sum a of powers d·z^s that is convex in each statistic (d ≥ 0 and s ≥ 1, or d ≤ 0
    and 0 < s ≤ 1), a sum q of powers that is concave in each (d ≥ 0 and 0 < s ≤ 1, or d ≤ 0 and s ≥ 1), and 0 < q ≤ 1 on the ranges.
    A coreset rule satisfies the second one for exponents of at most 1.

    Source: docs/sampling.md, Theorem 1; for the l1 rule Fay et al. 2023, v1, Proposition 6.
    Raises :class:`InvalidSampling` naming the condition that fails; then use :func:`accountant.guarantees.bound_epsilon`.
    """
    a, q = _slope(profile), _explicit(rule)
    loads, chances = _powers(a), _powers(q)
    if loads is None or chances is None:
        what = "epsilon/w" if loads is None else "q"
        raise InvalidSampling(f"the closed form needs {what} as a sum of powers of the statistics, but another form was found; {_SEARCH}")
    _require_shape(loads, "epsilon/w", "convex", profile, 1)
    _require_shape(chances, "q", "concave", profile, -1)
    _require_probability(chances, q, profile)
    ends = [(corner, *_enclose(a, q, corner)) for corner in _corners(profile)]
    at, _, _ = max(ends, key=lambda end: end[2])
    return EndPointEpsilon(max(low for _, low, _ in ends), max(high for _, _, high in ends), at)


def coreset_l1_epsilon(
    *,
    iterations: object,
    beta_count: object,
    beta_sum: object,
    radius: object,
    m: object,
    n: object,
    lam: object,
    mean: object,
) -> EndPointEpsilon:
    """Claim: DP-Lloyd after l1 coreset sampling is ε-DP with (Fay et al. 2023, v1, Proposition 6, as corrected in docs/sampling.md)

        ε = log(1 + max(ϑ(A1, A2), ϑ(A1', A2'))),   ϑ(u, v) = (e^(u/v) − 1) v,
        A1 = (1/β_count + r/β_sum) T,  A1' = T/β_count,  A2 = (m/n)(λ + (1 − λ) r/x̃),  A2' = λ m/n,

    and no smaller number bounds ψ. Conditions: λ in (0, 1] (not 0, as printed: A2' is a divisor), A2 ≤ 1 and A2' ≤ 1 (which m ≤ n x̃/r
    and x̃ ≤ r imply), and positive constants. ``radius`` r bounds the l1 norm, ``mean`` x̃ is the mean l1 norm, T is ``iterations``.

    Raises :class:`InvalidSampling`, :class:`InvalidNumber`.

    >>> found = coreset_l1_epsilon(iterations=10, beta_count=25, beta_sum=50, radius=4, m=100, n=1000, lam="0.5", mean=2)
    >>> round(float(found.upper), 6), dict(found.at)
    (6.104779, {'z': Fraction(4, 1)})
    """
    given = {"iterations": iterations, "beta_count": beta_count, "beta_sum": beta_sum, "radius": radius, "m": m, "n": n, "mean": mean}
    values = {name: to_number(value, f"the constant {name}", "(0, inf)", error=InvalidNumber) for name, value in given.items()}
    share = to_exact(lam, "the constant lam")
    if not 0 < share <= 1:
        raise InvalidSampling(
            f"Proposition 6 of v1 needs lam in (0, 1], but {exact_text(share)[:40]} was found: at lam = 0 records near the origin get "
            "weights without bound, and there is no epsilon; raise lam"
        )
    q = coreset_term({**values, "lam": share}, Fraction(1), "z")
    rate, slope = values["iterations"] / values["beta_count"], values["iterations"] / values["beta_sum"]
    ends = []
    for z in (Fraction(0), values["radius"]):
        chance = exact_value(q, {"z": z})
        if chance is None or chance > 1:
            raise InvalidSampling(f"Proposition 6 of v1 needs q <= 1, but q is above 1 at the record z = {exact_text(z)}; lower m")
        ends.append((z, *_enclose(number(rate + slope * z), number(chance), {})))
    worst = max(ends, key=lambda end: end[2])
    return EndPointEpsilon(max(low for _, low, _ in ends), worst[2], {"z": worst[0]})


_SEARCH = "use bound_epsilon, which searches the whole range"


def _slope(profile: Profile) -> Term:
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidSampling(f"the closed form needs numbers for all parameters, but {', '.join(free)} has none; give it one")
    a = split_weight(profile.numeric_epsilon())
    if a is None:
        raise InvalidSampling(f"the closed form needs a profile linear in w, but {profile.text[:80]!r} is not; {_SEARCH}")
    return a


def _explicit(rule: SamplingRule) -> Term:
    if rule.q is None:
        raise InvalidSampling(f"the closed form needs an explicit q, but the rule {rule.name!r} has none; its worst case is its target")
    return rule.q


def _powers(term: Term) -> Powers | None:
    """Return the coefficients of a sum of constants times powers of single statistics, None where ``term`` is not visibly one."""
    constant = constant_value(term)
    if constant is not None:
        return {("", Fraction(0)): constant}
    match term:
        case ("sym", name):
            return {(name, Fraction(1)): Fraction(1)}
        case ("pow", ("sym", name), power):
            exponent = constant_value(power)
            return {(name, exponent): Fraction(1)} if exponent is not None and exponent > 0 else None
        case ("sqrt", ("sym", name)):
            return {(name, Fraction(1, 2)): Fraction(1)}
        case ("neg", part):
            return _scaled(_powers(part), Fraction(-1))
        case ("div", top, bottom):
            divisor = constant_value(bottom)
            return _scaled(_powers(top), 1 / divisor) if divisor else None
        case ("mul", *parts):
            constants = [constant_value(part) for part in parts]
            rest = [part for part, value in zip(parts, constants, strict=True) if value is None]
            factor = math.prod((value for value in constants if value is not None), start=Fraction(1))
            return _scaled(_powers(rest[0]), factor) if len(rest) == 1 else None
        case ("add", *parts):
            total: Powers = {}
            for part in parts:
                powers = _powers(part)
                if powers is None:
                    return None
                for key, value in powers.items():
                    total[key] = total.get(key, Fraction(0)) + value
            return total
    return None


def _scaled(powers: Powers | None, factor: Fraction) -> Powers | None:
    return None if powers is None else {key: value * factor for key, value in powers.items()}


def _require_shape(powers: Powers, what: str, shape: str, profile: Profile, sign: int) -> None:
    """Refuse a sum with a term that is not convex (``sign`` 1) or not concave (−1) on its range; a power other than 1 needs z ≥ 0."""
    ranges = {statistic.name: statistic for statistic in profile.record}
    for (name, exponent), coefficient in powers.items():
        if exponent in (0, 1) or coefficient == 0:
            continue
        bends = 1 if exponent > 1 else -1
        if ranges[name].lo < 0 or coefficient * bends * sign < 0:
            raise InvalidSampling(
                f"the closed form needs {what} to be {shape}, but its term in {name}**{exact_text(exponent)} is not on the declared range; "
                f"{_SEARCH}"
            )


def _require_probability(powers: Powers, q: Term, profile: Profile) -> None:
    """Prove 0 < q ≤ 1: a concave q is smallest at a corner, and largest at one if it rises or falls in each statistic."""
    signs = {name: {value > 0 for (other, _), value in powers.items() if other == name and value} for name, _ in powers}
    top = {item.name: item.lo if signs.get(item.name) == {False} else item.hi for item in profile.record}
    with working_precision(_BITS):
        if any(len(places) > 1 for name, places in signs.items() if name) or not _ball(q, top) <= 1:
            raise InvalidSampling(f"the closed form needs q <= 1, but that is not clear for q = {to_text(q)[:80]}; lower m, or {_SEARCH}")
        for corner in _corners(profile):
            if not _ball(q, corner) > 0:
                raise InvalidSampling(
                    f"the closed form needs q > 0, but it is not at the record {show_record(corner)}; for a coreset rule raise lam"
                )


def _ball(term: Term, record: Mapping[str, Fraction]) -> arb:
    exact = exact_value(term, record)
    return Enclosure(term).evaluate({name: ball(value) for name, value in record.items()}) if exact is None else ball(exact)


def _corners(profile: Profile) -> Iterator[dict[str, Fraction]]:
    ends = [(statistic.lo, statistic.hi) if statistic.lo < statistic.hi else (statistic.lo,) for statistic in profile.record]
    if 2 ** len(ends) > _MOST_CORNERS:
        raise InvalidSampling(f"the closed form looks at every corner, but the profile has {len(ends)} statistics; {_SEARCH}")
    for values in itertools.product(*ends):
        yield {statistic.name: value for statistic, value in zip(profile.record, values, strict=True)}


def _enclose(a: Term, q: Term, record: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """Return numbers around ψ = e + log(q + (1 − q) e^(−e)), e = a/q, at one record, rounded outward."""
    with working_precision(_BITS):
        load, chance = _ball(a, record), _ball(q, record)
        psi = sampled_ball(chance, load / chance)
        low, high = lower_fraction(psi), upper_fraction(psi)
    if low is None or high is None:
        raise InvalidSampling(f"the sampled profile at the record {show_record(record)} is too large to be evaluated; raise q or the noise")
    return max(low, Fraction(0)), high
