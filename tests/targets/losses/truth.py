"""The true δ(ε) of a composition of declared events, by the sharpest method that applies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from accountant.curves import Event, MechanismKind
from profiles.balls import ball, working_precision
from tests.targets.losses import closed, finite, inversion, rounded
from tests.targets.losses.finite import Finite
from tests.targets.losses.moments import Atoms, Laplace, SampledGaussian, WholeGaussian

BITS = 192
_KIND = MechanismKind
_FINITE = (_KIND.RANDOMIZED_RESPONSE, _KIND.PURE, _KIND.APPROXIMATE, _KIND.DISCRETE_LAPLACE, _KIND.DISCRETE_GAUSSIAN)
_WIDEST = 300  # standard deviation of a discrete Gaussian whose integers are listed
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Truth:
    """low ≤ δ(ε) ≤ high, and how it was found; ``proved`` unless found in plain binary64."""

    low: Fraction
    high: Fraction
    method: str

    @property
    def proved(self) -> bool:
        """Whether all errors are bounded."""
        return self.method != "rounded"


def find_delta(events: Sequence[Event], epsilon: Fraction, *, remove: bool, quick: bool = False) -> Truth | None:
    """Return bounds of δ(ε) of the worst pair of the events; None where no method applies (zcdp and two-sided are not known here).

    ``quick``: without rounded losses, which take a second.
    """
    if any(event.mechanism in (_KIND.ZCDP, _KIND.TWO_SIDED) for event in events):
        return None
    with working_precision(BITS):
        if epsilon >= 0 and ball(epsilon) >= _largest_loss(events, remove=remove) and not _infinite(events):
            return Truth(Fraction(0), Fraction(0), "no larger loss")
        for method in (_closed, _twice, _finite, _polynomial, _inverted):
            found = method(events, epsilon, remove)
            if found is not None and found.is_finite() and _is_sharp(found):
                return _truth(found, method.__name__[1:])
        return None if quick else _rounded(events, epsilon, remove)


def _is_sharp(found: arb) -> bool:
    return float(found.rad()) <= 1e-3 * abs(float(found.mid())) or float(found.rad()) < 1e-60


def _truth(found: arb, method: str) -> Truth:
    low, high = (_exact(end) for end in (found.lower(), found.upper()))
    return Truth(max(low, Fraction(0)), min(high, ONE), method)


def _exact(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _use(event: Event) -> Finite | None:
    q = event.sampling_probability
    match event.mechanism:
        case _KIND.RANDOMIZED_RESPONSE | _KIND.PURE:
            return finite.response(event["epsilon"], Fraction(0), q)
        case _KIND.APPROXIMATE:
            return finite.response(event["epsilon"], event["delta"], q)
        case _KIND.DISCRETE_LAPLACE:
            return finite.discrete_laplace(event["scale"], q)
        case _KIND.DISCRETE_GAUSSIAN if event["noise_multiplier"] <= _WIDEST:
            return finite.discrete_gaussian(event["noise_multiplier"], q)
    return None


def _infinite(events: Sequence[Event]) -> bool:
    return any(event.mechanism is _KIND.APPROXIMATE and event["delta"] > 0 for event in events)


def _largest_loss(events: Sequence[Event], *, remove: bool) -> arb:
    total = arb(0)
    for event in events:
        q = ball(event.sampling_probability)
        match event.mechanism:
            case _KIND.LAPLACE | _KIND.DISCRETE_LAPLACE:
                most = 1 / ball(event["scale"])
            case _KIND.RANDOMIZED_RESPONSE | _KIND.PURE | _KIND.APPROXIMATE:
                most = ball(event["epsilon"])
            case _ if remove or event.sampling_probability == 1:
                return arb.pos_inf()
            case _:
                total -= event.count * (1 - q).log()
                continue
        total += event.count * ((1 - q + q * most.exp()).log() if remove else -(1 - q + q * (-most).exp()).log())
    return total


def _gaussian_sum(events: Sequence[Event]) -> tuple[Fraction, list[Event]]:
    """Return Σ count/σ² of the Gaussian events on all records, and the other events."""
    whole = [event for event in events if event.mechanism is _KIND.GAUSSIAN and event.sampling_probability == 1]
    m = sum((event.count / event["noise_multiplier"] ** 2 for event in whole), Fraction(0))
    return m, [event for event in events if event not in whole]


def _closed(events: Sequence[Event], epsilon: Fraction, remove: bool) -> arb | None:
    m, others = _gaussian_sum(events)
    if not others:
        return closed.gaussian_sums(m, epsilon)
    if m or len(others) > 1 or others[0].count > 1:
        return None
    event, e = others[0], ball(epsilon)
    if event.mechanism is _KIND.GAUSSIAN:
        return closed.sampled_gaussian_once(event["noise_multiplier"], event.sampling_probability, e, remove=remove)
    if event.mechanism is _KIND.LAPLACE:
        return closed.laplace_once(1 / event["scale"], event.sampling_probability, e, remove=remove)
    return None


def _twice(events: Sequence[Event], epsilon: Fraction, remove: bool) -> arb | None:
    event = events[0]
    if len(events) > 1 or event.mechanism is not _KIND.GAUSSIAN or event.count != 2 or event.sampling_probability == 1 or epsilon < 0:
        return None
    return closed.sampled_gaussian_twice(event["noise_multiplier"], event.sampling_probability, epsilon, remove=remove)


def _finite(events: Sequence[Event], epsilon: Fraction, remove: bool) -> arb | None:
    if any(event.mechanism not in _FINITE for event in events):
        return None
    uses = [(_use(event), event.count) for event in events]
    known = [(use, count) for use, count in uses if use is not None]
    return finite.all_outcomes(known, epsilon, remove=remove) if len(known) == len(uses) else None


def _polynomial(events: Sequence[Event], epsilon: Fraction, remove: bool) -> arb | None:
    del remove  # a symmetry exchanges the directions
    event = events[0]
    if len(events) > 1 or event.mechanism is not _KIND.DISCRETE_GAUSSIAN or event.sampling_probability < 1:
        return None
    return finite.discrete_gaussian_sums(event["noise_multiplier"], event.count, epsilon)


def _inverted(events: Sequence[Event], epsilon: Fraction, remove: bool) -> arb | None:
    m, others = _gaussian_sum(events)
    parts: list[inversion.Part] = [(WholeGaussian(m), 1)] if m else []
    inside, lost = arb(1), arb(0)
    for event in others:
        q = event.sampling_probability
        if event.mechanism is _KIND.GAUSSIAN:
            parts.append((SampledGaussian(event["noise_multiplier"], q), event.count))
        elif event.mechanism is _KIND.LAPLACE:
            parts.append((Laplace(1 / event["scale"], q), event.count))
        elif (use := _use(event)) is not None:
            parts.append((Atoms(use.rows), event.count))
            inside *= (1 - (use.only_p if remove else use.only_q)) ** event.count
            lost += event.count * use.lost
        else:
            return None
    if all(isinstance(part, Atoms) for part, _ in parts):
        return None
    try:
        found = inversion.invert(parts, epsilon, remove=remove)
    except inversion.NotInverted:
        return None
    return 1 - inside + found + arb(0, 1) * lost.upper()


def _cells(event: Event, *, remove: bool) -> rounded.Cells | None:
    q = float(event.sampling_probability)
    if event.mechanism is _KIND.GAUSSIAN:
        return rounded.sampled_gaussian_cells(float(event["noise_multiplier"]), q, remove=remove)
    if event.mechanism is _KIND.LAPLACE:
        return rounded.laplace_cells(float(1 / event["scale"]), q, remove=remove)
    use = _use(event)
    if use is None:
        return None
    losses, beyond = use.losses(remove=remove)
    places, masses = rounded.to_array(x for x, _ in losses), rounded.to_array(p for _, p in losses)
    return rounded.Cells(masses, places, places, float((beyond + use.lost).upper()))


def _rounded(events: Sequence[Event], epsilon: Fraction, remove: bool) -> Truth | None:
    m, others = _gaussian_sum(events)
    parts = [(cells, event.count) for event in others if (cells := _cells(event, remove=remove)) is not None]
    if len(parts) < len(others):
        return None
    if m:
        parts.append((rounded.sampled_gaussian_cells(float(m) ** -0.5, 1.0, remove=remove), 1))
    found = rounded.bracket(parts, float(epsilon))
    return None if found is None else Truth(Fraction(found[0]), Fraction(found[1]), "rounded")
