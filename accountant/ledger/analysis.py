"""One analysis under a name in a ledger: the ``ledger=`` argument of estimators and applications.

Statement (docs/ledger.md, Theorem L6). Let an algorithm cost at most c(x) where row x is added to or removed from *any* rows. Each unit is
charged Σ c(x) over its rows; then the algorithm is run once on the rows of the units that have room, and its output is stored before it is
returned. Then it is a release of Theorem L1 (or L2), and all outputs of the ledger together lose at most its budget about each unit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from accountant.guarantees import Guarantee
from accountant.guarantees.measures import Losses
from accountant.guarantees.theorem import Carried
from accountant.ledger.amounts import Amounts, say_amounts
from accountant.ledger.anchor import check_name
from accountant.ledger.charges import Charge
from accountant.ledger.inputs import Seen, look
from accountant.ledger.log import CHARGE, OUTPUT
from accountant.ledger.notes import to_note
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.opened import OpenedLedger
from accountant.ledger.outputs import load_output
from accountant.ledger.receipts import Receipt, charge_rows, require_unused
from accountant.ledger.release import LedgerRelease
from accountant.ledger.requests import Request, digest_arguments, spell_ids
from accountant.ledger.room import MAY_MISS
from accountant.ledger.rows import LedgerRows, Matrix, RowBatch
from accountant.ledger.settings import ReleaseMode, to_key
from accountant.ledger.units import to_ids
from profiles import Declaration, InvalidArgument, InvalidData, Profile
from profiles.arrays import Booleans, Floats
from profiles.errors import LedgerRejected, ReleaseUsed
from profiles.hypotheses import ARITHMETIC, RUN_ON_ACTIVE


@dataclass(frozen=True, slots=True)
class Charged:
    """The receipt of an analysis: its ``name``, the number and hash of its entry, and its largest cost for a unit with ``records`` rows, in
    nats of the ledger's notion, rounded up. ``served``: it was published before, and costs nothing again. All of this is public.

    ``guarantee``: that of all releases of the ledger together, including this one. ``partial``: whether units may be missing from it.
    ``notion``: of the ledger, in which the cost is.
    """

    name: str
    sequence: int
    hash: str
    cost: str
    records: int
    served: bool
    guarantee: Guarantee = field(repr=False)
    partial: bool = False
    notion: LedgerNotion = field(default=LedgerNotion.PURE, repr=False)

    def __str__(self) -> str:
        rows = "one row" if self.records == 1 else f"{self.records} rows"
        paid = "published before, and served again" if self.served else f"at most {self._cost_text} for a unit with {rows}"
        return f"{self.name!r}, entry {self.sequence}, {paid}" + (f"; {MAY_MISS}" if self.partial else "")

    @property
    def _cost_text(self) -> str:
        return self.cost if "," in self.cost else say_amounts(self.cost, self.notion.value)  # a rho is no number of nats

    def to_json(self) -> dict[str, Any]:
        """Return all but the guarantee as JSON types."""
        return {name: getattr(self, name) for name in ("name", "sequence", "hash", "cost", "records", "served", "partial")}


@dataclass(frozen=True, slots=True)
class Personal:
    """A cost for each row by itself: a ``profile``, and its ``statistics`` of the rows, upper bounds where they were rounded."""

    profile: Profile
    statistics: Mapping[str, Floats] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis under a ``name``: the ``ledger=`` argument of estimators and applications. Made by ``ledger.analysis``.

    ``ids`` of the units, one for each row (of each user, where an application reads users); or ``data``, a file with the columns ``key``;
    or neither, where the algorithm finds the ids in its data, as a stream of users has them. ``seen``: the state of the file when this was
    made, before any of its rows are read. ``partial``: whether units may be missing from it; None takes the ledger's default. ``note``: who
    asked for it, see ``Ledger.stamp``.
    """

    ledger: OpenedLedger
    name: str
    ids: Any = field(default=None, repr=False)
    data: Path | None = None
    key: tuple[str, ...] = ()
    seen: Seen | None = field(default=None, repr=False)
    partial: bool | None = None
    note: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", check_name(self.name))
        if self.ids is not None and self.data is not None:
            raise InvalidArgument(
                "units were given by ids and by a file with key columns, but one of the two is enough; leave the other out"
            )

    @property
    def everybody(self) -> bool:
        """Whether every row certainly takes part: in public mode, where a release that does not fit is refused as a whole."""
        return self.ledger.settings.mode is ReleaseMode.PUBLIC

    @property
    def notion(self) -> LedgerNotion:
        return self.ledger.settings.notion

    @property
    def adds_rho(self) -> bool:
        """Whether accounts are of one ρ, so that each part of a release is charged its own."""
        return self.notion is LedgerNotion.ZCDP

    def release(
        self,
        guarantee: Guarantee,
        size: int | None,
        run: Callable[[Booleans], Any],
        *,
        arguments: object,
        curve: Guarantee | None = None,
        personal: Personal | None = None,
        ids: Any = None,
        data: bytes | None = None,
        known: bool = True,
    ) -> tuple[Any, Charged]:
        """Charge an algorithm, run it on the rows that take part, store its output, and return the output with the receipt.

        ``guarantee``: what the run has, whatever rows it gets and whatever it releases, known before the data are used; ``curve``: the
        privacy curve that it is a point of, for a ledger in zcdp; ``personal``: the cost of each row, where it is known row by row.
        ``run``: from the mask of the rows that take part, shape (n,), to numbers, texts, arrays, lists and dictionaries. ``size``: n, None
        where rows are in the file. ``arguments``: everything public that decides the law of the output: a published analysis is returned to
        every request with the same ones. ``ids``: those that the algorithm found in its data, if it did. ``data``: a hash of everything
        that is read of the rows, private; a published analysis is then returned only for the same rows of the same units. ``known``: the
        algorithm is code of this project, which uses those rows and no others.

        Raises as ``Ledger.charge``; :class:`ReleaseUsed` for a name that was charged before with another algorithm or other arguments, or
        that was charged and not published: a death in between loses the budget, never privacy. :class:`NoGuarantee` if the ledger has no
        guarantee.
        """
        said = digest_arguments(arguments)
        request = None if data is None else Request(said, self._digest(data, size, ids))
        if self._is_published():
            return self._serve(said, request), self.tell(served=True)
        batches = self._read(size, {} if personal is None else personal.statistics, ids)
        receipt = self._charge(self._prepare(guarantee, curve, personal), batches, request, known=known)
        output = run(receipt.active)
        receipt.require_same()  # the rows may have been read again
        return self._store(said, output), self.tell(served=False)

    def follow(
        self, guarantee: Guarantee, run: Callable[[Sequence[str]], Iterator[Any]], *, arguments: object, known: bool = True
    ) -> Iterator[Any]:
        """Charge an algorithm in advance to all units of ``ids`` or ``data``, and yield its outputs as they come; all of them are stored at
        the end. A published one is returned again; one that was left before its end is used up.

        ``run``: from the ids of the units that take part, as texts, to the outputs. It must ignore records of other units that come later.
        Statement (docs/ledger.md, L6): for an algorithm with an ε, other releases may be charged, and run, in between. Raises as
        :meth:`release`, and :class:`InvalidArgument` for a bound that is not an ε in both directions.
        """
        said = digest_arguments(arguments)
        if self._is_published():
            yield from self._serve(said)
            return
        if not isinstance(guarantee.bound, Losses) or guarantee.bound.epsilon is None or guarantee.bound.delta:
            raise InvalidArgument(
                f"{guarantee.subject[:60]!r} was to be charged ahead, but it has no epsilon without a delta; run it as one release"
            )
        read: list[Any] = []

        def keep() -> Iterator[RowBatch]:
            for batch in self._read(None, {}, None):
                read.append(pc.cast(batch.ids.values, pa.string()))
                yield batch

        receipt = self._charge(self._prepare(guarantee, None, None), keep(), known=known)
        ids = pa.concat_arrays(read) if read else pa.array([], pa.string())
        released = []
        for item in run(ids.filter(pa.array(receipt.active)).to_pylist()):
            released.append(item)
            yield item
        self._store(said, released)

    def _is_published(self) -> bool:
        self.ledger.guarantee()  # what the run is handed out with: without one nothing is charged
        return self.ledger.journal.find(OUTPUT, self.name) is not None

    def _digest(self, data: bytes, size: int | None, found_ids: Any) -> bytes:
        """Return a keyed hash of rows and their units."""
        lengths, letters = hashlib.sha256(), hashlib.sha256()
        for batch in self._read(size, {}, found_ids):
            for part, told in zip((lengths, letters), spell_ids(batch.ids.values), strict=True):
                part.update(told)
        return self.ledger.journal.hasher.seal(b"data", data, lengths.digest(), letters.digest())

    def _charge(self, charge: Charge, batches: Iterator[RowBatch], request: Request | None = None, *, known: bool) -> Receipt:
        require_unused(self.ledger, self.name)
        run_elsewhere = () if known else (RUN_ON_ACTIVE.about(name=self.name),)
        charge = charge.update_hypotheses({}, (ARITHMETIC, *run_elsewhere))
        return charge_rows(self.ledger, self.name, charge, batches, self.seen, request, partial=self.partial, note=self.note)

    def _store(self, said: str, output: Any) -> Any:
        with LedgerRelease(self.ledger, self.name) as release:
            return release.publish({"arguments": said, "released": output})["released"]

    def _prepare(self, guarantee: Guarantee, curve: Guarantee | None, personal: Personal | None) -> Charge:
        promised = guarantee if curve is None else curve
        if personal is not None:  # the cost of a row is that of the profile, and what it rests on is told by what will be run
            return replace(self.ledger.prepare(Declaration(personal.profile)), carried=Carried.of(promised))
        return self.ledger.prepare(guarantee if self.notion is LedgerNotion.PURE else promised)

    def _read(self, size: int | None, statistics: Mapping[str, Floats], found_ids: Any) -> Iterator[RowBatch]:
        specs, ids = self.ledger.budget.specs, self.ids if found_ids is None else found_ids
        if found_ids is not None and (self.ids is not None or self.data is not None):
            raise InvalidArgument("the ids of units are in the data of this algorithm, but others were given beside it; leave them out")
        if ids is None and self.data is None:
            raise InvalidArgument("a ledger needs to know which unit each row belongs to, but no ids were given; give one for each row")
        if self.data is not None:
            if statistics:
                raise InvalidArgument("a cost for each row was given beside a file, which has rows of its own; give ids in its place")
            rows_read = 0
            for batch in LedgerRows(self.data, self.key, specs).batches():
                rows_read += batch.size
                yield batch
            if size not in (None, rows_read):
                raise InvalidData(
                    "the file that has the ids has another number of rows than there are; name the file that the rows are from"
                )
            return
        if specs:
            raise InvalidArgument(
                "the budgets of this ledger are read from columns, but ids without columns were given; give a file with the key columns, "
                "or charge by pdp ledger charge"
            )
        rows = len(ids) if size is None else size
        yield from Matrix(np.empty((rows, 0)), to_ids(ids, rows)).batches(statistics)

    def _serve(self, said: str, request: Request | None = None) -> Any:
        stored = load_output(self.ledger.journal, self.name)
        if not isinstance(stored, dict) or set(stored) != {"arguments", "released"} or stored["arguments"] != said:
            raise ReleaseUsed(
                f"the release {self.name!r} was published before, by another algorithm or with other arguments; take another name for "
                "another analysis"
            )
        entry = self.ledger.journal.find(CHARGE, self.name)
        if request is not None and entry is not None:
            request.require_data(self.ledger.journal, entry)
        return stored["released"]

    def tell(self, *, served: bool = False) -> Charged:
        """Return that it was charged. Raises :class:`LedgerRejected` where it was not."""
        entry = self.ledger.journal.find(CHARGE, self.name)
        if entry is None:
            raise LedgerRejected(f"the release {self.name!r} has no charge in the log; run pdp ledger verify")
        cost = Amounts.read(entry.body["cost"], "a cost").say(up=True).removesuffix(" nats")
        records = self.ledger.settings.records or 1
        return Charged(
            self.name,
            entry.sequence,
            entry.hash.hex(),
            cost,
            records,
            served,
            self.ledger.guarantee(),
            bool(entry.body.get("partial", False)),
            self.notion,
        )


def make_analysis(
    ledger: OpenedLedger,
    name: str,
    ids: Any,
    data: Any,
    key: object,
    *,
    partial: bool | None = None,
    note: Mapping[str, object] | None = None,
) -> Analysis:
    """Return an analysis: see ``Ledger.analysis``. Raises :class:`InvalidArgument`."""
    if data is not None and not isinstance(data, (str, Path)):
        raise InvalidArgument(f"the file with the ids is named by its path, but {type(data).__name__} was found; give the path, or ids")
    columns = ledger.settings.key if key is None else to_key(key)
    if len(columns) != len(ledger.settings.key):
        raise InvalidArgument(
            f"a unit of this ledger is identified by {len(ledger.settings.key)} columns, but {len(columns)} were named; name as many"
        )
    return Analysis(ledger, name, ids, None if data is None else Path(data), columns, look(data), partial, to_note(note))
