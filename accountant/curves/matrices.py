"""Matrix mechanisms (DP-FTRL, BandMF) as declared events: what ``pdp account --matrix`` and ``mechanism = "matrix"`` declare."""

from __future__ import annotations

from accountant.compositions.events import Composition
from accountant.compositions.matrices import make_matrix
from accountant.compositions.matrix_events import MatrixRelease, release
from accountant.compositions.sensitivity import Participation
from accountant.compositions.toml_format import DeclaredEvents
from profiles import InvalidArgument
from profiles.protection import Neighbors, Protection, Unit, read_protection

_NAME = "matrix mechanism"


def declare_matrix(
    matrix: object,
    noise: object,
    participation: Participation,
    *,
    neighbors: Neighbors | str,
    unit: Unit | str = Unit.RECORD,
    sampling_probability: object | None = None,
) -> DeclaredEvents:
    """Return the release of y = Cx + z as declared events, for :func:`accountant.curves.curve_of` and :func:`accountant.curves.account`.

    ``matrix``: C, of :func:`read_matrix` or :func:`make_matrix`, or an array. ``noise``: deviation of z over the norm to which each unit is
    clipped in each step. ``participation``: when one unit takes part. With ``sampling_probability`` each step draws, by a coin for each
    unit, from one of ``participation.apart`` groups, in turn, and C has no more bands than that. Source: docs/batches.md, section 8.
    Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.

    >>> from accountant.curves import Participation, curve_of, make_matrix
    >>> declared = declare_matrix(make_matrix([1, "0.75"], steps=100), 5, Participation(10, 10), neighbors="zero-out")
    >>> declared.composition.events[0].describe()
    'gaussian (noise_multiplier 1.2649110640673517327), once'
    """
    protection = read_protection(unit, neighbors, "a matrix mechanism")
    if not isinstance(participation, Participation):
        raise InvalidArgument(
            f"when a unit takes part is said by a Participation, but an object of type {type(participation).__name__} was found; give "
            "Participation(apart, most)"
        )
    made = release(make_matrix(matrix), noise, participation, protection, sampling_probability)
    return declare_release(made, protection)


def declare_release(made: MatrixRelease, protection: Protection) -> DeclaredEvents:
    """Return the release of a matrix mechanism as declared events, with what it rests on."""
    return DeclaredEvents(Composition(_NAME, (made.event,)), protection.unit, protection.neighbors, made.hypotheses)


__all__ = ["declare_matrix", "declare_release"]
