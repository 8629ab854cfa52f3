"""Strategies for weighted data sets and pairs of neighbors, as mechanisms take them: arrays of points and weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from accountant.testing.domains import RecordBall
from accountant.testing.neighbors import NeighboringPair, Weighted
from accountant.testing.strategies.records import borders
from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.numbers import round_down, to_exact, to_integer

#: Weights at which implementations break: 1 and its neighbor, powers of two, the last odd integer, and numbers that overflow when squared.
_WEIGHTS = (1.0, math.nextafter(1.0, 2.0), 2.0, 1.5, 1 / 0.3, 10.0, 1e6, 2.0**53 - 1, 2.0**53, 1e200, 1e308)


def weights(*, most: float = 100.0) -> st.SearchStrategy[float]:
    """Return a strategy for weights in [1, ``most``], a finite number; shrinks to 1. Raises :class:`InvalidArgument`."""
    largest = to_exact(most, "the largest weight")
    if largest < 1:
        raise InvalidArgument(f"weights are at least 1, but weights up to {str(most)[:40]} were asked for; give a larger most")
    return st.floats(1.0, round_down(largest))


def adversarial_weights() -> st.SearchStrategy[float]:
    """Return a strategy for weights at the borders: 1, the number next to it, and huge ones."""
    return st.sampled_from(_WEIGHTS)


def points(domain: RecordBall | Any = RecordBall()) -> st.SearchStrategy[Floats]:  # noqa: B008 - frozen
    """Return a strategy for records of a ball (or of a mechanism's domain), shape (d,); shrinks to 0."""
    ball = _ball(domain)
    largest = ball.largest()
    entries = st.lists(st.floats(-largest, largest), min_size=ball.dimension, max_size=ball.dimension)
    return entries.map(lambda rows: ball.confine(np.array(rows)))


def weighted_datasets(
    domain: RecordBall | Any = RecordBall(),  # noqa: B008 - frozen
    *,
    min_size: int = 0,
    max_size: int = 5,
    weights: st.SearchStrategy[float] | None = None,
) -> st.SearchStrategy[Weighted]:
    """Return a strategy for weighted data sets (points of shape (n, d), weights of shape (n,)), as every mechanism takes them.

    ``domain`` is a :class:`RecordBall`, or a mechanism of the catalogue, whose domain is taken. Shrinks to the empty data set.
    """
    ball = _ball(domain)
    _require_sizes(min_size, max_size)
    rows = st.lists(st.tuples(points(ball), _weights() if weights is None else weights), min_size=min_size, max_size=max_size)
    return rows.map(lambda drawn: _table(drawn, ball))


@st.composite
def adversarial_datasets(draw: st.DrawFn, domain: RecordBall | Any = RecordBall(), *, max_size: int = 5) -> Weighted:  # noqa: B008
    """Return a strategy for data sets at the borders: records at 0, on the sphere and next to it, subnormal entries, duplicates and ties.

    Weights are 1, next to 1 and huge. A tie is a record with its entries in another order or with other signs: its norm is the same.
    """
    ball = _ball(domain)
    to_integer(max_size, "max_size", 0)
    entry = st.sampled_from(borders(-ball.largest(), ball.largest()))
    rows: list[tuple[Floats, float]] = []
    for _ in range(draw(st.integers(0, max_size))):
        kind = draw(st.sampled_from(["new", "duplicate", "tie", "heavier"] if rows else ["new"]))
        point, weight = rows[-1] if rows else (np.zeros(ball.dimension), 1.0)
        if kind == "new":
            axis, sparse = draw(st.integers(0, ball.dimension - 1)), draw(st.booleans())
            point = np.zeros(ball.dimension)
            point[axis] = draw(entry)
            if not sparse:
                point = ball.confine(np.array(draw(st.lists(entry, min_size=ball.dimension, max_size=ball.dimension))))
        if kind == "tie":
            point = -point[::-1]
        rows.append((point, draw(adversarial_weights()) if kind in ("new", "heavier") else weight))
    return _table(rows, ball)


def neighboring_pairs(
    domain: RecordBall | Any = RecordBall(),  # noqa: B008 - frozen
    *,
    max_size: int = 5,
    weights: st.SearchStrategy[float] | None = None,
    datasets: st.SearchStrategy[Weighted] | None = None,
    larger_first: bool = False,
) -> st.SearchStrategy[NeighboringPair]:
    """Return a strategy for pairs of data sets that differ by one weighted record, added or removed, at any position.

    ``datasets`` gives the smaller one (:func:`adversarial_datasets`, say). With ``larger_first`` the record is always removed, as a
    one-sided claim (add-DP) needs it. Shrinks to the record 0 of weight 1, removed from a data set that holds nothing else.
    """
    ball = _ball(domain)
    to_integer(max_size, "max_size", 0)
    bases = weighted_datasets(ball, max_size=max_size, weights=weights) if datasets is None else datasets
    added = st.just(value=False) if larger_first else st.booleans()
    return st.builds(_insert, bases, points(ball), _weights() if weights is None else weights, st.integers(0, 2**16), added)


_weights = weights


def _insert(base: Weighted, record: Floats, weight: float, place: int, added: bool) -> NeighboringPair:  # noqa: FBT001 - drawn
    shapes = [np.shape(part) for part in base] if isinstance(base, tuple) and len(base) == 2 else []
    if [len(shape) for shape in shapes] != [2, 1] or shapes[0][1:] != record.shape:
        raise InvalidArgument(
            f"datasets must give pairs (points of shape (n, {len(record)}), weights of shape (n,)), but {str(base)[:60]!r} was found; draw "
            "them from weighted_datasets or adversarial_datasets with the same domain"
        )
    row = place % (len(base[0]) + 1)
    larger = np.insert(base[0], row, record, axis=0), np.insert(base[1], row, weight)
    return NeighboringPair(larger, row, removed=not added)


def _require_sizes(least: int, most: int) -> None:
    to_integer(least, "min_size", 0)
    to_integer(most, "max_size", 0)
    if least > most:
        raise InvalidArgument(f"data sets of {least} to {most} records were asked for, but there are none; give a larger max_size")


def _ball(domain: Any) -> RecordBall:
    return domain if isinstance(domain, RecordBall) else RecordBall.of(domain)


def _table(rows: list[tuple[Floats, float]], ball: RecordBall) -> Weighted:
    return np.array([point for point, _ in rows], dtype=np.float64).reshape(-1, ball.dimension), np.array([w for _, w in rows], dtype=float)
