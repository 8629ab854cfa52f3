"""Many random settings: δ(ε*) ≤ δ* of weights under Gaussian noise, evaluated from the definition, with nothing of the package.

``python -m tests.weights.gaussian.survey --settings 100000`` prints counts, and fails where one is above its target. One step: both
directions in balls of 200 bits, for the very binary64 (q, w) that tables give, and for the weights of single records. Several steps: the
kernel's upper bound on grids that are 10 to 1,000 times as fine.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from accountant.curves.events import Direction
from accountant.selection.shifts import prepare_shifts
from accountant.weights.fast.domain import as_columns
from accountant.weights.gaussian.many_steps import bound_steps, compose_pair
from accountant.weights.gaussian.one_step import OneStep, find_crossing
from accountant.weights.gaussian.premise import GaussianTarget, prove_gaussian, tabulate_weights
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
    table = tabulate_weights(premise := prove_gaussian(profile), GaussianTarget(epsilon, delta, 1), whole=scaled)
    scale = Fraction(float(table.rows[-1].mu) * math.exp(-rng.uniform(-1, 8))) if scaled else None
    reader = prepare_shifts(premise, table, scale)
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


def several(rng, rows):
    """Rows of tables for several steps, on a grid eight times as fine, in both directions."""
    epsilon, delta = Fraction(rng.choice(["0.3", "1", "3"])), Fraction(rng.choice(["1e-5", "1e-8", "1e-10"]))
    steps = rng.choice([2, 5, 20, 100])
    reach = largest(epsilon, delta, steps) * Fraction(rng.choice(["0.999", "0.5", "0.1"]))
    profile = declare("noisy sum", notion="gaussian", mu="w*z", record={"z": [reach * Fraction(9, 10), reach]})
    table = tabulate_weights(prove_gaussian(profile), GaussianTarget(epsilon, delta, steps))
    chosen = [table.rows[0], *rng.sample(table.rows[1:], min(rows - 1, len(table.rows) - 1))]
    faults = 0
    for row in chosen:
        for direction in Direction:
            step, pair = OneStep(epsilon, delta), compose_pair(row.mu, row.q, steps)
            # rows near w = 1 were certified on grids that are finer than the first one here
            faults += not any(bound_steps(pair, step, direction, Fraction(1, fine)).delta <= delta for fine in (500, 5_000, 50_000))
    return len(chosen), faults


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    shares = {"tables": (tabulated, 0.6, 400), "records": (single, 0.4, 100), "steps": (several, 0.0006, 3)}
    bad = 0
    for name, (check, share, size) in shares.items():
        done = faults = 0
        while done < options.settings * share:
            more, wrong = check(rng, size)
            done, faults = done + more, faults + wrong
        sys.stdout.write(f"{name}: {done} settings, {faults} above the target\n")
        sys.stdout.flush()
        bad += faults
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
