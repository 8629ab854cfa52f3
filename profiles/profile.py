"""The frozen PDP profile: what a mechanism promises about one weighted record. It decides nothing; ``proofs_check`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidProfile, OtherNotion
from profiles.evaluation import constant_value
from profiles.lazy import load_later
from profiles.notions import ABOVE_ONE, ORDER, ProfileNotion
from profiles.numbers import exact_text
from profiles.ranges import Written, WrittenRange
from profiles.suggestions import suggest
from profiles.terms import Term, number, substitute, symbol, to_text
from profiles.variables import WEIGHT, Parameter, Statistic, Variable, listed, make_parameter, make_statistic
from profiles.views import show_html, show_latex, show_picture, show_text

if TYPE_CHECKING:
    import sympy

    from profiles.presenting.pictures import Picture
else:
    sympy = load_later("sympy")  # which commands that show no formula do not need


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
                f'the notion "{self.notion.value}", which is not an epsilon; declare epsilon, or use what takes it (pdp verify{weight})'
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
        values_ = {item.name: constant_value(substitute(item.value, values)) for item in self.shares}
        return {name: value for name, value in values_.items() if value is not None}

    def __repr__(self) -> str:
        return show_text(self)

    def _repr_latex_(self) -> str:
        return show_latex(self)

    def _repr_html_(self) -> str:
        return show_html(self)

    def plot(self, records: Sequence[Mapping[str, object]] | None = None, *, largest_weight: object = 20) -> Picture:
        """Return a picture of ε(w, x) and, after sampling with q = 1/w, of ψ against the weight, for up to four records.

        Raises :class:`InvalidProfile` for parameters without a number, :class:`InvalidArgument`, :class:`MissingExtra`.
        """
        return show_picture(self, records, largest_weight)

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

    def at_weight_one(self) -> Term:
        """Return the promise for a record of weight 1, in any notion, with the exact number in place of every parameter that has one."""
        return substitute(self.stand_in().numeric_epsilon(), {WEIGHT: number(1)})

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
        from profiles.symbolic import to_rational  # noqa: PLC0415 - which loads SymPy

        made: dict[str, Any] = dict(self.symbols())
        for parameter in self.parameters:
            if parameter.value is not None:
                made[parameter.name] = to_rational(parameter.value)
        return made

    def expression(self, *, numeric: bool = True) -> sympy.Expr:
        """Return ε as a SymPy expression, with numbers in place of parameters that have one (``numeric``) or with all symbols."""
        from profiles.symbolic import to_sympy  # noqa: PLC0415 - which loads SymPy

        return to_sympy(self.epsilon, self.values() if numeric else self.symbols())

    def with_parameters(self, **values: object) -> Profile:
        """Return the profile with some parameters set to exact numbers. Raises :class:`InvalidProfile` for unknown names."""
        known = {parameter.name for parameter in self.parameters}
        for name in values:
            if name not in known:
                raise InvalidProfile(
                    f"parameter {name!r} was given, but {self.name!r} has {listed(known)}; use one of them{suggest(name, known)}"
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
        return resolve_ranges(replace(self, parameters=parameters, parts=parts), self.written)

    def with_record(self, **ranges: tuple[object, object]) -> Profile:
        """Return the profile on other ranges of its statistics. Raises :class:`InvalidProfile` for unknown names or empty ranges."""
        if self.written is not None:
            return self._with_written_record(ranges)
        known = {statistic.name for statistic in self.record}
        for name in ranges:
            if name not in known:
                raise InvalidProfile(
                    f"statistic {name!r} was given, but {self.name!r} has {listed(known)}; use one of them{suggest(name, known)}"
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
        return resolve_ranges(plain, replace(written, ranges=kept) if kept else None)


def resolve_ranges(profile: Profile, written: Written | None) -> Profile:
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
