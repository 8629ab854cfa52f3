"""Rules for the probabilities of DP-SGD: which share of the largest one a record gets whose clipped gradient is t of the clipping norm.

A rule is f(t) = min(1, a + b t + c t²) with f(t) ≥ t on [0, 1]: probabilities q = q₀ f(t) and weights 1/q then keep the weighted gradient
within C/q₀, and all rules have the same privacy (docs/dp-sgd.md, Theorem 2). Which one is better is a matter of variance (Theorem 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from profiles import InvalidArgument, exact_text
from profiles.arrays import Floats, ignore_flags
from profiles.numbers import ExactLike, to_number
from profiles.suggestions import suggest

#: Records with less than this share of the clipping norm are left out: 2⁻⁶⁰ of a gradient is lost, and 1/q stays finite.
LEAST_SHARE = 2.0**-60
_MOST = Fraction(10**6)


@dataclass(frozen=True, slots=True)
class GradientRule:
    """f(t) = min(1, ``constant`` + ``linear``·t + ``square``·t²) with its name; the coefficients are exact, and f(t) ≥ t on [0, 1].

    It is data and no function, so that the share of a record can depend on nothing but the record. Raises :class:`InvalidArgument`.

    >>> GradientRule("half", Fraction(1, 2), Fraction(1, 2), Fraction(0)).share(np.array([0.0, 1.0])).tolist()
    [0.5, 1.0]
    """

    name: str
    constant: Fraction = Fraction(0)
    linear: Fraction = Fraction(0)
    square: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        parts = (self.constant, self.linear, self.square)
        if not isinstance(self.name, str) or not all(isinstance(part, Fraction) for part in parts):
            raise InvalidArgument("a rule has a name and three exact coefficients, but something else was found; give Fractions")
        if not all(0 <= part <= _MOST for part in parts):
            raise InvalidArgument("the coefficients of a rule must lie from 0 to 1000000, but another number was found; correct it")
        if self._least_excess() < 0:
            raise InvalidArgument(
                f"the rule {self.name[:40]!r} gives some records a smaller share than t, with which their weighted gradients are too long; "
                "raise its coefficients"
            )

    def _least_excess(self) -> Fraction:
        """Return the least a + (b − 1) t + c t² on [0, 1]: where min(1, ·) is 1 it is at least t as well."""
        fall, at_one = 1 - self.linear, self.constant + self.linear + self.square - 1
        if fall <= 0:
            return self.constant
        if self.square and fall <= 2 * self.square:
            return self.constant - fall**2 / (4 * self.square)
        return at_one

    @ignore_flags
    def share(self, t: Floats) -> Floats:
        """Return f(t), each entry by itself."""
        a, b, c = float(self.constant), float(self.linear), float(self.square)
        return np.asarray(np.minimum(1.0, a + t * (b + c * t)))

    @ignore_flags
    def probabilities(self, t: Floats, rate: float) -> Floats:
        """Return q = ``rate``·f(t), never above ``rate``; 0 where t is below 2⁻⁶⁰.

        >>> RULES["norm"].probabilities(np.array([0.0, 0.5, 1.0]), 0.5).tolist()
        [0.0, 0.25, 0.5]
        """
        return np.where(t >= LEAST_SHARE, np.minimum(self.share(t) * rate, rate), 0.0)

    @property
    def is_uniform(self) -> bool:
        """Whether f is 1 for all records, so that no gradient has to be known before the coins are thrown."""
        return self.constant >= 1


def capped(factor: ExactLike) -> GradientRule:
    """Return the rule f(t) = min(1, κ t) for κ ≥ 1: the least variance for the expected batch that it has. Raises :class:`InvalidArgument`.

    >>> capped(4).share(np.array([0.1, 0.5])).tolist()
    [0.4, 1.0]
    """
    exact = to_number(factor, "the factor of the rule", "[1, inf)", "1 is the rule 'norm'")
    return GradientRule(f"capped({exact_text(exact)[:20]})", linear=exact)


#: uniform: all records alike. norm: in proportion to the clipped norm. coreset: half of it constant, half with the squared norm.
RULES = {
    rule.name: rule
    for rule in (
        GradientRule("uniform", constant=Fraction(1)),
        GradientRule("norm", linear=Fraction(1)),
        GradientRule("coreset", constant=Fraction(1, 2), square=Fraction(1, 2)),
    )
}


def to_rule(value: object) -> GradientRule:
    """Return a rule as it is, or the one of a name. Raises :class:`InvalidArgument`."""
    if type(value) is GradientRule:
        return value
    if isinstance(value, str) and value in RULES:
        return RULES[value]
    described = repr(value[:40]) if isinstance(value, str) else f"an object of type {type(value).__name__}"
    hint = suggest(value, RULES) if isinstance(value, str) else ""
    raise InvalidArgument(f"a rule of {', '.join(RULES)}, or capped(k), was expected, but {described} was found; name one{hint}")
