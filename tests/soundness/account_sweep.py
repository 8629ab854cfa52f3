"""The (ε, δ) accountant against the truth: random compositions over the whole range of settings, judged by methods of their own.

Run: ``make account-sweep SETTINGS=1000 SEED=1`` (or ``python -m tests.soundness.account_sweep SETTINGS SEED [--gap G] [--out FILE]``). It
goes on where FILE stops, prints counts and the worst, and returns exit code 1 for a contradiction. For each setting and direction:

* ε at δ is enclosed by the engine; the true δ (``tests/targets/losses``) must not be above δ at the upper end, nor below it at the lower;
* where no truth is known, the enclosures for two gaps have to meet;
* the kernel has to accept the certificate;
* on the grids of the certificate, changed at random, the kernel must not accept a δ that the truth at a random ε contradicts by 10⁻⁹.

``--fast``: wide enclosures and fewer uses; one direction and one end of each setting, chosen at random; every fifth certificate is put to
the kernel, and the slow one of the methods judges every fifth setting.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.certificates import make_certificate
from accountant.curves import Composition, Direction, Event, make_event
from profiles import Infeasible, PDPError
from proofs_check.kernel import check
from tests.targets.losses.truth import Truth, find_delta

_KINDS = ("gaussian",) * 6 + ("laplace",) * 2 + ("discrete-gaussian", "discrete-laplace", "randomized-response", "pure", "approximate")


def _log_uniform(rng: random.Random, low: float, high: float) -> Fraction:
    """Return a number of three digits."""
    x = low * (high / low) ** rng.random()
    return Fraction(f"{min(max(x, low), high):.3g}")


def draw_event(rng: random.Random, most: int) -> Event:
    """Return one event of a random mechanism, used up to ``most`` times."""
    kind = rng.choice(_KINDS)
    count = int(_log_uniform(rng, 1, most)) if rng.random() < 0.9 else rng.choice([1, 2, 3])
    rate = Fraction(1) if rng.random() < 0.2 else _log_uniform(rng, 1e-4, 0.9)
    if kind in ("gaussian", "discrete-gaussian"):
        sigma = _log_uniform(rng, 0.02, 1000)
        numbers = {"noise_multiplier": sigma}
        if rng.random() < 0.7:  # as many uses as make a loss that is neither next to nothing nor beyond what anybody would accept
            spread = float(rate) * (math.expm1(min(float(1 / sigma**2), 20.0)) ** 0.5)
            count = min(max(int((rng.choice([0.1, 0.5, 1.0, 2.0, 5.0]) / spread) ** 2), 1), most)
    elif kind in ("laplace", "discrete-laplace"):
        numbers = {"scale": _log_uniform(rng, 0.02, 1000)}
    else:
        numbers = {"epsilon": _log_uniform(rng, 1e-3, 5)}
        if kind == "approximate":
            numbers["delta"] = _log_uniform(rng, 1e-18, 1e-3)
    return make_event(kind, dict(numbers), sampling_probability=rate, count=count)


def draw_setting(seed: int, index: int, *, most: int = 10**6) -> tuple[Composition, Fraction, random.Random]:
    """Return a composition, a δ, and the source of what else is random about a setting."""
    rng = random.Random(f"{seed}:{index}")
    parts = 1 if rng.random() < 0.75 else rng.randint(2, 4)
    most = most if parts == 1 else 1000
    return Composition("a setting", tuple(draw_event(rng, most) for _ in range(parts))), _log_uniform(rng, 1e-15, 1e-5), rng


#: Relative distance of a false bound from the truth, or from the end of its enclosure.
_LITTLE = Fraction(1, 10**9)
#: Spread over the ranges of settings by hand: δ, and σ, q, count of Gaussian noise.
_BY_HAND = {
    "1e-5": """0.02 1e-4 1, 0.3 0.01 10, 0.5 0.1 100, 0.7 1e-3 10000, 0.8 0.02 1000, 1 1e-3 1000000, 1 1e-4 1000000, 1 0.01 1000,
        1.1 256/60000 14000, 1 0.9 3, 2 0.5 10, 3 0.9 100, 4 0.02 2000, 10 0.1 100000, 20 0.01 1000000, 100 0.9 1000000, 1000 0.1 1000000,
        1000 1 1000000, 5 1 100""",
    "1e-8": """0.05 1e-4 100, 0.1 1e-3 10, 0.5 1e-4 1000, 0.6 1e-3 1000, 1 0.001 30000, 1 0.1 2, 1 0.3 3, 2 1e-4 1000000, 3 0.2 3,
        5 0.5 1000, 10 0.9 10, 50 0.1 100, 100 1e-2 1000000, 500 0.9 1000000, 1000 1e-4 1, 20 1 1000, 0.5 1 3""",
    "1e-12": """0.02 0.01 1, 0.2 0.1 3, 0.7 1e-3 10000, 0.9 0.9 30, 1 0.01 100, 1 0.5 2, 1.5 0.05 5000, 3 1e-3 1000000, 10 0.01 100000,
        30 0.5 1000, 100 0.5 10000, 200 1 100000, 1000 0.9 1000000""",
    "1e-15": "0.02 1 1000000, 0.4 1e-3 30, 1 1e-4 10, 2 1e-3 100000, 5 0.1 10000, 10 0.9 100, 100 1 10000, 1000 0.5 1000000",
}
BY_HAND = [(*row.split(), delta) for delta, rows in _BY_HAND.items() for row in rows.split(",")]


def hand_setting(index: int) -> tuple[Composition, Fraction, random.Random]:
    """Return one of the settings by hand."""
    sigma, q, count, delta = BY_HAND[index]
    event = make_event("gaussian", {"noise_multiplier": sigma}, sampling_probability=q, count=int(count))
    return Composition("a setting by hand", (event,)), Fraction(delta), random.Random(index)


def _judge(truth: Truth | None, target: Fraction, *, upper: bool) -> bool | None:
    """Whether δ at an end of ε lies on its side of δ; None where that is not known."""
    if truth is None:
        return None
    return truth.low <= target if upper else truth.high >= target


def _perturbed(rng: random.Random, grid: dict[str, Any]) -> dict[str, Any]:
    """Return the grid of a certificate with some of its choices changed at random."""
    entries = []
    for part in grid["events"]:
        entry = dict(part)
        for key, value in part.items():
            if rng.random() < 0.6:
                continue
            if key == "offset":
                entry[key] = str(Fraction(value) + Fraction(rng.randint(-9, 9), 10) * Fraction(grid["unit"]))
            elif key in ("low", "high", "start"):
                entry[key] += rng.choice([-40, -3, -1, 1, 3, 40])
            elif key == "near":
                entry[key] = rng.choice([1, 3, 20, 1000])
            elif key in ("doublings", "floors"):
                entry[key] = [max(x + rng.choice([0, 0, 1, -1]), 0) for x in value]
            elif key == "steps":
                entry[key] = [
                    [max(level + rng.choice([0, 0, 1, -1]), 0), max(number // rng.choice([1, 1, 2]), 1)] for level, number in value
                ]
        entries.append(entry)
    digits = grid["digits"] if rng.random() < 0.7 else rng.choice([6, 12, 18, 30])
    tails = grid["tails"] if rng.random() < 0.7 else [f"1e-{rng.randint(2, 20)}" for _ in range(2)]
    return {**grid, "digits": digits, "tails": tails, "events": entries}


def _on_other_grids(
    whole: Composition, direction: Direction, claims: Sequence[Mapping[str, Any]], about: Fraction, rng: random.Random, *, quick: bool
) -> dict[str, Any]:
    """Put claims to the kernel that are just false at an ε near ``about``, on the grids of a certificate, changed at random."""
    epsilon = Fraction(f"{float(about) * rng.uniform(0.3, 1.3):.6g}")
    truth = find_delta(whole.events, epsilon, remove=direction is Direction.REMOVE, quick=quick)
    told: dict[str, Any] = {"epsilon": str(epsilon), "known": truth is not None, "judged": 0, "wrong": False}
    for claim in claims if truth is not None else ():
        up = claim["claim"] == "delta-upper"
        bound = truth.low * (1 - _LITTLE) if up else truth.high * (1 + _LITTLE)
        bound = Fraction(f"{float(bound):.14g}")  # 0 below all floats: that delta is at least 0 is true
        if ("grid" not in claim and "order" in claim) or not 0 < bound < 1:
            continue
        false = dict(claim) | {"epsilon": str(epsilon), "bound": str(bound)}
        if "grid" in claim:
            false["grid"] = _perturbed(rng, claim["grid"])
        report = check(json.dumps(make_certificate(whole, (false,))))
        told["wrong"] |= report.accepted
        told["judged"] += "not shown" in str(report.reason)
        if report.accepted:
            told["claim"] = false
    return told


def examine(whole: Composition, delta: Fraction, rng: random.Random, gap: Fraction, *, fast: bool = False) -> dict[str, Any]:
    """Return what was found about one setting, in both directions, as a JSON object."""
    result: dict[str, Any] = {"events": [event.describe() for event in whole.events], "delta": float(delta), "wrong": [], "sides": {}}
    checked, quick = not fast or rng.random() < 0.2, fast and rng.random() < 0.8
    chosen = rng.sample(list(Direction), 1) if fast else list(Direction)
    for direction in chosen:
        name, remove, start = direction.value, direction is Direction.REMOVE, time.process_time()
        try:
            found = bound_epsilon(whole, delta, direction, gap=gap)
        except (Infeasible, PDPError) as problem:
            result["sides"][name] = {"refused": type(problem).__name__}
            continue
        spent = time.process_time() - start
        report = check(json.dumps(make_certificate(whole, found.claims))) if found.claims and checked else None
        if report is not None and not report.accepted:
            result["wrong"].append(f"{name}: the kernel rejects the certificate: {report.reason}")
        side: dict[str, Any] = {
            "checked": report is not None,
            "lower": _text(found.lower),
            "upper": _text(found.upper),
            "seconds": round(spent, 3),
        }
        ends = [(upper, end) for upper, end in ((False, found.lower), (True, found.upper)) if end is not None and (upper or end > 0)]
        truths = {
            upper: find_delta(whole.events, end, remove=remove, quick=quick)
            for upper, end in (rng.sample(ends, 1) if fast and ends else ends)
        }
        for upper, truth in truths.items():
            verdict = _judge(truth, delta, upper=upper)
            side["upper_by" if upper else "lower_by"] = "unknown" if truth is None else truth.method
            if verdict is False:
                result["wrong"].append(
                    f"{name}: at the {'upper' if upper else 'lower'} end delta is {float(truth.low if upper else truth.high)!r}"
                )
            elif truth is not None:
                side["upper_ratio" if upper else "lower_ratio"] = float((truth.low + truth.high) / 2 / delta)
        if None in truths.values() and not (fast and spent > 0.1):
            other = bound_epsilon(whole, delta, direction, gap=gap / 4)
            if (found.upper is not None and other.lower is not None and other.lower > found.upper) or (
                found.lower is not None and other.upper is not None and other.upper < found.lower
            ):
                result["wrong"].append(f"{name}: the enclosures for two gaps do not meet")
        if found.upper and not (fast and rng.random() < 0.5):
            side["grid"] = _on_other_grids(whole, direction, found.claims, found.upper, rng, quick=quick)
            if side["grid"]["wrong"]:
                result["wrong"].append(f"{name}: on a random grid {side['grid']}")
        result["sides"][name] = side
    return result


def _text(x: Fraction | None) -> str | None:
    return None if x is None else str(x)


def summarise(results: list[dict[str, Any]]) -> list[str]:
    """Return what is printed about all results."""
    sides = [side for result in results for side in result["sides"].values()]
    told = [side for side in sides if "refused" not in side]
    methods = Counter(side[key] for side in told for key in ("lower_by", "upper_by") if key in side)
    times = sorted(side["seconds"] for side in told)
    gaps = sorted((g, n) for n, result in enumerate(results) for side in result["sides"].values() if (g := _gap(side)) is not None)
    judged = sum(side["grid"]["judged"] for side in told if "grid" in side)
    refused = Counter(side["refused"] for side in sides if "refused" in side)
    lines = [
        f"{len(results)} settings, {len(told)} enclosures of epsilon; refused: {dict(refused)}",
        f"certificates put to the kernel: {sum(side['checked'] for side in told)}",
        f"ends compared with the truth, by method: {dict(methods)}",
        f"false claims on other grids: {judged}, none of which may be accepted",
    ]
    if times:
        lines.append(
            f"seconds an enclosure: median {times[len(times) // 2]:.2f}, 95 % {times[len(times) * 95 // 100]:.2f}, most {times[-1]:.2f}"
        )
    if gaps:
        worst = results[gaps[-1][1]]
        lines.append(
            f"gap, (upper - lower)/max(1, upper): median {gaps[len(gaps) // 2][0]:.2g}, 95 % {gaps[len(gaps) * 95 // 100][0]:.2g}, "
            f"most {gaps[-1][0]:.2g} at {worst['events']}, delta {worst['delta']}"
        )
    wrong = [result for result in results if result["wrong"]]
    lines += [f"CONTRADICTION {result['setting']} {result['events']} delta {result['delta']}: {result['wrong']}" for result in wrong]
    return [*lines, f"contradictions: {len(wrong)}"]


def _gap(side: dict[str, Any]) -> float | None:
    if side.get("upper") is None or side.get("lower") is None:
        return None
    upper, lower = Fraction(side["upper"]), Fraction(side["lower"])
    return float((upper - lower) / max(1, upper))


def main(arguments: list[str]) -> int:
    """Run the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--gap", type=Fraction, default=Fraction(1, 10))
    parser.add_argument("--fast", action="store_true", help="a gap of 1/2, and fewer checks of each setting")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time; call again to go on")
    options = parser.parse_args(arguments)
    results = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out and options.out.exists() else []
    done, start = {result["setting"] for result in results}, time.monotonic()
    hand = [] if options.fast else [f"hand:{n}" for n in range(len(BY_HAND))]
    names = hand + [f"{options.seed}:{n}" for n in range(options.settings)]
    for number, name in enumerate(names):
        if name in done:
            continue
        if time.monotonic() - start > options.seconds:
            break
        index = int(name.partition(":")[2])
        setting = (
            hand_setting(index) if name.startswith("hand") else draw_setting(options.seed, index, most=10**4 if options.fast else 10**6)
        )
        result = {"setting": name, **examine(*setting, Fraction(1, 2) if options.fast else options.gap, fast=options.fast)}
        results.append(result)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
        if result["wrong"] or number % 50 == 0:
            print(f"{number} of {len(names)}: {result['wrong'] or 'nothing wrong'}", file=sys.stderr, flush=True)  # noqa: T201
    print("\n".join(summarise(results)))  # noqa: T201
    return 1 if any(result["wrong"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
