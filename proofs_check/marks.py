"""Whether a rule of guarantees or of the kernel is proved formally, and by which theorems, or on paper, and where: in words."""

from __future__ import annotations

from collections.abc import Sequence


def mark_formal(theorems: Sequence[str]) -> str:
    """Return that theorems of Coq prove something.

    >>> mark_formal(["rising", "falling"])
    'proved formally (theorems rising, falling)'
    """
    return f"proved formally ({name_theorems(theorems)})"


def mark_paper(page: str) -> str:
    """Return that a page of the documentation proves something.

    >>> mark_paper("docs/certificates.md")
    'proved on paper (docs/certificates.md)'
    """
    return f"proved on paper ({page})"


def name_theorems(theorems: Sequence[str]) -> str:
    """Return the sentence that names theorems of ``proofs_check/formal``."""
    return f"theorem{'s' if len(theorems) > 1 else ''} {', '.join(theorems)}"
