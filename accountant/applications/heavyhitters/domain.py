"""The public domain Y of the items: a range of integers of any size, or a list of integers or texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from profiles import InvalidArgument, InvalidData
from profiles.arrays import Integers
from profiles.private import name_type, quote

Item = int | str

#: No item of the domain has this index.
OUTSIDE = -1
_LARGEST = 2**62


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """All items that can be reported, in the order of their checks within a time step. It must not depend on the data.

    Made by :func:`read_domain`. ``span`` is the range of a domain of consecutive integers, which takes no memory; else ``items`` lists it.
    """

    span: range | None
    items: tuple[Item, ...]
    integers: bool
    _places: dict[Item, int] = field(repr=False, compare=False)
    _sorted: tuple[Integers, Integers] | None = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.items) if self.span is None else len(self.span)

    def __getitem__(self, index: int) -> Item:
        return self.items[index] if self.span is None else self.span[index]

    def places(self, values: Any) -> Integers:
        """Return the index of every value in the domain, ``OUTSIDE`` where it is not in it. Raises :class:`InvalidData` for wrong types."""
        if not self.integers:
            return np.fromiter((self._places.get(value, OUTSIDE) for value in _texts(values)), dtype=np.int64, count=len(values))
        numbers = to_integers(values, "an item")
        if self.span is not None:
            inside = (numbers >= self.span.start) & (numbers < self.span.stop)
            return np.where(inside, numbers, self.span.start + OUTSIDE) - self.span.start
        if self._sorted is None:
            raise InvalidArgument("a domain was to be made directly, but its index is missing; make it with read_domain")
        keys, order = self._sorted
        at = np.minimum(np.searchsorted(keys, numbers), keys.size - 1)
        return np.where(keys[at] == numbers, order[at], OUTSIDE)


def read_domain(domain: object) -> PublicDomain:
    """Return the domain for a :class:`range` (step 1) or a sequence of different integers, or of different texts.

    Raises :class:`InvalidArgument`.

    >>> len(read_domain(range(10**15))), read_domain(["b", "a"]).places(["a", "c", "b"]).tolist()
    (1000000000000000, [1, -1, 0])
    """
    if isinstance(domain, PublicDomain):
        return domain
    if isinstance(domain, range) and domain.step == 1:
        if domain.start >= domain.stop or domain.start < -_LARGEST or domain.stop > _LARGEST or domain.stop - domain.start > _LARGEST:
            raise InvalidArgument(f"a domain needs between 1 and 2^62 items within 62 bits, but {domain} was found; give such a range")
        return PublicDomain(domain, (), integers=True, _places={}, _sorted=None)
    if (
        isinstance(domain, (str, bytes))
        or not isinstance(domain, (Sequence, np.ndarray))
        or (isinstance(domain, np.ndarray) and not domain.ndim)
    ):
        raise InvalidArgument(f"the domain must be a range or a list of items, but {type(domain).__name__} was found; give a public list")
    items = tuple(_plain(item) for item in domain)
    kinds = {type(item) for item in items}
    if len(kinds) != 1:
        raise InvalidArgument("the items of a domain must be all integers or all texts, and at least one; give such a list")
    places = {item: index for index, item in enumerate(items)}
    if len(places) != len(items):
        raise InvalidArgument("the domain lists an item twice, which would be reported by two independent draws; list each item once")
    if kinds == {str}:
        return PublicDomain(None, items, integers=False, _places=places, _sorted=None)
    numbers = np.array(items, dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    return PublicDomain(None, items, integers=True, _places={}, _sorted=(numbers[order], order.astype(np.int64)))


def to_integers(values: Any, what: str) -> Integers:
    """Return values as 64-bit integers, without rounding. Raises :class:`InvalidData`."""
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    if array.shape == (0,):
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InvalidData(
            f"{what} was expected to be an integer, but a value of another type was found "
            f"({name_type(array.dtype)}; it may be missing, NaN, a "
            "fraction or a boolean); convert or drop those records"
        )
    if array.dtype == np.uint64 and int(array.max()) >= _LARGEST:
        raise InvalidData(f"{what} must be below 2^62, but a larger one was found; number them anew", private=quote(int(array.max())))
    numbers = array.astype(np.int64, copy=False)
    if int(numbers.max()) >= _LARGEST or int(numbers.min()) < -_LARGEST:
        raise InvalidData(f"{what} must lie between -2^62 and 2^62, but another value was found; number them anew")
    return numbers


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if not isinstance(value, str):
            raise InvalidData(f"an item was expected to be a text, but {type(value).__name__} was found; convert or drop those records")
        yield value


def _plain(item: object) -> Item:
    if isinstance(item, str):
        return str(item)
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool) and -_LARGEST <= item < _LARGEST:
        return int(item)
    raise InvalidArgument(f"an item must be an integer within 62 bits or a text, but {str(item)[:40]!r} was found; give another list")
