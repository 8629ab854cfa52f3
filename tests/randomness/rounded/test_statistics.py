"""Released numbers against the exact laws of their cells (χ² tests), moments against theory, and sources that must not repeat themselves.

Seeds are fixed. A χ² test fails by chance with probability 10⁻⁶ for a new seed, a moment is allowed 6 standard errors (2·10⁻⁹, by the
normal approximation): with 80 tests at most one in 10⁴ changes of the stream of words turns something red that is right.
"""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from profiles.randomness import open_bits
from profiles.randomness.rounded import EUCLIDEAN, EXPONENTIAL, LAPLACE, MAXIMUM, NORMAL, Grid, NoiseLaw, draw_rounded
from profiles.randomness.rounded.rounding import Precision, draw_rounded_integers
from tests.randomness.rounded import exact_laws
from tests.randomness.rounded.enumeration import make_grid

RATIOS = [Fraction(1, 2), Fraction(3), Fraction(17, 5)]
ONE = {
    "laplace": (LAPLACE, exact_laws.laplace), "euclidean": (EUCLIDEAN, exact_laws.laplace), "maximum": (MAXIMUM, exact_laws.laplace),
    "exponential": (EXPONENTIAL, exact_laws.exponential), "normal": (NORMAL, exact_laws.normal),
}  # fmt: skip


def draw(law: NoiseLaw, ratio: Fraction, totals: tuple[int, ...], size: int, seed: int, widen: float = 1.0) -> np.ndarray:
    rows = np.broadcast_to(np.array(totals, dtype=np.int64), (size, len(totals)))
    return np.asarray(draw_rounded_integers(rows, law, make_grid(ratio), open_bits(seed), precision=Precision(widen=widen)))


def accept(counts: np.ndarray, chances: np.ndarray) -> None:
    """χ² of counts against probabilities, cells of few expected draws put together; the rest is a cell of its own."""
    size = counts.sum()
    rest = max(0.0, 1 - chances.sum())
    order = np.argsort(chances)[::-1]
    large = order[chances[order] * size >= 10]
    found = np.append(counts[large], size - counts[large].sum())
    expected = np.append(chances[large], max(1e-300, rest + chances.sum() - chances[large].sum())) * size
    if expected[-1] < 10:
        found = np.append(found[:-2], found[-2:].sum())
        expected = np.append(expected[:-2], expected[-2:].sum())
    assert stats.chisquare(found, expected * (found.sum() / expected.sum())).pvalue > 1e-6


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@pytest.mark.parametrize("total", [0, 3])
@pytest.mark.parametrize("name", ONE)
def test_released_numbers_have_the_law_of_their_cells(name: str, total: int, ratio: Fraction) -> None:
    law, distribution = ONE[name]
    size = 200_000
    found = draw(law, ratio, (total,), size, seed=20_261_122)[:, 0]
    most = int(40 * ratio) + 40
    outputs = np.arange(-most, most + 1)
    chances = np.array([float(exact_laws.cell(distribution, ratio, Fraction(total, 8), int(k)).mid()) for k in outputs])
    assert np.abs(found).max() <= most
    accept(np.bincount(found + most, minlength=outputs.size), chances)


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_released_numbers_have_the_law_of_their_cells_many(name: str, ratio: Fraction) -> None:
    law, distribution = ONE[name]
    size, most = 10**7, int(60 * ratio) + 40
    found = draw(law, ratio, (3,), size, seed=5)[:, 0]
    chances = np.array([float(exact_laws.cell(distribution, ratio, Fraction(3, 8), int(k)).mid()) for k in range(-most, most + 1)])
    accept(np.bincount(found + most, minlength=2 * most + 1), chances)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(3)], ids=str)
@pytest.mark.parametrize(
    ("law", "density"), [(EUCLIDEAN, exact_laws.euclidean_plane), (MAXIMUM, exact_laws.maximum_plane)], ids=["euclidean", "maximum"]
)
def test_vectors_in_the_plane_have_the_law_of_their_cells(law: NoiseLaw, density: object, ratio: Fraction) -> None:
    found, wide = draw(law, ratio, (0, 0), 200_000, seed=7), 4
    cells = [(i, j) for i in range(-wide, wide + 1) for j in range(-wide, wide + 1)]
    chances = {cell: exact_laws.plane_cell(density, ratio, cell) for cell in cells if 0 <= cell[0] <= cell[1]}
    chance = np.array([chances[min(abs(i), abs(j)), max(abs(i), abs(j))] for i, j in cells])  # the laws are symmetric
    counts = np.array([(found == cell).all(axis=1).sum() for cell in cells])
    inside = np.append(counts, len(found) - counts.sum())
    accept(inside, np.append(chance, 1 - chance.sum()))


def accept_mean(values: np.ndarray, mean: float) -> None:
    error = values.std() / math.sqrt(values.size)
    assert abs(values.mean() - mean) < 6 * error, (values.mean(), mean, error)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("d", [1, 2, 3, 22])
@pytest.mark.parametrize("law", [LAPLACE, EUCLIDEAN, MAXIMUM, NORMAL, EXPONENTIAL], ids=lambda law: law.name)
def test_moments_on_the_usual_grid(law: NoiseLaw, d: int) -> None:
    """E F = 0, E F_i F_j = 0, and the moments of F_1 and of the norm: R ~ Gamma(d) where the density is a function of the norm."""
    scale = Fraction(7, 5)
    size = 400_000 // d
    rows = np.broadcast_to(np.zeros(d, dtype=np.int64), (size, d))
    found = draw_rounded(rows, law, Grid.of(scale), open_bits(11)) / float(scale)
    first = found[:, 0]
    norms = {"laplace": 1, "euclidean": 2, "maximum": math.inf}
    if law.name in norms:
        radius = np.linalg.norm(found, ord=norms[law.name], axis=1)
        accept_mean(radius, d)
        accept_mean(radius**2, d * (d + 1))
        # a K-norm law is a radius times a direction; E R² = d(d + 1), and Σ E F_j² by symmetry, or T²·E(2U − 1)² for the cube
        square = {"laplace": 2.0, "euclidean": d + 1.0, "maximum": (d + 1) * (d + 2) / 3}[law.name]
        accept_mean(first**2, square)
    elif law is NORMAL:
        accept_mean(first**2, 1)
        accept_mean(first**4, 3)
    else:
        assert found.min() >= 0
        accept_mean(first, 1)
        accept_mean(first**2, 2)
        return
    accept_mean(first, 0)
    if d > 1:
        accept_mean(first * found[:, 1], 0)
        accept_mean(np.sign(first * found[:, 1]), 0)
    accept_mean(np.sign(first[1:] * first[:-1]), 0)  # rows are independent


@pytest.mark.thorough
@pytest.mark.parametrize("law", [LAPLACE, EUCLIDEAN, NORMAL], ids=lambda law: law.name)
def test_the_slow_path_has_the_same_law(law: NoiseLaw) -> None:
    """With bounds widened until every number goes to balls: not only the same words give the same numbers, these are the law."""
    found = draw(law, Fraction(3), (0,), 4_000, seed=3, widen=2.0**60)[:, 0]
    distribution = ONE[law.name][1]
    chances = np.array([float(exact_laws.cell(distribution, Fraction(3), Fraction(0), k).mid()) for k in range(-60, 61)])
    accept(np.bincount(found + 60, minlength=121), chances)


FORKED = """
import os, sys
import numpy as np
from fractions import Fraction
from profiles.errors import InvalidArgument
from profiles.randomness import open_bits
from profiles.randomness.rounded import LAPLACE, Grid, draw_rounded


class Buffered:
    "A mistake: it reads ahead, and a forked process goes on with what its parent has read."
    name, hypothesis, seed = "buffered", "none", None

    def __init__(self):
        self.left = np.frombuffer(os.urandom(1 << 16), dtype=np.uint64)

    def words(self, count):
        taken, self.left = self.left[:count].copy(), self.left[count:]
        return taken


def noise():
    return draw_rounded(np.zeros((4, 1), dtype=np.int64), LAPLACE, Grid.of(Fraction(1)), source).tobytes()


source = {"secure": lambda: open_bits(None), "seeded": lambda: open_bits(3), "buffered": Buffered}[sys.argv[1]]()
noise()
read, write = os.pipe()
child = os.fork()
if not child:
    try:
        os.write(write, noise())
    except InvalidArgument as error:
        os.write(write, b"refused")
    os._exit(0)
os.waitpid(child, 0)
theirs = os.read(read, 1 << 12)
print("refused" if theirs == b"refused" else "same" if theirs == noise() else "different")
"""


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("source", "expected"), [("secure", "different"), ("seeded", "refused"), ("buffered", "same")])
def test_mutant_a_buffer_that_is_shared_after_a_fork(source: str, expected: str) -> None:
    """A forked process draws its own noise or none; a source that reads ahead is caught by the same test."""
    done = subprocess.run([sys.executable, "-c", FORKED, source], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected
