"""Structure of a term in the weight: linear or not, affine or not, exactly zero or not. Exact and syntactic, hence sound where defined."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from profiles.evaluation import exact_value
from profiles.terms import Term, children, free_symbols, number, rebuild
from profiles.variables import WEIGHT

#: Corners are looked at of a box with at most so many sides.
_MOST_SYMBOLS = 10


def split_weight(term: Term) -> Term | None:
    """Return a term a free of w such that ``term`` = a·w wherever ``term`` is defined, None where no such form is visible.

    >>> from profiles import parse_expression
    >>> split_weight(parse_expression("T*w*(1/a + z)"))
    ('mul', ('sym', 'T'), ('add', ('div', ('num', Fraction(1, 1)), ('sym', 'a')), ('sym', 'z')))
    """
    match term:
        case ("sym", name):
            return number(1) if name == WEIGHT else None
        case ("mul", left, right):
            if WEIGHT not in free_symbols(right):
                return _times(split_weight(left), right)
            return _times(split_weight(right), left, flip=True) if WEIGHT not in free_symbols(left) else None
        case ("div", top, bottom):
            inner = None if WEIGHT in free_symbols(bottom) else split_weight(top)
            return None if inner is None else ("div", inner, bottom)
        case ("neg", part):
            inner = split_weight(part)
            return None if inner is None else ("neg", inner)
        case ("add", *parts):
            inners = [inner for part in parts if (inner := split_weight(part)) is not None]
            return ("add", *inners) if len(inners) == len(parts) else None
    return None


def _times(inner: Term | None, factor: Term, *, flip: bool = False) -> Term | None:
    if inner is None or inner == number(1):
        return None if inner is None else factor
    return ("mul", factor, inner) if flip else ("mul", inner, factor)


def affine_in_one(term: Term) -> tuple[Fraction, Fraction, str | None] | None:
    """Return (c, d, name) with ``term`` = c + d·name exactly (name None where d = 0), None where the term has no such visible form."""
    match term:
        case ("num", value):
            return value, Fraction(0), None
        case ("sym", name):
            return (Fraction(0), Fraction(1), name) if name != WEIGHT else None
        case ("neg", part):
            inner = affine_in_one(part)
            return None if inner is None else (-inner[0], -inner[1], inner[2])
        case ("add", *parts):
            return _affine_sum([affine_in_one(part) for part in parts])
        case ("mul", left, right):
            first, second = affine_in_one(left), affine_in_one(right)
            if first is None or second is None or (first[2] is not None and second[2] is not None):
                return None
            scale, form = (first[0], second) if first[2] is None else (second[0], first)
            return scale * form[0], scale * form[1], form[2]
        case ("div", top, bottom):
            form_, by = affine_in_one(top), affine_in_one(bottom)
            if form_ is None or by is None or by[2] is not None or by[0] == 0:
                return None
            return form_[0] / by[0], form_[1] / by[0], form_[2]
    return None


def _affine_sum(forms: list[tuple[Fraction, Fraction, str | None] | None]) -> tuple[Fraction, Fraction, str | None] | None:
    constant, slope, name = Fraction(0), Fraction(0), None
    for form in forms:
        if form is None or (form[2] is not None and name is not None and form[2] != name):
            return None
        constant, slope, name = constant + form[0], slope + form[1], form[2] or name
    return constant, slope, name


def largest_at_corner(term: Term, box: Mapping[str, tuple[Fraction, Fraction]]) -> Fraction | None:
    """Return the largest value on a box of a term that is affine in each of its symbols, None where that is not visible or not rational.

    With all symbols but one held fixed such a term is affine in that one, and largest at an end of its range: so, one after the other, at
    a corner of the box, where it is evaluated in exact rationals.

    >>> from profiles import parse_expression
    >>> largest_at_corner(parse_expression("z/8 + z*t/4 - t"), {"z": (Fraction(0), Fraction(4)), "t": (Fraction(0), Fraction(1))})
    Fraction(1, 2)
    """
    degrees = _degrees(term)
    if (
        degrees is None
        or any(degree > 1 for degree in degrees.values())
        or len(degrees) > _MOST_SYMBOLS
        or not degrees.keys() <= box.keys()
    ):
        return None
    corners = (dict(zip(degrees, ends, strict=True)) for ends in product(*(box[name] for name in degrees)))
    values = [exact_value(term, corner) for corner in corners]
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _degrees(term: Term) -> dict[str, int] | None:
    """Return the degree in each symbol of a term that is visibly a polynomial, None of others."""
    match term:
        case ("num", _):
            return {}
        case ("sym", name):
            return {name: 1}
        case ("neg", part):
            return _degrees(part)
        case ("div", top, bottom):
            return None if free_symbols(bottom) else _degrees(top)
        case ("add" | "mul" as head, *parts):
            degrees = [_degrees(part) for part in parts]
            known = [item for item in degrees if item is not None]
            if len(known) < len(degrees):
                return None
            join = sum if head == "mul" else max
            return {name: join(item.get(name, 0) for item in known) for name in dict.fromkeys(name for item in known for name in item)}
    return {} if not free_symbols(term) else None


def may_jump(term: Term) -> bool:
    """Tell whether a term has operations that are not continuous."""
    return term[0] in ("piecewise", "floor", "ceiling") or any(may_jump(part) for part in children(term))


def fold(term: Term, values: Mapping[str, Fraction]) -> Term:
    """Return a term with exact numbers in place of the subterms that have one; it is taken to be defined."""
    exact = exact_value(term, values, defined=True)
    return number(exact) if exact is not None else rebuild(term, lambda part: fold(part, values))
