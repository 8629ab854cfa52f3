"""A term that is at most a number for all records of a box: enclosures of its supremum, and certificates that the kernel checks.

The kernel has no claim about single terms; it has one about ε(1, x) ≤ ε* (``assumption-8``), which is made here for the term in the place
of ε. What is certified so is the inequality, with the definedness and the sign of the term, and promises nothing about a mechanism.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from profiles.balls import working_precision
from profiles.errors import PDPError
from profiles.numbers import decimal_above, exact_text
from profiles.profile import Profile
from profiles.terms import Term, free_symbols
from profiles.variables import Statistic, Variable
from proofs_check.branch_and_bound import SearchedTerm, enclose_supremum, minimum_enclosure
from proofs_check.certificates import check_text, profile_json
from proofs_check.conditions import assumption_8
from proofs_check.prover.pointwise import UndefinedAtPoint, value_at
from proofs_check.results import Verdict
from proofs_check.verify import verify

NAME = "a term with an upper bound"
_GAP, _LEAST, _BUDGET, _BITS = Fraction(1, 10**9), Fraction(1, 10**12), 6_000, 96
_DIGITS = 15
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class RecordTerm:
    """A term in the statistics of records, each of which is anywhere in its range."""

    term: Term
    records: Sequence[Statistic]

    @cached_property
    def used(self) -> tuple[Statistic, ...]:
        """The statistics that occur in the term."""
        names = free_symbols(self.term)
        return tuple(item for item in self.records if item.name in names)

    @cached_property
    def stand_in(self) -> Profile:
        """The profile with the term in the place of ε, which promises nothing."""
        return Profile(NAME, self.term, self.used, ())

    def enclose(self, *, budget: int = _BUDGET) -> tuple[Fraction, Fraction, Point] | None:
        """Return a number that the term takes at a record or is below it, a number that is at least its supremum, and that record.

        The first is no larger than the term there. None where no finite number was found.
        """
        corners = [{item.name: end for item, end in zip(self.used, ends, strict=True)} for ends in _corners(self.used)]
        exact = [(value, corner) for corner in corners if isinstance(value := self._value(corner), Fraction)]
        with working_precision(_BITS):
            objective = SearchedTerm(self.term, tuple(item.name for item in self.used))
            supremum = enclose_supremum(objective, {item.name: (item.lo, item.hi) for item in self.used}, _GAP, budget, least=_LEAST)
            ends = supremum.exact()
        if ends is None:
            return None
        low, high, at = *ends, supremum.at
        best = max(exact, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= low:
            low, at = best
            high = max(low, high)
            if self.certify_at_most(low) is not None:
                return low, low, self._complete(at)
        return low, max(decimal_above(high, _DIGITS), low), self._complete(at)

    def enclose_least(self, *, budget: int) -> tuple[Fraction, Fraction] | None:
        """Return numbers below and above the smallest value of the term; None where no finite number was found. Nothing is certified."""
        return minimum_enclosure(self.term, [Variable(item.name, item.lo, item.hi) for item in self.records], budget)

    def certify_at_most(self, bound: Fraction) -> dict[str, Any] | None:
        """Return a certificate that 0 ≤ term ≤ ``bound`` for all records, where ``bound`` > 0; None where no proof was found."""
        try:
            verified = verify(self.stand_in, bound, [assumption_8.ID])
        except PDPError:
            return None
        decision = verified.decisions[assumption_8.ID]
        return verified.certificate() if decision.verdict is Verdict.PROVED and decision.checked else None

    def is_at_most(self, bound: Fraction, certificate: object) -> bool:
        """Tell whether the kernel accepts a certificate, and it says that 0 ≤ term ≤ ``bound`` for all records of these very ranges."""
        if not isinstance(certificate, Mapping):
            return False
        text = json.dumps(certificate)
        read = json.loads(text)  # what the kernel reads is what is compared
        about = read.get("profile") == profile_json(self.stand_in) and read.get("target_epsilon") == exact_text(bound)
        if not about:
            return False
        report = check_text(text)
        return report.accepted and any(claim.claim == assumption_8.ID and claim.verdict == "proved" for claim in report.claims)

    def _value(self, point: Point) -> object:
        try:
            return value_at(self.term, point, _BITS)
        except UndefinedAtPoint:
            return None

    def _complete(self, at: Point) -> dict[str, Fraction]:
        return {item.name: Fraction(at.get(item.name, item.lo)) for item in self.records}


def _corners(records: Sequence[Statistic]) -> list[tuple[Fraction, ...]]:
    corners: list[tuple[Fraction, ...]] = [()]
    for item in records[:6]:
        corners = [(*corner, end) for corner in corners for end in dict.fromkeys((item.lo, item.hi))]
    return corners if len(records) <= 6 else []
