"""How a record statistic is read from a row: a column, or a norm over the numeric columns, by a stated binary64 formula.

===========  ==================================================================================================
``l1``       s = 0; s ← fl(s + |x_j|) over the columns j in their order in the file
``l2^2``     s = 0; s ← fl(s + max(fl(x_j · x_j), 2^-1000)) in the same order, where x_j ≠ 0
``l2``       fl(√s) with the s of ``l2^2``
``linf``     the largest |x_j|, exactly
===========  ==================================================================================================

The statistic **is** that binary64 number: it is what the weights are computed from, and what is compared with the declared range, but
for decimals of a text file: the norm of the decimals is compared, and x_j is the number nearest to the decimal (docs/rounding.md, section
7). It differs from the norm over the reals by a relative (d + 2) 2^-53 at most for d columns; declare a range that leaves room for it.
Squares too small for that are raised to 2^-1000: an ``l2`` below 2^-500 √d may be too large by that much, and is never lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from profiles import InvalidArgument
from profiles.grammar import is_name

#: What the square of an entry that is not 0 is raised to; smaller ones would lose digits, or vanish.
LEAST_SQUARE = 2.0**-1000
NORMS = ("l1", "l2", "l2^2", "linf")
_NORM = re.compile(r"(l1|l2\^2|l2|linf)(?:\((.*)\))?\Z")


@dataclass(frozen=True, slots=True)
class StatisticSpec:
    """The statistic ``name`` is column ``column``, or the norm ``norm`` of the columns ``only`` (or all numeric ones) but ``without``.

    ``from_data``: the column's name was read from the data, and errors do not show it.
    """

    name: str
    column: str | None = None
    norm: str | None = None
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    from_data: bool = field(default=False, repr=False)


def describe_spec(spec: StatisticSpec) -> str:
    """Return how a statistic is read, for a hypothesis about it.

    >>> describe_spec(parse_statistic("z=l2(a,b)")), describe_spec(StatisticSpec("z", column="rank"))
    ("the statistic z (l2 norm of the columns 'a', 'b')", "the statistic z (the column 'rank')")
    """
    if spec.norm is None:
        return f"the statistic {spec.name} (the column {spec.column!r})"
    listed = ", ".join(map(repr, spec.only)) if spec.only else "all numeric columns"
    but = f" but {', '.join(map(repr, spec.without))}" if spec.without else ""
    return f"the statistic {spec.name} ({spec.norm} norm of {'the columns ' if spec.only else ''}{listed}{but})"


def parse_statistic(text: str) -> StatisticSpec:
    """Return the spec that ``text`` writes: ``z=COLUMN``, ``z=l2``, ``z=l2(a,b)`` (those columns), ``z=l2(-label)`` (all but those).

    ``z=column:l2`` names a column that is called like a norm.

    Raises :class:`InvalidArgument`.

    >>> parse_statistic("z=l2(-label)")
    StatisticSpec(name='z', column=None, norm='l2', only=(), without=('label',))
    """
    name, equals, source = (part.strip() for part in text.partition("="))
    if not equals or not source or not is_name(name):
        raise InvalidArgument(
            f"a statistic must be written NAME=COLUMN or NAME=l1|l2|l2^2|linf, but {text[:80]!r} was found; write for example z=l2"
        )
    match = _NORM.match(source)
    if match is None:
        return StatisticSpec(name, column=source.removeprefix("column:"))
    listed = [part.strip() for part in match[2].split(",")] if match[2] is not None else []
    only, without = [part for part in listed if not part.startswith("-")], [part[1:] for part in listed if part.startswith("-")]
    if "" in listed or "-" in listed or (match[2] is not None and not listed) or (only and without):
        raise InvalidArgument(
            f"the columns of a norm must be names, or names that each begin with '-', but {text[:80]!r} was found; "
            "write NAME=l2(a,b) or NAME=l2(-label)"
        )
    return StatisticSpec(name, norm=match[1], only=tuple(only), without=tuple(without))
