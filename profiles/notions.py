"""Notions of privacy in which a profile may state its promise, and what each promise means (docs/gaussian-weights.md, section 1).

For all data sets, P and Q are the laws of the output with and without the weighted record (w, x), in either order:

* ``pure``: P(S) ≤ e^ε(w,x) Q(S) for all events S.
* ``gaussian``: the pair N(0, 1), N(μ(w,x), 1) dominates: no test tells P from Q better than it tells these two apart.
* ``renyi``: D_α(P‖Q) ≤ rdp(α, w, x) for all orders α > 1.
* ``zcdp``: D_α(P‖Q) ≤ α ρ(w, x) for all orders α > 1.

A number of one notion is not a number of another one: a μ that is taken for an ε promises what is false.
"""

from __future__ import annotations

from enum import Enum

from profiles.errors import InvalidProfile
from profiles.suggestions import describe_unknown

#: The order of a Rényi divergence, in the expression of ``rdp``; and what stands in proofs for the order minus 1.
ORDER, ABOVE_ONE = "alpha", "alpha_above_one"


class ProfileNotion(Enum):
    """The notion that a profile is stated in: pure ε, Gaussian μ, Rényi rdp at an order, or zCDP ρ; the values are its names in files."""

    PURE = "pure"
    GAUSSIAN = "gaussian"
    RENYI = "renyi"
    ZCDP = "zcdp"

    @property
    def number(self) -> str:
        """What the number is called that a profile of this notion declares.

        >>> [f"{notion.value}: {notion.number}" for notion in ProfileNotion]
        ['pure: epsilon', 'gaussian: mu', 'renyi: rdp', 'zcdp: rho']
        """
        return _NUMBERS[self][0]

    @property
    def sign(self) -> str:
        """How formulas write the number."""
        return _NUMBERS[self][1]

    @property
    def reserved(self) -> frozenset[str]:
        """The names that no statistic and no parameter may have, besides those of all notions."""
        return frozenset({ORDER, ABOVE_ONE}) if self is ProfileNotion.RENYI else frozenset()


_NUMBERS = {
    ProfileNotion.PURE: ("epsilon", "ε"),
    ProfileNotion.GAUSSIAN: ("mu", "μ"),
    ProfileNotion.RENYI: ("rdp", "rdp"),
    ProfileNotion.ZCDP: ("rho", "ρ"),
}

#: The numbers of all notions, by which a declaration gives one of them.
NUMBERS = tuple(notion.number for notion in ProfileNotion)


def to_notion(value: object) -> ProfileNotion:
    """Return a notion from its name. Raises :class:`InvalidProfile` for another one.

    >>> to_notion("gaussian").number
    'mu'
    """
    if isinstance(value, ProfileNotion):
        return value
    names = {notion.value: notion for notion in ProfileNotion}
    if not isinstance(value, str) or value not in names:
        shown, hint = describe_unknown(value, names, 60)
        raise InvalidProfile(f"a notion was expected, but {shown} was found; known are {', '.join(names)}{hint}")
    return names[value]
