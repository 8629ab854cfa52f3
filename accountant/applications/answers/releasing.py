"""A release: exact totals of one pass, noise for each part, and answers made of what was released. One call, one guarantee.

Statement. For every table, what :func:`release` returns is a function of one run of the composition of its plan (docs/release.md,
Theorem 2). Errors about rows are raised before anything is charged or drawn: a refusal is outside of the guarantee, as everywhere
(docs/command-line.md, "What is shown of your data").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from accountant.applications.answers.errors import ReleasedAnswer, estimate
from accountant.applications.answers.parts import PartKind, ReleasePart
from accountant.applications.answers.planning import PlanOptions, ReleasePlan, plan_release
from accountant.applications.answers.requests import Histogram
from accountant.applications.answers.rows import AnswerRows, OpenedTable, open_table, read_rows
from accountant.applications.answers.totals import PartTotals, add_rows
from accountant.applications.charging import require_analysis
from accountant.guarantees import Guarantee, Run, ships
from profiles import InvalidArgument, exact_text
from profiles.arrays import Booleans
from profiles.mechanisms.exact import open_release
from profiles.numbers import nearest
from profiles.randomness.bits import BitSource, open_bits
from profiles.randomness.choice import ExponentialChoice
from profiles.randomness.geometric import draw_geometrics
from profiles.randomness.rounded import LAPLACE, NORMAL

if TYPE_CHECKING:
    from accountant.ledger import Analysis, Charged
    from profiles.presenting.pictures import Picture

#: The noisy numbers of each part, group by group.
Noisy = list[list[int | float]]


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """The result of a release: ``noisy`` numbers, which are all of its output, its ``plan``, and the guarantee.

    ``charged``: where it was charged to a ledger, under which entry; the guarantee is then that of the ledger.
    """

    plan: ReleasePlan
    noisy: Noisy = field(repr=False)
    guarantee: Guarantee = field(repr=False)
    charged: Charged | None = None

    @property
    def answers(self) -> tuple[ReleasedAnswer, ...]:
        """All answers, in the order in which they were asked for, group by group."""
        return tuple(self)

    def __iter__(self) -> Iterator[ReleasedAnswer]:
        places = {noise.part: place for place, noise in enumerate(self.plan.noises)}
        groups = self.plan.groups
        for item in self.plan.needs:
            noises = [self.plan.noise_of(part) for part in item.parts]
            listed = [self.noisy[places[part]] for part in item.parts]
            cells = item.parts[0].cells
            for place in range(groups.count * cells):
                group, cell = divmod(place, cells)
                category = item.parts[0].categories[cell] if isinstance(item.request, Histogram) else None
                values = [values[place] for values in listed]
                yield ReleasedAnswer(item.request.name, groups.names(group), category, estimate(item, noises, values))

    def __getitem__(self, name: str) -> ReleasedAnswer:
        """Return the answer of this name, such as "count" or "mean age". Raises :class:`InvalidArgument` where there is not one alone."""
        named = [item for item in self if item.name == name]
        if len(named) != 1:
            raise InvalidArgument(f"{len(named)} answers have the name {str(name)[:40]!r}; go through all of them")
        return named[0]

    def __repr__(self) -> str:
        return f"Released({self.plan.name}; {self.plan.count_answers()} numbers, epsilon <= {exact_text(self.plan.epsilon)})"

    def plot(self) -> Picture:
        """Return a picture of the answers with their intervals. Raises :class:`profiles.MissingExtra` without Matplotlib."""
        from accountant.applications.answers.picture import plot_answers  # noqa: PLC0415 - the extra plots

        return plot_answers([item.name for item in self.plan.requests], self.answers)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the answers as JSON types."""
        return [item.to_json(self.plan.groups.columns) for item in self]


def release(
    table: Any,
    requests: object,
    *,
    epsilon: object,
    ledger: Analysis | None = None,
    bits: object = None,
    **options: Unpack[PlanOptions],
) -> Released:
    """Return noisy answers about a table, each with the error of its noise, and one guarantee for all of them.

    ``table``: the path of a CSV or Parquet file, an Arrow table, a frame of pandas, Polars or Spark, a relation of DuckDB; each row is
    one record. ``requests``: :class:`Count`, :class:`Sum`, :class:`Mean`, :class:`Variance`, :class:`Histogram`, :class:`Quantile`.
    ``epsilon`` is of everything together, in nats; with ``delta=`` the noise is normal. ``where=``: a filter such as ``"year = 2025"``.
    ``by=``: :class:`By`, declared groups. ``ledger``: ``Ledger.analysis(name, ids)``, which is charged first. ``bits``: None for the
    secure source, a seed, or a generator.

    Source: docs/release.md, Theorems 1 and 2. Raises :class:`InvalidArgument` for wrong or missing declarations,
    :class:`profiles.InvalidData` for rows that hold no numbers, and what charging raises. Nothing is spent where it raises these.

    >>> import pyarrow as pa
    >>> from accountant.applications.answers import Histogram, Sum
    >>> table = pa.table({"income": [10, 20, 30], "region": ["N", "S", "?"]})
    >>> found = release(table, [Sum("income", (0, 100)), Histogram("region", ["N", "S"])], epsilon=1, bits=1)
    >>> [(item.name, item.category) for item in found]
    [('sum income', None), ('histogram region', 'N'), ('histogram region', 'S')]
    >>> found.guarantee.bound.upper
    Fraction(1, 1)
    """
    opened = open_table(table)
    plan = plan_release(requests, epsilon, integers=opened.integers, **options)
    return run_plan(opened, plan, ledger=ledger, bits=bits)


def run_plan(table: OpenedTable, plan: ReleasePlan, *, ledger: Analysis | None = None, bits: object = None) -> Released:
    """Return the release of a plan: see :func:`release`."""
    table.require(plan.columns)
    source = open_bits(bits)
    done = Run(source.hypothesis)
    guarantee, whole = plan.promise(done)
    curve = whole if plan.delta is not None else None if ledger is None or not ledger.adds_rho else plan.promise_rho(done)
    read: list[PartTotals] = []
    size = data = None
    if ledger is None:
        read = count_rows(table, plan, None)
    else:  # what is refused of a row, or of their number, is refused before the charge
        size, seen = 0, [hashlib.sha256() for _ in range(len(plan.noises) + 1)]
        for rows in read_rows(table, plan.columns, plan.where, plan.groups, None):
            for found, told in zip(seen, check_rows(rows, plan), strict=True):
                found.update(told)
            size += rows.read
        data = hashlib.sha256(b"".join(found.digest() for found in seen)).digest()

    def run(active: Booleans | None) -> dict[str, Any]:
        totals = count_rows(table, plan, active) if active is not None else read
        return {"noisy": [store_numbers(draw_part(total, plan.groups.count, source)) for total in totals]}

    if ledger is None:
        return Released(plan, [restore_numbers(values) for values in run(None)["noisy"]], guarantee)
    arguments = (plan, *plan.arguments)
    answers, charged = require_analysis(ledger).release(
        guarantee, size, run, arguments=arguments, curve=curve, data=data, known=ships(plan)
    )
    return Released(plan, [restore_numbers(values) for values in answers["noisy"]], charged.guarantee, charged)


def check_rows(rows: AnswerRows, plan: ReleasePlan) -> list[bytes]:
    """Read all that a release will read of a batch, and return it as bytes, private: the groups of its rows, and what each part reads.

    Raises :class:`profiles.InvalidData`, :class:`InvalidArgument`.
    """
    told: list[NDArray[Any]] = [np.ones(rows.size, np.int8) if rows.groups is None else rows.groups]
    for noise in plan.noises:
        part = noise.part
        if part.column is None:
            told.append(np.zeros(0))
        elif part.kind is PartKind.CELLS:
            told.append(rows.cells(part.column, part.categories))
        else:
            told.append(rows.numbers(part.column) + 0.0)  # one zero
    return [np.ascontiguousarray(item).tobytes() for item in told]


def count_rows(table: OpenedTable, plan: ReleasePlan, active: Booleans | None) -> list[PartTotals]:
    """Return the exact totals of all parts, of one pass: private."""
    batches = read_rows(table, plan.columns, plan.where, plan.groups, active)
    return add_rows(plan.noises, batches, plan.groups.count)


def draw_part(total: PartTotals, groups: int, bits: BitSource) -> list[int | float]:
    """Return the noisy numbers of a part, with noise of its own for each cell."""
    noise = total.noise
    part = noise.part
    if part.kind is PartKind.CHOICE:
        rate = 1 / noise.scale / part.at.denominator
        return [_point(part, ExponentialChoice(total.scores(group), rate).draw(bits)) for group in range(groups)]
    cells = total.values.size
    if noise.is_discrete:
        rate = 1 / noise.scale
        up, down = (draw_geometrics(rate, cells, bits) for _ in range(2))
        return [int(value) + more - less for value, more, less in zip(total.values.tolist(), up, down, strict=True)]
    opened = open_release(noise.scale, "a noise scale", NORMAL if noise.normal else LAPLACE, bits, 1)
    exact = total.values
    if total.unit is None:
        if opened.unit.exponent > 0:  # no cost that is accepted leads here: rounding a total would move it by more than a row adds
            raise InvalidArgument("counts would need noise beyond 2^41, which is not supported; ask for a larger epsilon")
        exact = exact.astype(object) * 2 ** (-opened.unit.exponent)
    drawn = opened.draw(exact[:, np.newaxis])[:, 0]
    return [int(value) for value in np.rint(drawn).tolist()] if part.whole else [float(value) for value in drawn.tolist()]


def _point(part: ReleasePart, place: int) -> float:
    if part.grid is None:
        raise InvalidArgument("a quantile has lost its grid; plan it again")
    return nearest(part.grid.point(place))


def store_numbers(values: Sequence[int | float]) -> Mapping[str, Any]:
    """Return noisy numbers as a ledger stores them: texts of whole numbers where they are, else an array."""
    if all(isinstance(value, int) for value in values):
        return {"whole": " ".join(map(str, values))}
    return {"numbers": np.array(values, dtype=np.float64)}


def restore_numbers(stored: Mapping[str, Any]) -> list[int | float]:
    """Return the numbers that :func:`store_numbers` stored."""
    if "whole" in stored:
        return [int(word) for word in str(stored["whole"]).split()]
    return [float(value) for value in np.asarray(stored["numbers"]).tolist()]
