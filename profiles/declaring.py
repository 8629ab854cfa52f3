"""Declare a profile from expressions, ranges and parameters as people write them; everything that may be wrong with them is said here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidExpression, InvalidProfile
from profiles.grammar import parse_expression
from profiles.notions import NUMBERS, ORDER, ProfileNotion, to_notion
from profiles.profile import Profile, resolve_ranges
from profiles.ranges import Ends, Written, WrittenRange, read_ends, require_parameters, share_name
from profiles.suggestions import suggest
from profiles.sympy_spelling import index_symbols, read_constant, read_name, read_range, require_assumptions
from profiles.tables import Table, make_table
from profiles.terms import Term, applications, count_nodes, free_symbols, to_text
from profiles.variables import (
    WEIGHT,
    Parameter,
    Statistic,
    Variable,
    check_name,
    listed,
    make_parameter,
    make_statistic,
    require_name,
    shown,
)

if TYPE_CHECKING:
    import sympy


def declare(
    name: str,
    epsilon: str | sympy.Expr | None = None,
    *,
    record: Mapping[Any, object] | None = None,
    parameters: Mapping[Any, object] | None = None,
    source: str = "",
    ignores_weights: bool = False,
    tables: Mapping[str, object] | None = None,
    notion: str | ProfileNotion = ProfileNotion.PURE,
    mu: str | sympy.Expr | None = None,
    rdp: str | sympy.Expr | None = None,
    rho: str | sympy.Expr | None = None,
) -> Profile:
    """Declare a PDP profile ε(w, x), or one in another notion.

    ``epsilon`` is an expression in ``w``, the statistics and the parameters, as SymPy or in the text grammar. ``record`` maps each
    statistic to its closed range, whose ends are numbers or expressions in the parameters (``["0", "2*R"]``); ``parameters`` maps each
    parameter to an exact number, to ``"positive"`` (any positive real) or to a range ``[lo, hi]`` with 0 < lo. Keys are names or SymPy
    symbols, and ranges may be SymPy intervals. An expression without ``w`` is refused as a probable mistake, unless ``ignores_weights``
    says that the mechanism does not look at weights (in text, ``+ 0*w`` says the same). ``tables`` maps names of piecewise-linear
    functions, which ``epsilon`` then calls as ``f(z)``, to lists of points [x, y] or to :class:`profiles.tables.Table` objects.

    ``notion`` says what is promised (:mod:`profiles.notions`): ``"pure"``, ``"gaussian"`` with ``mu`` in place of ``epsilon``,
    ``"renyi"`` with ``rdp``, which may use the order ``alpha``, ``"zcdp"`` with ``rho``. What holds of ``epsilon`` above holds of these.

    SymPy's floats stand for their exact binary value, as Python's do: prefer ``Rational(1, 10)`` to ``0.1``. SymPy simplifies with the
    assumptions of a symbol, so they must hold for every declared value of it (of ``w``: for all w ≥ 1). A symbol that is not declared is
    refused, whatever it assumes.

    Raises :class:`InvalidProfile` (unknown symbol, empty range, w missing, reserved name, assumptions that contradict a range, a number
    of another notion), :class:`InvalidExpression`, :class:`InvalidNumber`. That ε is real, finite and not negative is decided by
    ``proofs_check.admit``.

    >>> declare("sum", "w*z/b", record={"z": [0, 4]}, parameters={"b": "positive"}).text
    'w*z/b'
    >>> from sympy import Interval, symbols
    >>> w, z, b = symbols("w z b")
    >>> declare("sum", w * z / b, record={z: Interval(0, 4)}, parameters={b: 3}).text
    'w*z/b'
    >>> declare("noisy sum", notion="gaussian", mu="w*z/sigma", record={"z": [0, 4]}, parameters={"sigma": 3})
    Profile("noisy sum": mu = w*z/sigma (gaussian), z in [0, 4], sigma = 3)
    """
    require_name(name, "a profile")
    notion = to_notion(notion)
    given = _choose_number(notion, dict(zip(NUMBERS, (epsilon, mu, rdp, rho), strict=True)))
    word = notion.number
    symbols = index_symbols(given, *_pieces(record), *_pieces(parameters))
    constants = tuple(make_parameter(key, value) for key, value in _pairs(parameters, "parameters"))
    statistics, ends = _statistics(_pairs(record, "record"), constants)
    _require_once(statistics, "statistics")
    _require_once(constants, "parameters")
    names = [*(item.name for item in statistics), *(item.name for item in constants)]
    for duplicate in sorted({item for item in names if names.count(item) > 1}):
        raise InvalidProfile(f"the name {duplicate!r} is declared both as a statistic and as a parameter; rename one of them")
    for taken in sorted(notion.reserved & {*names, *(tables or ())}):
        raise InvalidProfile(f'the name {taken!r} is declared, but in the notion "{notion.value}" it belongs to the order; rename it')
    known_tables = _tables(tables, names)
    if isinstance(given, str):
        term = parse_expression(given, word, known_tables)
    else:
        from profiles.symbolic import from_sympy  # noqa: PLC0415 - slow to load, and most declarations are texts

        term = from_sympy(given)
    count_nodes(term, 5_000)
    _limit_tables(term, word)
    if not isinstance(given, str):
        parse_expression(to_text(term), word)  # the same limits as in a file, so that a certificate's text can be read again
    used = free_symbols(term)
    known = {WEIGHT, *names, *({ORDER} if notion is ProfileNotion.RENYI else ())}
    for unknown in sorted(used - known):
        if unknown == "delta":
            check_name(unknown, "the symbol")
        raise InvalidProfile(
            f"{word} uses the symbol {unknown!r}, but only {listed(known)} are declared; declare it as a statistic or a "
            f"parameter{suggest(unknown, known)}{_as_positive(symbols.get(unknown))}"
        )
    if WEIGHT not in used and not ignores_weights:
        raise InvalidProfile(
            f"{word} does not contain the weight w; write it in w (or add '+ 0*w' if the mechanism really ignores weights)"
        )
    plain = Profile(name.strip(), term, statistics, constants, source, notion=notion)
    _require_assumptions(plain if not ends else replace(plain, record=tuple(s for s in statistics if s.name not in ends)), symbols)
    if not ends:
        return plain
    ranges = tuple(WrittenRange(key, *pair, share_name(key, {*names, *used, *notion.reserved})) for key, pair in ends.items())
    return resolve_ranges(plain, Written(term, ranges))


def _choose_number(notion: ProfileNotion, given: Mapping[str, str | sympy.Expr | None]) -> str | sympy.Expr:
    """Return the number that a declaration gives. Raises :class:`InvalidProfile` for that of another notion, :class:`InvalidExpression`
    where there is none.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    wanted = chosen.pop(notion.number, None)
    for other in chosen:
        meant = next(item.value for item in ProfileNotion if item.number == other)
        raise InvalidProfile(
            f'{other} was given in the notion "{notion.value}", whose number is {notion.number}; give {notion.number} alone, or declare '
            f'notion = "{meant}"'
        )
    if wanted is None:
        raise InvalidExpression(f'a profile in the notion "{notion.value}" needs {notion.number}, but it was not given; add it')
    return wanted


def _tables(tables: Mapping[str, object] | None, names: Sequence[str]) -> dict[str, Table]:
    made = {}
    for key, points in _pairs(tables, "tables"):
        checked = check_name(key, "the table")
        if checked in names:
            raise InvalidProfile(f"the name {checked!r} is declared both as a table and as a statistic or parameter; rename one of them")
        made[checked] = points if isinstance(points, Table) else make_table(checked, points)
    return made


def _limit_tables(term: Term, word: str) -> None:
    """Raise :class:`InvalidProfile` where the tables of a term are longer than an expression may be: certificates have them spelled out."""
    pieces = sum(len(table.slopes) for table, _ in applications(term))
    if not pieces:
        return
    try:
        parse_expression(to_text(term), word)
    except InvalidExpression:
        raise InvalidProfile(
            f"the tables of {word} have {pieces} pieces, and spelled out as Piecewise, as a certificate has them, they are longer than an "
            "expression may be (20,000 characters, 5,000 operations); use fewer points (about 400), or fewer digits"
        ) from None


def _statistics(pairs: Iterable[tuple[object, Any]], parameters: Sequence[Parameter]) -> tuple[tuple[Statistic, ...], dict[str, Ends]]:
    """Return the statistics, with [0, 1] in place of ranges whose ends are expressions, and the ends of these."""
    statistics, expressions = [], {}
    for key, value in pairs:
        checked = check_name(key, "the statistic")
        ends = read_ends(value, f"the range of {checked}")
        if ends is not None:
            require_parameters(checked, ends, (parameter.name for parameter in parameters))
            expressions[checked] = ends
        statistics.append(make_statistic(checked, value if ends is None else (0, 1)))
    return tuple(statistics), expressions


def _require_assumptions(profile: Profile, symbols: Mapping[str, sympy.Symbol]) -> None:
    """Refuse symbols that assume what is not true of all values; of one whose values are not known, what is not true of all numbers."""
    fixed = (Variable(p.name, p.value, p.value) for p in profile.parameters if p.value is not None)
    known = {variable.name: variable for variable in (*profile.variables(), *fixed)}
    if profile.notion is ProfileNotion.RENYI:
        known[ORDER] = Variable(ORDER, Fraction(1), None, open_below=True)
    for name, used in symbols.items():
        variable = known.get(name)
        if variable is None:
            require_assumptions(used, None, None)
        else:
            require_assumptions(used, variable.lo, variable.hi, open_below=variable.open_below)


def _pieces(table: object) -> Iterable[object]:
    """Return the keys and values of a table, in which symbols may be."""
    return (part for pair in table.items() for part in pair) if isinstance(table, Mapping) else ()


def _require_once(items: Sequence[Statistic | Parameter], what: str) -> None:
    names = [item.name for item in items]
    for duplicate in sorted({name for name in names if names.count(name) > 1}):
        raise InvalidProfile(f"the name {duplicate!r} is declared twice among the {what}, as a symbol and as text; keep one of the two")


def _as_positive(symbol: sympy.Symbol | None) -> str:
    return f": parameters={{{symbol.name}: 'positive'}}" if symbol is not None and symbol.is_positive else ""


def _pairs(table: Mapping[Any, object] | None, what: str) -> Iterable[tuple[object, Any]]:
    if table is None:
        return ()
    if not isinstance(table, Mapping):
        raise InvalidProfile(f"{what} must be a table of names, but {type(table).__name__} was found; write name = value pairs")
    read, kind = (read_range, "the range of") if what == "record" else (read_constant, "the parameter")
    return ((read_name(key), read(value, f"{kind} {shown(key)}")) for key, value in table.items())
