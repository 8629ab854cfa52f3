"""What is asked of a sample by released statistics: the rule and its constants, checked before any record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.statistics.releasing import Costs, Moment
from accountant.rules.coreset import norm_statistic
from profiles import InvalidArgument, InvalidSampling, Profile, to_exact
from profiles.mechanisms.datasets import check_radius
from profiles.numbers import to_number
from profiles.variables import Statistic

CONSTRAINED, UNIFORM, CORESET = "privacy-constrained", "uniform", "coreset"
#: By the name of a rule its exponent; None is told by a constant, 0 has no total.
_EXPONENTS: Mapping[str, int | None] = {UNIFORM: 0, "coreset-l1": 1, "coreset-l2": 2, CORESET: None}
_MOST_EXPONENT = 16
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What is asked for: ``epsilon`` E of everything together, ``statistics``, the part of it for these, and a ``rule`` with its constants.

    ``size`` m and ``mixing`` λ of a rule with a size, else None; ``moment`` is the total that the rule reads, or None.
    """

    epsilon: Fraction
    statistics: Fraction
    rule: str
    size: Fraction | None
    mixing: Fraction | None
    moment: Moment | None

    @property
    def costs(self) -> Costs:
        return Costs.of(self.statistics, self.moment)

    @classmethod
    def of(
        cls, profile: Profile, epsilon: object, statistics: object, rule: str | None, constants: Mapping[str, object] | None
    ) -> SampleRequest:
        """Return a checked request. Raises :class:`InvalidArgument`, :class:`InvalidSampling`, :class:`profiles.InvalidNumber`."""
        if epsilon is None:
            raise InvalidArgument(
                "private statistics need a target epsilon, which is that of everything together: a bound that is computed from what was "
                "released would promise nothing; give one"
            )
        whole, part = to_exact(epsilon, "the target epsilon"), to_exact(statistics, "the epsilon of the statistics")
        if not 0 < part < whole <= 1000:
            raise InvalidArgument(
                "the epsilon of the statistics must be above 0 and below the target epsilon, which covers them and is at most 1000; "
                "correct the two"
            )
        profile.require_pure()
        if profile.free_parameters or profile.shares:
            raise InvalidArgument("private statistics need a profile with numbers for all parameters and ranges; give them")
        if not profile.record:
            raise InvalidArgument(f"the profile {profile.name!r} declares no record statistic, so no data can be read for it; declare one")
        given = dict(constants or {})
        name = CONSTRAINED if rule is None else rule
        if name == CONSTRAINED:
            if given:
                raise InvalidArgument("the rule privacy-constrained takes no constants; leave them out, or name another rule")
            return cls(whole, part, name, None, None, _read_moment(profile, given, 2, optional=True))
        if name not in _EXPONENTS:
            raise InvalidSampling(
                f"private statistics serve {', '.join((*_EXPONENTS, CONSTRAINED))}, but {str(name)[:60]!r} was asked for; name one of these"
            )
        return cls(whole, part, name, *_read_constants(profile, name, given))


def _read_constants(profile: Profile, name: str, given: dict[str, object]) -> tuple[Fraction, Fraction | None, Moment | None]:
    """Return m, λ and the total that a rule reads. Raises :class:`InvalidArgument`."""
    known = {"m"} | (set() if name == UNIFORM else {"lam", "statistic"}) | ({"exponent"} if name == CORESET else set())
    for key in given:
        if key not in known:
            what = "is released with noise" if key in ("n", "mean", "xbar") else "is none of its constants"
            raise InvalidArgument(f"{key!r} was given, but with private statistics the rule {name!r} takes {_list(known)}: {key!r} {what}")
    if "m" not in given:
        raise InvalidArgument(f"the rule {name!r} needs its expected sample size; give the constant m")
    size = to_number(given["m"], "the expected sample size m", "[1, 1e15]")
    if name == UNIFORM:
        return size, None, None
    mixing = to_exact(given.get("lam", _HALF), "the constant lam")
    if not 0 < mixing <= 1:
        raise InvalidArgument("the constant lam must be above 0 and at most 1: with 0 records of a small norm would have q = 0; correct it")
    fixed = _EXPONENTS[name]
    if fixed is None:
        exact = to_exact(given.get("exponent", 2), "the constant exponent")
        if exact.denominator != 1 or not 1 <= exact <= _MOST_EXPONENT:
            raise InvalidArgument(f"with private statistics the constant exponent is a whole number from 1 to {_MOST_EXPONENT}; correct it")
        fixed = int(exact)
    return size, mixing, _read_moment(profile, given, fixed)


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))


def _read_moment(profile: Profile, given: Mapping[str, object], exponent: int, *, optional: bool = False) -> Moment | None:
    """Return the total of the norm that is named, or the only one; None where it is ``optional`` and there is none."""
    wanted = given.get("statistic")
    if wanted is not None and not isinstance(wanted, str):
        raise InvalidSampling("the constant statistic must be the name of a record statistic; give it as text")
    try:
        chosen: Statistic = norm_statistic(profile, wanted)
    except InvalidSampling:
        if optional:
            return None
        raise
    if chosen.hi <= 0:
        raise InvalidSampling(f"a coreset rule needs a norm with a range above 0, but that of {chosen.name!r} ends at 0; declare another")
    moment = Moment(chosen, exponent)
    check_radius(moment.reach)
    return moment
