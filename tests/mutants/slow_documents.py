"""Documents made to be slow, at random: wide, narrow, many events, many claims, deep trees, long numbers, long names.

Run: ``python -m tests.mutants.slow_documents --count 5000 --results FILE``: the slowest of so many documents, each judged in a process of
its own; some of them are changes of the slowest ones before. One that takes the kernel more than ``SECONDS`` of a processor, or ``MEMORY``,
is an error. A search that was ended goes on with its file of results.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from proofs_check.kernel import check
from tests.mutants.attacks import document

SECONDS, MEMORY = 10.0, 300 * 2**20
_KEPT = 30  # of the slowest ones, which are changed


def _upto(source: random.Random, most: float, least: float = 1) -> int:
    """Return a number of any magnitude."""
    return int(least * (most / least) ** source.random() + 0.5)


def _long(source: random.Random, digits: int) -> str:
    """Return a number near one with about so many digits."""
    return f"{source.randrange(10 ** (digits - 1), 10**digits)}/{source.randrange(10 ** (digits - 1), 10**digits)}"


def _noise(source: random.Random) -> str:
    plain = lambda: str(source.choice(["1", "1/2", "3", "1/100", "100", "9999", "1e-4", "300", "0.05"]))  # noqa: E731
    return source.choice([plain, plain, plain, lambda: _long(source, _upto(source, 190))])()


_SIZES = {
    "none": (),
    "poisson": ("group_size",),
    "fixed-size": ("records", "batch_size"),
    "with-replacement": ("records", "batch_size"),
    "truncated-poisson": ("records", "batch_size", "limit"),
    "random-allocation": ("steps_per_epoch",),
    "shuffle": ("steps_per_epoch",),
}


def _drawn(source: random.Random) -> dict[str, object]:
    # an event that says how its batches are drawn
    kind = source.choice([*_SIZES, "random-allocation", "random-allocation"])
    neighbors = "add-remove" if kind == "random-allocation" else source.choice(["add-remove", "replace-one"])
    records = _upto(source, 10**9, 3)
    given = {"records": records, "batch_size": _upto(source, records - 1), "limit": _upto(source, min(records - 1, 10**6))}
    given |= {"group_size": _upto(source, 400), "steps_per_epoch": _upto(source, 10**6, 2)}
    made: dict[str, object] = {"mechanism": "gaussian", "noise_multiplier": _noise(source), "sampling": kind, "neighbors": neighbors}
    made |= {name: given[name] for name in _SIZES[kind]} | ({"sampling_probability": _long_share(source)} if kind == "poisson" else {})
    return made | {"epochs" if "steps_per_epoch" in made else "count": _upto(source, 10 ** source.choice([0, 1, 3, 9]))}


def _linear(event: dict[str, object], source: random.Random) -> dict[str, object]:
    # how the steps of an epoch are added up
    if event.get("sampling") != "random-allocation":
        return {}
    rise, steps = source.choice([0.0, 0.5, 1.0]), int(str(event["steps_per_epoch"])).bit_length() - 1
    made = {"digits": _upto(source, 320), "unit": source.choice(["1", "1/64", "1/1099511627776", "1/3", "1000", _long(source, 100)])}
    made |= {"cells": source.randint(1, 10), "levels": _upto(source, 80), "tails": [source.choice(["0", "1e-30", "1e-9"])] * 2}
    return {"linear": made | {"floors": [int(rise * k) for k in range(steps)]}}


def _event(source: random.Random) -> dict[str, object]:
    if source.random() < 0.3:
        return _drawn(source)
    kind = source.choice(
        ["gaussian"] * 3 + ["laplace", "discrete-gaussian", "discrete-laplace", "pure", "approximate", "zcdp", "two-sided"]
    )
    name = {"gaussian": "noise_multiplier", "discrete-gaussian": "noise_multiplier", "zcdp": "rho"}.get(kind, "epsilon")
    name = "scale" if kind in ("laplace", "discrete-laplace") else name
    numbers = {name: _noise(source)}
    if kind == "approximate":
        numbers["delta"] = source.choice(["0", "1e-9", "1/3"])
    if kind == "two-sided":
        numbers = {"epsilon_remove": _noise(source), "delta_remove": "1e-6", "delta_add": "0", "epsilon_add": _noise(source)}
    q = "1" if kind == "zcdp" or source.random() < 0.4 else source.choice(["1/2", "1e-3", "1e-9", "0.999", _long_share(source)])
    return {"mechanism": kind, **numbers, "sampling_probability": q, "count": _upto(source, 10 ** source.choice([1, 3, 5, 9]))}


def _long_share(source: random.Random) -> str:
    return f"1/{source.randrange(10**9, 10**10) ** _upto(source, 19)}"


def _entry(source: random.Random, count: int, unit: float) -> dict[str, object]:
    runs, level, at = [], source.choice([0, 0, 0, 3, 10, 20, 40, 60]), 0
    levels = sorted((min(level + _upto(source, 5) - 1, 60) for _ in range(_upto(source, 6))), reverse=True)
    start = -_upto(source, source.choice([10, 10**4, max(1e7 / unit, 2)]))
    start -= start % (1 << levels[0])
    if source.random() < 0.3:
        start = -start
    for one in levels:
        runs.append([one, _upto(source, source.choice([4, 100, 10**4, 2**19]))])
        at += 1 << one
    rise = source.choice([0.0, 0.3, 0.5, 1.0])
    floors = [min(int(level + rise * k), 60) for k in range(count.bit_length() - 1)]
    return {"offset": source.choice(["0", "1/3", "-1/7"]), "start": start, "steps": runs, "floors": floors}


def _put_in_groups(claim: dict[str, Any], source: random.Random) -> None:
    # each event by itself, in groups of groups
    grid = claim.pop("grid")
    epsilon, places = Fraction(claim["epsilon"]), [0] if claim["claim"] == "delta-lower" else [*range(len(grid["events"]))]
    proofs = [{"grid": {**grid, "events": [grid["events"][k]]}} for k in places]
    parts = [
        {"events": [k], "epsilon": str(epsilon), "bound": "0" if claim["claim"] == "delta-lower" else "1/100", "proof": proof}
        for k, proof in zip(places, proofs, strict=True)
    ]
    claim["epsilon"] = str(epsilon * len(parts))
    for _ in range(_upto(source, 40) - 1):
        parts = [{"events": places, "epsilon": claim["epsilon"], "bound": claim["bound"], "proof": {"parts": parts}}]
    claim["parts"] = parts


def make_composition(source: random.Random) -> object:
    """Return a certificate of a composition."""
    events = [_event(source)] * (_upto(source, 64) if source.random() < 0.4 else 1)
    if source.random() < 0.3:
        events = [_event(source) for _ in range(_upto(source, 64))]
    unit = source.choice(["1", "1e-3", "1e-6", "1e-15", "1e3", "25/32768", "78125/8192", "1e6", _long(source, _upto(source, 100))])
    top, _, low = unit.partition("/")
    whole_ones = [event for event in events if event["mechanism"] in ("gaussian", "zcdp") and _takes_all(event)]
    kinds, merged = {json.dumps(event) for event in whole_ones}, len(whole_ones)
    entries = len(events) - max(merged - len(kinds), 0)
    up = source.random() < 0.5
    claim: dict[str, object] = {
        "claim": "delta-upper" if up else "delta-lower",
        "verdict": "proved",
        "direction": source.choice(["remove", "add"]),
        "epsilon": source.choice(["0", "1", "1/10", "30", "1e-300", "1e5"]),
        "bound": "1e-250" if source.random() < 0.1 else "0" if not up else "999999/1000000",
    }
    if source.random() < 0.93:
        chosen = [events[min(i, len(events) - 1)] for i in range(entries)]
        counts = [int(str(event.get("count", event.get("epochs")))) for event in chosen]
        if merged and len(counts) == 1:
            counts = [1]
        step = float(top) / float(low or 1)
        claim["grid"] = {
            "digits": _upto(source, 320),
            "unit": unit,
            "tails": [source.choice(["0", "0", "1e-30"])] * 2,
            "events": [_entry(source, count, step) | _linear(event, source) for count, event in zip(counts, chosen, strict=True)],
        }
    elif source.random() < 0.5:
        claim["order"] = source.choice(["2", "900", "1001/1000"])
    else:
        claim |= _linear(events[0], source)
    if "grid" in claim and source.random() < 0.15:
        _put_in_groups(claim, source)
    whole = {"format": "pdp-certificate", "version": 1, "composition": {"name": "slow", "events": events}}
    return whole | {"claims": [claim] * source.choice([1, 1, 2, 8])}


def _takes_all(event: dict[str, object]) -> bool:
    return event.get("sampling") == "none" or ("sampling" not in event and event["sampling_probability"] == "1")


_LEAVES = ("w", "z", "z", "1", "2", "1/3", "pi", "v0")
_MADE: tuple[Callable[[str, str, random.Random], str], ...] = (
    lambda a, b, _: f"({a} + {b})",
    lambda a, b, _: f"({a}*{b})",
    lambda a, b, _: f"({a}/(1 + {b}**2))",
    lambda a, _, s: f"exp({s.choice(['-', '', '3*', '-1e4*'])}{a})",
    lambda a, _, __: f"log(1 + ({a})**2)",
    lambda a, b, _: f"Max({a}, {b})",
    lambda a, b, _: f"abs({a} - {b})",
    lambda a, _, s: f"{s.choice(['sin', 'cos'])}({s.choice(['', '1000*', '1e9*'])}{a})",
    lambda a, _, s: f"({a})**{_upto(s, 13)}",
    lambda a, _, s: f"(1 + ({a})**2)**({_upto(s, 10**6)}/{_upto(s, 10**6)})",
    lambda a, b, _: f"Piecewise(({a}, {a} < {b}), ({b}, True))",
    lambda a, _, __: f"ceiling({a})",
    lambda a, _, s: f"({a} + {s.randrange(10**9, 10**10) ** _upto(s, 200)})",
    lambda a, _, s: f"({a} - {_long(s, _upto(s, 1500))})",
    lambda a, _, s: f"{a}*{_upto(s, 10**9)}e{_upto(s, 9000)}",
)


def _term(source: random.Random, size: int) -> str:
    parts = [source.choice(_LEAVES) for _ in range(3)]
    chosen = source.sample(_MADE, _upto(source, len(_MADE)))
    while size > 0:
        made = source.choice(chosen)(source.choice(parts), source.choice(parts), source)
        if len(made) < 60_000:
            parts[source.randrange(3)] = made
        size -= 1
    return source.choice(parts)


_SUMMANDS = (
    *("exp(-{i}*z)", "log({i} + z)", "({i} + z)**(1/7)", "({i} + z*w)**{i}", "1/(z + w + {i})", "sin({i}*z)", "v{i}*w"),
    *("Max(w, z - {i})", "sqrt(1e{i} + z)", "{i}**900*z**{i}", "z/(w + {i})**3", "(v{i} - 1/3)**2", "abs(z - 1/{i})"),
)


def _wide(source: random.Random) -> str:
    """Return a sum of many like terms."""
    inner = source.choice(_SUMMANDS)
    return source.choice(["+", "+", "*"]).join(inner.format(i=i) for i in range(1, _upto(source, 900)))


def _tree(source: random.Random, depth: int) -> object:
    boxes = {"rule": "boxes", "budget": _upto(source, 50_000), "precision": source.choice([53, 64, 128, 1024])}
    boxes |= {"form": "centred"} if source.random() < 0.3 else {}
    simple = [{"rule": "manifest"}, {"rule": "manifest"}, {"rule": "zero"}, boxes, boxes]
    if depth <= 0 or source.random() < 0.5:
        return source.choice(simple)
    rest = _tree(source, depth - 1)
    return source.choice(
        [
            {"rule": "scale", "factor": _term(source, 2), "positive": _tree(source, min(depth - 1, 1)), "product": rest},
            {"rule": "split", "variable": "z", "at": source.choice(["2", "1", "1/3"]), "below": rest, "above": _tree(source, depth - 1)},
            {"rule": "monotone", "variable": "w", "direction": "increasing", "slope": _tree(source, min(depth - 1, 1)), "end": rest},
            {"rule": "exp-tangent", "exponent": "z", "coefficient": "0", "nonnegative": {"rule": "zero"}, "rest": rest},
            {"rule": "branches", "cases": [{"value": "w", "proof": rest}, {"value": "z", "proof": rest}]},
        ]
    )


def make_profile(source: random.Random) -> object:
    """Return a certificate of a profile."""
    term = _wide(source) if source.random() < 0.4 else _term(source, _upto(source, 300))
    if source.random() < 0.3:
        term = f"({term})*({_wide(source)})"
    variables = _upto(source, 990) if "v" in term or source.random() < 0.1 else 0
    record = {"z": ["0", source.choice(["4", "400", "1e9"])]} | {f"v{i}": ["0", "1"] for i in range(max(variables, "v0" in term))}
    record |= {name: ["0", "1"] for name in {f"v{i}" for i in range(1000) if f"v{i}" in term} - record.keys()}
    tree = _tree(source, _upto(source, 40))
    claims: list[object] = []
    for _ in range(source.choice([0, 0, 1, 3, _upto(source, 998)])):
        name = source.choice(["proposition-17", "assumption-8", "proposition-16", "assumption-11"])
        proof: dict[str, object] = {"bound": tree}
        if name == "assumption-11":
            proof = {"floor": "1/1000", "positive": {"rule": "manifest"}, "form": source.choice(["log", "exp"]), "curvature": tree}
        claims.append({"claim": name, "verdict": "proved", "proof": proof})
    text = f"w*z + ({term})**2" if source.random() < 0.7 else f"w + z*({term})"
    return json.loads(document(text, tree if source.random() < 0.5 else {"rule": "manifest"}, *claims, record=record))


def make_text(source: random.Random) -> object:
    """Return odd JSON."""
    n = _upto(source, 300_000)
    return source.choice(
        [
            lambda: {f"{i}": 1 for i in range(n)},
            lambda: [[]] * n,
            lambda: "\\u0041" * n,
            lambda: {"format": "pdp-certificate", "version": 1, "profile": {"name": "v" * n}, "claims": []},
            lambda: json.loads(document(target_epsilon="9" * n)),
            lambda: json.loads(document("v" * min(n, 99_999))),
            lambda: json.loads(document("+".join(["w"] * min(n, 49_999)))),
            lambda: json.loads(document("(" * min(n, 49_999))),
            lambda: json.loads(document(parameters={f"a{i}": f"{i}e9999/7e9999" for i in range(min(n, 999))})),
        ]
    )()


def make_document(source: random.Random) -> str:
    """Return one document of at most 1 MB."""
    make = source.choices([make_composition, make_profile, make_text], [5, 5, 1])[0]
    made = json.dumps(make(source))
    return made if len(made) <= 1_000_000 else make_document(source)


def change(text: str, source: random.Random) -> str:
    """Return a document with one or a few of its numbers or lists changed."""
    value = json.loads(text)
    for _ in range(_upto(source, 4)):
        places = [place for place in _places(value) if isinstance(place[0][place[1]], int | str | list)]
        if not places:
            return text
        holder, key = source.choice(places)
        old = holder[key]
        if isinstance(old, bool) or (isinstance(old, str) and not any(c.isdecimal() for c in old)):
            continue
        if isinstance(old, int):
            holder[key] = source.choice([old * 2, old // 2, old + 1, -old, old * 10, old // 10])
        elif isinstance(old, str):
            at = source.choice([i for i, c in enumerate(old) if c.isdecimal()])
            holder[key] = old[:at] + source.choice(["1", "9", "0", "99", "1/3", ""]) + old[at + 1 :]
        else:
            holder[key] = source.choice([old * 2, old[: len(old) // 2] or old, old + old[-1:]])
    changed = json.dumps(value)
    return changed if len(changed) <= 1_000_000 else text


def _places(value: object) -> list[tuple[object, object]]:
    found, waiting = [], [value]
    while waiting and len(found) < 20_000:
        one = waiting.pop()
        keys = list(one) if isinstance(one, dict) else range(min(len(one), 300)) if isinstance(one, list) else []
        found += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]
    return found


@dataclass(frozen=True, slots=True)
class Cost:
    """What a document took: seconds of a processor, bytes of memory, and what was said of it."""

    seconds: float
    memory: int
    verdict: str

    @property
    def slow(self) -> bool:
        """Whether that is too much, or there is no verdict."""
        return self.seconds > SECONDS or self.memory > MEMORY or self.verdict.startswith("ended")

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.memory >> 20} MB, {self.verdict[:160]}"


@dataclass(slots=True)
class Found:
    """How many documents were judged, the slowest of them, the slowest one first, what took the most memory, and how many took too much."""

    count: int = 0
    slowest: list[tuple[Cost, str]] = field(default_factory=list)
    largest: Cost = field(default_factory=lambda: Cost(0, 0, ""))
    slow: int = 0

    def add(self, cost: Cost, text: str) -> bool:
        """Add one document; return whether it is among the slowest ones."""
        self.count, self.slow = self.count + 1, self.slow + cost.slow
        self.largest = max(self.largest, cost, key=lambda one: one.memory)
        before = [one for _, one in self.slowest]
        self.slowest = sorted([*self.slowest, (cost, text)], key=lambda pair: -pair[0].seconds)[:_KEPT]
        return before != [one for _, one in self.slowest]


def measure(text: str, *, most: int = 60) -> Cost:
    """Judge a document in a process of its own."""
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            report = check(text)
            out.write("accepted" if report.accepted else f"rejected at {report.step}: {report.reason}")
            out.flush()
            os._exit(0)
        _, status, used = os.wait4(child, 0)
        out.seek(0)
        return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, out.read() if status == 0 else f"ended by {status}")


def make_one(seed: int, i: int, pool: list[tuple[Cost, str]]) -> str:
    """Return the i-th document of a seed, which may be a change of one in the pool."""
    source = random.Random(f"{seed} {i}")
    return change(source.choice(pool)[1], source) if len(pool) >= _KEPT and source.random() < 0.15 else make_document(source)


def search(count: int, seed: int, *, results: Path | None = None) -> Found:
    """Judge so many documents; with a file of results, those that it already has are not judged again."""
    found = Found()
    if results and results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            if one["seed"] == seed and one["i"] == found.count:
                found.add(Cost(one["seconds"], one["memory"], one["verdict"]), one["text"])
    while found.count < count:
        i, text = found.count, make_one(seed, found.count, found.slowest)
        cost = measure(text)
        kept = found.add(cost, text)
        if results:
            line = {"seed": seed, "i": i, "seconds": round(cost.seconds, 3), "memory": cost.memory, "verdict": cost.verdict[:200]}
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line | {"text": text if kept or cost.slow else ""}) + "\n")
        if cost.slow:
            print(f"{i}: {cost}, {len(text)} characters", flush=True)  # noqa: T201
    return found


def main(arguments: list[str] | None = None) -> int:
    """Search, and say what the worst documents took: 1 if one took too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.slow_documents", description=__doc__)
    parser.add_argument("--count", type=int, default=5000, help="documents (default: 5000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="a file of results, with which a search that was ended goes on")
    given = parser.parse_args(arguments)
    found = search(given.count, given.seed, results=given.results)
    for cost, text in found.slowest[:5]:
        print(f"{cost}, {len(text)} characters")  # noqa: T201
    print(f"largest: {found.largest}")  # noqa: T201
    print(f"{found.count} documents of seed {given.seed}; {found.slow} took too much")  # noqa: T201
    return int(found.slow > 0)


if __name__ == "__main__":
    sys.exit(main())
