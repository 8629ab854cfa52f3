"""Many random settings: δ(ε*) ≤ δ* of weights under Gaussian noise, evaluated from the definition, with nothing of the package.

``python -m tests.weights.gaussian.survey --settings 100000`` prints counts, and fails where one is above its target. One step: both
directions in balls of 200 bits, for the very binary64 (q, w) that tables give, and for the weights of single records. Several steps,
likewise: both directions of an upper curve on a fine lattice of losses, by :func:`dominate`.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from scipy.special import ndtr

from accountant.columns.domain import as_columns
from accountant.selection.mu_lookup import prepare_shifts
from accountant.weights.gaussian.many_steps import find_weight
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from accountant.weights.gaussian.proved import prove_gaussian
from accountant.weights.gaussian.table import make_table
from accountant.weights.gaussian.target import GaussianTarget
from profiles import Infeasible, declare

BITS = 200


def number(value):
    return arb(value.numerator) / arb(value.denominator)


def above(x):
    return (x / arb(2).sqrt()).erfc() / 2


def deltas(q, mu, epsilon):
    """δ in both directions for N(0, 1) against (1 − q) N(0, 1) + q N(μ, 1), from where one law exceeds e^ε times the other."""
    growth = number(epsilon).exp()
    q, mu = number(q), number(mu)
    edge = ((growth - 1 + q) / q).log() / mu + mu / 2
    going = (1 - q) * above(edge) + q * above(edge - mu) - growth * above(edge)
    left = 1 / growth - (1 - q)
    if not left > 0:
        return going, arb(0)
    edge = (left / q).log() / mu + mu / 2
    return going, above(-edge) - growth * ((1 - q) * above(-edge) + q * above(mu - edge))


def exceeds(q, w, zeta, epsilon, delta):
    """Whether δ of a record that is kept with probability q and counts w times is not certainly at most its target."""
    if q == 0:
        return False
    before, ctx.prec = ctx.prec, BITS
    try:
        return not all(value <= number(delta) for value in deltas(Fraction(q), Fraction(w) * zeta, epsilon))
    finally:
        ctx.prec = before


def draw_target(rng):
    epsilon = Fraction(round(math.exp(rng.uniform(math.log(0.02), math.log(8))), 6)).limit_denominator(10**6)
    delta = Fraction(1, 10**15) if rng.random() < 0.05 else Fraction(f"{math.exp(rng.uniform(math.log(1e-15), math.log(0.05))):.5g}")
    return epsilon, delta


def largest(epsilon, delta, steps=1):
    """About the largest ζ that is feasible with w = 1, from below."""
    step, low, high = OneStep(epsilon, delta), -40.0, 6.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if step.is_feasible(Fraction(1), Fraction(math.exp(middle)), 96) else (low, middle)
    return Fraction(math.exp(low)) / (Fraction(math.isqrt(steps * 10**20) + 1, 10**10) if steps > 1 else 1)


def tabulated(rng, count):
    """Weights that a table gives to records: ζ from the largest one down to 1e-300, and 0."""
    epsilon, delta = draw_target(rng)
    top = largest(epsilon, delta)
    edge = rng.random() < 0.3
    reach = top if edge else top * Fraction(rng.uniform(0.02, 1)).limit_denominator(10**4)
    reach = Fraction(float(reach) * (1 - 1e-12))
    profile = declare("noisy sum", notion="gaussian", mu="w*z", record={"z": [0, reach]})
    scaled = rng.random() < 0.25
    table = make_table(proved := prove_gaussian(profile), GaussianTarget(epsilon, delta, 1), whole=scaled)
    scale = Fraction(float(table.rows[-1].mu) * math.exp(-rng.uniform(-1, 8))) if scaled else None
    reader = prepare_shifts(proved, table, scale)
    highest = float(reach)
    zetas = highest * np.exp(-np.array([rng.uniform(0, 12) for _ in range(count)]))
    zetas[: min(count, 4)] = (highest, np.nextafter(highest, 0.0), highest * 1e-300, 0.0)[:count]
    q, w, _ = reader.read(as_columns({"z": np.minimum(zetas, highest)}, ("z",)))
    faults = sum(
        exceeds(float(a), float(b), Fraction(float(z)), epsilon, delta) for a, b, z in zip(q, w, np.minimum(zetas, highest), strict=True)
    )
    pairs = [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(q, w, strict=True) if a]
    proper = bool(((q >= 0) & (q <= 1) & (w >= 1)).all()) and all(a * b <= 1 for a, b in pairs)
    return count, faults + (not proper)


def single(rng, count):
    """Weights of single records, to twelve digits, with the edges ζ = μ* and ζ → 0."""
    faults = 0
    for _ in range(count):
        epsilon, delta = draw_target(rng)
        share = 1 - 1e-12 if rng.random() < 0.05 else math.exp(-rng.uniform(0, 25))
        zeta = largest(epsilon, delta) * Fraction(share)
        try:
            found = find_crossing(OneStep(epsilon, delta), (zeta, zeta), 12)
        except Infeasible:
            continue
        if found.upper is not None:
            before, ctx.prec = ctx.prec, BITS
            faults += not all(value <= number(delta) for value in deltas(1 / found.lower, found.lower * zeta, epsilon))
            faults += not deltas(1 / found.upper, found.upper * zeta, epsilon)[0] > number(delta)
            ctx.prec = before
    return count, faults


def dominate(q, mu, steps, epsilon, cell):
    """Upper bounds of δ(ε) in both directions after some steps, but for rounding in binary64: about 1e-9 of themselves.

    Losses between two places of a lattice are split between these such that the masses under both laws are kept, which makes a pair that
    dominates the one in question; its T-fold convolution is a Fourier transform of the law tilted to ε.
    """
    low = math.log1p(-q) if q < 1 else -mu * mu / 2 - 9 * mu
    last = mu + 9.0 + mu  # of what is above, nothing is known: its loss is taken for infinite
    high = math.log1p(q * math.expm1(mu * last - mu * mu / 2)) if q < 1 else mu * last - mu * mu / 2
    loss = low + cell * np.arange(int((high - low) / cell) + 2)
    with np.errstate(divide="ignore", invalid="ignore"):  # of the first place, which is put in below
        x = (np.log(np.expm1(loss) + q) - math.log(q)) / mu + mu / 2 if q < 1 else loss / mu + mu / 2
    x[0] = -np.inf

    def mass(shift):
        return np.where(x[1:] > shift, ndtr(shift - x[:-1]) - ndtr(shift - x[1:]), ndtr(x[1:] - shift) - ndtr(x[:-1] - shift))

    without, with_it = mass(0.0), mass(mu)
    p = (1 - q) * without + q * with_it
    share = np.clip((p - without * np.exp(loss[:-1])) / np.where(p > 0, p, 1) / -np.expm1(-cell) * math.exp(-cell), 0, 1)
    under_p = np.zeros(len(loss))
    under_p[:-1] += p * (1 - share)
    under_p[1:] += p * share
    beyond = (1 - q) * ndtr(-x[-1]) + q * ndtr(mu - x[-1])
    under_q = under_p * np.exp(-loss)
    under_q[-1] += ndtr(-x[-1])
    return convolve(loss, under_p, steps, epsilon, cell) + steps * beyond, convolve(-loss[::-1], under_q[::-1], steps, epsilon, cell)


def convolve(loss, masses, steps, epsilon, cell):
    """δ(ε) of the sum of some losses on a lattice."""
    if steps * loss[-1] <= epsilon:
        return 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(masses)
    low, high = -10.0, 8.0
    for _ in range(50):
        tilt = math.exp((low + high) / 2)
        powers = logs + tilt * loss
        weights = np.exp(powers - powers.max())
        mean = weights @ loss / weights.sum()
        low, high = (math.log(tilt), high) if steps * mean - 1 / tilt < epsilon else (low, math.log(tilt))
    constant = powers.max() + math.log(weights.sum())
    weights /= weights.sum()
    spread = math.sqrt(steps * (weights @ (loss - mean) ** 2)) + 1 / tilt
    window = 2 ** math.ceil(math.log2((2 * (loss[-1] - loss[0]) + 24 * spread) / cell))
    summed = np.fft.irfft(np.fft.rfft(weights, window) ** steps, window)
    first = int((steps * (mean - loss[0]) - max(12 * spread, loss[-1] - loss[0])) / cell)
    excess = steps * loss[0] + cell * (first + np.arange(window)) - epsilon
    over = excess > 0
    found = np.roll(summed, -(first % window))[over] @ (np.exp(-tilt * excess[over]) * -np.expm1(-excess[over]))
    return found * math.exp(steps * constant - tilt * epsilon)


def is_above(q, w, zeta, steps, epsilon, delta, cells=(1e-3, 1e-4, 1e-5)):
    """Whether δ of a record after some steps is not shown to be at most its target."""
    if q == 0:
        return False
    mu = float(Fraction(w) * zeta)
    return not any(max(dominate(float(q), mu, steps, float(epsilon), cell)) <= float(delta) for cell in cells)


def several(rng, count):
    """Weights for several steps: of records that a table serves, and of one record alone."""
    epsilon = Fraction(round(math.exp(rng.uniform(math.log(0.1), math.log(6))), 4)).limit_denominator(10**4)
    delta = Fraction(f"{math.exp(rng.uniform(math.log(1e-12), math.log(1e-3))):.5g}")
    steps = round(math.exp(rng.uniform(math.log(2), math.log(2000))))
    reach = largest(epsilon, delta, steps) * Fraction(rng.choice(["0.999", "0.9", "0.5", "0.1", "0.01"]))
    reach = Fraction(float(f"{float(reach):.8g}")) * Fraction(999_999, 1_000_000)
    found = find_weight(OneStep(epsilon, delta), (reach, reach), steps, 6, "one record")
    faults = is_above(1 / found.weight, found.weight, reach, steps, epsilon, delta)
    profile = declare("noisy sum", notion="gaussian", mu="w*z", record={"z": [reach / 2, reach]})
    table = make_table(proved := prove_gaussian(profile), GaussianTarget(epsilon, delta, steps))
    zetas = np.array([float(reach) * (1 - rng.random() / 2) for _ in range(count - 1)])
    zetas = np.clip(zetas, np.nextafter(float(reach) / 2, 1.0), np.nextafter(float(reach), 0.0))
    q, w, _ = prepare_shifts(proved, table).read(as_columns({"z": zetas}, ("z",)))
    given = zip(q, w, zetas, strict=True)
    return count, faults + sum(is_above(a, float(b), Fraction(float(z)), steps, epsilon, delta) for a, b, z in given)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=100_000)
    parser.add_argument("--several", type=int, help="settings of several steps (default: a hundredth)")
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    many = options.settings // 100 if options.several is None else options.several
    work = {"tables": (tabulated, options.settings * 6 // 10, 400), "records": (single, options.settings * 4 // 10, 100)}
    bad = 0
    for name, (check, wanted, size) in (work | {"several steps": (several, many, 50)}).items():
        done = faults = 0
        while done < wanted:
            more, wrong = check(rng, size)
            done, faults = done + more, faults + wrong
            if name == "several steps":
                sys.stdout.write(f"{name}: {done} settings, {faults} above the target\n")
                sys.stdout.flush()
        sys.stdout.write(f"{name}: {done} settings, {faults} above the target\n")
        sys.stdout.flush()
        bad += faults
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
