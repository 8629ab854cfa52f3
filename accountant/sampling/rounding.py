"""When a guarantee for the exact map q also covers probabilities and weights that were rounded down (docs/sampling.md, section 4)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from accountant.weights.vectorised.exact import split_weight
from profiles import InvalidArgument, Profile, Statistic, Undecided
from profiles.profile import WEIGHT
from profiles.terms import number, substitute, symbol
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.prover.effort import within
from proofs_check.prover.search import prove
from proofs_check.prover.trees import describe

#: Significant bits of the probabilities and weights of explicit rules, and the most that rounding down to them takes away, relatively.
BITS = 36
SLACK = Fraction(1, 2 ** (BITS - 1))
ROUNDING = "weight_rounding"
_SECONDS = 10.0


def prove_monotone(profile: Profile) -> str:
    """Prove that ε(w, x) does not fall as w rises on [1, ∞), for every record, and return how.

    Then a guarantee for q holds for every q̂ ≤ q with a weight ŵ ≤ 1/q as well (docs/sampling.md, Theorem 2). A profile linear in w
    needs no more than ε ≥ 0; for others ∂ε/∂w ≥ 0 is proved by the kernel's rules.
    Raises :class:`Undecided` where there is no proof; it may be true all the same, or see :func:`with_rounding`.
    """
    values = {item.name: number(item.value) for item in profile.parameters if item.value is not None}
    admit(profile)
    if split_weight(substitute(profile.epsilon, values)) is not None:
        return "epsilon is linear in w and not negative"
    context = Context(profile)
    tree = within(_SECONDS, lambda: prove(context.for_all(context.first))) if context.smooth else None
    if tree is None:
        raise Undecided(
            f"rounded weights need an epsilon that does not fall as w rises, but that could not be proved for {profile.name!r}; bound "
            "epsilon for with_rounding(profile) and give the result as covered_by"
        )
    return f"epsilon does not fall as w rises: {describe(tree)}"


def with_rounding(profile: Profile) -> Profile:
    """Return the profile of the mechanism when each weight is rounded down before it is used: ε(max(1, (1 − t) w), x), 0 ≤ t ≤ 2^-35.

    t is a statistic of its own, so that a bound covers every rounding; it is for profiles that may fall as w rises. For the others the
    bound is the same. Source: docs/sampling.md, Theorem 2. Raises :class:`InvalidArgument` where the name of t is taken.

    >>> from profiles import declare
    >>> with_rounding(declare("sum", "w*z", record={"z": [0, 1]})).text
    'Max(1, (1 - weight_rounding)*w)*z'
    """
    if ROUNDING in {*(item.name for item in profile.record), *(item.name for item in profile.parameters)}:
        raise InvalidArgument(f"{profile.name!r} has the name {ROUNDING!r}, which stands for the rounding of weights; rename it")
    shrunk = ("mul", ("add", number(1), ("neg", symbol(ROUNDING))), symbol(WEIGHT))
    epsilon = substitute(profile.epsilon, {WEIGHT: ("max", number(1), shrunk)})
    record = (*profile.record, Statistic(ROUNDING, Fraction(0), SLACK))
    return replace(profile, name=f"{profile.name} on weights rounded down", epsilon=epsilon, record=record, parts=())
