"""Weighted counts and sums of the clusters of one set of centres, in passes over the rows whose memory does not grow with n.

Rows are cut into at most 64 spans, which depend on n alone, and spans into blocks. The labels of a block are those of
:mod:`profiles.mechanisms.nearest`; Σ w x is a product of a sparse matrix, with one weight per row, and the block, which adds the rows of a
cluster one after the other. Spans are shared among threads and added up in their order. Hence the totals are the same for every number of
threads. :meth:`ClusterPasses.total_units` adds up integers, exactly; :meth:`ClusterPasses.total` adds rounded numbers, for
``arithmetic="binary64"``: that its sums are exact is part of the hypothesis EXACT_ARITHMETIC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from profiles.arrays import Floats, ignore_flags
from profiles.mechanisms.datasets import WeightedData, find_reach, require_finite
from profiles.mechanisms.nearest import CentreSearch, Labels, prepare_search
from profiles.mechanisms.quantised import QuantisedData, Totals, add_exactly, count_exact_terms, hold

_MOST_SPANS = 64
_LEAST_SPAN = 2**13
_MOST_TOTALS = 2**18  # numbers in one product, where groups of rows have totals of their own


@dataclass(frozen=True, slots=True, eq=False)
class ClusterPasses:
    """A data set prepared for passes; made by :func:`open_passes`. ``reach`` bounds ‖x‖₂."""

    data: WeightedData
    reach: float
    threads: int
    pool: ThreadPoolExecutor | None

    def total(self, centres: Floats) -> tuple[Floats, Floats]:
        """Return the counts Σ w, shape (k,), and the sums Σ w x, shape (k, d), of the clusters of ``centres``.

        Raises :class:`InvalidData` where a sum is beyond the range of floats.
        """
        search = prepare_search(centres, self.reach)
        totals = np.zeros((len(centres), centres.shape[1] + 1))
        with np.errstate(all="ignore"):
            for share in self._share(search, lambda members, span: _total_span(self.data, search, members, span)):
                totals[search.kept] += share
        return require_finite(totals[:, -1], "the sum of the weights"), require_finite(totals[:, :-1], "the weighted sum")

    def total_units(self, centres: Floats, quantised: QuantisedData) -> Totals:
        """Return the sums and, in the last column, the counts of the clusters in the units of ``quantised``, exactly: shape (k, d + 1)."""
        search = prepare_search(centres, self.reach)
        kind = hold(len(self.data.points), quantised.most)
        totals: Totals = np.zeros((len(centres), centres.shape[1] + 1), dtype=kind)
        for share in self._share(search, lambda members, span: _add_span(quantised, search, members, span)):
            totals[search.kept] += share.astype(kind)
        return totals

    def _share(self, search: CentreSearch, total: Callable[[_Membership, slice], NDArray[Any]]) -> list[NDArray[Any]]:
        """Return what ``total`` makes of each span, in their order, by all threads."""
        spans = _cut(len(self.data.points))

        @ignore_flags
        def work(first: int) -> list[NDArray[Any]]:
            members = _Membership(len(search.kept))
            return [total(members, span) for span in spans[first :: self.threads]]

        others = [] if self.pool is None else [self.pool.submit(work, first) for first in range(1, self.threads)]
        shares = [work(0), *(other.result() for other in others)]  # this thread works as well: waking one up takes long
        return [shares[number % self.threads][number // self.threads] for number in range(len(spans))]


@dataclass(slots=True, eq=False)
class _Membership:
    """The sparse matrix of shape (k, rows) that has one entry a column; kept from block to block, because checking it takes long.

    ``buffer`` has room for the units of a block where they are not kept: new memory for each block would take longer than filling it.
    """

    clusters: int
    matrix: Any = None
    buffer: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def reserve(self, rows: int, columns: int) -> Floats:
        """Return an array of at least ``rows`` rows; it is valid until the next call."""
        if len(self.buffer) < rows:
            self.buffer = np.empty((rows, columns))
        return self.buffer

    def fill(self, labels: Labels, weights: Floats) -> Any:
        """Return the matrix with ``weights[i]`` in row ``labels[i]`` of column i; it is valid until the next call."""
        rows = len(labels)
        if self.matrix is None or self.matrix.shape != (self.clusters, rows):
            from scipy.sparse import csc_array  # noqa: PLC0415 - what reads a profile alone runs no mechanism

            self.matrix = csc_array((weights, labels, np.arange(rows + 1, dtype=np.int32)), shape=(self.clusters, rows))
        self.matrix.indices, self.matrix.data = labels, weights
        return self.matrix


def _total_span(data: WeightedData, search: CentreSearch, members: _Membership, span: slice) -> Floats:
    """Return (Σ w x, Σ w) of the clusters of the kept centres over some rows, shape (k', d + 1)."""
    totals = np.zeros((len(search.kept), data.points.shape[1] + 1))
    blocks = _cut_equally(span, search.block)
    ones = np.ones(_length(blocks))
    with np.errstate(all="ignore"):
        for rows in blocks:
            points = data.points[rows]
            matrix = members.fill(search.label(points), data.weights[rows])
            totals[:, :-1] += matrix @ points
            totals[:, -1] += matrix @ ones[: len(points)]
    return totals


def _add_span(quantised: QuantisedData, search: CentreSearch, members: _Membership, span: slice) -> Totals:
    """Return (Σ u, Σ count) of the clusters of the kept centres over some rows, shape (k', d + 1).

    Where one product would be too long to be exact, every ``exact`` rows have totals of their own in it, which are added up as integers.
    """
    quantised.keep(span)
    clusters, columns = len(search.kept), quantised.data.points.shape[1] + 1
    kind = hold(span.stop - span.start, quantised.most)
    totals: Totals = np.zeros((clusters, columns), dtype=kind)
    blocks = _cut_equally(span, search.block)
    length = _length(blocks)
    exact = count_exact_terms(quantised.most)
    groups = -(-length // max(1, exact))
    groups = groups if groups * clusters * columns <= _MOST_TOTALS else 1
    members.clusters = groups * clusters
    ones, offsets = np.ones(length), (np.arange(length) // max(1, exact) * clusters).astype(np.int32)
    out = members.reserve(length if quantised.kept is None else 0, columns)
    for rows in blocks:
        labels = search.label(quantised.data.points[rows])
        units = quantised.read(rows, out)
        if groups > 1:
            labels += offsets[: len(labels)]
            parts = (members.fill(labels, ones[: len(labels)]) @ units).astype(np.int64).astype(kind)
            totals += parts.reshape(groups, clusters, columns).sum(axis=0)
        else:
            matrix = members.fill(labels, ones[: len(labels)])
            totals += add_exactly(matrix.__matmul__, units, len(labels), quantised.most).astype(kind)
    return totals


def _cut(rows: int) -> list[slice]:
    size = max(_LEAST_SPAN, -(-rows // _MOST_SPANS))
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def _cut_equally(span: slice, most: int) -> list[slice]:
    """Return blocks of at most ``most`` rows, of one length but for the last."""
    rows = span.stop - span.start
    block = -(-rows // -(-rows // most))
    return [slice(start, min(start + block, span.stop)) for start in range(span.start, span.stop, block)]


def _length(blocks: list[slice]) -> int:
    return max((rows.stop - rows.start for rows in blocks), default=0)


@cache
def _find_libraries() -> ThreadpoolController:
    """Return the native libraries that are loaded; looking for them takes milliseconds, and the BLAS of NumPy is there from the start."""
    return ThreadpoolController()


_limiting = Lock()


@contextmanager
def _limit_blas() -> Iterator[None]:
    """Hold the BLAS to one thread, unless another caller does so already: of two limits that overlap, the one that is set second and lifted
    last would restore the limit of the first, for good. Who goes on when that other caller is done may be slower; no number changes.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _find_libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()


@contextmanager
def open_passes(data: WeightedData, threads: int | None = None) -> Iterator[ClusterPasses]:
    """Yield the data set prepared for passes by ``threads`` threads; None: as many as the BLAS of NumPy is allowed to use.

    The BLAS itself is held to one thread meanwhile: its products are small, and each thread has its own. The limit is that of the
    process, as in scikit-learn; set it by OMP_NUM_THREADS or threadpoolctl.
    """
    allowed = [library["num_threads"] for library in _find_libraries().info() if library["user_api"] == "blas"]
    count = min(max(allowed, default=1) if threads is None else threads, len(_cut(len(data.points))))
    with _limit_blas(), ThreadPoolExecutor(count - 1) if count > 1 else nullcontext() as pool:
        yield ClusterPasses(data, find_reach(data.points), max(1, count), pool)
