"""The form of a goal from which its sign can be read off, found again for the reader.

Statement: where :func:`find_normal_form` returns a form, then under its substitution (x = lo + u, or x = hi - u) the
goal, multiplied by the positive ``denominator``, equals the sum of the ``summands``; and each summand is a coefficient ≥ 0 times factors
that are ≥ 0. The kernel has a normal form of its own; this one is recomputed with SymPy and is not part of the proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

import sympy

from profiles.symbolic import from_sympy, to_rational
from profiles.terms import Term, fresh_name, number, symbol
from profiles.variables import Variable
from proofs_check.explain.setting import is_huge, neat
from proofs_check.explain.worst_box import lower_bound
from proofs_check.prover.algebra import expand, expand_plainly, gather_powers, numerator_and_denominator, put_in
from proofs_check.prover.goals import Goal
from proofs_check.prover.sizes import is_modest

POSITIVE, NONNEGATIVE, UNKNOWN = 2, 1, 0
_OFFSETS = "stuvabcdefghijklmnopqr"
_MOST = 400
#: A form of at most this length is taken as it comes; of longer ones, the shortest.
_SHORT = 12

#: What is put in for variables, one after the other.
_Put = tuple[tuple[sympy.Symbol, sympy.Expr], ...]


@dataclass(frozen=True, slots=True)
class Summand:
    """A coefficient without variables, and the product of powers and functions of variables that it multiplies."""

    coefficient: sympy.Expr
    factors: sympy.Expr


@dataclass(frozen=True, slots=True)
class Shift:
    """The substitution x = lo + u, or x = hi - u if ``down``: the ``name`` x, the ``end`` lo or hi of its range, the ``offset`` u."""

    name: str
    end: Fraction
    offset: str
    down: bool

    @property
    def term(self) -> Term:
        """What stands for the variable x: lo + u, or hi − u."""
        offset = ("neg", symbol(self.offset)) if self.down else symbol(self.offset)
        return offset if self.end == 0 else ("add", number(self.end), offset)


@dataclass(frozen=True, slots=True)
class NormalForm:
    """The substitution, the box after it, the denominator (1 if none), the numerator and its summands.

    ``facts`` are functions among the factors whose sign is not obvious, with the sign used; ``positive`` is a summand > 0 if there is one.
    """

    substitution: tuple[Shift, ...]
    box: tuple[Variable, ...]
    denominator: sympy.Expr
    numerator: sympy.Expr
    summands: tuple[Summand, ...]
    facts: tuple[tuple[sympy.Expr, int], ...]
    positive: Summand | None


@dataclass(slots=True)
class _Signs:
    """Signs of expressions over a box, and the facts that were needed."""

    box: tuple[Variable, ...]
    facts: dict[sympy.Expr, int] = field(default_factory=dict)

    def of(self, expression: sympy.Expr) -> int:
        if not expression.free_symbols:
            return self._by_enclosure(expression)
        if expression.is_Symbol:
            variable = next(v for v in self.box if v.name == expression.name)
            return (
                POSITIVE if variable.lo > 0 or (variable.lo == 0 and variable.open_below) else NONNEGATIVE if variable.lo == 0 else UNKNOWN
            )
        if isinstance(expression, sympy.exp):
            return POSITIVE
        if expression.is_Mul:
            return min(self.of(part) for part in expression.args)
        if expression.is_Pow:
            return self._power(expression.base, expression.exp)
        if expression.is_Add:
            return self._sum(expression)
        return self._function(expression)

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> int:
        known = self.of(base)
        if known == POSITIVE:
            return POSITIVE
        if exponent.is_Rational and (exponent.q > 1 or exponent.p % 2 == 0 or (known == NONNEGATIVE and exponent > 0)):
            return NONNEGATIVE
        return UNKNOWN

    def _sum(self, expression: sympy.Expr) -> int:
        signs = [min(self.of(s.coefficient), self.of(s.factors)) for s in collect(expression)]
        return UNKNOWN if UNKNOWN in signs else max(signs)

    def _function(self, expression: sympy.Expr) -> int:
        sign = self._sum(expand(expression.args[0] - 1)) if isinstance(expression, sympy.log) else UNKNOWN
        sign = sign or self._by_enclosure(expression)
        if sign:
            self.facts[expression] = sign
        return sign

    def _by_enclosure(self, expression: sympy.Expr) -> int:
        low = lower_bound(Goal(expression, self.box))
        return UNKNOWN if low is None else POSITIVE if low > 0 else NONNEGATIVE if low == 0 else UNKNOWN


def collect(expression: sympy.Expr) -> list[Summand]:
    """Return a sum by its products of variables, with their coefficients added up."""
    grouped: dict[sympy.Expr, sympy.Expr] = {}
    for summand in sympy.Add.make_args(expression):
        coefficient, factors = summand.as_independent(*expression.free_symbols, as_Add=False)
        grouped[factors] = grouped.get(factors, sympy.S.Zero) + coefficient
    return [Summand(coefficient, factors) for factors, coefficient in grouped.items() if coefficient != 0]


def find_normal_form(goal: Goal, taken: Iterable[str] = ()) -> NormalForm | None:
    """Return a form of the goal whose sign is manifest, with new names beside those ``taken``; None if none of those tried is one.

    Raises :class:`profiles.InvalidExpression` for a goal outside the grammar.
    """
    for expression in dict.fromkeys((neat(goal.expression), goal.expression)):
        if expression.count_ops() > _MOST:
            continue
        here = replace(goal, expression=expression)
        shifts = (_shift(here, taken, downwards=downwards) for downwards in (False, True))
        for substitution, box, put in dict.fromkeys((((), goal.box, ()), *shifts)):
            form = _shortest(_readable(expression, put, box, strict=goal.strict))
            if form is not None:
                return replace(form, substitution=substitution)
    return None


def _shortest(forms: Iterator[NormalForm]) -> NormalForm | None:
    """Return the first form that is short, or else the shortest."""
    candidates: list[NormalForm] = []
    for form in forms:
        candidates.append(form)
        if _length(form) <= _SHORT:
            return form
    return min(candidates, key=_length, default=None)


def _readable(expression: sympy.Expr, put: _Put, box: tuple[Variable, ...], *, strict: bool) -> Iterator[NormalForm]:
    """Yield the forms of an expression after a substitution whose signs are manifest on the box."""
    constants = sorted((node for node in expression.atoms(sympy.Function) if not node.free_symbols), key=sympy.default_sort_key)
    mask = {node: sympy.Dummy(f"c{index}", positive=True) for index, node in enumerate(constants)}
    back = {dummy: node for node, dummy in mask.items()}
    for masked in dict.fromkeys(_forms(expression.xreplace(mask), put)):
        numerator, denominator = (part.xreplace(back) for part in masked)
        signs = _Signs(box)
        if denominator != 1 and signs.of(denominator) != POSITIVE:
            continue
        summands = collect(numerator)
        signs_ = [min(signs.of(s.coefficient), signs.of(s.factors)) for s in summands]
        if not signs_ or UNKNOWN in signs_ or (strict and POSITIVE not in signs_):
            continue
        facts = tuple((atom, sign) for atom, sign in signs.facts.items() if numerator.has(atom) or denominator.has(atom))
        positive = next((summand for summand, sign in zip(summands, signs_, strict=True) if sign == POSITIVE), None)
        yield NormalForm((), box, denominator, numerator, tuple(summands), facts, positive)


def _length(form: NormalForm) -> int:
    """Return how much there is to read."""
    return int(form.denominator.count_ops()) + sum(1 + int((part.coefficient * part.factors).count_ops()) for part in form.summands)


def _shift(goal: Goal, others: Iterable[str], *, downwards: bool) -> tuple[tuple[Shift, ...], tuple[Variable, ...], _Put]:
    """Return x = hi - u for every variable with an upper end if ``downwards``; x = lo + u for the others with lo ≠ 0; and the box then."""
    box, substitution, put = list[Variable](), list[Shift](), list[tuple[sympy.Symbol, sympy.Expr]]()
    used = {symbol.name for symbol in goal.expression.free_symbols}
    taken = {variable.name for variable in goal.box} | used | set(others)
    letters = iter(_OFFSETS)
    for variable in sorted(goal.box, key=lambda v: v.hi is not None):
        hi = variable.hi if downwards else None
        if variable.name not in used or (hi is None and variable.lo == 0):
            box.append(variable)
            continue
        name = next((letter for letter in letters if letter not in taken), None) or fresh_name("u", taken)
        taken.add(name)
        opened = variable.open_below and hi is None
        offset = sympy.Symbol(name, positive=True) if opened else sympy.Symbol(name, nonnegative=True)
        moved = to_rational(variable.lo) + offset if hi is None else to_rational(hi) - offset
        put.append((goal.symbol(variable.name), moved))
        width = None if variable.hi is None else variable.hi - variable.lo
        box.append(Variable(name, Fraction(0), width, opened))
        substitution.append(Shift(variable.name, variable.lo if hi is None else hi, name, hi is not None))
    return tuple(substitution), tuple(box), tuple(put)


def _move(expression: sympy.Expr, put: _Put) -> sympy.Expr:
    for name, moved in put:
        expression = put_in(expression, {name: moved})
    return expression


def _forms(before: sympy.Expr, put: _Put) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Yield (numerator, denominator) of an expression after a substitution, the numerator multiplied out.

    The denominator is cleared before the substitution where the expression is too long for it afterwards.

    Functions of constants are masked by the caller: SymPy may evaluate sin(exp(10**9)) at any cost.
    """
    expression = _move(before, put)
    yield expression, sympy.S.One
    if expression.has(sympy.Function) and not is_modest(expression):
        return
    yield expand_plainly(expression, powers=False), sympy.S.One
    merging = any(isinstance(node, sympy.exp) or not node.exp.is_Integer for node in expression.atoms(sympy.Pow, sympy.exp))
    if merging:
        yield expand(gather_powers(expression)), sympy.S.One
        yield gather_powers(expand_plainly(expression)), sympy.S.One
    if not is_huge(expression):
        numerator, denominator = numerator_and_denominator(expression)
    elif put and not is_huge(before):
        numerator, denominator = (_move(part, put) for part in numerator_and_denominator(before))
    else:
        return
    if denominator != 1:
        yield expand_plainly(numerator, powers=False), denominator
        if merging:
            yield gather_powers(expand_plainly(numerator)), denominator


def to_sum(form: NormalForm) -> Term:
    """Return the summands as one term. Raises :class:`InvalidExpression` outside the grammar."""
    total, *rest = (to_product(summand) for summand in form.summands)
    for part in rest:
        total = ("add", total, part)
    return total


def to_product(summand: Summand) -> Term:
    """Return a summand as a term. Raises :class:`InvalidExpression` outside the grammar."""
    if summand.factors == 1 or (summand.coefficient.is_Rational and not summand.factors.is_Add):
        return from_sympy(summand.coefficient * summand.factors)
    return ("mul", from_sympy(summand.coefficient), from_sympy(summand.factors))
