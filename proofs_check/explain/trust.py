"""What stands behind each rule of the kernel: the axiom that it applies, and whether that is proved formally or on paper, and where.

The page docs/trust.md is made of it: ``python docs/_site/trust.py > docs/trust.md``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable

from proofs_check.kernel import CheckedClaim
from proofs_check.kernel.core.rules import SIDE_CONDITIONS
from proofs_check.kernel.procedures.rules import RULES
from proofs_check.kernel.theories.compositions.bounds import computed, ended, joined, positive
from proofs_check.marks import mark_formal, mark_paper, name_theorems

#: The theorems of proofs_check/coq/rules.v that are rules of the kernel, or identities of its normal forms, over Coq's real numbers; and
#: which part of them they are.
FORMAL: dict[str, tuple[tuple[str, ...], str]] = {
    "split": (("split_range",), ""),
    "monotone": (("rising", "falling"), "for an end that belongs to the range"),
    "scale": (("scale_le", "scale_lt"), ""),
    "sum": (("sum_le", "sum_lt"), "for two terms, hence for any number of them"),
    "generalise": (("instance",), ""),
    "ceiling": (("ceiling_bounds",), ""),
    "exp-tangent": (("exp_tangent_le", "exp_tangent_lt"), ""),
    "log-tangent": (("log_tangent_le", "log_tangent_lt"), ""),
    "exp of a sum": (("factor_of_sum",), "in factors.v"),
    "exp of a logarithm": (("exp_of_log", "exp_of_log_natural"), "for a > 0 and real or natural c"),
    "log of an exponential": (("log_of_exponential",), ""),
    "sum of exponents": (("sum_of_exponents", "sum_of_exponents_natural"), "for a > 0, and for natural exponents"),
    "power of a product": (("power_of_product", "power_of_product_natural"), "for a, b > 0, and for natural c"),
    "log of a product": (("log_of_product",), ""),
    "square of an Abs": (("square_of_abs",), ""),
    "Abs by sign": (("abs_by_sign",), ""),
    "order of a Max": (("order_of_max",), ""),
    "factor of a Max": (("factor_of_max",), ""),
    "Max by an Abs": (("max_by_abs",), ""),
    "turns": (("turns",), ""),
    "squares of cosines": (("squares_of_cosines",), ""),
}
_PAGE, _COMPOSITIONS = "docs/certificates.md, sections 2 and 3", "docs/composition-bounds.md"
_COMPOSING = ("dominating_pairs_compose", "dominates_sampled_plus", "dominates_sampled_minus", "connecting_the_dots")
#: The rules of which an accepted claim about a composition is a theorem, one each.
COMPOSED_RULES = {rule.__name__: rule for rule in (positive, ended, joined, computed)}
#: Of the claims about compositions, which bring no proofs.
MARK_OF_COMPOSITIONS = (
    f"{mark_paper(_COMPOSITIONS)}; that dominating pairs compose and are sampled, and that connecting the dots dominates, "
    f"is proved formally for finitely many outputs ({name_theorems(_COMPOSING)})"
)


def mark_rule(name: str) -> str:
    """Return whether a rule of the kernel, or a kind of side condition, is proved formally, and by which theorems, or on paper, and where.

    >>> mark_rule("scale"), mark_rule("boxes")
    ('proved formally (theorems scale_le, scale_lt)', 'proved on paper (docs/certificates.md, sections 2 and 3)')
    """
    theorems, part = FORMAL.get(name, ((), ""))
    page = _COMPOSITIONS if name in COMPOSED_RULES else _PAGE
    return " ".join((mark_formal(theorems), part)).rstrip() if theorems else mark_paper(page)


def axioms_behind(claims: Iterable[CheckedClaim]) -> dict[str, str]:
    """Return the rules and kinds of side conditions that accepted claims used, with the axiom behind each."""
    used: dict[str, str] = {}
    for claim in claims:
        used |= {name: state_axiom((RULES | COMPOSED_RULES)[name]) for name in claim.rules}
        used |= {name: SIDE_CONDITIONS[name] for name in claim.side_conditions}
    return used


def state_axiom(function: Callable[..., object]) -> str:
    """Return the axiom that a rule or claim of the kernel states, on one line."""
    return " ".join((inspect.getdoc(function) or "").split())
