"""The frozen PDP profile: what a mechanism promises about one weighted record. It decides nothing; ``proofs_check`` does."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from profiles.errors import InvalidExpression, InvalidProfile, OtherNotion
from profiles.evaluation import constant_value
from profiles.grammar import is_name, parse_expression
from profiles.notions import ABOVE_ONE, NUMBERS, ORDER, ProfileNotion, to_notion
from profiles.numbers import exact_text, to_exact
from profiles.presenting.describing import describe, to_html, to_latex
from profiles.ranges import Ends, Written, WrittenRange, read_ends, require_parameters, share_name
from profiles.suggestions import suggest
from profiles.symbolic import from_sympy, to_rational, to_sympy
from profiles.sympy_spelling import index_symbols, read_constant, read_name, read_range, require_assumptions
from profiles.tables import Table, make_table
from profiles.terms import RESERVED, Term, applications, count_nodes, free_symbols, number, substitute, symbol, to_text

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture

WEIGHT = "w"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Statistic:
    """A record statistic: a scalar through which a record enters a profile, with its closed range [lo, hi]."""

    name: str
    lo: Fraction
    hi: Fraction


@dataclass(frozen=True, slots=True)
class Parameter:
    """A constant of the mechanism: an exact ``value``, or any real in ``bounds``, or (both None) any positive real."""

    name: str
    value: Fraction | None = None
    bounds: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A quantified variable of a profile: [lo, hi]; ``hi`` None is +∞; ``open_below`` excludes lo (unspecified positive parameters)."""

    name: str
    lo: Fraction
    hi: Fraction | None
    open_below: bool = False

    def contains(self, value: Fraction) -> bool:
        """Tell whether ``value`` lies in the range."""
        above = value > self.lo if self.open_below else value >= self.lo
        return above and (self.hi is None or value <= self.hi)

    @property
    def end(self) -> Fraction:
        """The upper end, which may be 0; the lower end where the range has no upper one."""
        return self.lo if self.hi is None else self.hi


@dataclass(frozen=True, slots=True)
class Part:
    """One ingredient of a composed profile: ``times`` adaptive uses of ``profile``; ``times`` is a number or a parameter name."""

    profile: Profile
    times: Term


@dataclass(frozen=True, slots=True)
class Profile:
    """A PDP profile ε(w, x) in nats: for all data sets, adding or removing the weighted record (w, x) gives ε(w, x)-indistinguishable
    outputs (Fay et al. 2024, Definition 4 on weighted data sets). Or, where ``notion`` says so, the same in another notion.

    Build one with :func:`declare` or from a profile file. ``promise`` is the term as it was written, whose meaning is that of ``notion``
    (:mod:`profiles.notions`), ``record`` the statistics with closed ranges, ``parameters`` the constants; ``source`` says where the
    promise is proved; ``parts`` says from what it was composed. ``written`` is there where a range has expressions as ends
    (:mod:`profiles.ranges`); ``promise`` and ``record`` are then resolved.

    Whoever needs ε reads ``epsilon``, or what is made of it (``text``, ``numeric_epsilon``, ``expression``): in any notion but the pure
    one, these raise :class:`profiles.errors.OtherNotion`, so that no μ is ever taken for an ε.
    """

    name: str
    promise: Term
    record: tuple[Statistic, ...]
    parameters: tuple[Parameter, ...]
    source: str = ""
    parts: tuple[Part, ...] = field(default=(), compare=False)
    written: Written | None = None
    notion: ProfileNotion = ProfileNotion.PURE

    @property
    def epsilon(self) -> Term:
        """The term of ε(w, x). Raises :class:`OtherNotion` where the profile promises something else."""
        return self.require_pure().promise

    def require_pure(self) -> Profile:
        """Return this profile, whose promise is an ε. Raises :class:`OtherNotion` where it is something else."""
        if self.notion is not ProfileNotion.PURE:
            weight = ", or with a target delta: pdp weight, weights and sample" if self.notion is ProfileNotion.GAUSSIAN else ""
            raise OtherNotion(
                f"a profile of pure epsilon-differential privacy is needed, but {self.name[:60]!r} declares {self.notion.number} in "
                f'the notion "{self.notion.value}", which is no epsilon; declare epsilon, or use what takes it (pdp verify{weight})'
            )
        return self

    @property
    def shares(self) -> tuple[WrittenRange, ...]:
        """The ranges that have no numbers as ends: their statistics are in [0, 1], and stand for those that were declared."""
        names = {statistic.name for statistic in self.record}
        return () if self.written is None else tuple(item for item in self.written.ranges if item.share in names)

    def in_shares(self, term: Term) -> Term:
        """Return a term in the declared statistics as one in those of ``record``."""
        return substitute(term, {item.name: item.value for item in self.shares})

    def declared_record(self, record: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the declared statistics at a point that has shares of their ranges, and all parameters, in their place."""
        values = {name: number(value) for name, value in record.items()}
        values |= self.numbers()
        found = {item.name: constant_value(substitute(item.value, values)) for item in self.shares}
        return {name: value for name, value in found.items() if value is not None}

    def __repr__(self) -> str:
        return f"Profile({describe(self)})"

    def _repr_latex_(self) -> str:
        return to_latex(self)

    def _repr_html_(self) -> str:
        return to_html(self)

    def plot(self, records: Sequence[Mapping[str, object]] | None = None, *, largest_weight: object = 20) -> Picture:
        """Return a picture of ε(w, x) and, after sampling with q = 1/w, of ψ against the weight, for up to four records.

        Raises :class:`InvalidProfile` for parameters without a number, :class:`InvalidArgument`, :class:`MissingExtra`.
        """
        from profiles.presenting.pictures import plot_profile  # noqa: PLC0415 - Matplotlib is an extra

        return plot_profile(self, records, largest_weight)

    @property
    def text(self) -> str:
        """The profile in the expression grammar."""
        return to_text(self.epsilon)

    @property
    def free_parameters(self) -> tuple[Parameter, ...]:
        """The parameters without a number: every verdict is quantified over all their values."""
        return tuple(parameter for parameter in self.parameters if parameter.value is None)

    def numbers(self) -> dict[str, Term]:
        """The parameters that have a number, with its term."""
        return {parameter.name: number(parameter.value) for parameter in self.parameters if parameter.value is not None}

    def numeric_epsilon(self) -> Term:
        """Return ε(w, x) as it was written, with the exact number in place of every parameter that has one."""
        return substitute(self.epsilon, self.numbers())

    def stand_in(self) -> Profile:
        """Return a pure profile whose ε is the promise of this one, for provers of inequalities between terms; it promises nothing.

        The order α of a Rényi divergence becomes 1 + a parameter that is any positive number.
        """
        pure = replace(self, notion=ProfileNotion.PURE, parts=())
        if self.notion is not ProfileNotion.RENYI:
            return pure
        changes = {ORDER: ("add", number(1), symbol(ABOVE_ONE))}
        written = None if self.written is None else replace(self.written, promise=substitute(self.written.promise, changes))
        parameters = (*self.parameters, Parameter(ABOVE_ONE))
        return replace(pure, promise=substitute(self.promise, changes), written=written, parameters=parameters)

    def record_variables(self) -> tuple[Variable, ...]:
        """The variables a record-wise statement is quantified over: statistics, then parameters without a number."""
        statistics = tuple(Variable(s.name, s.lo, s.hi) for s in self.record)
        free = tuple(
            Variable(p.name, *p.bounds) if p.bounds is not None else Variable(p.name, Fraction(0), None, open_below=True)
            for p in self.free_parameters
        )
        return statistics + free

    def variables(self) -> tuple[Variable, ...]:
        """The record variables and the weight w in [1, ∞)."""
        return (*self.record_variables(), Variable(WEIGHT, Fraction(1), None))

    def symbols(self) -> dict[str, sympy.Symbol]:
        """SymPy symbols of w, the statistics and all parameters, with the assumptions that their ranges justify."""
        made = {WEIGHT: sympy.Symbol(WEIGHT, positive=True)}
        for statistic in self.record:
            made[statistic.name] = sympy.Symbol(statistic.name, real=True, **_sign(statistic.lo, open_below=False))
        for parameter in self.parameters:
            known = parameter.value
            sign = {"positive": True} if known is None else _sign(known, open_below=False)
            made[parameter.name] = sympy.Symbol(parameter.name, real=True, **sign)
        return made

    def values(self) -> dict[str, sympy.Expr]:
        """Like :meth:`symbols`, but with the exact number in place of every parameter that has one."""
        made: dict[str, Any] = dict(self.symbols())
        for parameter in self.parameters:
            if parameter.value is not None:
                made[parameter.name] = to_rational(parameter.value)
        return made

    def expression(self, *, numeric: bool = True) -> sympy.Expr:
        """Return ε as a SymPy expression, with numbers in place of parameters that have one (``numeric``) or with all symbols."""
        return to_sympy(self.epsilon, self.values() if numeric else self.symbols())

    def with_parameters(self, **values: object) -> Profile:
        """Return the profile with some parameters set to exact numbers. Raises :class:`InvalidProfile` for unknown names."""
        known = {parameter.name for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise InvalidProfile(
                    f"parameter {name!r} was given, but {self.name!r} has {_listed(known)}; use one of them{suggest(name, known)}"
                )
        parameters = tuple(
            make_parameter(parameter.name, values[parameter.name]) if parameter.name in values else parameter
            for parameter in self.parameters
        )
        parts = tuple(
            Part(
                part.profile.with_parameters(**{k: v for k, v in values.items() if k in {p.name for p in part.profile.parameters}}),
                part.times,
            )
            for part in self.parts
        )
        return _resolve(replace(self, parameters=parameters, parts=parts), self.written)

    def with_record(self, **ranges: tuple[object, object]) -> Profile:
        """Return the profile on other ranges of its statistics. Raises :class:`InvalidProfile` for unknown names or empty ranges."""
        if self.written is not None:
            return self._with_written_record(ranges)
        known = {statistic.name for statistic in self.record}
        for name in ranges:
            if name not in known:
                raise InvalidProfile(
                    f"statistic {name!r} was given, but {self.name!r} has {_listed(known)}; use one of them{suggest(name, known)}"
                )
        record = tuple(make_statistic(s.name, ranges[s.name]) if s.name in ranges else s for s in self.record)
        parts = tuple(
            Part(part.profile.with_record(**{k: v for k, v in ranges.items() if k in {s.name for s in part.profile.record}}), part.times)
            for part in self.parts
        )
        return replace(self, record=record, parts=parts)

    def _with_written_record(self, ranges: Mapping[str, tuple[object, object]]) -> Profile:
        """Give numbers to ranges with expressions as ends: back to what was written, without these."""
        if self.parts:
            raise InvalidProfile(f"{self.name!r} is composed of parts whose ranges depend on parameters; change the ranges of the parts")
        written = Written(self.promise, ()) if self.written is None else self.written
        kept = tuple(item for item in written.ranges if item.name not in ranges)
        names = {item.share: item.name for item in written.ranges}
        record = tuple(replace(s, name=names.get(s.name, s.name)) for s in self.record)
        plain = replace(self, promise=written.promise, record=record, written=None).with_record(**ranges)
        return _resolve(plain, replace(written, ranges=kept) if kept else None)


def _resolve(profile: Profile, written: Written | None) -> Profile:
    """Return a profile with the ranges that ``written`` has: as numbers where the parameters give them, else as shares of [0, 1].

    Raises :class:`InvalidProfile` where a lower end is above the upper one.
    """
    if written is None:
        return profile
    constants = profile.numbers()
    by_name = {item.name: item for item in written.ranges} | {item.share: item for item in written.ranges}
    record, values = [], {}
    for statistic in profile.record:
        item = by_name.get(statistic.name)
        if item is None:
            record.append(statistic)
            continue
        ends = item.numbers(constants)
        if ends is not None and ends[0] > ends[1]:
            raise InvalidProfile(
                f"the range of {item.name} is {item.text}, which is empty for these parameters: its lower end is "
                f"{exact_text(ends[0])[:40]} and its upper end {exact_text(ends[1])[:40]}; correct the range or the parameters"
            )
        record.append(Statistic(item.share, Fraction(0), Fraction(1)) if ends is None else Statistic(item.name, *ends))
        if ends is None:
            values[item.name] = item.value
    return replace(profile, promise=substitute(written.promise, values), record=tuple(record), written=written)


def _sign(lo: Fraction, *, open_below: bool) -> dict[str, bool]:
    if lo > 0 or (open_below and lo >= 0):
        return {"positive": True}
    return {"nonnegative": True} if lo == 0 else {}


def require_name(name: object, what: str) -> None:
    """Raise :class:`InvalidProfile` where ``what`` is to have a name that is no printable text of 1 to MAX_NAME characters."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise InvalidProfile(f"{what} needs a printable name of 1 to {MAX_NAME} characters; give one")


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
    term = parse_expression(given, word, known_tables) if isinstance(given, str) else from_sympy(given)
    count_nodes(term, 5_000)
    _limit_tables(term, word)
    if not isinstance(given, str):
        parse_expression(to_text(term), word)  # the same limits as in a file, so that a certificate's text can be read again
    used = free_symbols(term)
    known = {WEIGHT, *names, *({ORDER} if notion is ProfileNotion.RENYI else ())}
    for unknown in sorted(used - known):
        if unknown == "delta":
            _check_name(unknown, "the symbol")
        raise InvalidProfile(
            f"{word} uses the symbol {unknown!r}, but only {_listed(known)} are declared; declare it as a statistic or a "
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
    return _resolve(plain, Written(term, ranges))


def _choose_number(notion: ProfileNotion, given: Mapping[str, str | sympy.Expr | None]) -> str | sympy.Expr:
    """Return the number that a declaration gives. Raises :class:`InvalidProfile` for that of another notion, :class:`InvalidExpression`
    where there is none.
    """
    found = {name: value for name, value in given.items() if value is not None}
    wanted = found.pop(notion.number, None)
    for other in found:
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
        checked = _check_name(key, "the table")
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
        checked = _check_name(key, "the statistic")
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
    return ((read_name(key), read(value, f"{kind} {_shown(key)}")) for key, value in table.items())


def _check_name(given: object, kind: str) -> str:
    name = read_name(given)
    if not isinstance(name, str) or not is_name(name) or name.startswith("__"):
        raise InvalidProfile(f"{kind} {str(name)[:60]!r} is not an ASCII identifier of at most 64 characters; rename it")
    if keyword.iskeyword(name):
        raise InvalidProfile(f"{kind} {name!r} is a keyword that expressions cannot use; rename it (lam for lambda)")
    if name == "delta":
        raise InvalidProfile(
            f"{kind} 'delta' was found, but no notion of a profile has a delta; leave it out, declare Gaussian noise as notion = "
            '"gaussian" with mu, or rename it if it is no failure probability'
        )
    if name in RESERVED:
        raise InvalidProfile(f"{kind} {name!r} is a reserved name (w is the weight, pi a constant, the others functions); rename it")
    return name


def make_statistic(name: object, bounds: object) -> Statistic:
    """Return a checked statistic from a name and a pair [lo, hi]."""
    checked = _check_name(name, "the statistic")
    lo, hi = _range(bounds, f"the range of {checked}")
    return Statistic(checked, lo, hi)


def make_parameter(name: object, value: object) -> Parameter:
    """Return a checked parameter from a name and a number, ``"positive"`` or a range [lo, hi] with 0 < lo."""
    checked = _check_name(name, "the parameter")
    value = read_constant(value, f"the parameter {checked}")
    if isinstance(value, str) and value == "positive":
        return Parameter(checked)
    if isinstance(value, (list, tuple)):
        lo, hi = _range(value, f"the range of {checked}")
        if lo <= 0:
            raise InvalidProfile(
                f"the range of the parameter {checked} must be positive, but it starts at {exact_text(lo)}; raise its lower end"
            )
        return Parameter(checked, bounds=(lo, hi))
    return Parameter(checked, to_exact(value, f"the parameter {checked}"))


def _range(given: object, what: str) -> tuple[Fraction, Fraction]:
    bounds = read_range(given, what)
    if isinstance(bounds, (str, bytes, Mapping)) or not isinstance(bounds, Sequence) or len(bounds) != 2:
        raise InvalidProfile(f"{what} must be a pair [lo, hi] of finite numbers, but {_shown(bounds)} was found; write both ends")
    lo, hi = to_exact(bounds[0], f"the lower end of {what}"), to_exact(bounds[1], f"the upper end of {what}")
    if lo > hi:
        raise InvalidProfile(
            f"{what} is empty: its lower end {exact_text(lo)[:40]} is above its upper end {exact_text(hi)[:40]}; swap or correct them"
        )
    return lo, hi


def _shown(value: object) -> str:
    try:
        return repr(str(value)[:60])
    except ValueError:  # an integer beyond the length that str accepts
        return f"an object of type {type(value).__name__}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


__all__ = [
    "WEIGHT", "InvalidExpression", "Parameter", "Part", "Profile", "Statistic", "Variable", "declare", "make_parameter", "make_statistic",
]  # fmt: skip
