"""Profiles with one unknown: all noise scales in fixed proportions to a common one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product

import sympy

from profiles import InvalidArgument, Parameter, PDPError, Profile
from profiles.balls import ball, working_precision
from profiles.numbers import to_number
from profiles.profile import Part
from profiles.suggestions import suggest
from profiles.terms import Term, number, substitute, symbol
from profiles.variables import WEIGHT
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.enclosures import Enclosure
from proofs_check.prover.algebra import derivative
from proofs_check.prover.effort import within
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove
from proofs_check.prover.trees import describe

_SECONDS = 10.0
_SCALE = "noise_scale"
_BITS = 128
_SCALES = (-20, -6, -2, -1, 0, 1, 2, 4, 8, 20)
_MOST_POINTS = 200


@dataclass(frozen=True, slots=True)
class Template:
    """A profile whose parameters without a number are ``proportions`` times one common scale s > 0."""

    profile: Profile
    proportions: Mapping[str, Fraction]

    def at(self, scale: Fraction) -> Profile:
        """Return the profile with its noise scales put in."""
        return self.profile.with_parameters(**{name: factor * scale for name, factor in self.proportions.items()})

    def prove_falling(self) -> str | None:
        """Prove that ε(w, x) does not rise with s, for all s > 0, w ≥ 1 and records; return how, None where there is no proof.

        Then ψ does not rise with s for any fixed q, since q does not depend on s, nor does the size Σ 1/w*(x).
        """
        name = next(name for name in (_SCALE, *(f"{_SCALE}_{k}" for k in range(99))) if name not in _names(self.profile))
        terms: dict[str, Term] = {key: ("mul", number(factor), symbol(name)) for key, factor in self.proportions.items()}
        kept = tuple(parameter for parameter in self.profile.parameters if parameter.name not in self.proportions)
        joint = replace(
            self.profile, promise=substitute(self.profile.epsilon, terms), parameters=(*kept, Parameter(name)), parts=(), written=None
        )
        try:
            context = Context(admit(joint))
        except PDPError:
            return None
        if not context.smooth or context.epsilon.has(sympy.Abs, sympy.Min, sympy.Max, sympy.Piecewise, sympy.floor, sympy.ceiling):
            return None
        slope = derivative(context.epsilon, joint.symbols()[name])
        tree = within(_SECONDS, lambda: prove(Goal(-slope, context.domain)))
        return None if tree is None else f"epsilon does not rise with the noise scale: {describe(tree)}"

    def find_rise(self) -> Mapping[str, Fraction] | None:
        """Return w, a record and two scales, the larger one with the certainly larger ε; None where none was found."""
        statistics = [(item.name, sorted({item.lo, (item.lo + item.hi) / 2, item.hi})) for item in self.profile.record]
        points = [dict(zip([name for name, _ in statistics], values, strict=True)) for values in product(*(ends for _, ends in statistics))]
        scales = [Fraction(2) ** exponent for exponent in _SCALES]
        terms = [Enclosure(self.at(scale).numeric_epsilon()) for scale in scales]
        with working_precision(_BITS):
            for weight, point in product((Fraction(1), Fraction(3), Fraction(100)), points[:_MOST_POINTS]):
                record = {name: ball(value) for name, value in {**point, WEIGHT: weight}.items()}
                values = [term.evaluate(record) for term in terms]
                for k, (before, after) in enumerate(pairwise(values)):
                    if after > before:
                        return {WEIGHT: weight, **point, "less": scales[k], "more": scales[k + 1]}
        return None


def open_parameters(profile: Profile, names: Sequence[str]) -> Profile:
    """Return the profile with the parameters of these names any positive numbers. Raises :class:`InvalidArgument` for unknown names."""
    known = {parameter.name: parameter for parameter in profile.parameters}
    for name in names:
        if name not in known:
            raise InvalidArgument(
                f"the parameter {name[:60]!r} was to be found, but {profile.name!r} has {', '.join(sorted(known)) or 'none'}; name one of "
                f"them{suggest(name, known)}"
            )
    opened = tuple(Parameter(item.name) if item.name in names else item for item in profile.parameters)
    parts = tuple(
        Part(open_parameters(part.profile, [name for name in names if name in {item.name for item in part.profile.parameters}]), part.times)
        for part in profile.parts
    )
    return replace(profile, parameters=opened, parts=parts)


def make_template(profile: Profile, proportions: Mapping[str, object] | None) -> Template:
    """Return the template of a profile; without ``proportions`` its only parameter without a number is the scale.

    Raises :class:`InvalidArgument` where a parameter without a number has no proportion, or another one has; where one is not positive.
    """
    free = {parameter.name for parameter in profile.free_parameters if parameter.bounds is None}
    if not free:
        raise InvalidArgument(
            f"the noise of {profile.name!r} was to be chosen, but no parameter is 'positive'; declare its noise scale as 'positive'"
        )
    if proportions is None:
        if len(free) > 1:
            raise InvalidArgument(
                f"the parameters {', '.join(sorted(free))} have no number; give their proportions, such as "
                f"{', '.join(f'{name}=1' for name in sorted(free))}"
            )
        proportions = dict.fromkeys(free, 1)
    if set(proportions) != free:
        raise InvalidArgument(
            f"proportions for {', '.join(sorted(free))} were expected, but those for {', '.join(sorted(map(str, proportions))) or 'none'} "
            "were found; give one for each parameter without a number"
        )
    return Template(profile, {name: to_number(value, f"the proportion of {name}", "(0, inf)") for name, value in proportions.items()})


def _names(profile: Profile) -> set[str]:
    return {*(item.name for item in profile.record), *(item.name for item in profile.parameters)}
