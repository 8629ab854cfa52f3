"""What a certificate states of its run, read back: the arguments, the released numbers, and what was paid for the statistics.

Accepted means: the arguments are those of a fit; each of n, the mean and the spread is public by the arguments, or was released once, with
noise for the ball of the arguments; all released numbers are there; and centres that differ from one another were released of cells.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from accountant.applications.budget.spending import Payment, PricedNoise, Purpose
from accountant.applications.kmeans.fitting import FitSettings
from accountant.applications.kmeans.methods import find_method
from accountant.applications.kmeans.sample_certificate import read_choice
from profiles import exact_text
from profiles.mechanisms.ball import widen
from profiles.strict_json import read_exact, read_fields, read_list, read_string, read_strings
from proofs_check.certificates import require

_ARGUMENTS = {"clusters", "epsilon", "delta", "radius", "center", "columns", "public", "method", "sample"}
_RELEASED = {"records", "mean", "rms", "centres", "counts", "choices"}
#: What is released of the whole data set, by the name under which it may be public.
_STATISTICS = {"n": Purpose.RECORDS, "mean": Purpose.SUM, "rms": Purpose.SQUARES}
_CELLS = frozenset({Purpose.CELL_COUNTS, Purpose.CELL_SUMS})


def read_arguments(value: object) -> dict[str, Any]:
    """Return the arguments by name. Raises :class:`profiles.UnreadableFile`."""
    return dict(read_fields(value, "the arguments", _ARGUMENTS, frozenset({"bounds"})))


def read_settings(fields: Mapping[str, Any], epsilon: Fraction, delta: Fraction | None, law: PricedNoise) -> tuple[FitSettings, int]:
    """Return the arguments as they are checked for a fit with this ``law``, and the number of columns. Raises what reading them raises."""
    require(type(fields["clusters"]) is int, "arguments", "the number of clusters is an integer")
    find_method(fields["method"])
    public = read_strings(fields["public"], "the public names")
    require(list(public) == sorted(set(public)), "arguments", "public names stand there once each, in their order")
    columns = read_list(fields["columns"], "the columns")
    named = all(isinstance(name, str) for name in columns) and len(set(columns)) == len(columns) > 0
    require(named, "arguments", "the columns are the names of coordinates, each once")
    center = None if fields["center"] is None else _read_numbers(fields["center"], len(columns), "the center")
    radius = None if fields["radius"] is None else read_exact(fields["radius"], "the radius")
    require(radius is None or exact_text(radius) == fields["radius"], "arguments", "the radius is written in another way")
    choice = read_choice(fields["sample"])
    sample = {} if choice is None else {"sample": choice.rule, "sample_size": choice.size}
    box = None if "bounds" not in fields else _read_bounds(fields["bounds"], len(columns))
    given = radius if box is None else None
    made = FitSettings.of(fields["clusters"], epsilon, radius=given, center=center, public=public, bounds=box, **sample)
    require(made.radius == radius, "arguments", "the radius is not the one that follows from the bounds")
    return replace(made, delta=delta, law=law), len(columns)


def check_statistics(charges: Sequence[Payment], settings: FitSettings) -> None:
    """Each statistic is public or was paid for once, with noise for all records of the ball."""
    for name, part in _STATISTICS.items():
        times = sum(charge.part is part for charge in charges)
        require(times == (name not in settings.public), "releases", f"the {part.value} is public, or is released once")
    reach = {charge.part: charge.reach for charge in charges}
    if settings.radius is not None:  # else it is the largest norm, which is public and not stated
        ball = widen(settings.radius)
        require(reach.get(Purpose.SUM, ball) == ball, "releases", "a record of the ball adds another length to the sum")
        require(reach.get(Purpose.SQUARES, ball**2) == ball**2, "releases", "a record of the ball adds another square")
    elif Purpose.SUM in reach and Purpose.SQUARES in reach:
        require(reach[Purpose.SQUARES] == reach[Purpose.SUM] ** 2, "releases", "sum and squares are of different balls")


def check_released(value: object, settings: FitSettings, dimension: int, charges: Sequence[Payment]) -> Mapping[str, Any]:
    """Return the released numbers, all of which are there: those of ``charges``, or of cells of a sample."""
    fields = read_fields(value, "the released numbers", _RELEASED)
    require(read_float(fields["records"], "the number of records") >= 1, "released", "the number of records is at least 1")
    require(read_float(fields["rms"], "the spread") > 0, "released", "the spread is positive")
    mean = _read_numbers(fields["mean"], dimension, "the mean")
    centres = read_list(fields["centres"], "the centres")
    require(len(centres) == settings.clusters, "released", "there are as many centres as clusters were asked for")
    read = [_read_numbers(centre, dimension, "a centre") for centre in centres]
    inside = settings.bounds is None or all(map(settings.bounds.contains, (*read, mean)))
    require(inside, "released", "a centre, or the mean, is outside of the bounds")
    _read_numbers(fields["counts"], settings.clusters, "the counts")
    choices = fields["choices"]
    require(isinstance(choices, dict) and all(isinstance(text, str) for text in choices.values()), "released", "choices are in words")
    told = settings.sample is not None or any(charge.part in _CELLS for charge in charges)
    require(told or all(centre == read[0] for centre in read), "released", "nothing was released that tells centres apart")
    reach = {charge.reach for charge in charges if charge.part is Purpose.CELL_SUMS}
    require(
        not reach or reach == {widen(read_clip(choices))}, "releases", "records are clipped to another radius than sums of cells suppose"
    )
    return fields


def _read_bounds(value: object, count: int) -> list[tuple[Fraction, Fraction]]:
    pairs = [read_list(pair, "the bounds of a column") for pair in read_list(value, "the bounds")]
    require(len(pairs) == count and all(len(pair) == 2 for pair in pairs), "arguments", "there are two bounds of each column")
    bounds = [(read_exact(pair[0], "a bound"), read_exact(pair[1], "a bound")) for pair in pairs]
    same = all(list(map(exact_text, read)) == pair for read, pair in zip(bounds, pairs, strict=True))
    require(same, "arguments", "the bounds are written in another way")
    return bounds


def read_clip(choices: Mapping[str, Any]) -> Fraction:
    """Return the radius that the records were clipped to when cells were released."""
    return Fraction(read_float(choices["clipped to"], "what records are clipped to"))


def read_float(value: object, what: str) -> float:
    """Return a finite binary64 number from its shortest text. Raises :class:`profiles.UnreadableFile`, ValueError."""
    number = float(read_string(value, what))
    require(math.isfinite(number) and repr(number) == value, what, "a binary64 number was expected")
    return number


def _read_numbers(value: object, count: int, what: str) -> list[float]:
    items = read_list(value, what)
    require(len(items) == count, what, f"{count} numbers were expected")
    return [read_float(item, what) for item in items]
