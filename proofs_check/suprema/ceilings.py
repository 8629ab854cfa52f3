"""A term that is at most a number for all records of a box: enclosures of its supremum, and certificates that the kernel checks.

The kernel has no claim about single terms; it has one about ε(1, x) ≤ ε* (``assumption-8``), which is made here for the term in the place
of ε. What is certified so is the inequality, with the definedness and the sign of the term, and promises nothing about a mechanism.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from profiles.balls import working_precision
from profiles.errors import PDPError
from profiles.numbers import decimal_text, exact_text
from profiles.profile import Profile
from profiles.terms import Term, free_symbols
from profiles.variables import Statistic
from proofs_check.branch_and_bound import SearchedTerm, enclose_supremum
from proofs_check.certificates import check_text, profile_json
from proofs_check.conditions import assumption_8
from proofs_check.prover.pointwise import UndefinedAtPoint, value_at
from proofs_check.results import Verdict
from proofs_check.verify import verify

NAME = "a term with an upper bound"
_GAP, _LEAST, _BUDGET, _BITS = Fraction(1, 10**9), Fraction(1, 10**12), 6_000, 96
_DIGITS = 15
Point = Mapping[str, Fraction]


def enclose_term(term: Term, records: Sequence[Statistic], *, budget: int = _BUDGET) -> tuple[Fraction, Fraction, Point] | None:
    """Return a number that the term takes at a record or is below it, a number that is at least its supremum, and that record.

    The first is no larger than the term there. None where no finite number was found.
    """
    used = tuple(item for item in records if item.name in free_symbols(term))
    corners = [{item.name: end for item, end in zip(used, ends, strict=True)} for ends in _corners(used)]
    exact = [(value, corner) for corner in corners if isinstance(value := _value(term, corner), Fraction)]
    with working_precision(_BITS):
        objective = SearchedTerm(term, tuple(item.name for item in used))
        supremum = enclose_supremum(objective, {item.name: (item.lo, item.hi) for item in used}, _GAP, budget, least=_LEAST)
        ends = supremum.exact()
    if ends is None:
        return None
    low, high, at = *ends, supremum.at
    best = max(exact, key=lambda pair: pair[0], default=None)
    if best is not None and best[0] >= low:
        low, at = best
        high = max(low, high)
        if certify_at_most(term, records, low) is not None:
            return low, low, _complete(at, records)
    return low, max(Fraction(decimal_text(high, _DIGITS, round_up=True)), low), _complete(at, records)


def certify_at_most(term: Term, records: Sequence[Statistic], bound: Fraction) -> dict[str, Any] | None:
    """Return a certificate that 0 ≤ term ≤ ``bound`` for all records of the ranges, where ``bound`` > 0; None where no proof was found."""
    try:
        verified = verify(_stand_in(term, records), bound, [assumption_8.ID])
    except PDPError:
        return None
    decision = verified.decisions[assumption_8.ID]
    return verified.certificate() if decision.verdict is Verdict.PROVED and decision.checked else None


def proves_at_most(certificate: object, term: Term, records: Sequence[Statistic], bound: Fraction) -> bool:
    """Tell whether the kernel accepts a certificate, and it says that 0 ≤ term ≤ ``bound`` for all records of these very ranges."""
    if not isinstance(certificate, Mapping):
        return False
    text = json.dumps(certificate)
    read = json.loads(text)  # what the kernel reads is what is compared
    about = read.get("profile") == profile_json(_stand_in(term, records)) and read.get("target_epsilon") == exact_text(bound)
    if not about:
        return False
    report = check_text(text)
    return report.accepted and any(claim.claim == assumption_8.ID and claim.verdict == "proved" for claim in report.claims)


def _stand_in(term: Term, records: Sequence[Statistic]) -> Profile:
    used = free_symbols(term)
    return Profile(NAME, term, tuple(item for item in records if item.name in used), ())


def _corners(records: Sequence[Statistic]) -> list[tuple[Fraction, ...]]:
    corners: list[tuple[Fraction, ...]] = [()]
    for item in records[:6]:
        corners = [(*corner, end) for corner in corners for end in dict.fromkeys((item.lo, item.hi))]
    return corners if len(records) <= 6 else []


def _value(term: Term, point: Point) -> object:
    try:
        return value_at(term, point, _BITS)
    except UndefinedAtPoint:
        return None


def _complete(at: Point, records: Sequence[Statistic]) -> dict[str, Fraction]:
    return {item.name: Fraction(at.get(item.name, item.lo)) for item in records}
