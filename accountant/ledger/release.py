"""A release of a ledger: charged when it is made, run once on the records that take part, and published once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import numpy as np

from accountant.guarantees import Guarantee, Run, ships
from accountant.guarantees.rules import GIVEN_ROW
from accountant.ledger.anchor import check_name
from accountant.ledger.charges import Charge
from accountant.ledger.log import CHARGE, OUTPUT, Digest
from accountant.ledger.notes import to_note
from accountant.ledger.opened import OpenedLedger
from accountant.ledger.outputs import load_output, read_output, write_output
from accountant.ledger.receipts import charge_rows, require_unused
from accountant.ledger.requests import Request
from accountant.ledger.rows import load_matrix
from accountant.ledger.settings import to_key
from profiles import InvalidArgument
from profiles.arrays import Booleans, Floats
from profiles.errors import ReleaseUsed
from profiles.hypotheses import ARITHMETIC, RECORD_STATISTICS, RUN_ON_ACTIVE, Hypothesis
from profiles.mechanisms.catalogue import describe_proof
from profiles.randomness.bernoulli import PoissonSampler


class LedgerRelease:
    """One release: charged, and to be run once on ``active_data`` with ``weights``; or ``published`` before.

    ``active_data``: the records that take part, shape (n, d); ``active``: which rows of the data these are, for what takes them in another
    form; ``weights``: of shape (n,), None where all are 1. All of them are private.
    """

    __slots__ = ("_active", "_data", "_ledger", "_left", "_weights", "name")

    def __init__(
        self, ledger: OpenedLedger, name: str, data: Floats | None = None, weights: Floats | None = None, active: Booleans | None = None
    ) -> None:
        self._ledger, self.name, self._data, self._weights, self._active = ledger, name, data, weights, active
        self._left = False

    def __repr__(self) -> str:
        return f"Release({self.name!r}, {'published' if self.published else 'charged'})"

    @property
    def published(self) -> bool:
        """Whether there is an output."""
        return self._ledger.journal.find(OUTPUT, self.name) is not None

    @property
    def partial(self) -> bool:
        """Whether units may be missing from it, by public numbers; False for a release that is not charged, or of an earlier ledger."""
        entry = self._ledger.journal.find(CHARGE, self.name)
        return entry is not None and bool(entry.body.get("partial", False))

    @property
    def output(self) -> Any:
        """The stored output. Raises :class:`InvalidArgument` before it is published."""
        return load_output(self._ledger.journal, self.name)

    @property
    def active_data(self) -> Floats:
        """The records that take part. Raises :class:`ReleaseUsed` after the block, and where the release was published before."""
        return self._require_open()

    def _require_open(self) -> Floats:
        if self._data is None:
            raise ReleaseUsed(f"the release {self.name!r} was to be run, but it was published or left before; it is run once, in one block")
        return self._data

    @property
    def active(self) -> Booleans:
        """Which rows of the data take part, and are in the sample where one was drawn. Raises like :attr:`active_data`."""
        self._require_open()
        return np.zeros(0, dtype=np.bool_) if self._active is None else self._active

    @property
    def weights(self) -> Floats | None:
        """Their weights. Raises like :attr:`active_data`."""
        self._require_open()
        return self._weights

    def publish(self, output: object) -> Any:
        """Store the output durably and return it as it was stored: what may be handed out from here on.

        Raises :class:`ReleaseUsed` the second time and after the block, :class:`InvalidArgument` for an output that is no number, text,
        array or list of them.
        """
        if self._left:
            raise ReleaseUsed(
                f"the output of {self.name!r} was to be stored, but its block was left before; the charge stays: take another name"
            )
        return _store(self._ledger, self.name, output, {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._data = self._weights = self._active = None
        self._left = True


def _store(ledger: OpenedLedger, name: str, output: object, told: Mapping[str, Any]) -> Any:
    """Store the output of a release that was charged, and return it as it was stored. Raises as :meth:`LedgerRelease.publish`."""
    journal, value = ledger.journal, write_output(output)
    stored = read_output(value)

    def work(entry: int, _: Digest) -> Mapping[str, Any]:
        charged = journal.find(CHARGE, name)
        if charged is None or journal.find(OUTPUT, name) is not None:
            raise ReleaseUsed(f"the output of {name!r} was to be stored, but one is stored already; a release has one output")
        journal.store.write_output(entry, value)
        return {"of": charged.sequence, "sha256": hashlib.sha256(value).hexdigest(), **told, **ledger.stamp()}

    journal.append(OUTPUT, name, work)
    return stored


def publish_own(ledger: OpenedLedger, name: str, output: object, note: Mapping[str, object] | None = None) -> Any:
    """Store the output of a release that was charged to be run elsewhere. See :meth:`~accountant.ledger.Ledger.publish`."""
    checked, said = check_name(name), to_note(note)
    ledger.journal.catch_up()
    entry = ledger.journal.find(CHARGE, checked)
    if entry is None:
        raise InvalidArgument(f"an output was to be stored under {checked!r}, but no release of this name was charged; charge it first")
    if "elsewhere" not in entry.body:
        raise ReleaseUsed(
            f"an output was to be stored for {checked!r}, but it was charged to be run by the ledger, in a block that was left, or by an "
            "earlier version; the charge stays: take another name"
        )
    return _store(ledger, checked, output, {"elsewhere": True, **said})


def _require_run_here(ledger: OpenedLedger, name: str) -> None:
    """Refuse to serve what was run elsewhere to whoever asks for a run of a mechanism. Raises :class:`ReleaseUsed`."""
    entry = ledger.journal.find(OUTPUT, name)
    if entry is not None and "elsewhere" in entry.body:
        raise ReleaseUsed(
            f"the release {name!r} was run elsewhere, and its output published; take another name, or ask for what is stored, with "
            "ledger.output (pdp ledger release without --mechanism)"
        )


def prepare_release(
    ledger: OpenedLedger,
    name: str,
    mechanism: Any,
    data: Any,
    *,
    key: object,
    ids: Any,
    bits: object,
    sampling: Mapping[str, Any],
    partial: bool | None = None,
    noise: Hypothesis | None = None,
    note: Mapping[str, object] | None = None,
    clip: bool = False,
) -> LedgerRelease:
    """Charge a release of a mechanism and return it, or the one that was published, to whoever asks the same.

    See :meth:`~accountant.ledger.Ledger.release`.

    ``noise``: what is supposed of the random numbers of a run that the caller makes at once; None where a user runs it.
    """
    checked = check_name(name)
    if key is not None and to_key(key) != ledger.settings.key:
        raise InvalidArgument(
            f"the units of this ledger are identified by {', '.join(ledger.settings.key)}, but another key was given; leave it out"
        )
    ledger.journal.catch_up()
    published = ledger.journal.find(OUTPUT, checked) is not None
    if not published:
        require_unused(ledger, checked)
    promised = isinstance(mechanism, Guarantee)
    runnable = callable(getattr(mechanism, "statistic", None)) and callable(getattr(mechanism, "run", None))
    if not runnable and (not promised or noise is not None):
        raise InvalidArgument(
            f"a mechanism with a profile, statistic and run was expected, but {type(mechanism).__name__} was found; charge its profile"
        )
    charge = ledger.prepare(mechanism, **sampling)
    if clip:
        charge = replace(charge, clipped=True)
        if not callable(getattr(mechanism, "clip", None)):
            raise InvalidArgument(
                f"records were to be clipped, but {type(mechanism).__name__} has no rule for it (clip); clip them beforehand"
            )
    sampler = PoissonSampler(bits)
    matrix = load_matrix(ledger.find_data(data), ledger.settings.key, ledger.budget.specs, ids)
    request, entry = Request.of(mechanism, matrix, ledger.journal.hasher), ledger.journal.find(CHARGE, checked)
    if published and entry is not None:
        _require_run_here(ledger, checked)
        request.require_same(ledger.journal, entry, charge)
        return LedgerRelease(ledger, checked)
    if clip:
        matrix = replace(matrix, values=np.asarray(mechanism.clip(matrix.values), dtype=np.float64).reshape(matrix.values.shape))
    charge = _settle(charge, mechanism, checked, sampler, noise)
    statistics = {} if promised else mechanism.statistic(matrix.values)
    receipt = charge_rows(ledger, checked, charge, matrix.batches(statistics), request=request, partial=partial, note=note)
    rows, weights = receipt.active, None
    if receipt.selections:
        q = np.concatenate([item.probabilities for item in receipt.selections])
        rows = rows & sampler.select(q)
        weights = np.concatenate([item.weights for item in receipt.selections])[rows]
    return LedgerRelease(ledger, checked, matrix.values[rows], weights, rows)


def _settle(charge: Charge, mechanism: object, name: str, sampler: PoissonSampler, noise: Hypothesis | None) -> Charge:
    """Return the charge with what its release rests on; less where its run is made here, and where it is of the catalogue."""
    if describe_proof(mechanism) is not None and any(item.id == RECORD_STATISTICS.id for item in charge.carried.hypotheses):
        charge = charge.restate((GIVEN_ROW,))
    if noise is None:
        return charge.update_hypotheses({}, (ARITHMETIC, RUN_ON_ACTIVE.about(name=name)))
    run = Run(noise=noise, draws=None if charge.plan is None else sampler.source.hypothesis, known=ships(mechanism))
    done = {charge.carried.protection.state(item): reason for item, reason in run.discharges().items()}
    return charge.update_hypotheses(done, (*run.supposes(), ARITHMETIC))
