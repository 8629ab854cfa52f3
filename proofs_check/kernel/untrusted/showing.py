"""Terms as people read them, in reasons: nothing is decided by it."""

from ..core.terms import Term, bits, postorder


def show(term: Term) -> str:
    """Return the term for people, cut when long."""
    shown: dict[Term, str] = {}
    for node in postorder(term):
        sign = {"add": " + ", "mul": "*", "pow": "**"}.get(node.op)
        leaf = "..." if node.op == "num" and bits(node.value) > 2000 else str(node.op if node.value is None else node.value)
        word = f"{'' if sign else node.op}({(sign or ', ').join(shown[a] for a in node.args)})" if node.args else leaf
        shown[node] = word if len(word) <= 400 else word[:390] + " ..."
    return shown[term]
