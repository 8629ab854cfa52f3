"""Terms, and claims that are accepted, as people read them: nothing is decided by it.

That a certificate is accepted says that its claims hold as they are written in it. Their words are repeated from there.
"""

from collections.abc import Mapping
from typing import Any

from ..checker import CheckedClaim
from ..core.terms import Term, bits, postorder
from ..core.theorems import Goal, Identity, Theorem
from ..theories.compositions.bounds import Bound


def describe(claim: Mapping[str, Any], theorem: Theorem) -> CheckedClaim:
    """Return an accepted claim in its own words, beside the theorem that it is."""
    if isinstance(theorem.statement, Bound):
        bound, said = _describe_bound(claim)
        return CheckedClaim(claim["claim"], claim["verdict"], bound, *behind(theorem, Bound), said)
    stated = claim["bound"] if "bound" in claim else claim["proof"].get("floor")
    return CheckedClaim(claim["claim"], claim["verdict"], None if stated is None else str(stated), *behind(theorem, Goal | Identity))


def _describe_bound(claim: Mapping[str, Any]) -> tuple[str, str]:
    if claim["claim"] == "delta-positive":
        return "0", f"{claim['direction']}: delta(e) > 0 for all e < {claim['epsilon']}"
    sign = "<=" if claim["claim"] == "delta-upper" else ">="
    return str(claim["bound"]), f"{claim['direction']}: delta({claim['epsilon']}) {sign} {claim['bound']}"


def behind(theorem: Theorem, about: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules about statements of a type, and the kinds of side conditions, that a theorem rests on."""
    theorems, waiting = list[Theorem](), [theorem]
    while waiting:
        theorems.append(waiting.pop())
        waiting += theorems[-1].parts
    rules = [each.rule.rstrip("_").replace("_", "-") for each in reversed(theorems) if isinstance(each.statement, about)]
    kinds = [each.statement for each in reversed(theorems) if isinstance(each.statement, str)]
    return tuple(dict.fromkeys(rules)), tuple(dict.fromkeys(kinds))


def show(term: Term) -> str:
    """Return the term for people, cut when long."""
    shown: dict[Term, str] = {}
    for node in postorder(term):
        sign = {"add": " + ", "mul": "*", "pow": "**"}.get(node.op)
        leaf = "..." if node.op == "num" and bits(node.value) > 2000 else str(node.op if node.value is None else node.value)
        word = f"{'' if sign else node.op}({(sign or ', ').join(shown[a] for a in node.args)})" if node.args else leaf
        shown[node] = word if len(word) <= 400 else word[:390] + " ..."
    return shown[term]
