"""Coreset rules q(x) = λ m/n + (1 − λ) m z^e/(n·mean): the term, and the largest m for which q ≤ 1 on the declared range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from flint import arb

from profiles import InvalidSampling, Profile, Statistic, decimal_text
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import exact_value
from profiles.suggestions import suggest
from profiles.terms import Term, number, symbol
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.feasibility import shown

MOST_EXPONENT = 1_000
MOST_DENOMINATOR = 10**6


def norm_statistic(profile: Profile, wanted: str | None) -> Statistic:
    """Return the statistic that a coreset rule samples by: ``wanted``, or the only one of the profile.

    Raises :class:`InvalidSampling` where there is no such one, several, or one whose range goes below 0.
    """
    known = {statistic.name: statistic for statistic in profile.record}
    if wanted is not None and wanted not in known:
        raise InvalidSampling(
            f"the statistic {wanted!r} was given, but the profile has {_listed(known)}; name one of them{suggest(wanted, known)}"
        )
    if wanted is None and len(known) != 1:
        raise InvalidSampling(
            f"a coreset rule needs the norm as a statistic, but the profile has {_listed(known)}; say which one with the constant statistic"
        )
    chosen = known[wanted] if wanted is not None else next(iter(known.values()))
    if chosen.lo < 0:
        raise InvalidSampling(
            f"a coreset rule needs a norm, but the range of {chosen.name!r} goes below 0; declare the norm as the statistic"
        )
    return chosen


def check_exponent(rule: str, exponent: Fraction) -> None:
    """Raise :class:`InvalidSampling` unless 0 < e ≤ 1000 with a denominator of at most a million."""
    if not 0 < exponent <= MOST_EXPONENT or exponent.denominator > MOST_DENOMINATOR:
        raise InvalidSampling(
            f"the constant exponent of {rule!r} must be a fraction in (0, {MOST_EXPONENT}] with a denominator of at most "
            f"{MOST_DENOMINATOR}, but {shown(exponent)} was found; give for example 2 or 3/2"
        )


def power_of(statistic: str, exponent: Fraction) -> Term:
    """Return z^e as a term, z itself for e = 1."""
    z = symbol(statistic)
    return z if exponent == 1 else ("pow", z, number(exponent))


def coreset_term(constants: Mapping[str, Fraction], exponent: Fraction, statistic: str) -> Term:
    """Return q = λ m/n + ((1 − λ) m/(n·mean)) z^e, with all constants put in."""
    fraction, lam = constants["m"] / constants["n"], constants["lam"]
    slope = number((1 - lam) * fraction / constants["mean"])
    return ("add", number(lam * fraction), ("mul", slope, power_of(statistic, exponent)))


def largest_size(constants: Mapping[str, Fraction], exponent: Fraction, statistic: Statistic) -> Fraction | None:
    """Return the largest m for which q ≤ 1 at every record of the declared range, rounded down; None where every m will do (q = 0).

    q rises with z, so q ≤ 1 on [lo, hi] exactly where q(hi) ≤ 1:

        m ≤ M = n / (λ + (1 − λ) hi^e/mean).

    M ≥ n·mean/hi^e, the published condition, wherever mean ≤ hi^e, with equality for λ = 0 or mean = hi^e alone; so the published
    one is sufficient and refuses sizes that are possible. ``constants`` has n, λ and mean. Source: docs/sampling.md, section 2.
    """
    lam, top = constants["lam"], power_of(statistic.name, exponent)
    exact = exact_value(top, {statistic.name: statistic.hi})
    if exact is not None:
        load = lam + (1 - lam) * exact / constants["mean"]
        return constants["n"] / load if load else None
    with working_precision(256):
        power = Enclosure(top).evaluate({statistic.name: ball(statistic.hi)})
        return lower_fraction(ball(constants["n"]) / (ball(lam) + ball((1 - lam) / constants["mean"]) * power))


def check_size(rule: str, constants: Mapping[str, Fraction], exponent: Fraction, statistic: Statistic) -> None:
    """Raise :class:`InvalidSampling` where m is certainly above the largest size, with q at the record that has the largest one."""
    most = largest_size(constants, exponent, statistic)
    if most is None or constants["m"] <= most:
        return
    q = coreset_term(constants, exponent, statistic.name)
    record = {statistic.name: statistic.hi}
    exact = exact_value(q, record)
    if exact is None:
        with working_precision(256):
            value: arb = Enclosure(q).evaluate({statistic.name: ball(statistic.hi)})
            low, high = lower_fraction(value), upper_fraction(value)
        if low is None or high is None or low <= 1:  # m lies within the last digits of the bound: the proof of q <= 1 will decide
            return
        exact = low
    raise InvalidSampling(
        f"the rule {rule!r} has q = {shown(exact)} > 1 at the record {statistic.name} = {shown(statistic.hi)}: the expected sample size "
        f"m = {shown(constants['m'])} was asked for, but q <= 1 on the declared range needs m <= {decimal_text(most, 9, round_up=False)}, "
        f"which is n/(lam + (1-lam)*{statistic.name}**{shown(exponent)}/mean) there; lower m, or narrow the range and "
        "clip each record to it"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
