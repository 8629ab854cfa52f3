"""Charges of the budget accountants of other libraries (diffprivlib, PipelineDP) as a privacy curve. Needs no extra.

Their charges are an ε and a δ for each mechanism. Composed as a curve they cost less than the sum that such an accountant returns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from accountant.compositions.events import Event, MechanismKind, make_event
from accountant.curves import Composition, PrivacyCurve, curve_of
from profiles import InvalidArgument
from profiles.hypotheses import HYPOTHESES_UNKNOWN, Hypothesis
from profiles.protection import Unit

_WANTED = "a BudgetAccountant of diffprivlib, a budget accountant of PipelineDP, or a list of pairs of an epsilon and a delta"


def curve_of_budget(source: object, *, name: str = "a budget", hypotheses: Iterable[Hypothesis | str] | None = None) -> PrivacyCurve:
    """Return the privacy curve of all charges of a budget accountant, each an (ε, δ), one after the other.

    ``source``: an accountant of diffprivlib (``spent_budget``), whose unit is a record; one of PipelineDP after ``compute_budgets()``
    (``mechanism_specs``), whose unit is a user, the privacy id; or pairs of ε and δ. A float stands for its exact binary value. None of
    them says which data sets are neighbors: that they differ by adding or removing one unit stays open, as do ``hypotheses``; None leaves
    open that further assumptions are unknown.

    Raises :class:`InvalidArgument` for another object, no charge, budgets that were not computed yet or have only a standard deviation
    (PLDBudgetAccountant), and numbers outside their ranges.

    >>> curve_of_budget([("0.5", 0), ("0.5", 0), ("0.1", "1e-6")]).composition.events[0].describe()
    'pure (epsilon 0.5), 2 times'
    """
    specs = getattr(source, "mechanism_specs", None)
    unit = Unit.RECORD if specs is None else Unit.USER
    charges = tuple(_read_pairs(source) if specs is None else _read_specs(specs))
    if not charges:
        raise InvalidArgument("a budget with charges was expected, but nothing was charged; account after the run")
    unknown = HYPOTHESES_UNKNOWN.about(name=name, carrier="a budget accountant")
    return curve_of(Composition(name, charges), hypotheses=(unknown,) if hypotheses is None else hypotheses, unit=unit)


def _read_pairs(source: object) -> Iterator[Event]:
    spent: Any = getattr(source, "spent_budget", source)
    if isinstance(spent, (str, bytes)) or not isinstance(spent, Iterable):
        raise InvalidArgument(f"{_WANTED} was expected, but an object of type {type(source).__name__} was found; give one of these")
    for place, pair in enumerate(spent):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidArgument(f"{_WANTED} was expected, but entry {place} is not a pair; give one of these")
        yield _charge(*pair)


def _read_specs(specs: Iterable[Any]) -> Iterator[Event]:
    for spec in specs:
        try:
            epsilon, delta = spec.eps, spec.delta
        except (AssertionError, AttributeError):
            kind = str(getattr(spec, "mechanism_type", type(spec).__name__))[:60]
            raise InvalidArgument(
                f"an epsilon of each mechanism of PipelineDP was expected, but {kind} has none; use a NaiveBudgetAccountant, and account "
                "after compute_budgets()"
            ) from None
        yield _charge(epsilon, 0 if delta is None else delta, spec.count)


def _charge(epsilon: object, delta: object, count: object = 1) -> Event:
    if delta == 0:
        return make_event(MechanismKind.PURE, {"epsilon": epsilon}, count=count)
    return make_event(MechanismKind.APPROXIMATE, {"epsilon": epsilon, "delta": delta}, count=count)


__all__ = ["curve_of_budget"]
