"""A declaration as people write it in SymPy: symbols in place of names, sets in place of pairs, and assumptions of symbols.

SymPy simplifies with the assumptions of a symbol as soon as an expression is written (√(z²) becomes −z where z is negative), so a
profile is taken only where they hold for every value that is declared. A symbol is nothing but its name here: two different symbols of
one name, and those that SymPy tells apart by more than the name, are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidNumber, InvalidProfile
from profiles.lazy import load_later
from profiles.numbers import exact_text

if TYPE_CHECKING:
    import sympy
else:
    sympy = load_later("sympy")  # which commands that declare nothing do not need

#: What each sign means for all of [lo, hi]; None: no end; ``above``: lo itself does not belong to it.
_SIGNS = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "zero")
#: Assumptions that hold for every real number, with the value that they have there.
_REAL = {
    "real": True, "extended_real": True, "complex": True, "finite": True, "infinite": False, "hermitian": True, "commutative": True,
}  # fmt: skip
#: What says nothing about a real number but follows from its sign.
_IMAGINARY = ("imaginary", "antihermitian")
_MAX_BITS = 14_000


def read_name(key: object) -> object:
    """Return the name of a SymPy symbol, and anything else as it is. Raises :class:`InvalidProfile` for what is more than its name."""
    if not isinstance(key, sympy.Symbol):
        return key
    if isinstance(key, (sympy.Dummy, sympy.Wild)):
        raise InvalidProfile(
            f"the {type(key).__name__} {key.name[:60]!r} was found, which SymPy tells from other symbols of that name; "
            f"use Symbol({key.name[:60]!r})"
        )
    return key.name


def read_number(value: object, what: str) -> object:
    """Return a number of SymPy as a fraction, a float with its exact binary value; what has symbols as text; anything else as it is.

    Raises :class:`InvalidNumber` for constants such as √2, which are not fractions, and for floats of a huge exponent.
    """
    if not isinstance(value, sympy.Expr):
        return value
    if value.free_symbols:
        return str(value)
    if value.is_Float and value.is_finite:
        return exact_float(value, what)
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    if value.is_infinite:
        raise InvalidNumber(f"{what} must be finite, but {value} was found; give a finite number")
    raise InvalidNumber(
        f"{what} must be a rational number, but {str(value)[:60]} was found; give a fraction beside it on the side that is safe for you"
    )


def exact_float(value: Any, what: str) -> Fraction:
    """Return the exact binary value of a SymPy float. Raises :class:`InvalidNumber` where it has too many digits."""
    sign, mantissa, exponent, bits = value._mpf_
    if abs(exponent) + bits > _MAX_BITS:
        raise InvalidNumber(f"{what} is a float with an exponent that is larger than is accepted; give a shorter number")
    scaled = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -scaled if sign else scaled


def read_range(value: object, what: str) -> object:
    """Return a closed interval of SymPy as a pair, likewise a tuple of SymPy, with the ends read as numbers; anything else as it is.

    Raises :class:`InvalidProfile` for sets that are not closed bounded intervals.
    """
    if isinstance(value, (list, tuple, sympy.Tuple)):
        return [read_number(end, f"an end of {what}") for end in value]
    if not isinstance(value, sympy.Set):
        return value
    if isinstance(value, sympy.FiniteSet) and len(value.args) == 1:
        return [read_number(value.args[0], f"an end of {what}")] * 2
    if value is sympy.S.EmptySet:
        raise InvalidProfile(f"{what} is the empty set; give the smaller end first: Interval(0, 2)")
    if not isinstance(value, sympy.Interval):
        raise InvalidProfile(
            f"{what} must be a closed interval, but {str(value)[:60]} was found; give an Interval or a pair that contains it"
        )
    if value.start.is_infinite or value.end.is_infinite:
        raise InvalidProfile(
            f"{what} must have finite ends, but {value} was found; give a finite range that every record is clipped to: Interval(0, 2)"
        )
    if value.left_open or value.right_open:
        raise InvalidProfile(
            f"{what} must be closed, but {str(value)[:60]} was found; give Interval({value.start}, {value.end}), which contains it"
        )
    return [read_number(end, f"an end of {what}") for end in (value.start, value.end)]


def read_constant(value: object, what: str) -> object:
    """Return what is declared of a parameter: SymPy's numbers and intervals as ours, and all positive numbers as ``"positive"``."""
    if isinstance(value, sympy.Symbol):
        raise InvalidNumber(
            f"{what} must be a number, a range or 'positive', but the symbol {value.name[:60]!r} was found; give one of these"
        )
    if isinstance(value, sympy.Set) and value == sympy.Interval.open(0, sympy.oo):
        return "positive"
    if isinstance(value, sympy.Interval) and (value.start.is_infinite or value.end.is_infinite):
        raise InvalidProfile(
            f"the range of {what} must have finite ends, but {value} was found; give an Interval such as Interval(1, 2), or 'positive' "
            "for all positive numbers"
        )
    if isinstance(value, (list, tuple, sympy.Tuple, sympy.Set)):
        return read_range(value, f"the range of {what}")
    return read_number(value, what)


def symbols_in(*given: object) -> Iterator[sympy.Symbol]:
    """Yield the symbols of expressions, keys and ranges, each once."""
    seen: set[object] = set()
    for item in given:
        items: Iterable[Any] = item if isinstance(item, (list, tuple)) else [item]
        for part in items:
            if isinstance(part, sympy.Basic):
                for made in sorted(part.atoms(sympy.Symbol) - seen, key=str):
                    seen.add(made)
                    yield made


def index_symbols(*given: object) -> dict[str, sympy.Symbol]:
    """Return the symbols by their names. Raises :class:`InvalidProfile` for two of one name, and for what is more than its name."""
    symbols: dict[str, sympy.Symbol] = {}
    for made in symbols_in(*given):
        read_name(made)
        other = symbols.setdefault(made.name, made)
        if other != made:
            raise InvalidProfile(
                f"two different symbols of the name {made.name[:60]!r} were found ({_assumed(other)}; {_assumed(made)}), which print "
                "alike; make one Symbol and use it everywhere"
            )
    return symbols


def _assumed(made: sympy.Symbol) -> str:
    told = ", ".join(f"{name}={value}" for name, value in made._assumptions_orig.items() if name != "commutative")  # noqa: SLF001
    return f"one with {told}" if told else "one without assumptions"


def require_assumptions(made: sympy.Symbol, lo: Fraction | None, hi: Fraction | None, *, open_below: bool = False) -> None:
    """Refuse a symbol that assumes what is not true of every number in [lo, hi] (None: no end; ``open_below``: without lo).

    Raises :class:`InvalidProfile`.
    """
    for name, value in sorted(made.assumptions0.items(), key=lambda item: (item[0] not in made._assumptions_orig, item)):  # noqa: SLF001
        if not _holds(name.removeprefix("extended_"), value, lo, hi, open_below=open_below):
            start = "(-∞" if lo is None else f"{'(' if open_below else '['}{exact_text(lo)[:40]}"
            end = "∞)" if hi is None else f"{exact_text(hi)[:40]}]"
            raise InvalidProfile(
                f"the symbol {made.name[:60]!r} assumes {name}={value}, which is not true of every number in "
                f"{start}, {end}, and SymPy simplifies with it; make the symbol without that "
                "assumption, or correct the range"
            )


def _holds(name: str, value: bool, lo: Fraction | None, hi: Fraction | None, *, open_below: bool) -> bool:  # noqa: FBT001
    if name in _REAL:
        return value is _REAL[name]
    if lo is not None and hi == lo:
        known = getattr(sympy.Rational(lo.numerator, lo.denominator), f"is_{name}", None)
        return known is value or (known is None and not value)
    if name in _IMAGINARY:
        return not value
    if name in _SIGNS:
        return _sign(name, lo, hi, open_below=open_below) if value else _never(name, lo, hi, open_below=open_below)
    return not value and name in ("prime", "composite") and hi is not None and hi < 2  # of whole numbers and the like: a range has them all


def _sign(name: str, lo: Fraction | None, hi: Fraction | None, *, open_below: bool) -> bool:
    """Tell whether all numbers of a range of more than one point have that sign."""
    above = lo is not None and (lo > 0 or (open_below and lo == 0))
    below = hi is not None and hi < 0
    return {
        "positive": above,
        "negative": below,
        "nonnegative": lo is not None and lo >= 0,
        "nonpositive": hi is not None and hi <= 0,
        "nonzero": above or below,
        "zero": False,
    }[name]


def _never(name: str, lo: Fraction | None, hi: Fraction | None, *, open_below: bool) -> bool:
    """Tell whether no number of a range of more than one point has that sign."""
    opposite = {
        "positive": "nonpositive",
        "negative": "nonnegative",
        "nonnegative": "negative",
        "nonpositive": "positive",
        "zero": "nonzero",
    }
    return name in opposite and _sign(opposite[name], lo, hi, open_below=open_below)
