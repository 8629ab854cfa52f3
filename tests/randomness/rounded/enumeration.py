"""All words of a few bits through the very implementation of rounded noise: what it decides from them is certain, whatever bits come next.

:func:`enumerate_law` calls ``draw_rounded_integers`` with ``Precision(known_bits=...)`` on as many rows as there are words. Rows that the
fast path leaves open go to its slow path, as they do in a release, with the words that they have; where that asks for further bits, the
row is open, and what the further bits may give is bounded by the law's own balls (:class:`tests.randomness.rounded.masses.Masses`).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from profiles.randomness.rounded import Grid, NoiseLaw, rounding
from profiles.randomness.rounded.rounding import Precision, draw_rounded_integers
from tests.randomness.rounded.masses import FAR, Masses

#: Stands for a number that further bits decide.
OPEN = -(2**62)
_SIGNED = "laplace"
_CHUNK, _WIDE = 1 << 17, 1 << 20


class _MoreBits(Exception):
    """A row asked for further bits."""


class _Nothing:
    """A source without any bits."""

    def words(self, count: int) -> np.ndarray:
        raise _MoreBits


class _Words:
    """A source that plays given words in their order."""

    name, hypothesis, seed = "script", "none", None

    def __init__(self, words: np.ndarray) -> None:
        self.left = words.ravel()

    def words(self, count: int) -> np.ndarray:
        taken, self.left = self.left[:count].copy(), self.left[count:]
        assert taken.size == count, "more words were asked for than there are"
        return taken


def list_words(law: NoiseLaw, known: int, d: int) -> np.ndarray:
    """Return all rows of words that differ in the first ``known`` bits or, for the Laplace law, in the sign."""
    high = np.arange(2**known, dtype=np.uint64) << np.uint64(64 - known)
    one = np.concatenate((high, high + np.uint64(1))) if law.name == _SIGNED else high
    rows = np.meshgrid(*[one] * law.uniforms(d), indexing="ij")
    return np.stack([row.ravel() for row in rows], axis=1)


def make_grid(ratio: Fraction, fine_bits: int = 3) -> Grid:
    """Return the grid h = 1 with a scale b = s in its place: s = b/h is ``ratio`` exactly, also below 1, which no release uses."""
    grid = object.__new__(Grid)
    for name, value in (("scale", ratio), ("output", 0), ("fine", -fine_bits)):
        object.__setattr__(grid, name, value)
    assert grid.ratio == ratio
    return grid


def enumerate_law(law: NoiseLaw, grid: Grid, totals: tuple[int, ...], known: int, *, boxes: bool = True) -> Masses:
    """Return the masses of the released integers for ``totals`` in units of the fine grid, over all words of ``known`` bits.

    Without ``boxes``, for implementations with a mistake, nothing is known of the rows that are open.
    """
    words, d = list_words(law, known, len(totals)), len(totals)
    rows = np.broadcast_to(np.array(totals, dtype=np.int64), (len(words), d))
    found = draw_with(rows, law, grid, words, known)
    lowest, highest = found.copy(), found.copy()
    for row in np.flatnonzero((found == OPEN).any(axis=1)):
        box = enclose_row(totals, words[row].tolist(), law, grid, known) if boxes else [(-FAR, FAR)] * d
        lowest[row], highest[row] = zip(*box, strict=True)
    return Masses.of(lowest, highest)


def draw_with(rows: np.ndarray, law: NoiseLaw, grid: Grid, words: np.ndarray, known: int) -> np.ndarray:
    """Return the integers of the implementation for given words, ``OPEN`` where it asks for others."""
    decide = rounding._decide_row

    def stop(totals: Any, row_words: Any, the_law: Any, the_grid: Any, _bits: Any, the_known: int) -> list[int]:
        try:
            return decide(totals, row_words, the_law, the_grid, _Nothing(), the_known)
        except _MoreBits:
            return [OPEN] * len(totals)

    rounding._decide_row = stop
    try:
        return np.asarray(draw_rounded_integers(rows, law, grid, _Words(words), precision=Precision(known_bits=known)), dtype=np.int64)
    finally:
        rounding._decide_row = decide


def enclose_row(totals: tuple[int, ...], words: list[int], law: NoiseLaw, grid: Grid, known: int) -> list[tuple[int, int]]:
    """Return for each coordinate the least and the largest integer that words with these first bits can give."""
    balls = [arb(fmpq(2 * (word >> (64 - known)) + 1, 2 << known), fmpq(1, 2 << known)) for word in words]
    shift = grid.output - grid.fine
    box = []
    for value, total in zip(law.enclose(balls, words, len(totals)), totals, strict=True):
        moved = value * arb(fmpq(grid.ratio.numerator, grid.ratio.denominator)) + arb(fmpq(2 * total + (1 << shift), 2 << shift))
        if moved.is_finite():
            box.append((int(moved.lower().floor().unique_fmpz()), int(moved.upper().floor().unique_fmpz())))
        else:
            box.append((-FAR, FAR))
    return box


def enumerate_fast(law: NoiseLaw, grid: Grid, totals: tuple[int, ...], known: int) -> Masses:
    """Return the masses of :func:`enumerate_law` from the fast path alone, for millions of rows: what it leaves open may be anything."""
    taken, d = law.uniforms(len(totals)), len(totals)
    count, low = 2 ** (known * taken), np.uint64(2**known - 1)
    certain: Counter[tuple[int, ...]] = Counter()
    for start in range(0, count, _CHUNK):
        index = np.arange(start, min(count, start + _CHUNK), dtype=np.uint64)
        words = np.stack([((index >> np.uint64(known * j)) & low) << np.uint64(64 - known) for j in range(taken)], axis=1)
        whole, fraction = rounding._split(np.broadcast_to(np.array(totals, dtype=np.int64), (len(words), d)), grid)
        with np.errstate(all="ignore"):
            values, errors = law.estimate(words, known, d)
            floors, decided = rounding._decide(values, errors, fraction, float(grid.ratio), 1.0)
        found = (whole + floors)[decided.all(axis=1)]
        _, places, counts = np.unique(found @ (_WIDE ** np.arange(d)), return_index=True, return_counts=True)
        certain.update({tuple(found[place].tolist()): int(number) for place, number in zip(places, counts, strict=True)})
    anything = ((-FAR, FAR),) * d
    return Masses(certain, Counter({anything: count - sum(certain.values())}), count)
