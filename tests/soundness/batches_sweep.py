"""Batches as they are drawn, against the truth: random settings of every scheme, judged by a method of their own in binary64.

Run: ``python -m tests.soundness.batches_sweep SETTINGS SEED [--seconds S] [--out FILE]``. It goes on where FILE stops, prints
counts, and returns exit code 1 for a contradiction. For each setting δ is enclosed by the engine at an ε, in one direction; the δ of the
pairs of laws that docs/batches.md names, computed here from their densities alone, must be below the upper end; that of pairs which data
realise must be above the lower end; and where the two meet, they hold the same number. Every tenth certificate is put to the kernel.

The method: masses of the loss on a fine lattice, each shared by the two points next to it so that its mean is kept, and a fast Fourier
transform for the steps. Sums of likelihood ratios (random allocation) are added up in the same way on a linear lattice. Its error is far
below 2 % at the δ that are asked for, which is the tolerance; the 71 enclosures of tests/compositions judge to many more digits.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom

from accountant.compositions.batches import draw_batches
from accountant.compositions.bounds import bound_delta
from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition, Direction, Event, make_event
from profiles import PDPError
from proofs_check.kernel import check

Array = NDArray[np.float64]
Law = tuple[Array, Array]  # shifts of the mean in units of the noise, and their weights
_CELLS, _STEPS, _TOLERANCE, _LITTLE, _RARE = 1 << 17, 1 << 18, 0.02, 1e-11, 1e-14
_SCHEMES = {
    "random-allocation": ("add-remove", "zero-out"),
    "replaced": ("replace-one",),
    "several": ("add-remove", "zero-out"),
    "fixed-size": ("add-remove", "replace-one", "zero-out"),
    "poisson": ("replace-one",),
    "group": ("add-remove", "replace-one", "zero-out"),
    "truncated-poisson": ("add-remove", "replace-one", "zero-out"),
    "with-replacement": ("add-remove", "replace-one"),
    "shuffle": ("add-remove", "replace-one", "zero-out"),
    "none": ("replace-one",),
}
_NAMES = {"group": "poisson", "replaced": "random-allocation", "several": "random-allocation"}


def draw(rng: random.Random) -> tuple[Event, Fraction, Direction]:
    """Return a random setting: an event, an ε and a direction."""
    name = rng.choice(list(_SCHEMES))
    neighbors, sigma = rng.choice(_SCHEMES[name]), Fraction(f"{math.exp(rng.uniform(math.log(0.5), math.log(8))):.3g}")
    sizes: dict[str, int] = {}
    uses, rate = int(math.exp(rng.uniform(0, math.log(300)))), Fraction(1)
    if name in ("random-allocation", "replaced", "several", "shuffle"):
        sizes["steps_per_epoch"] = int(math.exp(rng.uniform(math.log(4 if name == "several" else 2), math.log(2000))))
        uses = int(math.exp(rng.uniform(0, math.log(20))))
        uses = 1 if name in ("shuffle", "replaced") or rng.random() < 0.4 else uses
    if name == "several":  # of a record in an epoch
        sizes["participations"] = rng.randint(2, min(6, sizes["steps_per_epoch"] // 2))
    if name in ("fixed-size", "truncated-poisson", "with-replacement"):
        sizes["records"] = int(math.exp(rng.uniform(math.log(20), math.log(50_000))))
        sizes["batch_size"] = max(int(sizes["records"] * math.exp(rng.uniform(math.log(1e-3), math.log(0.5)))), 1)
    if name == "truncated-poisson":
        sizes["limit"] = min(int(sizes["batch_size"] * rng.uniform(0.8, 2)) + 1, sizes["records"] - 1)
    if name in ("poisson", "group"):
        rate = Fraction(f"{math.exp(rng.uniform(math.log(1e-3), math.log(0.6))):.3g}")
        sizes["group_size"] = 1 if name == "poisson" else rng.randint(2, 12)
    uses = 1 if rng.random() < 0.2 else uses
    batches = draw_batches(_NAMES.get(name, name), neighbors, **sizes)
    event = make_event("gaussian", {"noise_multiplier": sigma}, sampling_probability=rate, count=uses, batches=batches)
    return event, Fraction(f"{math.exp(rng.uniform(math.log(0.01), math.log(6))):.3g}"), rng.choice(list(Direction))


def mixture(*parts: tuple[float, float]) -> Law:
    """Return a mixture of normal laws by (weight, shift)."""
    return np.array([shift for _, shift in parts]), np.array([weight for weight, _ in parts])


def masses(law: Law, ends: Array) -> Array:
    """Return what a mixture of normal laws gives to cells."""
    total = sum(w * np.where(ends < s, ndtr(ends - s), 0) for s, w in zip(*law, strict=True))
    above = sum(w * np.where(ends < s, 0, ndtr(s - ends)) for s, w in zip(*law, strict=True))
    full = sum(w * (ends >= s) for s, w in zip(*law, strict=True))
    return np.maximum(np.diff(total) + np.diff(full) - np.diff(above), 0.0)


def compose(loss: Array, first: Array, epsilon: float, uses: int) -> float:
    """Return δ at epsilon of so many independent losses with these masses."""
    keep = first > 0
    loss, first = loss[keep], first[keep]
    if uses == 1:
        return float(np.sum(first * np.maximum(-np.expm1(epsilon - loss), 0)))
    order = np.argsort(loss)
    loss, first = loss[order], first[order]
    # the high end by sums that begin there: in sums that begin below it is lost in roundings, and with it sums of great losses
    low, high = float(loss[np.searchsorted(np.cumsum(first), 1e-15)]), float(loss[-1 - np.searchsorted(np.cumsum(first[::-1]), _RARE)])
    mean = float(np.sum(first * np.clip(loss, low, high)))
    spread = math.sqrt(float(np.sum(first * (np.clip(loss, low, high) - mean) ** 2)) * uses)
    top = max(mean * uses + 9 * spread + (high - mean), epsilon + 1)
    bottom = min(mean * uses - 9 * spread + (low - mean), epsilon - 1)
    h = (top - bottom) * 1.2 / _STEPS
    at = np.clip(loss, low, high) / h
    floor = np.floor(at)
    share = at - floor
    cells = np.zeros(_STEPS)
    for places, weight in ((floor, 1 - share), (floor + 1, share)):
        np.add.at(cells, places.astype(int) % _STEPS, first * weight)
    whole = np.fft.irfft(np.fft.rfft(cells) ** uses, _STEPS)
    start = math.floor(bottom / h) - _STEPS // 16
    places = start + (np.arange(_STEPS) - start) % _STEPS
    return float(np.sum(np.maximum(whole, 0) * np.maximum(-np.expm1(epsilon - places * h), 0)))


def of_densities(first: Law, second: Law, epsilon: float, uses: int) -> float:
    """Return δ of a pair of mixtures on the line."""
    shifts = np.concatenate([first[0], second[0]])
    ends = np.linspace(shifts.min() - 11, shifts.max() + 11, _CELLS + 1)
    middle = (ends[1:] + ends[:-1]) / 2

    def log_density(law: Law) -> Array:
        terms = [np.log(w) - (middle - s) ** 2 / 2 for s, w in zip(*law, strict=True) if w > 0]
        return np.logaddexp.reduce(np.array(terms), axis=0)

    return compose(log_density(first) - log_density(second), masses(first, ends), epsilon, uses)


def of_supremum(curve: Callable[[Array], Array], epsilon: float, uses: int) -> float:
    """Return δ of the pair whose curve is given as D(α): masses by second differences on a fine lattice of losses."""
    if uses == 1:
        return float(curve(np.array([math.exp(epsilon)]))[0])
    losses = np.concatenate([-np.geomspace(40, 1e-4, 30_000), np.geomspace(1e-4, 40, 30_000)])
    alphas = np.exp(losses)
    values = curve(alphas)
    slopes = np.concatenate([[-(1 - values[0]) / alphas[0]], np.diff(values) / np.diff(alphas), [0.0]])
    return compose(losses, np.maximum(np.diff(slopes), 0) * alphas, epsilon, uses)


def normal_curve(shift: float) -> Callable[[Array], Array]:
    """Return the curve of N(shift) against N(0)."""

    def curve(a: Array) -> Array:
        z = np.log(np.maximum(a, 1e-300)) / shift - shift / 2
        return np.asarray(np.where(a > 0, ndtr(-z) - a * ndtr(-z - shift), 1 - a))

    return curve


def mirrored(curve: Callable[[Array], Array], back: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return a curve from 1 on, and below 1 that of the exchanged laws by another one."""
    return lambda a: np.where(a >= 1, curve(np.maximum(a, 1)), 1 - a + a * back(np.maximum(1 / a, 1)))


def of_allocation(mu: float, steps: int, epsilon: float, uses: int, *, remove: bool) -> float:
    """Return δ of epochs of random allocation: sums of likelihood ratios on a linear lattice, whose law under P is f times that under Q."""
    most = math.exp(min(mu * 7.2, 60.0))
    top = min(steps + most + 12 * math.sqrt(steps * math.expm1(mu * mu)), 40.0 * steps + 4 * most)
    top, size = top if remove else min(top, 6.0 * steps + 40), 1 << 21  # what is large is next to nothing for a record that comes
    h = top * 1.05 / size
    ends = np.concatenate([[0.0], np.geomspace(1e-12, top, 400_000)])
    z = np.log(np.maximum(ends, 1e-300)) / mu + mu / 2
    mass, mean = (np.where(x[1:] < 0, np.diff(ndtr(x)), -np.diff(ndtr(-x))) for x in (z, z - mu))  # of tails that are small
    inside = mass > 0
    at = mean[inside] / mass[inside] / h
    floor = np.floor(at)
    cells = np.zeros(size)
    for places, weight in ((floor, 1 - (at - floor)), (floor + 1, at - floor)):
        np.add.at(cells, np.minimum(places.astype(int), size - 1), mass[inside] * weight)
    law = np.maximum(np.fft.irfft(np.fft.rfft(cells) ** steps, size), 0)
    law[law < 1e-18] = 0  # roundings of the transform
    f = np.arange(size) * h / steps
    if remove:
        first, loss = law * f, np.log(np.maximum(f, 1e-300))
        return compose(loss[1:], first[1:], epsilon, uses)
    return compose(-np.log(np.maximum(f[1:], 1e-300)), law[1:], epsilon, uses)


def of_replacement(mu: float, steps: int, epsilon: float) -> float:
    """Return δ of an epoch of random allocation where a record is replaced: sums of l - exp(ε) l', whose mean part above 0 it is."""
    a, size = math.exp(epsilon), 1 << 21
    z = np.linspace(-9, 9 + mu, 400_001)
    mass = np.where(z[1:] < 0, np.diff(ndtr(z)), -np.diff(ndtr(-z)))
    first, second = (np.where(x[1:] < 0, np.diff(ndtr(x)), -np.diff(ndtr(-x))) for x in (z - mu, z + mu))
    inside = mass > 0
    x = (first[inside] - a * second[inside]) / mass[inside]
    most = math.exp(min(mu * 6.5, 60.0) + mu * mu / 2)
    spread = math.sqrt(steps * (math.exp(mu * mu) * (1 + a * a) - 2 * a * math.exp(-mu * mu) - (1 - a) ** 2))
    least = -(steps * (a - 1) + 12 * spread + 20 * a)  # a term as low as that leaves no sum above 0; several of them do not go round
    low, high = -steps * (a - 1) - 12 * spread + 4 * least, 12 * spread + most
    h = (high - low) * 1.1 / size
    at = np.clip(x, least, most) / h
    floor = np.floor(at)
    cells = np.zeros(size)
    for places, weight in ((floor, 1 - (at - floor)), (floor + 1, at - floor)):
        np.add.at(cells, places.astype(int) % size, mass[inside] * weight)
    law = np.maximum(np.fft.irfft(np.fft.rfft(cells) ** steps, size), 0)
    law[law < 1e-18] = 0  # roundings of the transform
    start = math.floor(low / h) - size // 32
    sums = (start + (np.arange(size) - start) % size) * h
    return float(np.sum(law * np.maximum(sums, 0)) / steps)


def find_truth(event: Event, epsilon: float, direction: Direction) -> tuple[float, float]:
    """Return δ that is realised by some data, and δ that nothing exceeds."""
    batches = event.batches
    if batches is None:
        raise ValueError("an event without batches")
    mu, kind, neighbors, uses = 1 / float(event["noise_multiplier"]), batches.sampling.value, batches.neighbors.value, event.count
    remove, size, q = direction is Direction.REMOVE, dict(batches.sizes), float(event.sampling_probability)

    def pair(first: Law, second: Law) -> float:
        one, other = (first, second) if remove else (second, first)
        return of_densities(one, other, epsilon, uses)

    def both(value: float) -> tuple[float, float]:
        return value, value

    def group(k: int, rate: float, by: float) -> Law:
        weights = binom.pmf(np.arange(k + 1), k, rate)
        keep = weights > 1e-20
        return np.arange(k + 1)[keep] * by, weights[keep]

    at_zero = mixture((1.0, 0.0))
    if kind == "none":
        return both(of_densities(mixture((1.0, 2 * mu)), at_zero, epsilon, uses))
    if kind == "random-allocation" and neighbors == "replace-one":
        return both(of_replacement(mu, size["steps_per_epoch"], epsilon))
    if kind == "random-allocation" and (often := size.get("participations", 1)) > 1:
        summed = float(normal_curve(mu * often * math.sqrt(uses / size["steps_per_epoch"]))(np.array([math.exp(epsilon)]))[0])
        return summed, of_allocation(mu, size["steps_per_epoch"] // often, epsilon, uses * often, remove=remove)
    if kind == "random-allocation":
        return both(of_allocation(mu, size["steps_per_epoch"], epsilon, uses, remove=remove))
    if kind == "poisson":
        first = group(size["group_size"], q, mu)
        return both(pair(first, (-first[0], first[1]) if neighbors == "replace-one" else at_zero))
    if kind == "with-replacement":
        first = group(size["batch_size"], 1 / size["records"], 2 * mu)
        if neighbors == "add-remove":
            return both(pair(first, at_zero))
        rest = (1 - 1 / size["records"]) ** size["batch_size"]

        def curve(a: Array) -> Array:
            there = (a - rest) / (1 - rest)
            return np.asarray(sum(w * normal_curve(float(s))(there) for s, w in zip(*first, strict=True) if s > 0))

        return of_densities(first, at_zero, epsilon, uses), of_supremum(mirrored(curve, curve), epsilon, uses)
    if kind == "shuffle":
        return _shuffled(mu, neighbors, size["steps_per_epoch"], epsilon, remove=remove)
    if kind == "fixed-size":
        if neighbors == "add-remove":
            return both(pair(mixture((1 - q, 0.0), (q, 2 * mu)), at_zero))
        return _fixed(mu, q, neighbors, epsilon, uses, remove=remove)
    return _truncated(mu, q, neighbors, size, epsilon, uses, pair, remove=remove)


def _curves(mu: float, q: float, neighbors: str, *, remove: bool) -> Callable[[Array], Array]:
    """Return the supremum of one fixed-size step."""

    def of(first: Law, second: Law) -> Callable[[Array], Array]:
        ends = np.linspace(-12 - mu, 12 + 2 * mu, 6001)
        p, r = masses(first, ends), masses(second, ends)
        return lambda a: np.array([float(np.sum(np.maximum(p - x * r, 0))) for x in np.atleast_1d(a)])

    plain = mixture((1.0, 0.0))
    if neighbors == "add-remove":
        first = mixture((1 - q, 0.0), (q, 2 * mu))
        return of(first, plain) if remove else of(plain, first)
    if neighbors == "replace-one":
        one = normal_curve(2 * mu)
        above = lambda a: q * one(1 + (a - 1) / q)  # noqa: E731
        return mirrored(above, above)
    going = of(mixture((1 - q, 0.0), (q, mu)), plain)
    emptied = of(mixture((1 - q, -mu), (q, mu)), mixture((1 - q, -mu), (q, 0.0)))
    return mirrored(emptied, going) if remove else mirrored(going, emptied)


def _fixed(mu: float, q: float, neighbors: str, epsilon: float, uses: int, *, remove: bool) -> tuple[float, float]:
    below = of_densities(mixture((1 - q, 0.0), (q, (2 if neighbors == "replace-one" else 1) * mu)), mixture((1.0, 0.0)), epsilon, uses)
    if neighbors == "zero-out" and remove:
        below = of_densities(mixture((1 - q, -mu), (q, mu)), mixture((1 - q, -mu), (q, 0.0)), epsilon, uses)
    return below, (of_supremum(_curves(mu, q, neighbors, remove=remove), epsilon, uses) if uses == 1 or neighbors == "replace-one" else 1.0)


def _truncated(
    mu: float, q: float, neighbors: str, size: dict[str, int], epsilon: float, uses: int, pair: Callable[[Law, Law], float], *, remove: bool
) -> tuple[float, float]:
    n, limit = size["records"], size["limit"]
    full, over = float(binom.sf(limit - 1, n - 1, q)), float(binom.sf(limit, n, q)) * limit / n
    first = mixture((1 - (q * (1 - full) + over), 0.0), (q * (1 - full) + over, mu))
    below = pair(first, (-first[0], first[1]) if neighbors == "replace-one" else mixture((1.0, 0.0)))
    if uses > 1 or not full:
        return below, 1.0
    plain = mixture((1 - q, 0.0), (q, mu))
    one = pair(plain, (-plain[0], plain[1]) if neighbors == "replace-one" else mixture((1.0, 0.0)))
    other = float(_curves(mu, min(over / full, 1.0), neighbors, remove=remove)(np.array([math.exp(epsilon)]))[0])
    return below, (1 - full) * one + full * other


def _shuffled(mu: float, neighbors: str, steps: int, epsilon: float, *, remove: bool) -> tuple[float, float]:
    high, low, whole = {"zero-out": (2, 1, 1.0), "replace-one": (2, 0, 2.0), "add-remove": (1, 0, math.sqrt(5))}[neighbors]
    y = np.linspace(-12, 12 + 2 * mu, 200_001)
    shifts = (high, low) if remove or neighbors == "replace-one" else (low, high)
    logs = [log_ndtr(y - s * mu) + (steps - 1) * log_ndtr(y) for s in shifts]
    gaps = [tail(logs[0]) - math.exp(epsilon) * tail(logs[1]) for tail in (np.exp, lambda x: -np.expm1(x))]
    return max(float(np.max(gap)) for gap in gaps), float(normal_curve(whole * mu)(np.array([math.exp(epsilon)]))[0])


def examine(rng: random.Random) -> dict[str, Any]:
    """Return what was found about a setting."""
    event, epsilon, direction = draw(rng)
    whole = Composition("a setting", (event,))
    result: dict[str, Any] = {"event": event.describe(), "epsilon": float(epsilon), "direction": direction.value, "wrong": []}
    realised, most = find_truth(event, float(epsilon), direction)
    result["truth"] = [realised, most]
    scheme = event.batches.sampling.value if event.batches is not None else ""
    result["scheme"] = scheme
    if realised < 1e-8:
        return result | {"left": "delta is too small for this method"}
    start = time.process_time()
    try:
        ends = bound_delta(whole, epsilon, direction, gap=Fraction(1, 3))
    except PDPError as problem:
        return result | {"refused": type(problem).__name__}
    result |= {"lower": float(ends.lower), "upper": float(ends.upper), "seconds": round(time.process_time() - start, 2)}
    if float(ends.upper) < realised * (1 - _TOLERANCE) - _LITTLE:
        result["wrong"].append("the upper end is below what some data lose")
    if most < 1 and float(ends.lower) > most * (1 + _TOLERANCE) + _LITTLE:
        result["wrong"].append("the lower end is above what any data lose")
    if float(ends.lower) > realised * (1 + _TOLERANCE) + _LITTLE and scheme != "shuffle":
        result["wrong"].append("the lower end is above what the data that it names lose")
    if most < 1 and float(ends.upper) < most * (1 - _TOLERANCE) - _LITTLE:
        result["wrong"].append("the upper end is below the supremum that is proved")
    if ends.claims and rng.random() < 0.1:
        report = check(json.dumps(make_certificate(whole, ends.claims)))
        result["checked"] = report.accepted
        if not report.accepted:
            result["wrong"].append(f"the kernel rejects the certificate: {report.reason}")
    return result


def main(arguments: list[str]) -> int:
    """Run the sweep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("settings", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time; call again to go on")
    options = parser.parse_args(arguments)
    results = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out and options.out.exists() else []
    done, start = {result["setting"] for result in results}, time.monotonic()
    for number in range(options.settings):
        name = f"{options.seed}:{number}"
        if name in done or time.monotonic() - start > options.seconds:
            continue
        result = {"setting": name, **examine(random.Random(name))}
        results.append(result)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(result) + "\n")
        if result["wrong"]:
            print(result, file=sys.stderr, flush=True)  # noqa: T201
    told = [result for result in results if "upper" in result]
    wrong = [result for result in results if result["wrong"]]
    kinds = Counter(result["scheme"] for result in told)
    print(f"{len(results)} settings, {len(told)} judged at both ends; {sum('checked' in r for r in results)} certificates checked")  # noqa: T201
    print(f"refused {Counter(r['refused'] for r in results if 'refused' in r)}; schemes {dict(kinds)}; contradictions: {len(wrong)}")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
