"""The report of an audit for people: 80 columns, and every number rounded to its side."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from profiles.numbers import decimal_text, exact_text
from profiles.private import EYES_ONLY
from proofs_check.audit.results import AuditResult, EventReport, Finding

_WIDTH = 80
_INDENT = 11

INDEPENDENCE = "the outputs of a call are independent draws and depend on the data set alone; nothing in an audit can prove that"
OWN_RANDOMNESS = (
    "the mechanism draws from a source other than the generator that it gets: that its outputs are independent is assumed, on your word"
)
EXACT = "exact arithmetic: leaks in the last bits of floating-point outputs were not looked for (--bits does)"
_NEIGHBORS = {
    "stated": "in the sense of the claim, on your word (neighboring: stated)",
    "not checked": "not checked, for {reason}; say stated if they are, on your word",
}
SAME = (
    "for equal generators D and D' gave the same outputs in all trials: there the mechanism did not look at the record in which they "
    "differ, or it answers from a data set that it saw before the audit"
)
GENERATOR = "the generator's numbers behave like independent uniform ones"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a report tells beside the result: names of mechanism and pair, the shell words that repeat it, and what was switched on.

    ``given`` are sentences that the claim rests on because the caller said so.
    ``record`` is the record in which the pair differs. ``private``: the data sets are somebody's data, and what reveals them stands under
    a heading of its own (:mod:`profiles.private`); else they are test data, and it stands where it belongs.
    """

    mechanism: str
    pair: str = ""
    repeat: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    bits: bool = False
    own_randomness: bool = False
    given: tuple[str, ...] = ()
    record: str = ""
    private: bool = False

    def assumptions(self, result: AuditResult) -> tuple[str, ...]:
        """Return what the audit takes for granted: also what could not be looked at, and what the caller gave."""
        pair, memory = result.neighboring, result.memory
        return (
            INDEPENDENCE,
            *(() if pair.status == "checked" else (f"D and D' are neighbors: {_NEIGHBORS[pair.status].format(reason=pair.reason)}",)),
            *self.given,
            *((f"the mechanism remembers nothing of earlier calls: not checked, for {memory}",) if memory else ()),
            *((OWN_RANDOMNESS,) if self.own_randomness else (GENERATOR,)),
            *(() if self.bits else (EXACT,)),
        )


def render(result: AuditResult, circumstances: Circumstances) -> str:
    """Return the report: verdict, pair, evidence, assumptions, how to repeat."""
    return "\n".join(_lines(result, circumstances))


def bound_texts(result: AuditResult) -> tuple[str, str]:
    """Return the lower bound rounded down and the claim rounded up, with so many digits that they compare as the numbers do."""
    bound, claimed = Fraction(result.epsilon_lower), result.claim.epsilon
    for digits in range(4, 18):
        texts = decimal_text(bound, digits, round_up=False), decimal_text(claimed, digits, round_up=True)
        if (Fraction(texts[0]) > Fraction(texts[1])) == (bound > claimed):
            break
    return texts


def confidence_text(result: AuditResult) -> str:
    """Return the confidence in percent, rounded down."""
    return f"{decimal_text(result.confidence * 100, 6, round_up=False)}%"


def _lines(result: AuditResult, circumstances: Circumstances) -> Iterator[str]:
    bound, claimed = bound_texts(result)
    yield from _fold("audit of", f"{circumstances.mechanism}, on a data set D and its neighbor D'")
    yield ""
    compared = f"epsilon(D, D') is at least {bound} nats with {confidence_text(result)} confidence; at most {claimed} was claimed."
    if result.finding is Finding.VIOLATED:
        after = "" if result.refuted_after is None else f"refuted after {result.refuted_after} outputs; "
        yield from _fold("VIOLATED", f"{after}{compared} The claim is refuted for this pair.")
    else:
        yield from _fold(
            "consistent",
            f"{compared} This run does not refute the claim. Consistent does not mean that the claim is true: a leak in a rarer event "
            "or on another pair looks the same.",
        )
    yield ""
    for note in (*circumstances.notes, *remarks(result)):
        yield from _fold("note", note)
    shown = f": {circumstances.record}" if circumstances.record and not circumstances.private else ""
    yield from _fold("pair", (circumstances.pair or "not described") + shown)
    yield from _fold("neighbors", result.neighboring.text())
    yield from _fold("claim", _claim(result) + (f": {result.claim.private}" if result.claim.private and not circumstances.private else ""))
    yield from _fold("outputs", f"{outputs_text(result)}, in {result.seconds:.1f} s")
    yield from _fold("seed", str(result.seed) if result.seed is not None else "none: the generator was not made from one number")
    if result.tests > 1:
        yield from _fold("tests", f"{result.tests} audits are reported together; the error is divided by that")
    yield ""
    yield from _evidence(result, private=circumstances.private)
    yield ""
    yield "Taken for granted"
    for assumption in circumstances.assumptions(result):
        yield from _fold("  *", assumption, indent=4)
    if circumstances.private:
        yield ""
        yield f"{EYES_ONLY.capitalize()} from here on: what reveals D and D', without a guarantee"
        yield from _private(result, circumstances)
    if circumstances.repeat:
        yield ""
        yield "To repeat"
        yield from _fold_command(circumstances.repeat)


def _private(result: AuditResult, circumstances: Circumstances) -> Iterator[str]:
    for label, text in (("record", circumstances.record), ("claim at", result.claim.private), ("bets on", result.bets_on)):
        if text:
            yield from _fold(f"  {label}", text)
    if result.rule is not None:
        yield from _fold("  score", result.rule.score.name)
    for name, event in zip("AB", result.events, strict=False):
        yield from _event(name, event)


def outputs_text(result: AuditResult) -> str:
    """Return how many outputs were drawn and what each of them was used for; the numbers add up."""
    parts = result.parts
    told = [
        f"{count} {use}"
        for count, use in (
            (parts.learned, "learned from"),
            (parts.chosen, "used to choose events"),
            (parts.counted, "counted"),
            (parts.bets, "until the refutation" if parts.shown else ""),
            (parts.shown, "after it, on which an event is shown"),
        )
        if count and use
    ]
    used = f" ({', '.join(told)})" if told else ""
    return f"{result.outputs} on both data sets together{used}"


def remarks(result: AuditResult) -> tuple[str, ...]:
    """Return what the reader of the bound should know: the same outputs on both data sets, and a run that was stopped early."""
    made = (SAME,) if result.same_on_both else ()
    if result.outputs >= result.asked or result.refuted_after is None:
        return made
    drawn = f"{result.outputs} of {result.asked} outputs were drawn"
    return (*made, f"the run was stopped early, as asked: {drawn}, so that the bound says little about how large epsilon is")


def _claim(result: AuditResult) -> str:
    claim = result.claim
    exact = exact_text(claim.epsilon)
    text = f"epsilon <= {exact if len(exact) <= 24 else decimal_text(claim.epsilon, 12, round_up=True)}"
    text += f", delta = {exact_text(claim.delta)}" if claim.delta else ""
    text += " for adding the record (one-sided: add-DP)" if claim.one_sided else ""
    return text + (f"; {claim.source}" if claim.source else "")


def _evidence(result: AuditResult, *, private: bool) -> Iterator[str]:
    yield "Evidence"
    fixed, sequential = result.fixed, result.sequential
    from_bets = sequential is not None and sequential >= (fixed or 0.0)
    score = "none" if result.rule is None else result.rule.score.name
    if fixed is not None:
        label = "  fixed sample" + ("" if from_bets else " (gives the bound)")
        yield from _fold(label + ":", f"epsilon >= {_down(fixed)}", indent=4)
        if result.right + result.wrong:
            guessed = f"{result.right} right and {result.wrong} wrong guesses of the hidden data set, {result.passed} abstentions"
            by = "" if private else f" (score: {score})"
            yield from _fold("    ", f"{guessed}, on outputs that had not been used before{by}", indent=4)
    if sequential is not None:
        label = "  sequential test" + (" (gives the bound)" if from_bets else "")
        ended = "" if result.refuted_after is None else f"; it refuted the claim after {result.refuted_after} outputs"
        bets = "" if result.bets_on is None or private else f" (the best bets were on: {result.bets_on})"
        yield from _fold(label + ":", f"epsilon >= {_down(sequential)}{ended}{bets}", indent=4)
    if result.exact is not None:
        low, high = (_exact_text(result.exact.lower, up=False), _exact_text(result.exact.upper, up=True))
        above = result.epsilon_lower > result.exact.upper
        doubt = " The bound is above it: the run was unlucky, or the implementation is not what was computed." if above else ""
        yield from _fold("  exact, as given by --exact:", f"epsilon in [{low}, {high}], for comparison only.{doubt}", indent=4)
    for name, event in () if private else zip("AB", result.events, strict=False):
        yield from _event(name, event)


def _event(name: str, event: EventReport) -> Iterator[str]:
    yield from _fold(f"  event {name}:", event.words, indent=4)
    for label, interval, seen, of in (
        ("on D ", event.interval_first, event.seen_first, event.of_first),
        ("on D'", event.interval_second, event.seen_second, event.of_second),
    ):
        low, high = _down(interval[0], 3), decimal_text(Fraction(min(1.0, interval[1])), 3, round_up=True)
        yield f"    probability {label}  {_about(seen, of):<10}  in [{low}, {high}]  ({seen} of {of} outputs)"
    ratio = _ratio(event)
    if ratio:
        yield f"    {ratio}"


def _ratio(event: EventReport) -> str:
    first, second = event.seen_first / event.of_first, event.seen_second / event.of_second
    if not first or not second:
        return "seen on one data set only"
    return f"log of the ratio: {math.log(first / second):+.3f}, not a bound"


def _about(seen: int, of: int) -> str:
    return f"{seen / of:.3g}" if seen else "0"


def _exact_text(value: float, *, up: bool) -> str:
    return decimal_text(Fraction(value), 6, round_up=up) if math.isfinite(value) else "inf"


def _down(value: float, digits: int = 4) -> str:
    return decimal_text(Fraction(value), digits, round_up=False)


def _fold_command(words: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a command, broken between words only, so that it can be pasted into a shell."""
    line = " "
    for k, word in enumerate(words):
        if k and len(line) + len(word) + 3 > _WIDTH:
            yield line + " \\"
            line = "   "
        line += f" {word}"
    yield line


def _fold(label: str, text: str, indent: int = _INDENT) -> list[str]:
    """Return a labelled paragraph of at most 80 columns; long words, such as paths, are cut where nothing else helps."""
    start = label + " " if label.strip() and len(label) >= indent else label.ljust(indent)
    return textwrap.wrap(" ".join(text.split()), _WIDTH, initial_indent=start, subsequent_indent=" " * indent) or [start.rstrip()]
