"""What audits from the command line read: the two data sets, how often to run, and the claim that a profile makes for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument, InvalidData, PDPError, UnreadableFile
from profiles.files import read_text
from profiles.mechanisms.datasets import to_weights
from profiles.numbers import round_down, to_exact, to_integer
from profiles.private import NOT_FINITE, locate_failure, name_failure, name_type, quote, quote_failure
from profiles.strict_json import read_json
from profiles.suggestions import suggest, suggest_file

if TYPE_CHECKING:
    from profiles.profile import Profile
    from proofs_check.audit.claims import Claim
    from proofs_check.audit.differences import WeightedRecord


_MAX_BYTES = 100_000_000
_EXACT_INTEGERS = 2**53
_LEAST_SAMPLES, _MOST_SAMPLES = 10, 10**9
#: Statistics that are so near, relative to the larger one, differ by the rounding of a norm.
_NEAR = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, eq=False)
class GivenData:
    """A data set as it was given: records along the first axis, and weights or None."""

    records: Floats
    weights: Floats | None


def read_table(text: str, what: str, columns: Sequence[str] = (), weight_column: str | None = None) -> GivenData:
    """Return the data set that ``text`` is (a JSON array or object) or names (a file: JSON, NPY, CSV, Parquet, svmlight).

    ``columns`` and ``weight_column`` choose among the columns of a table with names. A single column makes an array of shape (n,).
    Raises :class:`InvalidData`, :class:`UnreadableFile`.
    """
    if text.lstrip()[:1] in ("[", "{"):
        return _read_json(text, what)
    path = Path(text)
    suffix = path.suffix.lower()
    if suffix in (".json", ".npy") and (columns or weight_column):
        raise InvalidArgument(f"columns can be chosen in tables with names, but {path.name} has none; give a CSV or Parquet file")
    if suffix == ".json":
        return _read_json(read_text(path, _MAX_BYTES), path.name)
    if suffix == ".npy":
        return GivenData(_read_npy(path), None)
    return _read_columns(path, columns, weight_column)


def make_pair(first: GivenData, second: GivenData) -> tuple[Any, Any]:
    """Return both data sets as the mechanism gets them: arrays, or pairs ``(data, weights)`` if either one has weights.

    An empty data set takes the shape of the other's records. Raises :class:`InvalidData` for records of different shapes.
    """
    shapes = {table.records.shape[1:] for table in (first, second) if table.records.size}
    if len(shapes) > 1:
        raise InvalidData(
            f"the records of both data sets must have the same shape, but {first.records.shape[1:]} and {second.records.shape[1:]} were "
            "found; give rows of equal length"
        )
    shape = next(iter(shapes), first.records.shape[1:])
    weighted = first.weights is not None or second.weights is not None
    made = []
    for table in (first, second):
        records = table.records if table.records.size else np.zeros((0, *shape))
        made.append((records, np.ones(len(records)) if table.weights is None else table.weights) if weighted else records)
    return made[0], made[1]


def obvious_pair(mechanism: Any, profile: Profile) -> tuple[Any, Any]:
    """Return one record on the border of the domain, and no record. Raises :class:`InvalidArgument` where that is not obvious."""
    centres = getattr(mechanism, "centres", None)
    dimension = getattr(mechanism, "dimension", centres.shape[1] if isinstance(centres, np.ndarray) and centres.ndim == 2 else None)
    radius = getattr(mechanism, "radius", None)
    if not profile.record and dimension is None:
        dimension, radius = 1, 0
    if not isinstance(dimension, int) or radius is None:
        raise InvalidArgument(
            "an audit needs two neighboring data sets, and this mechanism does not say what its records are; give --dataset D --neighbor D2"
        )
    record = np.zeros((1, dimension))
    record[0, 0] = round_down(to_exact(radius, "the radius"))
    return record, np.zeros((0, dimension))


def parse_samples(text: str) -> int:
    """Return how many outputs an audit takes for each data set. Raises :class:`InvalidArgument`."""
    return to_integer(text, "the number of samples", _LEAST_SAMPLES, _MOST_SAMPLES, any_form=True)


def claim_of_pair(profile: Profile, record: WeightedRecord, mechanism: Any, given: Mapping[str, str]) -> tuple[Claim, tuple[str, ...]]:
    """Return what a profile claims for a pair that differs in ``record``: ε(w, x) rounded up; and what of it rests on the caller's word.

    Statistics that are not ``given`` (a number, or a norm l1, l2, l2^2, linf) come from the mechanism's own ``statistic``. One that is
    given is compared with the mechanism's, up to a relative 1e-9; where the mechanism tells none, that is said in the sentences.
    Raises :class:`InvalidArgument`, :class:`InvalidData`, :class:`Undecided`.
    """
    from proofs_check.audit.claims import claim_of_record

    names = {statistic.name for statistic in profile.record}
    for name in given:
        if name not in names:
            known = f"{', '.join(names) or 'none'}{suggest(name, names)}"
            raise InvalidArgument(f"--at gives {name!r}, which is not a statistic of {profile.name!r}; known are {known}")
    statistics: dict[str, Any] = {name: _norm_or_number(name, value, record) for name, value in given.items()}
    of_mechanism = getattr(mechanism, "statistic", None)
    told = _ask(of_mechanism, record.values[np.newaxis]) if names and callable(of_mechanism) else {}
    sentences = []
    for name, value in statistics.items():
        if name in told:
            _require_equal(name, given[name], value, told[name])
        else:
            sentences.append(
                f"{name} = {given[name]} is the statistic of the record in which D and D' differ: given by --at, and not checked, because "
                "the mechanism has no method statistic that tells it"
            )
    statistics = {**told, **statistics}
    missing = sorted(names - statistics.keys())
    if missing:
        raise InvalidArgument(
            f"the profile {profile.name!r} needs the statistic {missing[0]!r} of the record in which D and D' differ, but the mechanism "
            f"does not tell it; give it as --at {missing[0]}=VALUE (or =l1, l2, l2^2, linf for a norm of the record)"
        )
    return claim_of_record(profile, {name: statistics[name] for name in names}, Fraction(record.weight)), tuple(sentences)


def _require_equal(name: str, option: str, given: Any, told: float) -> None:
    """Refuse a statistic that is not the one that the mechanism computes of the record. Raises :class:`InvalidArgument`."""
    value = to_exact(given, f"the statistic {name}")
    if not np.isfinite(told) or abs(value - Fraction(told)) > _NEAR * max(abs(value), abs(Fraction(told))):
        raise InvalidArgument(
            f"--at gives {name} = {option[:40]}, but the mechanism tells another statistic of the record in which D and D' differ, so that "
            "the claim would be about another record; leave --at out, or give data sets that differ in the record you mean"
        )


def _ask(statistic: Callable[[Any], Any], records: Any) -> dict[str, Any]:
    try:
        return {name: np.asarray(values, dtype=np.float64).reshape(-1)[0] for name, values in statistic(records).items()}
    except PDPError:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidArgument(
            f"the mechanism's statistic() raised {locate_failure(error)}; correct it, or give the statistics by --at",
            private=quote_failure(error),
        ) from None


def _norm_or_number(name: str, value: str, record: WeightedRecord) -> Any:
    from accountant.data import open_dataset, parse_statistic
    from accountant.data.specs import NORMS

    if value not in NORMS:
        return value
    source = open_dataset(record.values.reshape(1, -1))
    return next(iter(source.batches([parse_statistic(f"{name}={value}")]))).statistics[name][0]


def _read_json(text: str, what: str) -> GivenData:
    try:
        value = read_json(text, floats=True)
    except ValueError as error:
        place = f"at line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "as JSON"
        raise InvalidData(
            f"{what} must be a JSON array of numbers or of rows of numbers, but it is not readable {place}; correct it",
            private=quote_failure(error),
        ) from None
    if not isinstance(value, dict):
        return GivenData(_as_array(value, what), None)
    unknown = sorted(set(value) - {"data", "weights"})
    if unknown or "data" not in value:
        problem = "another key was found" if unknown else "there is no data"
        raise InvalidData(
            f'{what} must be {{"data": [...], "weights": [...]}}, but {problem}; write the records and their weights',
            private=f"the key {quote(unknown[0])}" if unknown else "",
        )
    records = _as_array(value["data"], what)
    weights = None if "weights" not in value else to_weights(_as_array(value["weights"], f"the weights of {what}"), len(records))
    return GivenData(records, weights)


def _as_array(value: object, what: str) -> Floats:
    try:
        array = np.asarray(value) if isinstance(value, (list, np.ndarray)) else None
    except ValueError:
        raise InvalidData(f"{what} must have rows of equal length, but they differ; fill or cut them") from None
    if array is None or array.ndim == 0:
        raise InvalidData(f"{what} must be an array of records, but one value of type {type(value).__name__} was found; put it in brackets")
    if array.size == 0:
        return np.zeros((0, *array.shape[1:]))
    if array.dtype.kind not in "iuf":
        raise InvalidData(f"{what} must hold numbers only, but entries of type {name_type(array.dtype)} were found; encode them as numbers")
    if array.dtype.kind in "iu" and max(abs(int(array.min())), abs(int(array.max()))) > _EXACT_INTEGERS:
        raise InvalidData(f"{what} has integers above 2^53, which floats do not hold; scale them")
    values: Floats = array.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.argmax(~np.isfinite(values).reshape(len(values), -1).all(axis=1)))
        raise InvalidData(f"{what} must hold finite numbers, but row {row} (from 0) has {NOT_FINITE}; correct or remove those records")
    return values


def _read_npy(path: Path) -> Floats:
    try:
        return _as_array(np.load(str(path), allow_pickle=False), path.name)
    except FileNotFoundError:
        raise UnreadableFile(f"the data file {path} does not exist; check the path{suggest_file(path)}") from None
    except (ValueError, EOFError, OSError) as error:
        raise UnreadableFile(
            f"{path.name} could not be read as NPY ({name_failure(error)}); save an array of numbers by numpy.save",
            private=quote_failure(error),
        ) from None


def _read_columns(path: Path, columns: Sequence[str], weight_column: str | None) -> GivenData:
    from accountant.data import StatisticSpec, open_dataset

    source = open_dataset(str(path))
    names = list(columns)
    if not names:
        table = next(iter(source.batches([]))).table
        names = [name for name in table.schema.names if name != weight_column] if table is not None else []
    if not names:
        raise InvalidData(f"{path.name} has no columns to take records from; give a table with at least one column of numbers")
    wanted = [*names, *([weight_column] if weight_column is not None else [])]
    specs = [StatisticSpec(f"c{j}", column=name, from_data=not columns and name != weight_column) for j, name in enumerate(wanted)]
    parts = [np.stack([batch.statistics[spec.name] for spec in specs], axis=1) for batch in source.batches(specs)]
    values = np.concatenate(parts)
    records = values[:, : len(names)]
    weights = None if weight_column is None else to_weights(values[:, -1], len(values))
    return GivenData(records[:, 0] if len(names) == 1 else records, weights)
