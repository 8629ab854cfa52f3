"""Whether what a certificate has to prove is numerically false: goals at sample points, by mpmath with 60 and then 150 digits.

Only falsity is certain. ``falsehood`` returns a witness, or None where none was found.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import islice, product
from typing import Any

from mpmath import mp, mpf

from tests.mutants.jets import Jet, Undecided, Undefined, add, constant, evaluate, exp, log, mul, power

Json = Any
Point = dict[str, Fraction]
WEIGHTS = [Fraction(text) for text in ("1", "1.000001", "1.5", "2", "3", "6", "7.3", "50", "1000", "1000000")]
OPEN = [Fraction(text) for text in ("1", "0.001", "0.1", "10", "1000")]
Goal = tuple[str, Any, Any]  # name, a, b: a >= b, or a > b, which are not told apart


def _records(profile: Json, source: random.Random) -> list[Point]:
    choices: dict[str, list[Fraction]] = {}
    for name, ends in [*profile["record"].items(), *profile["parameters"].items()]:
        if isinstance(ends, list):
            lo, hi = map(Fraction, ends)
            inside = [lo + (hi - lo) * Fraction(source.randrange(1, 1000), 1000) for _ in range(2)]
            choices[name] = [lo, hi, (lo + hi) / 2, *inside]
        else:
            choices[name] = OPEN if ends == "positive" else [Fraction(ends)]
    points = [dict(zip(choices, values, strict=True)) for values in islice(product(*choices.values()), 1000)]
    source.shuffle(points)
    return points[:30]


def _jets(point: Mapping[str, Fraction], **others: Any) -> dict[str, Jet]:
    return {name: constant(value) for name, value in point.items()} | others


def _weight(w: Any) -> Jet:
    return w, mpf(1), mpf(0)


def _mpf(q: Fraction) -> Any:
    return mpf(q.numerator) / q.denominator


def _leaf(p: Json, record: Point) -> tuple[Json, Point]:
    """The proof about the part of the records to which one belongs, and its coordinates there."""
    while "sides" in p or "cases" in p:
        key = "sides" if "sides" in p else "cases"
        name, at = p[key]["variable"], Fraction(p[key]["at"])
        gap = record[name] - at
        if key == "cases":
            p = p[key]["below" if gap <= 0 else "above"]
        else:
            p = p[key]["on" if gap == 0 else "above" if gap > 0 else "below"]
            record = {other: value for other, value in record.items() if other != name} | ({name: abs(gap)} if gap else {})
    return p, record


class _Judge:
    def __init__(self, whole: Json) -> None:
        self.profile, self.epsilon = whole["profile"], whole["profile"]["epsilon"]
        self.records = _records(self.profile, random.Random(1))
        self.constants = {v: Fraction(q) for v, q in self.profile["parameters"].items() if isinstance(q, str) and q != "positive"}
        self.target = whole.get("target_epsilon")
        self.q = whole.get("sampling", {}).get("q")

    def at(self, given: Json) -> Point:
        return self.constants | {name: Fraction(value) for name, value in given.items()}

    def eps(self, record: Point, w: Any) -> Jet:
        """ε and its derivatives at a weight; at a tie, those of both sides if they agree."""
        try:
            return evaluate(self.epsilon, _jets(record, w=_weight(w)))
        except Undecided:
            step = mpf(10) ** -25
            left, right = (evaluate(self.epsilon, _jets(record, w=_weight(w + s))) for s in (-step, step))
            if w > 1 and abs(left[1] - right[1]) > mpf(10) ** -10 * (1 + abs(left[1]) + abs(right[1])):
                raise Undefined from None
            raise

    def value(self, record: Point, w: Any) -> Any:
        return evaluate(self.epsilon, _jets(record, w=(w, mpf(0), mpf(0))))[0]

    def line(self, w: Any) -> Any:
        return 1 + mp.expm1(_mpf(Fraction(self.target))) * w

    def above(self, name: str, record: Point, w: Any, form: str, *, holds: bool) -> Goal:
        e = self.value(record, w)
        a, b = (e, mp.log(self.line(w))) if form == "log" else (exp((e, 0, 0))[0], self.line(w))
        return (name, a, b) if holds else (name, b, a)

    def bound(self, record: Point, number: str, *, upper: bool) -> list[Goal]:
        q = evaluate(self.q, _jets(record))
        goals = [("q > 0", q[0], mpf(0)), ("q <= 1", mpf(1), q[0])]
        if q[0] <= 0:
            return goals
        e = evaluate(self.epsilon, _jets(record, w=power(q, constant("-1"))))
        psi = add(e, log(add(q, mul(add(constant("1"), (-q[0], 0, 0)), exp((-e[0], mpf(0), mpf(0)))))))[0]
        stated = _mpf(Fraction(number))
        return [*goals, ("psi", stated, psi) if upper else ("psi", psi, stated)]

    def goals(self, claim: Json, record: Point) -> Iterator[Callable[[], list[Goal]]]:
        """The goals of a claim at one record, or at its own."""
        p, name, refuted = claim["proof"], f"{claim['claim']} {claim['verdict']}", claim["verdict"] == "refuted"
        if refuted:
            record = self.at({k: v for k, v in p["at"].items() if k != "w"})
        if name == "well-defined proved":
            yield from (lambda w=w: [("epsilon", self.value(record, _mpf(w)), mpf(0))] for w in WEIGHTS)
        elif name.startswith("assumption-8"):
            pair = (_mpf(Fraction(self.target)), self.value(record, mpf(1)))
            yield lambda: [("a8", *(reversed(pair) if refuted else pair))]
        elif name == "assumption-9 refuted":
            least, form = Fraction(p["threshold"]), p["form"]
            weights = [w for w in [least, *WEIGHTS] if w >= least]
            yield from (lambda w=w: [self.above("tail", record, _mpf(w), form, holds=False)] for w in weights)
        elif name == "assumption-9 proved":
            yield from self._growth(p, record, record)
        elif name == "assumption-9-nonzero refuted":
            least, form, lost = Fraction(p["threshold"]), p["form"], _mpf(Fraction(p["weight"]))
            yield lambda: [("weight", lost, mpf(1)), ("loss", self.value(record, lost), mpf(10) ** -40)]
            weights = [w for w in [least, *WEIGHTS] if w >= least]
            yield from (lambda w=w: [self.above("tail", record, _mpf(w), form, holds=False)] for w in weights)
        elif name == "assumption-9-nonzero proved":
            p, local = _leaf(p, record)
            if "vanishing" in p:
                yield from (lambda w=w: [("zero", mpf(0), self.value(record, _mpf(w)))] for w in WEIGHTS)
            else:
                yield from self._growth(p, record, local)
        elif "curvature" in p and "floor" in p:
            least, form = evaluate(p["floor"], _jets(record))[0], p["form"]
            yield lambda: [("floor", least, mpf(0))]
            yield from (lambda w=w: [("K", self.curvature(record, _mpf(w), form), least)] for w in WEIGHTS)
        elif "curvature" in p:
            yield lambda: [("-K", mpf(0), self.curvature(record, _mpf(Fraction(p["at"]["w"])), "log"))]
        elif "flat" in p:
            yield from (lambda n=n: self._flat(p, record, mpf(n)) for n in (1, 2, 10, 1000))
        elif name.startswith("proposition-16") and "bound" in p:
            e = self.eps(record, mpf(1))
            pair = (1 - mp.exp(-e[0]), e[1])
            yield lambda: [("16", *(reversed(pair) if refuted else pair))]
        elif name.startswith("proposition-17") and "bound" in p:
            weights = [Fraction(p["at"]["w"])] if refuted else WEIGHTS
            yield from (lambda w=w: self._euler(record, _mpf(w), refuted=refuted) for w in weights)
        elif name == "homogeneous proved":
            yield from (lambda w=w: self._scaled(record, _mpf(w)) for w in WEIGHTS)
        elif name == "homogeneous refuted":
            w = _mpf(Fraction(p["at"].get("w", "1")))
            yield lambda: [("apart", abs(self.value(record, w) - w * self.value(record, mpf(1))), mpf(10) ** -40)]
        elif name.startswith("epsilon"):
            upper = claim["claim"] == "epsilon-upper"
            yield lambda: self.bound(record if upper else self.at(claim["at"]), claim["bound"], upper=upper)

    def _growth(self, p: Json, record: Point, local: Point) -> Iterator[Callable[[], list[Goal]]]:
        """The goals of growth at a record; the threshold is a term in its coordinates in that part of the records."""
        v = evaluate(p["threshold"], _jets(local))[0]
        yield lambda: [("threshold", v, mpf(1))]
        if "start" in p:
            yield lambda: [self.above("start", record, v, "log", holds=True)]
        for w in (v + s for s in (mpf(10) ** -9, mpf(1) / 3, 2, 50, 1000, 10**6)):
            if "start" in p:  # at v itself the slope is the one to the right
                yield lambda w=w: [("slope", w * self.eps(record, w)[1], mpf(1))]
            else:
                yield lambda w=w: [self.above("direct", record, w, p["form"], holds=True)]

    def _flat(self, p: Json, record: Point, n: Any) -> list[Goal]:
        w = evaluate(p["weight"], {"n": (n, mpf(0), mpf(0))})[0]
        return [("weight", w, mpf(1)), ("flat", mpf(1), n * self.curvature(record, w, "exp"))]

    def _scaled(self, record: Point, w: Any) -> list[Goal]:
        a, b = self.value(record, w), w * self.value(record, mpf(1))
        return [("scaled", a, b), ("scaled", b, a)]

    def _euler(self, record: Point, w: Any, *, refuted: bool) -> list[Goal]:
        e = self.eps(record, w)
        return [("17", e[0], w * e[1]) if refuted else ("17", w * e[1], e[0])]

    def curvature(self, record: Point, w: Any, form: str) -> Any:
        """K, or K exp(ε)."""
        e = self.eps(record, w)
        return (e[2] + e[1] ** 2) * (1 if form == "log" else exp((e[0], mpf(0), mpf(0)))[0])

    def falsehood(self, claim: Json) -> str | None:
        own = claim["verdict"] == "refuted" or claim["claim"] == "epsilon-lower"
        for record in self.records[:1] if own else self.records:
            try:
                witness = self._at_record(claim, record)
            except Undecided:
                continue
            if witness:
                return f"{witness} at { {k: str(v) for k, v in record.items()} }"
        return None

    def _at_record(self, claim: Json, record: Point) -> str | None:
        for goals in self.goals(claim, record):
            try:
                for name, a, b in goals():
                    if a < b - mpf(10) ** -42 * (1 + abs(a) + abs(b)):
                        return f"{name}: {mp.nstr(a, 20)} < {mp.nstr(b, 20)}"
            except Undefined:
                return "undefined"
            except Undecided:
                continue
        return None


def falsehood(document: str) -> str | None:
    """Return why the first claim that is false is false, or None. The document must be a well-formed certificate."""
    whole = json.loads(document)
    for i, claim in enumerate(whole["claims"]):
        witness = claim_falsehood(json.dumps({**whole, "claims": [claim]}, sort_keys=True))
        if witness:
            return f"claims[{i}]: {witness}"
    return None


@cache
def claim_falsehood(document: str) -> str | None:
    """Return why the only claim in a certificate is false, or None; what cannot be read is not judged."""
    whole = json.loads(document)
    try:
        with mp.workdps(60):
            witness = _Judge(whole).falsehood(whole["claims"][0])
        if witness:
            with mp.workdps(150):
                again = _Judge(whole).falsehood(whole["claims"][0])
            return witness if again == witness else None  # to 20 digits: otherwise rounding may have had its share
    except (Undecided, KeyError, ValueError, TypeError, AttributeError, ZeroDivisionError, OverflowError):
        return None
    except Undefined:
        return "undefined"
    return None
