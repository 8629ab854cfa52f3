"""What ``pdp release`` shows and writes of a release and of a plan: JSON, a table of answers, and lines for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accountant.cli.answers import table_bytes
from accountant.cli.options import ScreenOptions
from accountant.cli.output import console, make_printable, print_as_it_is, print_line

if TYPE_CHECKING:
    from accountant.applications.answers import Released, ReleasePlan
    from accountant.applications.answers.errors import ReleasedAnswer

_SHOWN = 8  # answers on a screen
_DIGITS = 4
_MOST_LISTED = 1000  # groups that are listed in the JSON


def tell_release(released: Released) -> dict[str, Any]:
    """Return what was released as one JSON object, all of which may be published."""
    from accountant.guarantees import to_json
    from profiles import exact_text

    plan = released.plan
    told = to_json(released.guarantee)
    return {
        "answers": released.to_json(),
        **({"units_may_be_missing": True} if _may_lack_units(released) else {}),
        "release_epsilon": exact_text(plan.epsilon),
        "release_delta": None if plan.delta is None else exact_text(plan.delta),
        **_tell_parts(plan),
        **{name: told[name] for name in ("unit", "neighbors", "epsilon", "hypotheses", "premises")},
        "checked_by_kernel": released.charged is None,  # a ledger's bound follows by its theorems
        "guarantee": told,
        **({} if released.charged is None else {"ledger": released.charged.to_json()}),
    }


def _may_lack_units(released: Released) -> bool:
    return released.charged is not None and released.charged.partial


def _tell_parts(plan: ReleasePlan) -> dict[str, Any]:
    """Return of what the release is made: each part with its cost and its noise."""
    from profiles.strict_json import write_exact

    return {
        "notion": plan.notion,
        "where": None if plan.where is None else plan.where.text,
        "groups": dict(zip(plan.groups.columns, map(list, plan.groups.categories), strict=True))
        if plan.groups.count <= _MOST_LISTED
        else None,
        "parts": [
            {
                "what": noise.part.describe(),
                "cost": write_exact(noise.cost),
                "reach": write_exact(noise.part.reach),
                "scale": write_exact(noise.scale),
                "event": noise.event.describe(),
            }
            for noise in plan.noises
        ],
    }


def release_bytes(released: Released, told: dict[str, Any], path: Path) -> bytes:
    """Return the file of the answers: JSON as it is told, else a table with one row per answer, as CSV or Parquet."""
    if path.suffix.lower() == ".json":
        return (json.dumps(told, indent=2, ensure_ascii=True, allow_nan=False) + "\n").encode()
    rows = list(released)
    grouped = {name: [str(row.group[place]) for row in rows] for place, name in enumerate(released.plan.groups.columns)}
    columns: dict[str, list[Any]] = {
        "answer": [row.name for row in rows],
        **{f"group {name}": values for name, values in grouped.items()},
        "category": [None if row.category is None else str(row.category) for row in rows],
        "value": [float(row.value) for row in rows],
        "standard_error": [row.standard_error for row in rows],
        "interval_95_low": [row.interval[0] for row in rows],
        "interval_95_high": [row.interval[1] for row in rows],
        **({"units_may_be_missing": ["yes"] * len(rows)} if _may_lack_units(released) else {}),
    }
    return table_bytes(columns, path)


def _up(value: float | Fraction) -> str:
    """Return a size, rounded up."""
    from profiles import decimal_text, to_exact

    number = to_exact(value)
    if number >= 10**_DIGITS:
        return f"{math.ceil(number):,}"
    return decimal_text(number, _DIGITS, round_up=True)


def _show_value(value: float, error: float | None) -> str:
    """Return a released number with as many digits as its error leaves: nearest, because it has no side."""
    if isinstance(value, int) or error is None or error <= 0:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
    places = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:,.{min(places, 12)}f}"


def print_released(released: Released, options: ScreenOptions, out: Path | None) -> None:
    """Print the guarantee, the first answers with their errors, and what the guarantee rests on; ``out`` has all answers."""
    from accountant.guarantees.render import describe_bound, render_basis
    from profiles import exact_text

    plan = released.plan
    if released.charged is None:
        delta = "" if plan.delta is None else f", delta <= {exact_text(plan.delta)}"
        print_line(f"epsilon <= {exact_text(plan.epsilon)} nats{delta} for adding or removing one record (a row); checked by kernel: yes")
    else:
        print_line(f"ledger                {released.charged}")
        promised = released.guarantee
        print_line(f"all its releases      {describe_bound(promised)}, {promised.protection.describe()}; checked by kernel: no")
    shown = [_row_of(answer) for place, answer in enumerate(released) if place < _SHOWN or options.everything]
    _print_rows(("answer", "value", "standard error", "95% of the noise"), shown)
    more = plan.count_answers() - len(shown)
    if more:
        print_line(f"and {more} more answers" + (f" in {out}" if out is not None else ": --out FILE, or --all"))
    clipped = dict.fromkeys(f"{noise.part.column} {noise.part.clip.describe()}" for noise in plan.noises if noise.part.clip is not None)
    if clipped:
        print_line(f"clipped: {', '.join(clipped)}; numbers outside count as the nearer end")
    print_as_it_is("\n".join(render_basis(released.guarantee, everything=options.everything, explain=options.explain)))


def _row_of(answer: ReleasedAnswer) -> tuple[str, str, str, str]:
    named = (*answer.group, *(() if answer.category is None else (answer.category,)))
    name = " ".join([answer.name, *(f"[{item}]" for item in named)])
    error = answer.standard_error
    low, high = answer.interval
    if error is None:
        return name, f"{answer.value:,.12g}", "", f"+/- {_up(high)} rows in rank"
    radius = max(Fraction(high) - Fraction(answer.value), Fraction(answer.value) - Fraction(low))
    return name, _show_value(answer.value, error), _up(error), f"+/- {_up(radius)}"


def _print_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a small table, a line a row: names to the left, numbers to the right, names cut where a terminal has no room for them."""
    lines = [head, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    widths[0] = min(widths[0], max(12, console().width - 1 - sum(widths[1:]) - 2 * len(widths)))
    for line in lines:
        first = make_printable(line[0])
        cells = [(first if len(first) <= widths[0] else first[: widths[0] - 3] + "...").ljust(widths[0])]
        cells += [make_printable(cell).rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print_as_it_is("  " + "  ".join(cells).rstrip())


def tell_plan(plan: ReleasePlan, rows: float | None) -> dict[str, Any]:
    """Return what a plan says as one JSON object: how much noise each answer will have, where about ``rows`` rows are expected."""
    from accountant.compositions.json_format import composition_object
    from profiles import exact_text

    return {
        "plan": [
            {
                "answer": item.name,
                "standard_error": item.error,
                "radius_95": item.radius,
                "unit": item.unit,
                "cost": exact_text(item.cost),
            }
            for item in _plan_answers(plan, rows)
        ],
        "epsilon": exact_text(plan.epsilon),
        "delta": None if plan.delta is None else exact_text(plan.delta),
        **_tell_parts(plan),
        "composition": composition_object(plan.composition),
    }


def print_plan(plan: ReleasePlan, rows: float | None) -> None:
    """Print what :func:`plan_object` tells, with the expected error of each answer for ``rows`` where their number is known."""
    from profiles import decimal_text, exact_text

    delta = "" if plan.delta is None else f", delta <= {exact_text(plan.delta)}"
    print_line(
        f"planned, for epsilon <= {exact_text(plan.epsilon)} nats{delta} for adding or removing one record (a row); nothing is spent"
    )
    each = "" if not plan.groups.columns else f", in each of {plan.groups.count} groups"
    print_line(f"noise of each answer{each}")
    lines = []
    for item in _plan_answers(plan, rows):
        said = f" {item.unit}" if item.unit else ""
        lines.append((item.name, "" if item.error is None else f"{_up(item.error)}{said}", f"+/- {_up(item.radius)}{said}"))
    _print_rows(("answer", "standard error", "95% of the noise"), lines)
    share = "epsilon" if plan.delta is None else "mu^2"
    for noise in plan.noises[:_SHOWN]:
        print_line(f"{share} {decimal_text(noise.cost, 4, round_up=True):8} for the {noise.part.describe()}")
    if len(plan.noises) > _SHOWN:
        print_line(f"and {len(plan.noises) - _SHOWN} more parts: --json")
    print_line("every row costs the same: this is the worst cost, and what a ledger with public budgets charges")


@dataclass(frozen=True, slots=True)
class _PlannedAnswer:
    """One answer of a plan: its expected error and the half width of its 95% interval, in a unit, and what it costs."""

    name: str
    error: float | None
    radius: float
    unit: str
    cost: Fraction


def _plan_answers(plan: ReleasePlan, rows: float | None) -> Iterator[_PlannedAnswer]:
    from accountant.applications.answers.errors import expect_error

    for item in plan.needs:
        noises = [plan.noise_of(part) for part in item.parts]
        yield _PlannedAnswer(item.request.name, *expect_error(item, noises, rows), sum((noise.cost for noise in noises), Fraction(0)))
