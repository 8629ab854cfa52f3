"""Composed profiles: the profile of a mechanism that runs other mechanisms one after the other on the same weighted data set.

Statement (adaptive composition in PDP; Ebadi et al. 2015, used in the proof of Proposition 13 of Fay et al. 2024): if M_i is
ε_i-PDP and is run n_i times, each run seeing the outputs of the earlier ones, then the whole is (Σ n_i ε_i)-PDP.

This module only writes the sum down and remembers its parts; the accountant derives the guarantee from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from profiles.errors import InvalidProfile
from profiles.numbers import to_integer
from profiles.profile import Part, Profile
from profiles.ranges import Written, WrittenRange
from profiles.terms import Term, number, symbol
from profiles.variables import Parameter, Statistic, make_parameter


def compose_adaptively(name: str, parts: Sequence[Profile], *, times: object = 1, times_value: object = None, source: str = "") -> Profile:
    """Return the profile of ``times`` rounds, each of which runs every profile of ``parts`` once, adaptively: times · Σ ε_i.

    ``times`` is a positive integer or the name of a parameter (its value ``times_value``: a positive integer or ``"positive"``).
    Statistics and parameters of the same name must agree between the parts. Raises :class:`InvalidProfile`.
    """
    if not parts:
        raise InvalidProfile("a composition needs at least one profile, but none was given; pass the profiles that are run")
    statistics: dict[str, Statistic] = {}
    parameters: dict[str, Parameter] = {}
    for profile in parts:
        for statistic in profile.record:
            if statistics.setdefault(statistic.name, statistic) != statistic:
                raise InvalidProfile(f"the parts declare different ranges for the statistic {statistic.name!r}; give them the same range")
        for parameter in profile.parameters:
            if parameters.setdefault(parameter.name, parameter) != parameter:
                raise InvalidProfile(f"the parts declare different values for the parameter {parameter.name!r}; rename one of them")
    for clash in sorted(statistics.keys() & parameters.keys()):
        raise InvalidProfile(f"the name {clash!r} is a statistic of one part and a parameter of another; rename one of them")
    count: Term
    if isinstance(times, str):
        count = symbol(times)
        if times in parameters or times in statistics:
            raise InvalidProfile(f"the number of rounds {times!r} is already a name of a part; choose another one")
        rounds = make_parameter(times, "positive" if times_value is None else times_value)
        if rounds.value is not None:
            to_integer(rounds.value, f"the number of rounds {times}", 1, any_form=True, error=InvalidProfile)
        parameters = {times: rounds, **parameters}
    else:
        count = number(to_integer(times, "the number of rounds", 1, any_form=True, error=InvalidProfile))

    def compose(terms: Iterable[Term]) -> Term:
        total = reduce(lambda left, right: ("add", left, right), terms)
        return total if count == number(1) else ("mul", count, total)

    composed = tuple(Part(profile, count) for profile in parts)
    epsilon = compose(profile.epsilon for profile in parts)
    written = None
    if any(profile.written is not None for profile in parts):
        whole = compose(profile.epsilon if profile.written is None else profile.written.promise for profile in parts)
        written = Written(whole, _written_ranges(parts))
    return Profile(name, epsilon, tuple(statistics.values()), tuple(parameters.values()), source, composed, written)


def _written_ranges(parts: Sequence[Profile]) -> tuple[WrittenRange, ...]:
    """Return the ranges with expressions as ends of all parts, which must be the same in each part that has the statistic."""
    ranges: dict[str, WrittenRange] = {}
    for profile in parts:
        own = {item.name: item for item in (() if profile.written is None else profile.written.ranges)}
        names = {item.share: item.name for item in profile.shares}
        for statistic in profile.record:
            name = names.get(statistic.name, statistic.name)
            elsewhere = any(name in {item.name for item in other.written.ranges} for other in parts if other.written is not None)
            if elsewhere and (name not in own or ranges.setdefault(name, own[name]) != own[name]):
                raise InvalidProfile(f"the parts declare different ranges for the statistic {name!r}; give them the same range")
    return tuple(ranges.values())
