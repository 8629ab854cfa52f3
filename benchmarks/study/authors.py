"""The authors' code beside ours on ijcnn1: noise scales, weights, ε, the noise it draws, speed, cost.

``--authors`` names a checkout of smair/personalized-privacy-amplification-via-importance-sampling whose extension module is importable;
``--authors-python`` the interpreter that has what it needs. It runs unchanged in a process of its own; both sides get one thread.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.special import betainc
from scipy.stats import expon, gamma, kstest

from accountant import optimal_weights, prove_convexity
from benchmarks.study import adapters
from benchmarks.study.data import load, read_ijcnn1
from benchmarks.study.kmeans import CLUSTERS, ITERATIONS
from benchmarks.study.store import Row, Task
from profiles import InvalidArgument

ROOT = Path(__file__).resolve().parents[2]
HOME, PYTHON = "PDP_AUTHORS_CODE", "PDP_AUTHORS_PYTHON"
NEEDED = ("kmeans.py", "optimal.py", "utils.py")
_BITS = 200


def find_code(folder: str | None) -> Path | None:
    """Return the checkout given, or named by $PDP_AUTHORS_CODE; None without one. Raises :class:`InvalidArgument` for another folder."""
    named = folder or os.environ.get(HOME)
    if not named:
        return None
    path = Path(named)
    missing = [name for name in NEEDED if not (path / name).is_file()]
    if missing:
        raise InvalidArgument(f"the authors' code was to be in {path}, but {', '.join(missing)} is not there; name its checkout")
    return path


def ask(request: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Put a request to the worker; return its answer and arrays. Raises :class:`InvalidArgument` with the last line of what it said."""
    code = os.environ[HOME]
    out = folder / "answer.npz"
    extra = os.environ.get("PYTHONPATH", "")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([code, *filter(None, [extra])]),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [os.environ.get(PYTHON, sys.executable), str(Path(__file__).parent / "workers" / "call_authors.py")]
    done = subprocess.run(
        command, input=json.dumps({**request, "out": str(out)}), env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise InvalidArgument(f"the authors' code failed: {(done.stderr.strip().splitlines() or ['no message'])[-1][:300]}; see its README")
    arrays = {}
    if out.exists():
        with np.load(out) as found:
            arrays = {name: found[name] for name in found.files}
    return json.loads(done.stdout), arrays


def run_preprocessing(_: Task) -> list[Row]:
    """Return whether both preprocessings give the same points."""
    raw, ours = read_ijcnn1(), load("ijcnn1")
    with tempfile.TemporaryDirectory() as name:
        _answer, arrays = ask({"ask": "preprocess", "points": _store(Path(name), raw)}, Path(name))
    theirs = arrays["points"]
    same = theirs.shape == ours.points.shape
    return [{"n": len(theirs), "same_shape": same, "largest_difference": float(np.abs(theirs - ours.points).max()) if same else math.nan}]


def run_weights(task: Task) -> list[Row]:
    """Return one row: their noise scales, weights and ε for (ε*, m), how many weights break the constraint and by how much, and ours."""
    data, key = load("ijcnn1"), task.key
    epsilon, size = key["epsilon"], key["m"]
    with tempfile.TemporaryDirectory() as name:
        request = {
            "ask": "calibrate", "points": _store(Path(name), data.points), "epsilon": epsilon, "m": size, "T": ITERATIONS,
            "repeats": key["repeats"],
        }  # fmt: skip
        answer, arrays = ask(request, Path(name))
    if "problem" in answer:
        return [{"problem": answer["problem"]}]
    theirs, weights = answer["constrained"], arrays["weights"]
    norms = np.linalg.norm(data.points, axis=1)
    broken, excess = judge_weights(norms, weights, theirs["beta_sum"], theirs["beta_count"], epsilon)
    scales = adapters.Scales(Fraction(theirs["beta_count"]), Fraction(theirs["beta_sum"]))
    profile = adapters.declare_lloyd(data.facts, scales, ITERATIONS)
    times, own = [], np.empty(0)
    for _ in range(key["repeats"]):
        start = time.perf_counter()
        own = optimal_weights(profile, epsilon, {"z": data.norms}, convexity=prove_convexity(profile, epsilon)).weights
        times.append(time.perf_counter() - start)
    own_broken, own_excess = judge_weights(data.norms, own, theirs["beta_sum"], theirs["beta_count"], epsilon)
    core = answer["coreset"]
    core_scales = adapters.Scales(Fraction(core["beta_count"]), Fraction(core["beta_sum"]))
    certified = adapters.certify_coreset(data.facts, core_scales, size, ITERATIONS)
    return [
        {
            "their_broken": broken, "their_excess": excess, "our_broken": own_broken, "our_excess": own_excess,
            "their_size": float(np.sum(1 / weights)), "our_size": float(np.sum(1 / own)),
            "largest_ratio": float(np.max(weights / own)), "least_ratio": float(np.min(weights / own)),
            "their_seconds": statistics.median(theirs["seconds"]), "our_seconds": statistics.median(times),
            "coreset_grid": core["grid"], "coreset_ends": core["ends"], "coreset_lower": certified.lower, "coreset_upper": certified.upper,
            "coreset_kernel": certified.kernel, "beta_sum": theirs["beta_sum"], "beta_count": theirs["beta_count"],
        }
    ]  # fmt: skip


def judge_weights(norms: np.ndarray, weights: np.ndarray, beta_sum: float, beta_count: float, epsilon: float) -> tuple[float, float]:
    """Return the share of weights with ψ(w) > ε* and the largest ψ(w) − ε*, a lower bound of it, both decided in ball arithmetic.

    All floats stand for their exact values. ψ > ε* iff ε(w) > log(1 + w(e^ε* − 1)).
    """
    old, ctx.prec = ctx.prec, _BITS
    try:
        target, rounds = arb(epsilon), arb(ITERATIONS)
        odds, count, total = target.expm1(), arb(1) / arb(beta_count), arb(beta_sum)
        broken, most = 0, -math.inf
        for z, w in zip(norms.tolist(), weights.tolist(), strict=True):
            weight = arb(w)
            loss = rounds * weight * (count + arb(z) / total)
            gap = loss - (odds * weight).log1p()
            if not (gap > 0 or gap < 0 or gap == 0):
                raise InvalidArgument(f"{_BITS} bits do not decide whether the weight {w} is feasible; raise them")
            broken += bool(gap > 0)
            above = (loss.expm1() / weight).log1p() - target
            most = max(most, float(above.lower()))
        return broken / len(weights), most
    finally:
        ctx.prec = old


def run_noise(task: Task) -> list[Row]:
    """Return one row: the radius of their sum noise against Gamma(d) and Gamma(1), and what an event says about its ε."""
    d, scale = task.key["d"], 1.0
    with tempfile.TemporaryDirectory() as name:
        _, arrays = ask({"ask": "noise", "d": d, "beta_sum": scale, "draws": task.key["draws"], "seed": 1}, Path(name))
    radii = np.linalg.norm(arrays["noise"], axis=1)
    return [
        {
            "mean_radius": float(radii.mean()), "gamma_mean": d * scale, "exponential_mean": scale,
            "p_gamma": float(kstest(radii, gamma(d).cdf).pvalue), "p_exponential": float(kstest(radii, expon.cdf).pvalue),
        }
    ]  # fmt: skip


def pole_event(dimension: int, shift: float, share: float) -> tuple[float, float]:
    """Return (P, L) for noise of Exp(1) radius and uniform direction: P = P[‖ζ‖ ≤ share·shift], and a lower bound L on the logarithm of P
    over the probability of the same ball around the true sum when the true sum is ``shift`` away.

    From there the ball is seen under the half-angle arcsin(share), so that its probability is at most the share of that cap times the
    probability of a radius between (1 − share)·shift and (1 + share)·shift. L bounds the ε of one noisy sum from below.
    """
    near = -math.expm1(-share * shift)
    cap = 0.5 * float(betainc((dimension - 1) / 2, 0.5, share**2))
    far = cap * (math.exp(-(1 - share) * shift) - math.exp(-(1 + share) * shift))
    return near, math.log(near / far)


def run_pole(task: Task) -> list[Row]:
    """Return one row for an ε* of DP-Lloyd on all points of ijcnn1: the claimed loss of one noisy sum and that of an event."""
    data, epsilon = load("ijcnn1"), task.key["epsilon"]
    ratio = adapters.RATIOS["published"](data.facts)
    scales, _ = adapters.calibrate("full", data.facts, data.norms, 0, epsilon, ratio=ratio, iterations=ITERATIONS)
    shift = float(data.facts.radius) / float(scales.sum)
    rows = []
    for share in (0.5, 0.1, 0.01):
        probability, loss = pole_event(data.facts.dimension, shift, share)
        rows.append({"share": share, "claimed": shift, "probability": probability, "loss": loss})
    return rows


def run_speed(task: Task) -> list[Row]:
    """Return one row for each run: seconds of DP-Lloyd, theirs and ours, on the same sample, first centres and noise scales; costs."""
    key, data = task.key, load("ijcnn1")
    ratio = adapters.RATIOS["published"](data.facts)
    size, method, epsilon = key["m"], key["method"], key["epsilon"]
    found = adapters.select(method, data.facts, data.norms, size, epsilon, ratio=ratio, iterations=ITERATIONS)
    samples: dict[str, np.ndarray] = {}
    for seed in range(key["runs"]):
        rng = np.random.default_rng([seed, 5])
        rows = np.flatnonzero(rng.random(len(data.points)) < found.probabilities)
        samples |= {f"rows{seed}": rows, f"weights{seed}": found.weights[rows]}
        samples[f"centres{seed}"] = data.points[rows][rng.choice(len(rows), CLUSTERS, replace=False)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.savez(folder / "samples.npz", **samples)
        request = {
            "ask": "lloyd", "points": _store(folder, data.points), "samples": str(folder / "samples.npz"), "runs": key["runs"],
            "T": ITERATIONS, "beta_sum": float(found.scales.sum), "beta_count": float(found.scales.count),
        }  # fmt: skip
        answer, arrays = ask(request, folder)
    result = []
    for seed in range(key["runs"]):
        points, weights = data.points[samples[f"rows{seed}"]], samples[f"weights{seed}"]
        row: Row = {"seed": seed, "sampled": len(points), "their_seconds": answer["seconds"][seed]}
        row["their_cost"] = adapters.mean_cost(data.points, arrays["centres"][seed])
        for law in ("exponential", "gamma"):
            noise = adapters.draw_noise(np.random.default_rng([seed, 6]), found.scales, (ITERATIONS, CLUSTERS, data.facts.dimension), law)
            start = time.perf_counter()
            centres = adapters.run_lloyd(points, weights, samples[f"centres{seed}"], noise, least_count=None, ball=None)
            row |= {"our_seconds": time.perf_counter() - start, f"our_{law}_cost": adapters.mean_cost(data.points, centres)}
        result.append(row)
    return result


def _store(folder: Path, points: np.ndarray) -> str:
    np.save(folder / "points.npy", points)
    return str(folder / "points.npy")


def make_tasks(*, quick: bool) -> list[Task]:
    """Return the tasks of the comparison."""
    pairs = (
        [(3.0, 10_000), (100.0, 10_000)] if quick else [(e, m) for m in (5_000, 10_000, 15_000) for e in (1.0, 3.0, 10.0, 100.0, 1000.0)]
    )
    tasks = [Task("authors-preprocessing", {"dataset": "ijcnn1"})]
    tasks += [Task("authors-weights", {"epsilon": e, "m": m, "repeats": 3 if quick else 7}) for e, m in pairs]
    tasks += [Task("authors-noise", {"d": d, "draws": 2_000}) for d in (1, 2, 22)]
    tasks += [Task("authors-pole", {"epsilon": e}) for e in (0.5, 3.0, 100.0)]
    runs = 2 if quick else 10
    tasks += [
        Task("authors-lloyd", {"method": method, "epsilon": e, "m": m, "runs": count})
        for e in (3.0, 100.0)
        for method, m, count in (("uniform", 10_000, runs), ("coreset", 10_000, runs), ("constrained", 10_000, runs), ("full", 0, 2))
    ]
    return tasks
