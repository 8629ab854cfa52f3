"""Several mechanisms on one sample: composed first, amplified once. The other order gives an ε that is too small."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accountant.guarantees import Hypothesis, assume
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from profiles import Declaration, InvalidArgument, Parameter, Part, Profile, compose_adaptively, load
from profiles.hypotheses import SAME_STATISTICS, as_hypotheses
from profiles.mechanisms.catalogue import describe_exactness
from profiles.mechanisms.interface import EXACT_MODE
from profiles.ranges import Written
from profiles.terms import Term, substitute, symbol
from profiles.variables import MAX_NAME


def amplify_once(profiles: object, **options: Any) -> DerivedEpsilon:
    """Return the guarantee of mechanisms that are all run on **one** sample, in order, each seeing the outputs of the earlier ones.

    Statement: if M_i is ε_i-PDP, the sequence is (Σ ε_i)-PDP on weighted data sets (adaptive composition), and that one mechanism is
    amplified by Theorem 6, once: ψ(x) = log(1 + q(x)(exp Σ ε_i(1/q(x), x) − 1)). Amplifying each release and adding up gives
    Σ log(1 + q(e^ε_i − 1)), which is smaller and false for one sample (docs/sampling.md, section 14): it holds for fresh samples.

    ``profiles``: one or several :class:`profiles.Profile` or mechanisms with a ``profile``; ``options`` are those of
    :func:`accountant.derive_epsilon`. Raises what :func:`compose_on_one_sample` and ``derive_epsilon`` raise.

    >>> from profiles import declare
    >>> answer = declare("answer", "w*log(3)/2")
    >>> amplify_once([answer, answer], q="1/2").bound.evidence.upper_text()  # log 5; adding up gives log 4 = 1.386...
    '1.60943791389'
    """
    derived = derive_epsilon(compose_on_one_sample(to_profiles(profiles)), **options)
    return replace(derived, guarantee=assume(derived.guarantee, to_hypotheses(profiles)))


@dataclass(frozen=True, slots=True)
class Mechanisms:
    """What is run on one sample: ``profiles`` in their order, their composition ``profile``, and what is ``supposed`` of running them.

    ``reference`` is what the guarantee is derived from: the profile, or the declaration of a file, whose run is not seen here.
    """

    profiles: tuple[Profile, ...]
    profile: Profile
    reference: Declaration | Profile
    supposed: tuple[Hypothesis, ...]

    @classmethod
    def of(cls, given: object) -> Mechanisms:
        """Return what a file, a declaration, a profile, a mechanism or a list of these names. Raises :class:`InvalidArgument`."""
        if isinstance(given, Mechanisms):
            return given
        if isinstance(given, (str, Declaration)):
            declared = load(given) if isinstance(given, str) else given  # the file is read here, once
            supposed = to_hypotheses(declared)
            return cls((declared.profile,), declared.profile, replace(declared, mechanism=None, hypotheses=supposed), supposed)
        listed = to_profiles(given)
        profile = compose_on_one_sample(listed)
        return cls(listed, profile, profile, to_hypotheses(given))


def to_profiles(given: object) -> tuple[Profile, ...]:
    """Return the profiles behind profiles and mechanisms. Raises :class:`InvalidArgument`."""
    items = _listed(given)
    profiles_ = []
    for item in items:
        profile = item if isinstance(item, Profile) else getattr(item, "profile", None)
        if not isinstance(profile, Profile):
            raise InvalidArgument(f"a profile or a mechanism with one was expected, but {type(item).__name__} was found; give one")
        profiles_.append(profile)
    if not profiles_:
        raise InvalidArgument("at least one mechanism is needed, but none was given; name what is run on the sample")
    return tuple(profiles_)


def to_hypotheses(given: object) -> tuple[Hypothesis, ...]:
    """Return what running these mechanisms on one sample assumes beside their profiles: their own hypotheses, and equal statistics.

    What exact noise assumes of the machine is left out: before a run, exact real arithmetic is open in its place, which is more.
    """
    items = _listed(given)
    shared = (SAME_STATISTICS,) if len(items) > 1 else ()
    return (*shared, *(hypothesis for item in items for hypothesis in _own_hypotheses(item)))


def _own_hypotheses(item: Any) -> tuple[Hypothesis, ...]:
    """Return what a mechanism, or the declaration of one, says that it supposes."""
    own = as_hypotheses(getattr(item, "hypotheses", ()), "a mechanism")
    exact = describe_exactness(item.mechanism if isinstance(item, Declaration) else item) is not None
    return tuple(hypothesis for hypothesis in own if not exact or hypothesis not in EXACT_MODE)


def _listed(given: object) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def compose_on_one_sample(profiles: Sequence[Profile]) -> Profile:
    """Return the adaptive composition of ``profiles``; a parameter whose name an earlier part uses for something else gets a new name.

    Raises :class:`profiles.InvalidProfile` where two of them declare different ranges for one statistic.

    >>> from profiles import declare
    >>> compose_on_one_sample([declare("a", "w*z/b", record={"z": [0, 1]}, parameters={"b": b}) for b in (1, 2)]).text
    'w*z/b + w*z/b_2'
    """
    if len(profiles) == 1:
        return profiles[0]
    statistics = {statistic.name for profile in profiles for statistic in profile.record}
    used: dict[str, Parameter] = {}
    parts = []
    for profile in profiles:
        names: dict[str, str] = {}
        own = {parameter.name for parameter in profile.parameters}
        for parameter in profile.parameters:
            names[parameter.name] = _find_name(parameter, used, statistics | own)
        used |= {names[parameter.name]: replace(parameter, name=names[parameter.name]) for parameter in profile.parameters}
        parts.append(_rename(profile, names))
    name = ", then ".join(profile.name for profile in profiles)
    return compose_adaptively(name if len(name) <= MAX_NAME else f"{len(profiles)} mechanisms", parts)


def _find_name(parameter: Parameter, used: Mapping[str, Parameter], taken: frozenset[str] | set[str]) -> str:
    """Return the parameter's name, or the first free one after it; one without a number is never shared, as it may differ in each part."""
    if parameter.name not in used or (parameter.value is not None and used[parameter.name] == parameter):
        return parameter.name
    candidates = (f"{parameter.name}_{count}" for count in itertools.count(2))
    return next(name for name in candidates if name not in taken and name not in used)


def _rename_written(written: Written, changes: Mapping[str, Term]) -> Written:
    ranges = tuple(replace(item, lo=substitute(item.lo, changes), hi=substitute(item.hi, changes)) for item in written.ranges)
    return Written(substitute(written.promise, changes), ranges)


def _rename(profile: Profile, names: Mapping[str, str]) -> Profile:
    changes: dict[str, Term] = {old: symbol(new) for old, new in names.items() if old != new}
    if not changes:
        return profile
    return replace(
        profile,
        promise=substitute(profile.epsilon, changes),
        written=None if profile.written is None else _rename_written(profile.written, changes),
        parameters=tuple(replace(parameter, name=names.get(parameter.name, parameter.name)) for parameter in profile.parameters),
        parts=tuple(Part(_rename(part.profile, names), substitute(part.times, changes)) for part in profile.parts),
    )
