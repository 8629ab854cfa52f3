"""Certificates of compositions that are wrong for certain: numbers that are too good, other events or directions, texts and no numbers.

What is false is known from the other side: a bound from above that is less than what was shown from below, and the reverse.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions.bounds import read_events
from tests.mutants.corpus import Json, Mutant, changed, places, write


def event(mechanism: str, count: int = 1, q: str = "1", **numbers: str) -> Json:
    """Return an event in the words of a certificate."""
    return {"mechanism": mechanism, **numbers, "sampling_probability": q, "count": count}


def entry(low: int, high: int, count: int = 1, offset: str = "0") -> Json:
    """Return the grid of one event."""
    return {"offset": offset, "start": low, "steps": [[0, high - low]], "floors": [0] * (count.bit_length() - 1)}


def drawn(sampling: str, neighbors: str, **others: Json) -> Json:
    """Return an event that says how its batches are drawn."""
    return {"mechanism": "gaussian", "noise_multiplier": "1", "sampling": sampling, "neighbors": neighbors, **others}


#: How the steps of an epoch are added up.
LINEAR: Json = {"digits": 20, "unit": "1/16", "cells": 4, "levels": 6, "tails": ["1e-12", "1e-12"], "floors": [0, 0]}


def grid(unit: str, *entries: Json, digits: int = 25) -> Json:
    """Return a grid."""
    return {"digits": digits, "unit": unit, "tails": ["1e-12", "1e-20"], "events": list(entries)}


#: Events, a grid on which they are computed quickly (None: in closed form), and an epsilon.
BASES: dict[str, tuple[list[Json], Json, str]] = {
    "response": ([event("randomized-response", 9, epsilon="1/2")], grid("1", entry(0, 1, 9, "-0.500000000001")), "1"),
    "sampled response": ([event("pure", 4, "1/5", epsilon="1")], grid("1/40", entry(-10, 14, 4)), "3/10"),
    "approximate": ([event("approximate", 3, epsilon="1/2", delta="1e-3")], grid("1", entry(0, 1, 3, "-0.500000000001")), "9/10"),
    "laplace": ([event("laplace", 5, "1/4", scale="2")], grid("1/50", entry(-12, 12, 5)), "1/4"),
    "gaussian": ([event("gaussian", 6, "1/10", noise_multiplier="1")], grid("1/50", entry(-10, 120, 6)), "1/10"),
    "closed": ([event("gaussian", 10**4, noise_multiplier="100")], None, "7.560"),
    "one sampled": ([event("gaussian", 1, "1/10", noise_multiplier="1/2")], None, "1/20"),
    "discrete": ([event("discrete-gaussian", 1, "1/3", noise_multiplier="3/2")], None, "1/4"),
    "both": (
        [event("gaussian", 3, noise_multiplier="2"), event("discrete-laplace", 2, scale="2")],
        grid("1/40", entry(-120, 160), entry(0, 40, 2, "-0.500000000001")),
        "2",
    ),
    "two-sided": (
        [event("two-sided", 2, epsilon_remove="1", delta_remove="0", epsilon_add="1/2", delta_add="1/100")],
        grid("1/20", entry(-25, 25, 2)),
        "1/4",
    ),
    "zcdp": ([event("zcdp", 4, rho="1/50")], None, "1"),
    "allocated": (
        [drawn("random-allocation", "zero-out", steps_per_epoch=5, epochs=2)],
        grid("1/20", entry(-60, 100, 2) | {"linear": LINEAR}),
        "1/2",
    ),
    "allocated where one is replaced": (
        [drawn("random-allocation", "replace-one", steps_per_epoch=6, epochs=2)],
        grid("1/20", entry(-60, 100, 2) | {"linear": LINEAR | {"floors": [0, 0], "below": 3, "slopes": ["1", "3/2", "3"]}}),
        "1",
    ),
    "an epoch": ([drawn("random-allocation", "add-remove", steps_per_epoch=6, epochs=1)], None, "1/2"),
    "fixed": ([drawn("fixed-size", "replace-one", records=50, batch_size=5, count=3)], grid("1/20", entry(-60, 100, 3)), "3/10"),
    "emptied": ([drawn("fixed-size", "zero-out", records=50, batch_size=5, count=1)], None, "1/5"),
    "replaced": (
        [drawn("poisson", "replace-one", sampling_probability="1/10", group_size=1, count=4)],
        grid("1/20", entry(-60, 100, 4)),
        "3/10",
    ),
    "group": ([drawn("poisson", "add-remove", sampling_probability="1/10", group_size=3, count=1)], None, "1/20"),
    "again": ([drawn("with-replacement", "add-remove", records=40, batch_size=5, count=1)], None, "1/20"),
    "cut": ([drawn("truncated-poisson", "zero-out", records=40, batch_size=5, limit=9, count=1)], None, "1/20"),
    "shuffled": ([drawn("shuffle", "replace-one", steps_per_epoch=6, epochs=1)], None, "1"),
    "whole": ([drawn("none", "replace-one", count=4)], None, "3"),
}
#: Numbers of events that may grow, or shrink, to make them lose more.
_MORE, _LESS = ("epsilon", "epsilon_remove", "epsilon_add", "delta", "rho"), ("noise_multiplier", "scale")
_NO_NUMBERS = (
    "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "1e10001", "1e99999999999", "1e-99999999999", "1/0", "1/0.0", "0x10", "1_0", "１", "½",
    "٣", "", " ", "1e", "e5", "1.5.2", "1j", "1,5", "9" * 5000, f"1/{'9' * 5000}", "-", "+", ".", "/2", "1/", "1//2", "1/2/3", "+-1", "--1",
    "1+1", "1 ", " 1", "1\n", "1 /2", "pi", "1e5e5", "1e+", "0b1", "true", None, True, 0, 1, 2, [], {}, ["1"], {"1": "1"},
)  # fmt: skip


@cache
def ends(name: str, side: str, direction: str) -> Fraction:
    """Return delta of a base at its epsilon, from one side."""
    listed, whole, at = BASES[name]
    events, up, remove = read_events(listed), side == "upper", direction == "remove"
    order = Fraction(20) if name == "zcdp" and up else None
    if whole is not None:
        lattice, laws = compositions.compose(events, whole, remove=remove, up=up)
        return lattice.delta(laws, Fraction(at))
    return compositions.closed_form(events[0], Fraction(at), 40, remove=remove, up=up, order=order, linear=_linear(name))


def _linear(name: str) -> Json:
    return LINEAR if name == "an epoch" else None


def claimed(name: str, side: str, direction: str, **changes: Json) -> Json:
    """Return a certificate that is accepted as long as nothing is changed."""
    listed, whole, at = BASES[name]
    sharp = Fraction(10**20 + 2 * (side == "upper") - 1, 10**20)  # a closed form is computed to more digits than its bound has
    bound = ends(name, side, direction) * (1 if whole is not None else sharp)
    claim = {"claim": f"delta-{side}", "verdict": "proved", "direction": direction, "epsilon": at, "bound": str(bound)}
    claim |= {"linear": _linear(name)} if _linear(name) else {}
    claim |= {"grid": whole} if whole is not None else {"order": "20"} if name == "zcdp" and side == "upper" else {}
    about = {"name": name, "events": listed}
    value = {"format": "pdp-certificate", "version": 1, "composition": about, "claims": [claim | changes]}
    return json.loads(json.dumps(value))


def notations(number: Fraction) -> Iterator[str]:
    """Return the ways in which the kernel reads one number."""
    p, q = number.numerator, number.denominator
    yield from (f"{p}/{q}", f"+{p}/{q}", f"{p}.0/{q}", f"{p}e3/{q}e3", f"{p}E-2/{q}e-2", f"0{p}/0{q}", f"{2 * p}/{2 * q}", f"{p}00./{q}00")
    if (10**30 * p) % q == 0:
        digits = str(10**30 * p // q)
        yield from (f"{digits}e-30", f"{digits.zfill(31)[:-30]}.{digits.zfill(31)[-30:]}", f"{digits}0E-31")


def too_good(name: str, source: random.Random) -> Mutant:
    """A bound or an epsilon that is too good, in some notation, on a grid that may be another one."""
    side, direction = source.choice(["upper", "lower"]), source.choice(["remove", "add"])
    far, sign = ends(name, "lower" if side == "upper" else "upper", direction), -1 if side == "upper" else 1
    value = claimed(name, side, direction)
    claim = value["claims"][0]
    if source.random() < 0.5:
        bound, epsilon = far * (1 + sign * Fraction(source.choice([1, 10, 10**3, 10**5, 10**6]), 10**6)), Fraction(claim["epsilon"])
    else:
        bound, epsilon = far, Fraction(claim["epsilon"]) * (1 + sign * Fraction(1, source.choice([1, 2, 20, 1000])))
    _other_grid(claim, source)
    claim |= {"bound": source.choice(list(notations(bound))), "epsilon": source.choice(list(notations(epsilon)))}
    return Mutant(name, f"{side} {direction}", write(value))


def forged(name: str, source: random.Random) -> Mutant:
    """Events that lose more than what was shown from below for those that there were."""
    direction = source.choice(["remove", "add"])
    value = claimed(name, "upper", direction)
    claim, events = value["claims"][0], value["composition"]["events"]
    one = source.choice(events)
    keys = [key for key in one if key in (*_MORE, *_LESS) and one[key] != "0"] + ["count", "more"]
    q, often = one.get("sampling_probability", "1"), "epochs" if "epochs" in one else "count"
    keys += ["sampling_probability"] if q != "1" else []
    key = source.choice(keys)
    if key == "count":
        one[often] *= source.choice([2, 3])
        own = one["mechanism"] not in ("gaussian", "zcdp") or q != "1" or "sampling" in one
        if "grid" in claim and own:
            claim["grid"]["events"][events.index(one)]["floors"] = [0] * (one[often].bit_length() - 1)
    elif key == "more":
        events.append(event("pure", 1, epsilon=str(Fraction(source.randint(1, 40), 20))))
        if "grid" in claim:
            claim["grid"]["events"].append(entry(-2, 60, 1, "-1.000000000001"))
    elif key == "sampling_probability":
        one[key] = source.choice(list(notations(1 - (1 - Fraction(one[key])) * Fraction(source.randint(1, 90), 100))))
    else:
        one[key] = source.choice(
            list(notations(Fraction(one[key]) * Fraction(source.randint(101, 190), 100) ** (1 if key in _MORE else -1)))
        )
    if key != "more":
        _other_grid(claim, source)
    claim["bound"] = source.choice(list(notations(ends(name, "lower", direction) * Fraction(source.randint(900_000, 999_999), 10**6))))
    return Mutant(name, f"{key}: {one}", write(value))


def other_direction(name: str, source: random.Random) -> Mutant:
    """What holds in one direction, claimed in the other, where less or more is lost."""
    side, better = source.choice(["upper", "lower"]), source.choice(["remove", "add"])
    worse = "add" if better == "remove" else "remove"
    value = claimed(name, side, better)
    high, low = ends(name, "upper", better), ends(name, "lower", worse)
    if side == "lower":
        high, low = ends(name, "upper", worse), ends(name, "lower", better)
    if high >= low:  # the other way round it is true, or nothing is known: take numbers that are false there
        value["claims"][0]["bound"] = str((1 + ends(name, "upper", worse)) / 2 if side == "lower" else ends(name, "lower", worse) / 2)
    _other_grid(value["claims"][0], source)
    value["claims"][0] |= {"direction": worse, "bound": source.choice(list(notations(Fraction(value["claims"][0]["bound"]))))}
    return Mutant(name, f"{side} of {better}", write(value))


def no_number(name: str, source: random.Random) -> Mutant:
    """A text, or something else, in place of a number: even where what is claimed is true of every law."""
    value = claimed(name, "upper", source.choice(["remove", "add"]), bound="1")
    skipped = {"mechanism", "direction", "claim", "verdict", "format", "name"}
    found = [path for path, inner in places(value) if isinstance(inner, str) and path[-1] not in skipped]
    path, word = source.choice(found), source.choice(_NO_NUMBERS)
    return Mutant(name, f"{str(word)[:20]!r} at {path}", write(changed(value, path, word)))


def doubled(name: str, source: random.Random) -> Mutant:
    """A key twice, an event or a grid twice, or one of them missing."""
    value = claimed(name, "upper", source.choice(["remove", "add"]), bound="1")
    events, claim = value["composition"]["events"], value["claims"][0]
    kind = source.choice(["key", "event", "entry", "field"])
    if kind == "event" and "grid" in claim and events[0]["mechanism"] != "gaussian":
        events.append({**events[0], "count": 1})
    elif kind == "entry" and "grid" in claim:
        claim["grid"]["events"] = claim["grid"]["events"] * 2 if source.random() < 0.5 else []
    elif kind == "field":
        found = [path for path, inner in places(value) if path and isinstance(path[-1], str) and path[-1] not in ("grid", "order")]
        path = source.choice(found)
        place = value
        for key in path[:-1]:
            place = place[key]
        place[f"{path[-1]}s"] = place.pop(path[-1])
        return Mutant(name, f"{path} is called otherwise", write(value))
    text = write(value)
    if text == write(claimed(name, "upper", claim["direction"], bound="1")):
        known = [("bound", "1"), ("epsilon", "9"), ("direction", "add"), ("version", 1), ("count", 1), ("events", [])]
        key, new = source.choice([pair for pair in known if f'"{pair[0]}":' in text])
        text = text.replace(f'"{key}":', f'"{key}":{json.dumps(new)},"{key}":', 1)
    return Mutant(name, kind, text)


def misplaced(name: str, source: random.Random) -> Mutant:
    """A largest loss that is too small, or too large, and claims that have no place."""
    listed, _, _ = BASES[name]
    direction, kind = source.choice(["remove", "add"]), source.choice(["zero", "positive", "bound", "grid", "order"])
    lower, mass = compositions.find_end(read_events(listed), remove=direction == "remove", up=False)
    claim = {"claim": "delta-upper", "verdict": "proved", "direction": direction, "epsilon": "1", "bound": "0"}
    less = Fraction(10 ** source.randint(1, 12) - 1)
    less /= less + 1
    if lower is None or mass:  # no epsilon has delta 0
        claim["epsilon"] = source.choice(["0", "1", "1e9", "9999999999", "1e10", "1e11"])
    elif kind == "positive":
        claim |= {"claim": "delta-positive", "epsilon": str(lower / less or Fraction(1, 10**9))}
    else:
        claim["epsilon"] = str(lower * less)
    if kind == "bound":
        claim |= {"claim": "delta-positive", "epsilon": "0", "bound": source.choice(["1e-300", "1", "-0.1", "2"])}
    elif kind == "grid":
        claim |= {"claim": "delta-positive", "epsilon": "0", "grid": grid("1", entry(0, 1))}
    elif kind == "order":
        claim |= {"claim": "delta-positive", "epsilon": "0", "order": "2"}
    value = {"format": "pdp-certificate", "version": 1, "composition": {"name": name, "events": listed}, "claims": [claim]}
    return Mutant(name, f"{kind} {direction}", write(value))


FAMILIES: dict[str, Callable[[str, random.Random], Mutant]] = {
    "no number": no_number,
    "doubled": doubled,
    "misplaced": misplaced,
    "too good": too_good,
    "forged": forged,
    "other direction": other_direction,
}


def _other_grid(claim: Json, source: random.Random) -> None:
    if source.random() < 0.5:
        for whole in (
            [claim["linear"]]
            if "linear" in claim
            else [part["linear"] for part in claim.get("grid", {"events": []})["events"] if "linear" in part]
        ):
            name = source.choice(["digits", "unit", "cells", "levels", "tails", "floors"])
            whole[name] = {
                "digits": source.choice([1, 3, 10, 40]),
                "unit": source.choice(["1/1000", "1/3", "1", "5"]),
                "cells": source.randint(1, 6),
                "levels": source.randint(1, 9),
                "tails": [f"1e-{source.randint(0, 30)}" for _ in range(2)],
                "floors": [source.choice([0, 1, 2, 5, 80]) for _ in whole["floors"]],
            }[name]
    if "grid" not in claim:
        if "order" in claim:
            claim["order"] = source.choice(["2", "1.01", "7/2", "50", "1000"])
        return
    whole = claim["grid"]
    for _ in range(source.randint(0, 3)):
        part = source.choice(whole["events"])
        change = source.choice(["digits", "unit", "tails", "offset", "floors", "start", "steps", "level"])
        if change == "digits":
            whole["digits"] = source.choice([1, 3, 10, 40])
        elif change == "unit":
            whole["unit"] = str(Fraction(whole["unit"]) * Fraction(source.randint(1, 40), 20))
        elif change == "tails":
            whole["tails"] = [f"1e-{source.randint(0, 30)}" for _ in range(2)]
        elif change == "offset":
            part["offset"] = str(Fraction(part["offset"]) + Fraction(source.randint(-20, 20), 40))
        elif change == "floors":
            part["floors"] = [source.choice([0, 0, 1, 2, 5]) for _ in part["floors"]]
        elif change == "start":
            part["start"] += source.choice([-50, -3, -1, 1, 3, 50])
        elif change == "steps":
            part["steps"] = [[0, max(part["steps"][0][1] + source.choice([-50, -3, -1, 1, 3, 50]), 1)]]
        else:
            part["start"] -= part["start"] % 8
            part["steps"] = [[source.randint(0, 3), source.randint(1, 60) * 8] for _ in range(source.randint(1, 4))]
