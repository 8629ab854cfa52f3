"""The supremum of ψ where q is constant, by the largest weighted ε: for suprema on an edge or a curve, which subdivision does not clear.

Statement: for a number q in (0, 1] ψ = log(1 + q (e^e − 1)) rises with e = ε(1/q, x), so that ψ ≤ log(1 + q (e^E − 1)) for all records
where e ≤ E for all records. That is the prover's to show, with a tree that the kernel accepts: where e comes close to E on a whole edge,
boxes would have to be smaller than the root of the gap, but a factor (1 − z1) (1 − z2) of E − e is seen at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from profiles import Profile, exact_text
from profiles.errors import InvalidExpression
from profiles.symbolic import to_rational
from profiles.terms import fresh_name
from profiles.variables import WEIGHT, Variable
from proofs_check.prover import trees
from proofs_check.prover.algebra import put_in
from proofs_check.prover.effort import within
from proofs_check.prover.goals import Goal
from proofs_check.prover.search import prove

#: Work (nominal seconds) for each number E that is tried, and the digits of those that are.
SECONDS = 1.5
_DENOMINATORS = (1, 10, 100, 1_000, 10**6)


@dataclass(frozen=True, slots=True)
class Largest:
    """e ≤ ``value`` for all records, by a ``tree`` that the kernel's rules accept; e ≥ 0 by ``nonnegative``; ``term`` is e as text."""

    value: Fraction
    term: str
    tree: dict[str, Any]
    nonnegative: dict[str, Any]

    def bound_tree(self, q: Fraction, upper: Fraction, names: frozenset[str], precision: int) -> dict[str, Any]:
        """Return the tree for exp(upper) − 1 − q (exp(e) − 1) ≥ 0, which falls in e: at its end ``value`` it is a number."""
        name = fresh_name("y", names)
        rate, ends = exact_text(q), trees.boxes(1, precision=min(1_024, precision + 64))
        general = f"exp({exact_text(upper)}) - 1 - ({rate})*(exp({name}) - 1)"
        falling = trees.monotone(name, trees.MANIFEST, ends, increasing=False)
        return trees.generalise(name, self.term, trees.ProvedRange((0, self.nonnegative), (self.value, self.tree)), general, falling)


def bound_weighted_epsilon(profile: Profile, q: Fraction, attained: Fraction, most: Fraction) -> Largest | None:
    """Return a number between ``attained``, a value of e or a little less, and ``most`` that e is proved not to exceed; else None."""
    box = profile.record_variables()
    try:
        expression = put_in(profile.expression(), {profile.symbols()[WEIGHT]: to_rational(1 / q)})
        term = trees.text(expression)
    except InvalidExpression:
        return None
    nonnegative = within(SECONDS, lambda: prove(Goal(expression, box)))
    if nonnegative is None:
        return None
    for value in _between(attained, most):
        tree = _proved(expression, box, value)
        if tree is not None:
            return Largest(value, term, tree, nonnegative)
    return None


def _proved(expression: sympy.Expr, box: tuple[Variable, ...], value: Fraction) -> dict[str, Any] | None:
    goal = Goal(to_rational(value) - expression, box)
    try:
        return within(SECONDS, lambda: prove(goal))
    except InvalidExpression:
        return None


def _between(lowest: Fraction, highest: Fraction) -> Iterator[Fraction]:
    """Yield the short number nearest to the lowest one, if there is one in the range, and then the highest one."""
    for most in _DENOMINATORS:
        near = lowest.limit_denominator(most)
        if lowest <= near <= highest:
            yield near
            break
    yield highest
