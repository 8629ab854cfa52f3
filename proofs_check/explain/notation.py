"""Names of the theory in formulas. None is an identifier, so none is mistaken for a statistic or a parameter of a profile."""

from __future__ import annotations

from profiles.grammar import is_name
from profiles.terms import Term

#: The text of a name → its LaTeX.
LATEX = {
    "epsilon(w, x)": r"\varepsilon(w, x)",
    "epsilon(1, x)": r"\varepsilon(1, x)",
    "epsilon'(w, x)": r"\varepsilon'(w, x)",
    "epsilon'(1, x)": r"\varepsilon'(1, x)",
    "epsilon''(w, x)": r"\varepsilon''(w, x)",
    "epsilon*": r"\varepsilon^{*}",
    "mu(x)": r"\mu(x)",
    "v(x)": r"v(x)",
    "...": r"\cdots",
}


def notation(text: str) -> Term:
    """Return a name of the theory as a term. Raises :class:`KeyError` for one that is not in :data:`LATEX`."""
    if text not in LATEX:
        raise KeyError(text)
    return ("sym", text)


EPSILON, EPSILON_AT_ONE = notation("epsilon(w, x)"), notation("epsilon(1, x)")
SLOPE, SLOPE_AT_ONE, SECOND = notation("epsilon'(w, x)"), notation("epsilon'(1, x)"), notation("epsilon''(w, x)")
TARGET, MU, THRESHOLD, DOTS = notation("epsilon*"), notation("mu(x)"), notation("v(x)"), notation("...")


def is_notation(term: Term) -> bool:
    """Tell whether a term contains a name of the theory instead of being one over the variables of a box."""
    if term[0] == "sym":
        return not is_name(term[1])
    return any(isinstance(part, tuple) and is_notation(part) for part in term[1:])
