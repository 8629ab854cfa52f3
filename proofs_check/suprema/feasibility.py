"""Is q(x) a probability? A quick search for a record that says no; the proof that there is none belongs to ``bound``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from fractions import Fraction

from profiles import InvalidSampling, Profile, decimal_text, exact_text
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import constant_value, exact_value
from profiles.terms import Term, children, free_symbols, to_text
from proofs_check.enclosures import Enclosure

Record = Mapping[str, Fraction]

_GRID = {1: 64, 2: 16, 3: 8}


def check_probability(profile: Profile, q: Term) -> None:
    """Raise :class:`InvalidSampling` with a witness where a record of a coarse grid (with all corners) has q > 1 or q ≤ 0.

    Finding none proves nothing.
    """
    enclosure = Enclosure(q)
    for record in coarse_records(profile):
        refuse_improper(q, enclosure, record)


def refuse_improper(q: Term, enclosure: Enclosure, record: Record) -> None:
    """Raise :class:`InvalidSampling` where q is certainly undefined, above 1 or not positive at ``record``."""
    for operation, argument, allows_zero in domains(q):
        if _outside(argument, record, allows_zero=allows_zero):
            raise InvalidSampling(
                f"the sampling rule is undefined at the record {show_record(record)}, because of {operation} of {to_text(argument)[:60]}; "
                "restrict the range or change q"
            )
    for divisor in divisors(q):
        if exact_value(divisor, record) == 0:
            raise InvalidSampling(
                f"the sampling rule is undefined at the record {show_record(record)}, because of a division by {to_text(divisor)[:60]}"
                f"{', which is 0 there' if free_symbols(divisor) else ''}; restrict the range or change q"
            )
    exact = exact_value(q, record)
    if exact is None:
        with working_precision(128):
            value = enclosure.evaluate({name: ball(number) for name, number in record.items()})
            low, high = lower_fraction(value), upper_fraction(value)
    else:
        low = high = exact
    if low is not None and low > 1:
        raise InvalidSampling(
            f"the sampling rule has q = {shown(low)} > 1 at the record {show_record(record)}; q must be a probability: "
            "lower the expected sample size m (or the rate), or narrow the declared range and clip each record to it"
        )
    if high is not None and high <= 0:
        reads = "q = 0" if high == 0 else f"q = {shown(high)} < 0"
        raise InvalidSampling(
            f"the sampling rule has {reads} at the record {show_record(record)}, where the weight 1/q is not finite and positive; "
            "keep q above 0 on the whole declared range (for a coreset rule: lam > 0)"
        )


def domains(term: Term) -> Iterator[tuple[str, Term, bool]]:
    """Yield (operation, argument, whether 0 is allowed) for every subterm of ``term`` whose argument must not be negative."""
    if term[0] in ("sqrt", "log"):
        yield term[0], term[1], term[0] == "sqrt"
    elif term[0] == "pow":
        exponent = constant_value(term[2])
        if exponent is None or exponent.denominator != 1:
            yield "a power", term[1], exponent is not None and exponent > 0
    for part in children(term):
        yield from domains(part)


def divisors(term: Term) -> Iterator[Term]:
    """Yield every subterm that is divided by at all records: none of those inside of a piecewise term."""
    if term[0] == "piecewise":
        return
    if term[0] == "div":
        yield term[2]
    elif term[0] == "pow":
        exponent = constant_value(term[2])
        if exponent is not None and exponent < 0 and exponent.denominator == 1:
            yield term[1]
    for part in children(term):
        yield from divisors(part)


def _outside(argument: Term, record: Record, *, allows_zero: bool) -> bool:
    exact = exact_value(argument, record)
    if exact is not None:
        return exact < 0 or (exact == 0 and not allows_zero)
    with working_precision(128):
        return bool(Enclosure(argument).evaluate({name: ball(number) for name, number in record.items()}) < 0)


def shown(value: Fraction) -> str:
    """Return a number for a message: exactly if that is short, else with 6 digits."""
    text = exact_text(value)
    return text if len(text) <= 24 else "about " + decimal_text(value, 6, round_up=False)


def show_record(record: Record) -> str:
    """Return a record as ``z = 1.5, y = 2``."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in record.items()) or "(any)"


def coarse_records(profile: Profile) -> Iterator[dict[str, Fraction]]:
    """Yield the corners and an even grid of the declared records."""
    ranges = [(statistic.name, statistic.lo, statistic.hi) for statistic in profile.record]
    for values in itertools.islice(itertools.product(*([hi, lo] for _, lo, hi in ranges)), 1_024):
        yield {name: value for (name, _, _), value in zip(ranges, values, strict=True)}
    steps = _GRID.get(len(ranges), 2)
    axes = [[lo] if lo == hi else [lo + (hi - lo) * Fraction(k, steps) for k in range(steps + 1)] for _, lo, hi in ranges]
    for values in itertools.islice(itertools.product(*axes), 5_000):
        yield {name: value for (name, _, _), value in zip(ranges, values, strict=True)}
