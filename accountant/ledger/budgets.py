"""What units may spend: rules of budgets, caps and quotas as people write them, as amounts, and as entries of the log have them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from accountant.columns.domain import as_columns, outside
from accountant.columns.values import Columns
from accountant.compositions.events import MOST_USES
from accountant.data.specs import StatisticSpec
from accountant.ledger.amounts import MOST, MOST_STEPS, Amounts, list_components, to_budget
from accountant.ledger.notions import LedgerNotion
from accountant.ledger.rows import RowBatch
from accountant.ledger.steps import Rounding
from accountant.weights.fast.compiled import CompiledTerm
from profiles import InvalidArgument, InvalidData, UnreadableFile, exact_text, parse_expression, to_exact
from profiles.arrays import Integers
from profiles.balls import interval, lower_fraction, upper_fraction, working_precision
from profiles.private import name_rows
from profiles.strict_json import read_count, read_exact, read_fields, read_list, read_string, write_exact
from profiles.structure import largest_at_corner
from profiles.suggestions import suggest
from profiles.terms import Term, children, free_symbols, number
from profiles.variables import Statistic, make_statistic
from proofs_check.enclosures import Enclosure

_BITS = 200


@dataclass(frozen=True, slots=True)
class BudgetRule:
    """B(u) as an expression of public constants and of columns with declared ranges; ``least`` and ``most`` are its ends, as amounts.

    ``more``: the budgets of further components, which are numbers; ``least`` and ``most`` are those of the first.
    """

    text: str
    attributes: tuple[Statistic, ...]
    term: Term
    least: int
    most: int
    more: tuple[int, ...] = ()

    @property
    def floor(self) -> Amounts:
        """The smallest budget of a unit, by component."""
        return Amounts((self.least, *self.more))

    @property
    def ceiling(self) -> Amounts:
        """The largest one."""
        return Amounts((self.most, *self.more))

    @property
    def attained(self) -> Amounts:
        """The largest budget as the text has it: the end in the log may be wider, of a ball in earlier releases."""
        if not self.attributes:
            return self.ceiling
        made = to_budget_rule(self.text, {item.name: [item.lo, item.hi] for item in self.attributes})
        return Amounts((min(self.most, made.most), *self.more))

    @property
    def flat(self) -> tuple[int, ...] | None:
        """The budget of every unit, by component; None where columns tell it."""
        return None if self.attributes else self.floor.values

    @property
    def specs(self) -> tuple[StatisticSpec, ...]:
        return tuple(StatisticSpec(_name(item), column=item.name) for item in self.attributes)

    def count(self, batch: RowBatch, first_row: int) -> Integers:
        """Return the budgets of rows as amounts, rounded down. Raises :class:`InvalidData` for attributes outside their ranges."""
        if not self.attributes:
            return np.full(batch.size, self.least, dtype=np.int64)
        columns = as_columns(batch.statistics, tuple(map(_name, self.attributes)))
        for item in self.attributes:
            rows = outside(item, columns.original(_name(item)))
            if rows.size:
                names = name_rows((first_row + rows).tolist())
                raise InvalidData(
                    f"{names} {'is' if rows.size == 1 else 'are'} outside the declared range "
                    f"[{exact_text(item.lo)}, {exact_text(item.hi)}] of the attribute {item.name!r} (rows count from 0); correct it, or "
                    "open a ledger with a range that is known to hold everybody without looking at the data"
                )
        named = Columns(
            {item.name: columns[_name(item)] + 0.0 for item in self.attributes},
            {item.name: columns.written[_name(item)] for item in self.attributes if _name(item) in columns.written},
        )
        rounding = Rounding(self.term, CompiledTerm(self.term), 0, up=False, most=self.most)
        return np.maximum(rounding.count(named, batch.size), self.least)


def _name(item: Statistic) -> str:
    """Return the name under which an attribute is read beside statistics, which may have the same."""
    return f"budget {item.name}"


def to_budget_rule(
    text: object, ranges: Mapping[str, object] | None = None, notion: LedgerNotion = LedgerNotion.PURE, width: int | None = None
) -> BudgetRule:
    """Return the rule of budgets that ``text`` writes, in nats; ``ranges`` are those of the columns that it names. In the notion mixed
    it writes three numbers, "epsilon=1, mu2=1, delta=1e-6", of which one that is left out is 0, or is a mapping with them; a ρ and counts
    of steps beside them ("rho=1/2, step1=2000") where accounts have more components: ``width``, None for those that it names.

    The ends are exact where the budget is made of Min and Max of what is affine in each column; else they are those of a ball around all
    values, which may be wider by a relative 1e-8.
    Raises :class:`InvalidArgument` for a column without a range, or a budget that may be negative or infinite.

    >>> rule = to_budget_rule("Min(3, 1 + years/2)", {"years": [0, 10]})
    >>> rule.floor.numbers[0] == 1, rule.ceiling.numbers[0] == 3
    (True, True)
    """
    if notion is LedgerNotion.MIXED:
        return _to_mixed_rule(text, ranges, width)
    written = exact_text(to_exact(text, "the budget")) if not isinstance(text, str) else text.strip()
    term = parse_expression(written, "the budget")
    known = {name: make_statistic(name, bounds) for name, bounds in (ranges or {}).items()}
    used = sorted(free_symbols(term))
    for name in used:
        if name not in known:
            raise InvalidArgument(
                f"the budget uses {name!r}, which has no public range; give one (--attribute {name}=LO:HI), so that the guarantee has a "
                f"number{suggest(name, known)}"
            )
    for name in known:
        if name not in used:
            raise InvalidArgument(f"the attribute {name!r} has a range, but the budget does not use it; leave it out")
    attributes = tuple(known[name] for name in used)
    with working_precision(_BITS):
        value = Enclosure(term).evaluate({item.name: interval(item.lo, item.hi) for item in attributes})
        low, high = lower_fraction(value), upper_fraction(value)
    ends = _find_ends(term, {item.name: (item.lo, item.hi) for item in attributes})
    if ends is not None and low is not None and high is not None:
        low, high = max(low, ends[0]), min(high, ends[1])
    if not attributes and low is not None and (low < 0 or to_budget(low) == MOST):
        raise InvalidArgument(f"a budget of at least 0 and below 2^22 nats was expected, but {written[:40]} was found; give another one")
    if low is None or high is None or low < 0 or to_budget(low) == MOST or to_budget(high) == MOST:
        raise InvalidArgument(
            "a budget of at least 0 and below 2^22 nats was expected for every unit, but that is not certain of this one; write it with "
            "Min and Max, or give narrower ranges"
        )
    if not attributes:  # one number: what is written, not the ends of a ball around it
        exact = _constant(term, low)
        return BudgetRule(written, (), term, exact, exact)
    return BudgetRule(written, attributes, term, to_budget(low), to_budget(high))


def _find_ends(term: Term, box: Mapping[str, tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction] | None:
    """Return rational bounds of all values on a box, from the corners of parts that are affine in each column; None of other terms."""
    if term[0] in ("min", "max"):
        parts = [_find_ends(part, box) for part in children(term)]
        known = [part for part in parts if part is not None]
        lows, highs = zip(*known, strict=True) if known else ((), ())
        choose = min if term[0] == "min" else max
        return (choose(lows), choose(highs)) if known and len(known) == len(parts) else None
    high, low = largest_at_corner(term, box), largest_at_corner(("neg", term), box)
    return None if high is None or low is None else (-low, high)


def _to_mixed_rule(given: object, ranges: Mapping[str, object] | None, width: int | None) -> BudgetRule:
    if ranges:
        raise InvalidArgument("a column has a range, but budgets of the notion mixed are numbers, the same for all units; leave it out")
    exact = _read_components(given, "the budget", width)
    epsilon, *more = to_components(given, "the budget", width).values
    text = ", ".join(f"{name}={exact_text(value)}" for name, value in exact.items())
    return BudgetRule(text, (), number(exact["epsilon"]), epsilon, epsilon, tuple(more))


def to_components(given: object, what: str, width: int | None = None) -> Amounts:
    """Return ε, μ² and δ of a text such as "epsilon=1, mu2=1, delta=1e-6", or of a mapping, as amounts, rounded down; also ρ and counts of
    steps, where it names them, or the accounts have ``width`` components.

    Raises :class:`InvalidArgument` for other names, and numbers out of range.
    """
    exact = _read_components(given, what, width)
    steps = tuple(math.floor(value * (1 << bits)) for value, (_, bits) in zip(exact.values(), list_components(len(exact)), strict=True))
    if min(exact.values()) < 0 or max(steps) >= MOST or max(steps[4:], default=0) > MOST_USES:
        raise InvalidArgument(
            f"{what} has components of at least 0, epsilon, mu2 and rho below 2^22, delta below 1, at most {MOST_USES} steps; give others"
        )
    if any(value.denominator > 1 for value in list(exact.values())[4:]):
        raise InvalidArgument(f"{what} has whole numbers of steps; give others")
    return Amounts(steps)


def _read_components(given: object, what: str, width: int | None) -> dict[str, Fraction]:
    """Return the numbers by their names; those that are left out are 0."""
    pairs = list(given.items()) if isinstance(given, Mapping) else [part.partition("=")[::2] for part in str(given).split(",")]
    by_name = {str(name).strip(): value for name, value in pairs}
    names = [name for name, _ in list_components(4 + MOST_STEPS if width is None else width)]
    for name in by_name:
        if name not in names:
            known = names if width is not None else names[:4]
            raise InvalidArgument(
                f"{what} of the notion mixed has the components {', '.join(known)}, but {name[:40]!r} was found; write for example "
                f"epsilon=1, mu2=1, delta=1e-6{suggest(name, names)}"
            )
    if len(by_name) < len(pairs):
        raise InvalidArgument(f"{what} names a component twice; give each of {', '.join(by_name)} once")
    last = max((3, *(names.index(name) + 1 for name in by_name))) if width is None else width
    return {name: to_exact(by_name.get(name, 0), f"{what}, {name}") for name in names[:last]}


def _constant(term: Term, low: Fraction) -> int:
    rounding = Rounding(term, CompiledTerm(term), 0, up=False, most=MOST)
    return max(int(rounding.count(Columns({}), 1)[0]), to_budget(low))


def to_cap(value: object, notion: LedgerNotion, what: str = "cap of the budgets", width: int | None = None) -> Amounts | None:
    """Return a cap of budgets as amounts, or ``what`` else is no more than a limit, rounded down; None where none is given.

    Raises :class:`InvalidArgument`.

    >>> to_cap("1/2", LedgerNotion.PURE).numbers, to_cap(None, LedgerNotion.PURE)
    ((Fraction(1, 2),), None)
    """
    if value is None:
        return None
    if notion is LedgerNotion.MIXED:
        return to_components(value, f"the {what}", width)
    exact = to_exact(value, f"the {what}")
    unit = "" if notion is LedgerNotion.ZCDP else " nats"
    if exact < 0 or to_budget(exact) == MOST:
        raise InvalidArgument(
            f"a {what} of at least 0 and below 2^22{unit} was expected, but {exact_text(exact)} was found; give another one"
        )
    return Amounts((to_budget(exact),))


def budget_body(rule: BudgetRule) -> dict[str, Any]:
    """Return a rule of budgets as an entry has it."""
    ranges = {item.name: [write_exact(item.lo), write_exact(item.hi)] for item in rule.attributes}
    more = {"more": list(rule.more)} if rule.more else {}
    return {"expression": rule.text, "attributes": ranges, "least": rule.least, "most": rule.most, **more}


def read_budget(value: object) -> BudgetRule:
    """Return the rule of :func:`budget_body`. Raises :class:`UnreadableFile`."""
    fields = read_fields(value, "a budget", {"expression", "attributes", "least", "most"}, frozenset({"more"}))
    if not isinstance(fields["attributes"], dict):
        raise UnreadableFile("the attributes of a budget have ranges, but something else was found; restore the ledger from a backup")
    ranges = {}
    for name, ends in fields["attributes"].items():
        low, high = read_list(ends, "a range")
        ranges[name] = [read_exact(low, "a range"), read_exact(high, "a range")]
    notion = LedgerNotion.MIXED if "more" in fields else LedgerNotion.PURE
    made = to_budget_rule(read_string(fields["expression"], "a budget"), ranges, notion)
    told = [fields["least"], fields["most"], *read_list(fields.get("more", []), "a budget")]
    if "more" in fields and [made.least, made.most, *made.more] != told:
        raise UnreadableFile("the numbers of a budget are not those of its text; restore the ledger from a backup")
    least, most = read_count(fields["least"], "a budget"), read_count(fields["most"], "a budget")
    return replace(made, least=min(made.least, least), most=max(made.most, most))
