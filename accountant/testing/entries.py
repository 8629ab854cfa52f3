"""One line of the session's table of claims, and the table."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

from profiles.numbers import exact_text

_TEST, _CLAIM, _NUMBER = 28, 20, 9
_WIDTH = 80
#: What nobody could look at, and what to do about it.
UNCHECKED = {
    "neighboring: not checked": 'the data sets do not show their records; give neighboring="stated" if they are neighbors in the sense of '
    "the claim, on your word",
    "memory: not checked": "the mechanism could not be run on the second data set first, so that it may answer from what it saw before",
    "same outputs on both data sets": "for equal generators the mechanism did not look at the record in which they differ, or it answers "
    "from a data set that it saw before the test",
}


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """A claim that a test looked at: what, the verdict, and for an audit the lower bound beside the claim (of the closest pair).

    Verdicts: consistent, REFUTED, proved, unknown, not audited, not neighbors; too large is a claim that so few outputs could not have
    refuted, as expected one that was to be refuted and was. ``tests`` is the number of tests that share the session's error.
    ``unchecked`` names what nobody could look at.
    """

    claim: str
    verdict: str
    bound: str = ""
    claimed: str = ""
    pairs: int = 0
    tests: int = 1
    unchecked: Sequence[str] = ()

    def to_text(self) -> str:
        """Return the entry as JSON text, as worker processes and JUnit files carry it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> ClaimEntry:
        """Return the entry that :meth:`to_text` wrote."""
        return cls(**json.loads(text))


def lay_out(entries: Sequence[tuple[str, ClaimEntry]], confidence: str, seed: int) -> Iterator[str]:
    """Yield the lines of the table, at most 80 columns, and what it means."""
    yield _line("test", "claim", "epsilon>=", "claimed", "verdict")
    for test, entry in entries:
        bound, claimed = _fit(entry.bound, ROUND_FLOOR), _fit(entry.claimed, ROUND_CEILING)
        yield _line(_tail(test, _TEST - 1), _head(entry.claim, _CLAIM - 1), bound, claimed, entry.verdict)
    refuted, large = (sum(entry.verdict == verdict for _, entry in entries) for verdict in ("REFUTED", "too large"))
    shared = max(entry.tests for _, entry in entries)
    yield ""
    error = exact_text(1 - Fraction(confidence))
    judged = f"{refuted} refuted" + (f", {large} too large to be refuted by so few outputs" if large else "")
    text = (
        f"{_count(len(entries), 'claim')} in {_count(len({test for test, _ in entries}), 'test')}, {judged}. The probability that an audit "
        f"refutes any true claim of this session is at most {error}, if the outputs of a call are independent; the error is divided among "
        f"{_count(shared, 'test')}. Consistent does not mean that a claim is true. Seed: --pdp-seed {seed}"
    )
    yield from textwrap.wrap(text, _WIDTH, break_on_hyphens=False)
    for name, meaning in UNCHECKED.items():
        concerned = [test for test, entry in entries if name in entry.unchecked]
        if concerned:
            tests = ", ".join(dict.fromkeys(concerned))
            yield from textwrap.wrap(f"{name} in {_count(len(concerned), 'claim')} ({tests}): {meaning}", _WIDTH, break_on_hyphens=False)


def _line(test: str, claim: str, bound: str, claimed: str, verdict: str) -> str:
    return f"{test:<{_TEST}}{claim:<{_CLAIM}}{bound:>{_NUMBER}}{claimed:>{_NUMBER}} {verdict}"


def _fit(text: str, rounding: str) -> str:
    """Return a number that fits into its column, rounded to its side."""
    return text if len(text) < _NUMBER else f"{Context(prec=3, rounding=rounding).create_decimal(text):E}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _tail(text: str, width: int) -> str:
    return text if len(text) <= width else "..." + text[3 - width :]


def _head(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
