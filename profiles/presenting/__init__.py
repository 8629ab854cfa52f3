"""How results show themselves in a notebook: HTML that is escaped and self-contained, formulas as MathML and as LaTeX."""
