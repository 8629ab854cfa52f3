"""What is claimed for one pair of neighboring data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from profiles.balls import ball, upper_fraction, working_precision
from profiles.errors import InvalidArgument, InvalidNumber, Undecided
from profiles.numbers import ExactLike, exact_text, to_exact, to_number
from profiles.profile import Profile
from profiles.variables import WEIGHT
from proofs_check.enclosures import Enclosure

_BITS = 256
_LARGEST = 10**300


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim: P(M(D) ∈ S) ≤ e^ε P(M(D′) ∈ S) + δ for all S, and with D and D′ exchanged unless ``one_sided``.

    ``epsilon`` ≥ 0 in nats and 0 ≤ ``delta`` < 1 are exact numbers (a float is its binary value). With ``one_sided`` the claim is add-DP:
    D results from D′ by adding a record (Ghazi et al. 2024, Definition 1.7). ``source`` says where the claim comes from.
    Raises :class:`InvalidNumber`.

    >>> Claim("0.1").epsilon
    Fraction(1, 10)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    one_sided: bool = False
    source: str = ""
    private: str = ""

    def __init__(self, epsilon: ExactLike, delta: ExactLike = 0, *, one_sided: bool = False, source: str = "", private: str = "") -> None:
        exact = to_number(epsilon, "the claimed epsilon", "[0, inf)", "give a number of nats", InvalidNumber)
        slack = to_number(delta, "delta", "[0, 1)", "give a probability", InvalidNumber)
        if exact > _LARGEST:
            raise InvalidNumber("a claimed epsilon above 1e300 nats claims nothing that runs could refute; give a smaller number")
        object.__setattr__(self, "epsilon", exact)
        object.__setattr__(self, "delta", slack)
        object.__setattr__(self, "one_sided", one_sided)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "private", private)


def claim_of_record(profile: Profile, statistics: Mapping[str, ExactLike], weight: ExactLike = 1) -> Claim:
    """Return the claim that a PDP profile makes for a pair of data sets that differ in the record (w, x): ε(w, x), rounded up.

    ``statistics`` gives the value of each record statistic, an exact number in its declared range; ``weight`` is w ≥ 1.
    Source: Fay et al. 2024, Definition 4. Raises :class:`InvalidArgument` for a record outside the domain or a profile with parameters
    that have no number, :class:`Undecided` where ε cannot be enclosed at the record.
    """
    if profile.free_parameters:
        raise InvalidArgument(
            f"an audit needs a number for parameter {profile.free_parameters[0].name!r} of {profile.name!r}, but any positive value was "
            "declared; set it in the profile"
        )
    point = {WEIGHT: to_exact(weight, "the weight")}
    for statistic in profile.record:
        if statistic.name not in statistics:
            raise InvalidArgument(f"the profile needs the statistic {statistic.name!r} of the record, but it is not given; give its value")
        point[statistic.name] = to_exact(statistics[statistic.name], f"the statistic {statistic.name}")
    for variable in profile.variables():
        if not variable.contains(point[variable.name]):
            raise InvalidArgument(
                f"the record must lie in the profile's domain, but its {variable.name} does not; use a record of the domain",
                private=f"{variable.name} = {exact_text(point[variable.name])}",
            )
    with working_precision(_BITS):
        box = {name: ball(value) for name, value in point.items()}
        bound = upper_fraction(Enclosure(profile.numeric_epsilon()).evaluate(box))
    if bound is None:
        raise Undecided(f"epsilon of {profile.name!r} could not be enclosed at this record; choose a record at which it is defined")
    record = ", ".join(f"{name} = {exact_text(value)}" for name, value in point.items())
    source = f"{profile.name}: epsilon(w, x) = {profile.text} at the record that differs"
    return Claim(max(bound, Fraction(0)), source=source, private=record)
