"""How the batches of training are drawn, and for which neighbors: what the pair of laws of a step, or of an epoch, depends on.

Proofs: docs/batches.md. Without any of this an event takes each record by a coin of its own, for one record more or less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from profiles import InvalidArgument, exact_text, to_exact
from profiles.numbers import to_integer
from profiles.protection import Neighbors, Unit, read_protection
from profiles.suggestions import suggest

_MOST = 10**9
_MOST_GROUP, _MOST_LIMIT, _MOST_ALLOCATED = 400, 10**6, 10**6


class Sampling(Enum):
    """The ways in which batches are drawn, by their names in files."""

    #: All records in each step.
    NONE = "none"
    #: Each record by a coin of its own, in each step.
    POISSON = "poisson"
    #: Balls and bins: each record by itself into one uniform step of an epoch, or into so many different ones.
    RANDOM_ALLOCATION = "random-allocation"
    #: A uniform batch of so many different records in each step.
    FIXED_SIZE = "fixed-size"
    #: So many uniform draws in each step; a record may be drawn several times.
    WITH_REPLACEMENT = "with-replacement"
    #: A Poisson batch, of which a uniform part is used where it is larger than the limit.
    TRUNCATED_POISSON = "truncated-poisson"
    #: A uniform permutation of the records in each epoch, cut into batches.
    SHUFFLE = "shuffle"

    @property
    def is_by_epochs(self) -> bool:
        """Whether one use is an epoch, and not a step."""
        return self in (Sampling.RANDOM_ALLOCATION, Sampling.SHUFFLE)


_SIZES: Mapping[Sampling, tuple[str, ...]] = MappingProxyType(
    {
        Sampling.NONE: (),
        Sampling.POISSON: ("group_size",),
        Sampling.RANDOM_ALLOCATION: ("steps_per_epoch",),
        Sampling.FIXED_SIZE: ("records", "batch_size"),
        Sampling.WITH_REPLACEMENT: ("records", "batch_size"),
        Sampling.TRUNCATED_POISSON: ("records", "batch_size", "limit"),
        Sampling.SHUFFLE: ("steps_per_epoch",),
    }
)
#: Numbers that a scheme may have, and that are 1 where it has not.
_OPTIONAL: Mapping[Sampling, tuple[str, ...]] = MappingProxyType({Sampling.RANDOM_ALLOCATION: ("participations",)})
#: Neighbors for which a theorem is known, where it is not all of them.
_KNOWN: Mapping[Sampling, tuple[Neighbors, ...]] = MappingProxyType(
    {
        Sampling.WITH_REPLACEMENT: (Neighbors.ADD_REMOVE, Neighbors.REPLACE_ONE),
    }
)
#: What a file or the command line may say of batches.
KEYS = ("sampling", "records", "batch_size", "steps_per_epoch", "epochs", "limit", "group_size", "participations")


@dataclass(frozen=True, slots=True)
class Batches:
    """How batches are drawn, the neighbors that the pair of laws is for, and the numbers of the scheme in their order.

    Made by :func:`draw_batches`, or checked as there when it is made by hand. ``sizes``: pairs of a name and a whole number.
    Raises :class:`InvalidArgument` for neighbors for which no theorem is known, other numbers than the scheme has, and those out of range.
    """

    sampling: Sampling
    neighbors: Neighbors
    sizes: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.sampling, Sampling) or not isinstance(self.neighbors, Neighbors) or not isinstance(self.sizes, tuple):
            raise InvalidArgument("batches have a Sampling, Neighbors and pairs of a name and a number; use draw_batches")
        kind, names = self.sampling.value, _SIZES[self.sampling]
        if tuple(pair[0] for pair in self.sizes if isinstance(pair, tuple) and len(pair) == 2) not in (names, size_names(self.sampling)):
            raise InvalidArgument(f"{kind!r} batches have the numbers {', '.join(names) or 'none'}, in this order; give those")
        known = _KNOWN.get(self.sampling, tuple(Neighbors))
        if self.neighbors not in known:
            raise InvalidArgument(
                f"a bound for {kind!r} batches was asked for where data sets are {self.neighbors.value} neighbors, but none is proved; ask "
                f"for {' or '.join(item.value for item in known)}"
            )
        least = {"steps_per_epoch": 2, "participations": 2}
        most = {"group_size": _MOST_GROUP, "limit": _MOST_LIMIT}
        if self.sampling is Sampling.RANDOM_ALLOCATION:
            most["steps_per_epoch"] = _MOST_ALLOCATED
        for name, size in self.sizes:
            to_integer(size, f"{name} of {kind!r} batches", least.get(name, 1), most.get(name, _MOST), hint="give a whole number")
        given = dict(self.sizes)
        if given.get("participations", 0) >= given.get("steps_per_epoch", 1):
            raise InvalidArgument(
                f"a record was said to take part in {given['participations']} of {given['steps_per_epoch']} steps per epoch, but those are "
                "fewer than all; take all records without sampling"
            )
        for name in ("batch_size", "limit"):
            if name in given and given[name] >= given["records"]:
                raise InvalidArgument(
                    f"{name} of {kind!r} batches is {given[name]}, but there are {given['records']} records; take all without sampling"
                )

    def __getitem__(self, name: str) -> int:
        """The number of this name. Raises :class:`InvalidArgument` where the scheme has none."""
        for key, size in self.sizes:
            if key == name:
                return size
        raise InvalidArgument(f"{self.sampling.value!r} batches have no {name[:40]!r}; ask for {', '.join(_SIZES[self.sampling])}")

    @property
    def rate(self) -> Fraction | None:
        """The part of the records that is in a step on average; None for Poisson samples, whose probability is that of the event."""
        given = dict(self.sizes)
        if self.sampling is Sampling.NONE:
            return Fraction(1)
        if self.sampling.is_by_epochs:
            return Fraction(given.get("participations", 1), given["steps_per_epoch"])
        return Fraction(given["batch_size"], given["records"]) if "records" in given else None

    def is_tight(self, uses: int) -> bool:
        """Tell whether the lower end of so many uses is attained by the worst data, and not only by some data sets."""
        if self.sampling in (Sampling.NONE, Sampling.POISSON, Sampling.RANDOM_ALLOCATION):
            return "participations" not in dict(self.sizes)
        if self.sampling is Sampling.FIXED_SIZE and uses == 1:
            return True
        return self.neighbors is Neighbors.ADD_REMOVE and self.sampling in (Sampling.FIXED_SIZE, Sampling.WITH_REPLACEMENT)

    def describe(self) -> str:
        """Return the batches as a phrase.

        >>> draw_batches("random-allocation", "add-remove", steps_per_epoch=235).describe()
        'random allocation to 235 steps per epoch (add-remove)'
        """
        given: dict[str, object] = {"several": "", **dict(self.sizes)}
        if "participations" in given:
            given["several"] = f"{given['participations']} of "
        said = {
            Sampling.NONE: "all records in each step",
            Sampling.POISSON: "groups of {group_size} records" if dict(self.sizes).get("group_size", 1) > 1 else "",
            Sampling.RANDOM_ALLOCATION: "random allocation to {several}{steps_per_epoch} steps per epoch",
            Sampling.FIXED_SIZE: "{batch_size} different ones of {records} records",
            Sampling.WITH_REPLACEMENT: "{batch_size} draws with replacement from {records} records",
            Sampling.TRUNCATED_POISSON: "Poisson batches of {batch_size} of {records} records on average, cut to {limit}",
            Sampling.SHUFFLE: "shuffled into {steps_per_epoch} steps per epoch",
        }[self.sampling].format(**given)
        return f"{said} ({self.neighbors.value})".strip()


def draw_batches(sampling: object, neighbors: object, **sizes: object) -> Batches:
    """Return how batches are drawn, by names as a user gives them. ``sizes``: the numbers that the scheme has.

    Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.
    """
    kind = to_sampling(sampling)
    drawn_for = read_protection(Unit.RECORD, neighbors, f"{kind.value!r} batches").neighbors
    names = size_names(kind)
    for name in sizes:
        if name not in names:
            raise InvalidArgument(f"{kind.value!r} batches have no {name[:40]!r}; they take {', '.join(names)}{suggest(name, names)}")
    given = {"group_size": 1, **sizes} if kind is Sampling.POISSON else sizes
    if missing := [name for name in _SIZES[kind] if name not in given]:
        raise InvalidArgument(f"{kind.value!r} batches need {missing[0]}, but nothing was found; add it")
    whole = [(name, _whole(given[name], name, 1)) for name in names if name in given]
    return Batches(kind, drawn_for, tuple(pair for pair in whole if pair != ("participations", 1)))


def size_names(sampling: Sampling, *, needed: bool = False) -> tuple[str, ...]:
    """Return the names of the numbers of a scheme, in their order; ``needed``: of those that it always has."""
    return _SIZES[sampling] + (() if needed else _OPTIONAL.get(sampling, ()))


def to_sampling(sampling: object) -> Sampling:
    """Return the scheme of a name. Raises :class:`InvalidArgument` for others."""
    if isinstance(sampling, Sampling):
        return sampling
    known = {kind.value: kind for kind in Sampling}
    if not isinstance(sampling, str) or sampling not in known:
        shown = repr(sampling[:40]) if isinstance(sampling, str) else f"an object of type {type(sampling).__name__}"
        raise InvalidArgument(f"batches are drawn by {', '.join(known)}, but {shown} was found; name one{suggest(sampling, known)}")
    return known[sampling]


@dataclass(frozen=True, slots=True)
class BatchedUses:
    """What the numbers of a training run come to: its batches (None where they are plain Poisson samples), their rate, and the uses."""

    batches: Batches | None
    rate: Fraction
    count: int


def read_batches(given: Mapping[str, object], neighbors: Neighbors | None, where: str, *, of_records: bool = False) -> BatchedUses:
    """Return what a file or a command line says of batches: ``KEYS``, ``sampling_probability`` and ``count``, those that are there.

    ``count`` is the number of steps, where a use is an epoch that of epochs; ``steps`` is always that of steps. Epochs of steps are rounded
    up to whole steps, steps to whole epochs, and steps per epoch down, so that nothing becomes less. ``of_records``: noise on all records
    is counted in units of the norm of one of them, even if nothing says so; where ``sampling`` is named it always is.
    Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.
    """
    kind = to_sampling(given.get("sampling", Sampling.POISSON))
    if "steps" in given and not kind.is_by_epochs:
        given = {"count": given["steps"], **given}
    records, size = (_whole(given[name], name, 1) if name in given else None for name in ("records", "batch_size"))
    if (records is None) is not (size is None):
        raise InvalidArgument(f"{where} has one of records and batch_size, but they say something together; give both or none")
    _refuse_others(kind, given, where)
    sizes = {name: given[name] for name in size_names(kind) if name in given}
    if kind.is_by_epochs:
        if "steps_per_epoch" not in sizes and records is not None and size is not None:
            sizes["steps_per_epoch"] = records // size
        if len(often := [name for name in ("epochs", "count", "steps") if name in given]) > 1:
            raise InvalidArgument(f"{where} has {often[0]} and {often[1]}, but {kind.value!r} batches are counted in epochs; give one")
        count = _whole(given.get("epochs", given.get("count", 1)), "epochs", 1)
        if "steps" in given and "steps_per_epoch" in sizes:
            count = -(-_whole(given["steps"], "the number of steps", 1) // _whole(sizes["steps_per_epoch"], "steps_per_epoch", 1))
    elif "epochs" in given:
        if "count" in given:
            raise InvalidArgument(f"{where} has epochs and count, but one follows from the other; give one")
        if records is None or size is None:
            raise InvalidArgument(f"{where} has epochs, but not of how many steps; add records and batch_size")
        epochs = to_exact(given["epochs"], "epochs")
        count = _whole(ceil(epochs * records / size), "the number of steps", 1)
    else:
        count = _whole(given.get("count", 1), "count", 1)
    if kind not in (Sampling.NONE, Sampling.POISSON):
        if "sampling_probability" in given:
            raise InvalidArgument(f"{where} has a sampling_probability, but that of {kind.value!r} batches follows from them; leave it out")
        if neighbors is None:
            raise InvalidArgument(f'{where} has {kind.value!r} batches, which lose more to a replaced record; add neighbors = "..."')
        made = draw_batches(kind, neighbors, **sizes)
        return BatchedUses(made, made.rate or Fraction(1), count)
    if records is not None and size is not None:
        if "sampling_probability" in given:
            raise InvalidArgument(f"{where} has sampling_probability and records, but one follows from the other; give one")
        rate = Fraction(size, records)
    else:
        rate = to_exact(given.get("sampling_probability", 1), "sampling_probability")
    if kind is Sampling.NONE and rate != 1:
        raise InvalidArgument(f"{where} takes all records, but a probability of {exact_text(rate)[:40]} was found; leave it out")
    if rate == 1 and "group_size" in sizes:
        raise InvalidArgument(f"{where} has a group_size, but takes all records; without samples count the noise for a group")
    if rate == 1 and neighbors is Neighbors.REPLACE_ONE and (of_records or "sampling" in given):
        return BatchedUses(draw_batches(Sampling.NONE, neighbors), rate, count)
    if rate == 1 or (neighbors in (None, Neighbors.ADD_REMOVE, Neighbors.ZERO_OUT) and sizes.get("group_size", 1) == 1):
        return BatchedUses(None, rate, count)
    return BatchedUses(draw_batches(kind, neighbors or Neighbors.ADD_REMOVE, **sizes), rate, count)


def _refuse_others(kind: Sampling, given: Mapping[str, object], where: str) -> None:
    for name in ("limit", "group_size", "steps_per_epoch", "participations"):
        if name in given and name not in size_names(kind):
            owners = " and ".join(repr(other.value) for other in Sampling if name in size_names(other))
            raise InvalidArgument(f"{where} has {name}, which {owners} batches have, but {kind.value!r} ones were found; leave it out")


def _whole(value: object, what: str, least: int) -> int:
    return to_integer(value, what, least, _MOST, hint="give a whole number", any_form=True)


__all__ = ["KEYS", "BatchedUses", "Batches", "Sampling", "draw_batches", "read_batches", "size_names", "to_sampling"]
