"""Carriers, which hold guarantees outside of the calculus: one table, and one conversion into and out of each.

Law: let g be carried into a carrier, and h be taken out of it. Then

    open(h) ⊇ open(g) less what a theorem closes: a step of h's derivation, named in h.discharged;
    protection(h) = protection(g), or the one that the carrier's rule gives;
    bound(h) ≥ bound(g) at every ε and δ, and every given part is in it.

A carrier that cannot state hypotheses adds the open hypothesis ``hypotheses-unknown``, which stands for all of them. A measure, unit or
neighbors that a carrier cannot hold are refused with an error that names them. :func:`list_lost` says how the law is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from accountant.compositions import toml_format
from accountant.curves.curve import curve_of
from accountant.guarantees import CurveBound, Guarantee, Losses, ProfileBound, SampledBound, update_hypotheses
from accountant.guarantees.stored import tell_beside
from accountant.guarantees.theorem import require_guarantee
from accountant.interop import releases
from accountant.interop.files import write_guarantee
from accountant.report.documents import read_report
from profiles import InvalidArgument, UnreadableFile
from profiles.hypotheses import HYPOTHESES_UNKNOWN, Hypothesis
from profiles.protection import Neighbors, Unit
from profiles.strict_json import read_json
from profiles.suggestions import suggest
from proofs_check.certificates import to_file_text
from proofs_check.kernel.untrusted.formats import FORMATS, read_heading

_NAMES = {ProfileBound: "a profile", SampledBound: "a sampled profile", Losses: "losses", CurveBound: "a privacy curve"}
#: Calls that change what a bound rests on, and not the bound.
_ADDS_WORDS = ("assume", "discharge", "round_noise")
_ADDED, _PURE = (Neighbors.ADD_REMOVE,), (Losses,)


@dataclass(frozen=True, slots=True)
class Carrier:
    """One kind of carrier. ``put`` writes one; None if only a run writes it, beside its output. ``take`` reads one.

    ``measures``, ``units`` and ``neighbors`` are those that it can hold; ``says``: whether it states hypotheses. ``rule``: the rule that
    concludes for another unit, such as the filter of a ledger; else "".
    """

    what: str
    take: Callable[..., Guarantee]
    put: Callable[..., Any] | None = None
    measures: tuple[type, ...] = tuple(_NAMES)
    units: tuple[Unit, ...] = tuple(Unit)
    neighbors: tuple[Neighbors, ...] = tuple(Neighbors)
    says: Callable[[Any], bool] = lambda _: True
    rule: str = ""

    def require(self, guarantee: Guarantee) -> None:
        """Refuse a guarantee that the carrier cannot hold. Raises :class:`InvalidArgument`."""
        whole, wanted, has = guarantee.protection, "", ""
        if not isinstance(guarantee.bound, self.measures):
            wanted, has = " or ".join(_NAMES[item] for item in self.measures), f"has {_NAMES[type(guarantee.bound)]}"
        elif whole.unit not in self.units:
            wanted, has = f"a bound for one {' or one '.join(item.word for item in self.units)}", f"is for {whole.unit.value}"
        elif whole.neighbors not in self.neighbors:
            wanted = f"a bound for neighbors {' or '.join(item.value for item in self.neighbors)}"
            has = f"is for data sets where {whole.describe()}"
        if wanted:
            raise InvalidArgument(
                f"{self.what} holds {wanted}, but the guarantee of {guarantee.subject[:60]!r} {has}; bring it to that by a rule first"
            )


def carry(guarantee: Guarantee, into: str, **details: Any) -> Any:
    """Return the carrier's text or object that holds a guarantee. ``details``: further arguments of the carrier, such as the ledger of a
    charge.

    Raises :class:`InvalidArgument` for a measure, unit or neighbors that it cannot hold, and what writing raises.
    """
    require_guarantee(guarantee)
    carrier = find_carrier(into)
    if carrier.put is None:
        raise InvalidArgument(f"{carrier.what} is written by the run that it is about alone; carry the guarantee into a pdp-guarantee")
    carrier.require(guarantee)
    return carrier.put(guarantee, **details)


def take(body: Any, out_of: str, **details: Any) -> Guarantee:
    """Return the guarantee that a carrier holds, with the open hypothesis ``hypotheses-unknown`` if it states none.

    Raises what reading that body raises: :class:`UnreadableFile`, :class:`InvalidArgument`, :class:`MissingExtra`.
    """
    carrier = find_carrier(out_of)
    made = carrier.take(body, **details)
    return (
        made
        if carrier.says(body)
        else update_hypotheses(made, supposes=(HYPOTHESES_UNKNOWN.about(name=made.subject, carrier=carrier.what),))
    )


def read_release(text: str, name: str = "the file") -> Guarantee:
    """Return the guarantee of a file, with an epsilon that was checked again here as far as possible.

    * A guarantee file: its calls are made again; where they cannot be, what it states, with its word as an open hypothesis.
    * A certificate of ``pdp epsilon``, also of one at a delta: the kernel checks it, and the rules conclude from its profile and q.
    * A certificate of a sample, of private k-means or of statistics: checked as ``pdp check`` does; what it states, and the hypotheses that
      it does not name.
    * A composition of events: its privacy curve.

    Raises :class:`UnreadableFile` for other files, and for certificates that are rejected or have no epsilon.
    """
    kind, _ = read_heading(text)
    if kind not in CARRIERS:
        raise UnreadableFile(
            f"a guarantee file, a composition or a certificate of an epsilon, a sample, k-means or statistics was expected in {name}, but "
            f"{FORMATS.get(str(kind), 'something else')} was found; write one with --guarantee or --certificate"
        )
    try:
        return take(text, out_of=str(kind))
    except UnreadableFile as error:
        raise UnreadableFile(f"{name}: {error}") from None


def find_carrier(name: str) -> Carrier:
    """Return the carrier of a name. Raises :class:`InvalidArgument`."""
    if name not in CARRIERS:
        raise InvalidArgument(f"a carrier of guarantees was expected, but {str(name)[:40]!r} is not one{suggest(str(name), CARRIERS)}")
    return CARRIERS[name]


def list_lost(before: Guarantee, after: Guarantee) -> tuple[Hypothesis, ...]:
    """Return what is open in ``before`` and neither open in ``after``, closed by a step of it, nor stood for by hypotheses-unknown."""
    if any(item.id == HYPOTHESES_UNKNOWN.id for item in after.hypotheses):
        return ()
    left = {item.sentence for item in after.hypotheses}
    closed = {item.hypothesis.sentence for item in after.discharged if item not in before.discharged}
    return tuple(item for item in before.hypotheses if item.sentence not in left | closed)


# --- into bodies, and out of them, where no entry point does it ---------------------------------------------------------------------


def _find_certificate(guarantee: Guarantee) -> str:
    """Return the certificate of the worst case that a guarantee is. Raises :class:`InvalidArgument` where it is more, or has none."""
    call, bound = guarantee.call, guarantee.bound
    while call is not None and call.name in _ADDS_WORDS:
        (call,) = call.premises
    proof = bound.proofs[0] if isinstance(bound, Losses) and len(bound.proofs) == 1 else None
    if call is None or call.name != "worst_case" or proof is None or proof.certificate is None or not proof.checked_by_kernel:
        raise InvalidArgument(
            f"a certificate of an epsilon holds the worst case of one sampled profile, but the guarantee of {guarantee.subject[:60]!r} is "
            "another, or has no proof; carry it into a pdp-guarantee"
        )
    return to_file_text(tell_beside(proof.certificate, guarantee))


def _find_cover(guarantee: Guarantee) -> str:
    """Return the cover of a sampling rule that a guarantee rests on. Raises :class:`InvalidArgument`."""
    given: Mapping[str, Any] = dict(guarantee.call.arguments) if guarantee.call is not None else {}
    if guarantee.call is None or guarantee.call.name != "bound_by_cover" or given.get("weight_cover") is None:
        raise InvalidArgument(
            f"a weight cover holds the worst record of a sampling rule under Gaussian noise, but the guarantee of "
            f"{guarantee.subject[:60]!r} is another; carry it into a pdp-guarantee"
        )
    return to_file_text(given["weight_cover"])


def _from_report(text: str) -> Guarantee:
    """Return the guarantee of the one certificate of an epsilon inside of a report. Raises :class:`UnreadableFile`."""
    certificates = [item for item in read_report(text).values() if '"epsilon-upper"' in item]
    if len(certificates) != 1:
        raise UnreadableFile(
            f"a report with one certificate of an epsilon was expected, but {len(certificates)} were found; take the guarantee file of "
            "pdp epsilon"
        )
    return releases.read_epsilon(certificates[0])


def _charge(guarantee: Guarantee, *, ledger: Any, name: str, data: Any = None, ids: Any = None) -> Any:
    ledger.charge(name, guarantee, data, ids=ids)
    return ledger


def _to_event(guarantee: Guarantee) -> Any:
    from accountant.interop.dp_accounting import make_event  # noqa: PLC0415 - an extra

    return make_event(guarantee, accept_hypotheses=True)


def _from_event(event: Any) -> Guarantee:
    from accountant.interop.dp_events import curve_of_dp_event  # noqa: PLC0415 - an extra

    return curve_of_dp_event(event).guarantee


def _to_measurement(guarantee: Guarantee, *, function: Any, input_domain: Any) -> Any:
    from accountant.interop.opendp import plan_measurement  # noqa: PLC0415 - an extra

    return plan_measurement(guarantee, function, accept_hypotheses=True).make(input_domain)


def _from_measurement(measurement: Any, **said: Any) -> Guarantee:
    from accountant.interop.opendp import read_measurement  # noqa: PLC0415 - an extra

    return read_measurement(measurement, **said)


def _from_result(result: Any) -> Guarantee:
    """Return the guarantee of what a run gave: an answer, a plan, a ledger (``guarantee``), a fitted estimator (``guarantee_``)."""
    for name in ("guarantee_", "guarantee"):
        attribute = getattr(result, name, None)
        made = attribute() if callable(attribute) and not isinstance(attribute, Guarantee) else attribute
        if isinstance(made, Guarantee):
            return made
    raise InvalidArgument(f"a result with a guarantee was expected, but {type(result).__name__} has none; fit or run it first")


def _has_hypotheses(text: str) -> bool:
    return "hypotheses" in read_json(text)


#: By name; files by that of their format.
CARRIERS: dict[str, Carrier] = {
    "pdp-guarantee": Carrier("a guarantee file", releases.read_stated, write_guarantee),
    "pdp-certificate": Carrier(
        "a certificate of an epsilon", releases.read_epsilon, _find_certificate, _PURE, (Unit.RECORD,), _ADDED, _has_hypotheses
    ),
    "pdp-weight-cover": Carrier("a weight cover", releases.read_cover, _find_cover, _PURE, (Unit.RECORD,), _ADDED, _has_hypotheses),
    "pdp-sample-certificate": Carrier("a certificate of a sample", releases.read_sample),
    "pdp-kmeans-certificate": Carrier("a certificate of private k-means", releases.read_kmeans),
    "pdp-statistics-certificate": Carrier("a certificate of statistics and a sample", releases.read_statistics),
    "report": Carrier("a report", _from_report, says=lambda _: False),
    "composition file": Carrier(
        "a composition file",
        lambda text: curve_of(toml_format.read_composition(text)).guarantee,
        lambda guarantee: toml_format.write_composition(curve_of(guarantee).declared),
        (Losses, CurveBound),
    ),
    "ledger": Carrier(
        "a ledger",
        lambda ledger: ledger.guarantee(),
        _charge,
        (Losses, CurveBound),
        (Unit.RECORD, Unit.USER, Unit.USER_PERIOD),
        _ADDED,
        rule="filter of a ledger",
    ),
    "dp_accounting event": Carrier("an event of dp_accounting", _from_event, _to_event, _PURE),
    "opendp measurement": Carrier("a measurement of OpenDP", _from_measurement, _to_measurement, _PURE, (Unit.RECORD,)),
    "result": Carrier("what a run gave", _from_result),
}
