"""Numbers, ranges and words of a certificate changed: out of range or malformed for certain, or nudged, scaled, negated and then judged."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction

from tests.mutants.corpus import Json, Mutant, Place, changed, get, is_tree, places, write

_NUMBERS = {"target_epsilon", "low", "high", "bound"}
_MALFORMED = (
    "nan", "inf", "-inf", "Infinity", "1e10001", "1e99999999999", "1/0", "0x10", "1_0", "１", "", "1e", "1.5.2",
    "1j", "1,5", "9" * 5000, f"1/{'9' * 5000}", "1e-10001", "-", ".", "/2", "1/", "1e5/1e99999",
)  # fmt: skip
_TERMS = ("1+1", "pi", "exp(1)", "+-1", "--1", "1/2/3", " 1", "1 ")  # no numbers, but closed terms, as a point or a cut may be
_OUTSIDE = {"budget": (0, -1, 50_001, 10**18), "precision": (52, 0, 1025, -64), "version": (0, 3, -1), "strict": (-1, 1000)}


def number_places(whole: Json) -> Iterator[tuple[Place, str]]:
    """Return the fields that are numbers rather than terms, with their values."""
    for path, value in places(whole):
        key, parent = path[-1] if path else "", path[-2] if len(path) > 1 else ""
        inner = isinstance(value, str) and value != "positive" and parent not in ("claims", "parts")
        tail = isinstance(key, int) or key in _NUMBERS or (key == "at" and is_tree(get(whole, path[:-1]))) or parent in ("at", "parameters")
        refuted = path[:1] == ("claims",) and key == "threshold" and whole["claims"][path[1]]["verdict"] == "refuted"
        if inner and (tail or refuted) and _is_number(value):
            yield path, value


def _is_number(value: str) -> bool:
    try:
        Fraction(value)
    except ValueError:
        return False
    return True


def malformed(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """Numbers that are not finite, not exact, or not numbers."""
    for path, _ in number_places(whole):
        term = path[-2:-1] in (("cuts",), ("at",))
        for word in source.sample((*_MALFORMED, *(() if term else _TERMS)), 6):
            yield Mutant(name, f"{word[:20]!r} at {path}", write(changed(whole, path, word)))


def outside(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Whole numbers out of range; words that are no choice; ranges that are reversed, empty, beside the point or with a gap."""
    for path, value in places(whole):
        key = path[-1] if path else ""
        for number in _OUTSIDE.get(str(key), ()) if isinstance(value, int) else ():
            yield Mutant(name, f"{number} at {path}", write(changed(whole, path, number)))
        for word in ("", "up", "Increasing", "LOG", "none") if key in ("direction", "form", "rule", "verdict", "format") else ():
            yield Mutant(name, f"{word} at {path}", write(changed(whole, path, word)))
        for word in ("nope", "", "2z", "pi") if key == "variable" else ():
            yield Mutant(name, f"{word} at {path}", write(changed(whole, path, word)))
        for word in (
            ("w", "pi", "exp", "Max", "v w", "1v", "", "v'", *whole["profile"]["record"]) if key == "name" and len(path) > 2 else ()
        ):
            yield Mutant(name, f"{word} at {path}", write(changed(whole, path, word)))
        if is_tree(value) and value["rule"] == "split":
            for at in ("-1e9", "1e9"):
                yield Mutant(name, f"{at} at {path}", write(changed(whole, (*path, "at"), at)))
        if (isinstance(value, list) and path[-2:-1] in (("record",), ("parameters",))) or key == "kink":
            yield from _ranges(name, whole, path, value)
        if key == "cuts":
            ((cut),) = value
            for cuts in ([cut, cut], [], ["1"], ["1/2"], [f"{cut} + 1/7"], [f"{cut} - 1/{10**30}"]):
                yield Mutant(name, f"cuts {cuts}", write(changed(whole, path, cuts)))
        if key == "at" and isinstance(value, dict):
            yield from _points(name, whole, path, value)


def _ranges(name: str, whole: Json, path: Place, ends: list[str]) -> Iterator[Mutant]:
    lo, hi = map(Fraction, ends)
    for new in ([ends[0]], [*ends, ends[1]], [], [str(hi + 1), ends[1]], [ends[0], str(lo - 1)], [ends, ends]):
        yield Mutant(name, f"{new} at {path}", write(changed(whole, path, new)))
    if path[-1] == "kink":
        for new in ([ends[1], ends[0]], [ends[0]] * 2, [str(lo + 1000), str(hi + 1000)], ["0", ends[1]], [ends[1], str(hi + 1)]):
            yield Mutant(name, f"{new} at {path}", write(changed(whole, path, new)))
    if "parameters" in path:
        for new in (["0", ends[1]], ["-1", ends[1]], [str(-hi), str(-lo)]):
            yield Mutant(name, f"{new} at {path}", write(changed(whole, path, new)))


def _points(name: str, whole: Json, path: Place, point: dict[str, str]) -> Iterator[Mutant]:
    declared = whole["profile"]["record"] | whole["profile"]["parameters"]
    for key in point:
        beyond = ["0", "1/2", "-7"] if key == "w" else ["0", "-1e-30"]
        if isinstance(declared.get(key), list):
            lo, hi = map(Fraction, declared[key])
            beyond = [str(lo - 1), str(hi + Fraction(1, 10**30)), str(hi + 1), str(lo - Fraction(1, 10**30))]
        for number in beyond:
            yield Mutant(name, f"{number} at {path}, {key}", write(changed(whole, (*path, key), number)))


def nudged(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Numbers changed by one unit in the last place of a double, by 1e-30, by factors, in their sign."""
    for path, word in number_places(whole):
        q = Fraction(word)
        near = [Fraction(math.nextafter(float(q), end)) for end in (-math.inf, math.inf)] if math.isfinite(float(q)) else []
        tiny = [q - Fraction(1, 10**30), q + Fraction(1, 10**30)]
        for new in (*near, *tiny, -q, 1000 * q, q / 1000, q + 1, q - 1, 2 * q, Fraction(0), Fraction(10) ** 400, Fraction(1, 10**400)):
            if new != q:
                yield Mutant(name, f"{str(new)[:60]} at {path}", write(changed(whole, path, str(new))), certain=False)


FAMILIES = {f.__name__: f for f in (malformed, outside, nudged)}
