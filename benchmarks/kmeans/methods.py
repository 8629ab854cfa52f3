"""What is compared: each from records and seeds to centres. Only those of peers need environments of their own."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from accountant import DPLloyd
from accountant.applications.budget.records import Domain, PrivateRecords
from accountant.applications.budget.rows import ArrayRows
from accountant.applications.budget.spending import Spending, open_law
from accountant.applications.kmeans.method import find_centres
from accountant.applications.kmeans.statistics import NAMES, Public, release_statistics
from benchmarks.kmeans.data import Data
from profiles import InvalidArgument
from profiles.arrays import Floats
from profiles.mechanisms.ball import project_records
from profiles.randomness.bits import open_bits

#: Where the environments of peers are.
PEERS = "PDP_KMEANS_PEERS"
DELTA = 1e-6
_WORKERS = Path(__file__).parent / "workers"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Centres of one run, shape (k, d), in the coordinates of the data; seconds of processor time; Q where one was computed."""

    centres: Floats
    seconds: float
    signal: float | None = None


Method = Callable[[Data, int, str, Sequence[int]], list[Outcome]]


def run_private(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Ours with nothing public but the ball: what ``DPKMeans(method="auto")`` runs, without the certificate of each run."""
    return [_fit(data, Public(frozenset()), Fraction(data.radius), clusters, epsilon, None, seed) for seed in seeds]


def run_public(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Ours with everything public: number, mean, spread and the largest norm."""
    radius = _about_mean(data)[1]
    return [_fit(_moved(data), Public(frozenset(NAMES)), Fraction(radius), clusters, epsilon, None, seed) for seed in seeds]


def run_normal(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Ours with nothing public but the ball, (ε, 10⁻⁶) with normal noise."""
    return [_fit(data, Public(frozenset()), Fraction(data.radius), clusters, epsilon, "1e-6", seed) for seed in seeds]


def _fit(data: Data, public: Public, radius: Fraction, clusters: int, epsilon: str, delta: str | None, seed: int) -> Outcome:
    start = time.process_time()
    bits = open_bits(np.random.default_rng([21, seed]))
    rows = ArrayRows(data.points)
    records = PrivateRecords(rows, Domain(data.center, radius), Spending(open_law(epsilon, delta)), bits)
    statistics = release_statistics(records, rows, clusters, public, alone=True)
    found = find_centres(records, clusters, np.random.default_rng([22, seed]))
    centres = project_records(found.centres + (statistics.mean - data.center), 2, radius) + data.center
    return Outcome(centres, time.process_time() - start, float(str(found.choices["signal"])))


def run_mean(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """One private mean, with all of ε but what the number of records costs: the noisy sum over the noisy count, shrunk like ours."""
    del clusters
    found = []
    for seed in seeds:
        start = time.process_time()
        rows = ArrayRows(data.points)
        spending = Spending(open_law(epsilon, None))
        records = PrivateRecords(rows, Domain(data.center, Fraction(data.radius)), spending, open_bits(np.random.default_rng([21, seed])))
        count = max(1.0, records.count(spending.law.budget / 50))
        total, charge = records.add_up(spending.left)
        noise = records.energy_of(charge, len(total)) / count**2
        moved = project_records(total[np.newaxis] / count, 2, Fraction(data.radius))[0]
        square = float(moved @ moved)
        kept = max(0.0, 1 - noise / square) if square > 0 else 1.0
        found.append(Outcome((kept * moved + data.center)[np.newaxis], time.process_time() - start))
    return found


def run_lloyd(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """``DPLloyd`` with its defaults, everything public: ten rounds from a packing of the ball."""
    mean, radius = _about_mean(data)
    found = []
    for seed in seeds:
        start = time.process_time()
        model = DPLloyd(clusters, epsilon=epsilon, radius=radius, outside="project", random_state=seed).fit(data.points - mean)
        found.append(Outcome(model.cluster_centers_ + mean, time.process_time() - start))
    return found


def run_kmeans(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """k-means++ without privacy: scikit-learn with its defaults."""
    del epsilon
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            start = time.process_time()
            model = KMeans(clusters, random_state=seed).fit(data.points)
            found.append(Outcome(model.cluster_centers_, time.process_time() - start))
    return found


def run_centre(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """One centre at the true mean."""
    del clusters, epsilon
    return [Outcome(data.points.mean(axis=0, keepdims=True), 0.0) for _ in seeds[:1]]


def run_diffprivlib(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Diffprivlib as it is, with the true least and largest values as public bounds."""
    return _ask_diffprivlib(data, clusters, epsilon, seeds, charged=False)


def run_charged(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Diffprivlib with its charge put right: see the worker."""
    return _ask_diffprivlib(data, clusters, epsilon, seeds, charged=True)


def _ask_diffprivlib(data: Data, clusters: int, epsilon: str, seeds: Sequence[int], *, charged: bool) -> list[Outcome]:
    points = data.points
    given = {"points": points, "low": points.min(axis=0), "high": points.max(axis=0), "epsilon": float(epsilon), "charged": charged}
    return _ask("diffprivlib", clusters, seeds, given)


def run_google(data: Data, clusters: int, epsilon: str, seeds: Sequence[int]) -> list[Outcome]:
    """Google's clustering, (ε, 10⁻⁶), about the true mean, with the smaller of the largest norm and 2 rms as radius."""
    mean, radius = _about_mean(data)
    given = {"points": data.points - mean, "radius": float(radius), "epsilon": float(epsilon), "delta": DELTA}
    folder = str(peers_folder() / "google" / "learning")
    return [Outcome(one.centres + mean, one.seconds) for one in _ask("google", clusters, seeds, given, folder)]


def peers_folder() -> Path:
    """Return the folder of the peers, one that is not there where none is named."""
    return Path(os.environ.get(PEERS, "no-peers"))


def is_here(name: str) -> bool:
    """Tell whether what a method needs is here."""
    peer = "diffprivlib" if name.startswith("diffprivlib") else name
    if peer not in ("diffprivlib", "google"):
        return True
    return (peers_folder() / peer / "bin" / "python").exists() and (peer != "google" or (peers_folder() / peer / "learning").exists())


def _ask(peer: str, clusters: int, seeds: Sequence[int], given: dict[str, object], *more: str) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        ask, answer = Path(folder) / "ask.npz", Path(folder) / "answer.npz"
        arrays = {name: np.asarray(value) for name, value in given.items()}
        np.savez(ask, clusters=np.asarray(clusters), seeds=np.asarray(seeds), **arrays)
        worker = _WORKERS / f"ask_{peer}.py"
        command = [str(peers_folder() / peer / "bin" / "python"), str(worker), str(ask), str(answer), *more]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InvalidArgument(f"{peer} was asked for centres, but it failed ({done.stderr.strip()[-300:]}); see its environment")
        with np.load(answer) as found:
            return [Outcome(centres, float(seconds)) for centres, seconds in zip(found["centres"], found["seconds"], strict=True)]


def _about_mean(data: Data) -> tuple[Floats, str]:
    """Return the true mean, and the smaller of the largest distance from it and 2 rms, as public numbers."""
    mean = data.points.mean(axis=0)
    squares = np.square(data.points - mean).sum(axis=1)
    return mean, f"{min(squares.max(), 4 * squares.mean()) ** 0.5 * (1 + 1e-6):.9g}"


def _moved(data: Data) -> Data:
    """Return the data with the true mean as the center of the ball."""
    return Data(data.points, data.points.mean(axis=0), data.radius)


METHODS: dict[str, Method] = {
    "k-means++": run_kmeans,
    "mean": run_centre,
    "ours": run_private,
    "ours, public": run_public,
    "ours, δ": run_normal,
    "private mean": run_mean,
    "DPLloyd": run_lloyd,
    "diffprivlib": run_diffprivlib,
    "diffprivlib, charged": run_charged,
    "google": run_google,
}
#: These know no ε.
WITHOUT_NOISE = ("k-means++", "mean")
