"""Formulas as MathML, which browsers typeset by themselves: no script, no font from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml


def visit_inline(writer: Any, node: Any) -> None:
    """Write a formula in a line."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def visit_block(writer: Any, node: Any) -> None:
    """Write a displayed formula."""
    writer.body.append(tex2mathml(node.astext(), as_block=True))
    raise SkipNode
