"""SymPy expressions as SMT-LIB terms over the reals."""

from __future__ import annotations

import mpmath
import sympy

from benchmarks.deciders.confirm import holds
from benchmarks.deciders.statements import Question, Relation

DIGITS = 20
KNOTS = (-3, -2, -1, 1, 2, 3)


class Encoder:
    """Writes a question as SMT-LIB. With ``native``, exp, sin and cos are the solver's; else fresh reals with true facts about them,
    with ``rich`` also cubic bounds and tangents at whole numbers.

    Afterwards ``exact`` tells whether a model of the text is a model of the question.
    """

    def __init__(self, *, native: bool, rich: bool = False) -> None:
        self.native = native
        self.rich = rich
        self.exact = True
        self.declared: list[str] = []
        self.facts: list[str] = []
        self.exponentials: list[tuple[str, str]] = []
        self._memo: dict[sympy.Expr, str] = {}

    def question(self, question: Question) -> str:
        """Return the assertions of a question."""
        for symbol, (lo, hi, excluded) in question.box.items():
            self.declared.append(symbol.name)
            self.facts.append(f"({'>' if excluded else '>='} {symbol.name} {number(lo)})")
            if hi is not None:
                self.facts.append(f"(<= {symbol.name} {number(hi)})")
        possible = [clause for clause in question.broken if not any(side.is_Rational and not holds(op, side) for op, side in clause)]
        clauses = ["(and true " + " ".join(self._relation(item) for item in clause) + ")" for clause in possible]
        self.facts.append("(or false " + " ".join(clauses) + ")")
        if not self.native:
            self._relate_exponentials()
        lines = [f"(declare-const {name} Real)" for name in self.declared]
        return "\n".join(lines + [f"(assert {fact})" for fact in self.facts]) + "\n"

    def _relation(self, relation: Relation) -> str:
        comparison, expression = relation
        top, bottom = sympy.fraction(sympy.together(expression))
        if not bottom.is_positive:
            top = top * bottom
        term = self.term(sympy.expand(top) if top.is_polynomial() else top)
        return f"(not (= {term} 0.0))" if comparison == "!=" else f"({comparison} {term} 0.0)"

    def _fresh(self) -> str:
        self.declared.append(f"v_{len(self.declared)}")
        return self.declared[-1]

    def term(self, expression: sympy.Expr) -> str:
        """Return the term of an expression, adding what it needs."""
        if expression not in self._memo:
            self._memo[expression] = self._term(expression)
        return self._memo[expression]

    def _term(self, node: sympy.Expr) -> str:
        if node.is_Rational:
            return number(node)
        if node.is_Symbol:
            return str(node.name)
        if node == sympy.E:
            return self._exponential(sympy.exp(1, evaluate=False))
        if node.is_Add or node.is_Mul:
            return f"({'+' if node.is_Add else '*'} {' '.join(self.term(part) for part in node.args)})"
        if node.is_Pow:
            return self._power(node.base, node.exp)
        if isinstance(node, sympy.exp):
            return self._exponential(node)
        if isinstance(node, sympy.log):
            return self._logarithm(node)
        if isinstance(node, (sympy.sin, sympy.cos)):
            return self._wave(node)
        if isinstance(node, (sympy.Max, sympy.Min)) and len(node.args) == 2:
            first, second = (self.term(part) for part in node.args)
            return f"(ite ({'>=' if isinstance(node, sympy.Max) else '<='} {first} {second}) {first} {second})"
        raise NotImplementedError(str(node))

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> str:
        if base == sympy.E:
            return self._exponential(sympy.exp(exponent))
        if not exponent.is_Rational:
            return self.term(sympy.exp(exponent * sympy.log(base), evaluate=False))
        if exponent < 0:
            inverse = self._fresh()
            self.facts.append(f"(= (* {inverse} {self.term(sympy.Pow(base, -exponent))}) 1.0)")
            return inverse
        if exponent.q == 1:
            return f"(* {' '.join([self.term(base)] * int(exponent))})"
        key = sympy.Pow(base, sympy.Rational(1, exponent.q))
        if key not in self._memo:
            root = self._memo[key] = self._fresh()
            self.facts += [f"(>= {root} 0.0)", f"(= (* {' '.join([root] * exponent.q)}) {self.term(base)})"]
        root = self._memo[key]
        return root if exponent.p == 1 else f"(* {' '.join([root] * exponent.p)})"

    def _exponential(self, node: sympy.Expr) -> str:
        argument = node.args[0]
        inner = self.term(argument)
        if self.native:
            value = f"(exp {inner})"
        else:
            self.exact = False
            value = self._fresh()
            self.exponentials.append((inner, value))
        if not argument.free_symbols:
            self._enclose(value, node)
        return value

    def _logarithm(self, node: sympy.Expr) -> str:
        inner, value = self.term(node.args[0]), self._fresh()
        if self.native:
            self.facts.append(f"(= (exp {value}) {inner})")
        else:
            self.exact = False
            self.exponentials.append((value, inner))
        if not node.args[0].free_symbols:
            self._enclose(value, node)
        return value

    def _wave(self, node: sympy.Expr) -> str:
        inner = self.term(node.args[0])
        if self.native:
            return f"({'sin' if isinstance(node, sympy.sin) else 'cos'} {inner})"
        self.exact = False
        sine, cosine = self._fresh(), self._fresh()
        self.facts.append(f"(= (+ (* {sine} {sine}) (* {cosine} {cosine})) 1.0)")
        if not node.args[0].free_symbols:
            self._enclose(sine, sympy.sin(node.args[0]))
            self._enclose(cosine, sympy.cos(node.args[0]))
        self._memo[sympy.sin(node.args[0])], self._memo[sympy.cos(node.args[0])] = sine, cosine
        return self._memo[node]

    def _enclose(self, value: str, constant: sympy.Expr) -> None:
        below, above = _bounds(constant)
        self.facts += [f"(>= {value} {number(below)})", f"(<= {value} {number(above)})"]

    def _relate_exponentials(self) -> None:
        """Add true facts about e = exp t: sign, Taylor bounds, and for two of them order and tangents."""
        pairs = list(dict.fromkeys(self.exponentials))
        for t, e in pairs:
            second = f"(+ 1.0 {t} (* 0.5 {t} {t}))"
            self.facts += [
                f"(> {e} 0.0)",
                f"(>= {e} (+ 1.0 {t}))",
                f"(<= (* {e} (- 1.0 {t})) 1.0)",
                f"(=> (>= {t} 0.0) (>= {e} {second}))",
                f"(=> (<= {t} 0.0) (<= {e} {second}))",
                f"(= (= {t} 0.0) (= {e} 1.0))",
            ]
            self.facts += _more_facts(t, e) if self.rich else []
        for index, (s, d) in enumerate(pairs):
            for t, e in pairs[index + 1 :]:
                self.facts += [
                    f"(= (< {s} {t}) (< {d} {e}))",
                    f"(= (= {s} {t}) (= {d} {e}))",
                    f"(>= {d} (* {e} (+ 1.0 {s} (- {t}))))",
                    f"(>= {e} (* {d} (+ 1.0 {t} (- {s}))))",
                ]


def _bounds(constant: sympy.Expr) -> tuple[sympy.Rational, sympy.Rational]:
    digits = 60 + max(0, int(sympy.log(abs(constant), 10).evalf(20)))
    with mpmath.workdps(digits):
        scaled = int(mpmath.floor(mpmath.mpf(str(constant.evalf(digits))) * 10**DIGITS))
    scale = sympy.Integer(10) ** DIGITS
    return sympy.Integer(scaled) / scale, sympy.Integer(scaled + 1) / scale


def _more_facts(t: str, e: str) -> list[str]:
    """E = exp t ≥ its cubic Taylor polynomial, 1/e likewise at −t; exp t ≥ exp(k)·(1 + t − k) and exp(−t) ≥ exp(−k)·(1 − t + k)."""
    square, cube = f"(* 0.5 {t} {t})", f"(* (/ 1.0 6.0) {t} {t} {t})"
    facts = [f"(>= {e} (+ 1.0 {t} {square} {cube}))", f"(<= (* {e} (+ 1.0 (- {t}) {square} (- {cube}))) 1.0)"]
    for k in KNOTS:
        up, down = (number(_bounds(sympy.exp(sign * k))[0]) for sign in (1, -1))
        shifted = f"(- {t} {number(sympy.Integer(k))})"
        facts.append(f"(or (< {shifted} (- 1.0)) (>= {e} (* {up} (+ 1.0 {shifted}))))")
        facts.append(f"(or (> {shifted} 1.0) (<= (* {e} {down} (- 1.0 {shifted})) 1.0))")
    return facts


def number(value: sympy.Expr) -> str:
    """Return a rational number as SMT-LIB writes it."""
    size = f"{abs(value.p)}.0" if value.q == 1 else f"(/ {abs(value.p)}.0 {value.q}.0)"
    return f"(- {size})" if value < 0 else size
