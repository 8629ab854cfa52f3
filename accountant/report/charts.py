"""Line charts as inline SVG: no styles of their own (the page's classes colour them), no scripts, the same bytes every time.

Matplotlib, which draws the pictures of ``pdp audit --plot``, is not used here: its SVG carries inline styles and fixed colours, which a
strict Content-Security-Policy forbids and a dark page cannot change; and a report must not need an extra.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from profiles.presenting.elements import Child, Element, make

WIDTH, HEIGHT = 380, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 14, 46
#: A positive range is drawn on a logarithmic axis where its ends are so far apart.
_LONG = 200.0
_MOST_TICKS = 6
#: Heights beyond this are drawn there, so that a range has a finite width.
_FAR = 1e250
#: Colours and dash patterns that the page's classes define.
STYLES = 4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A named line through points in order; ``stepped`` holds each value until the next point; ``dots`` marks the points as well."""

    name: str
    points: tuple[Point, ...]
    stepped: bool = False
    dots: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its lines, named horizontal levels, and what screen readers are told."""

    id: str
    title: str
    told: str
    x_label: str
    y_label: str
    lines: tuple[ChartLine, ...]
    levels: tuple[tuple[str, float], ...] = ()
    log_x: bool = False
    from_zero: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    """Maps values to positions between two ends."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool

    def at(self, value: float) -> float:
        lo, hi, x = (math.log(v) for v in (self.lo, self.hi, max(value, self.lo))) if self.log else (self.lo, self.hi, value)
        return self.start + (self.end - self.start) * (x - lo) / (hi - lo)

    def ticks(self) -> list[float]:
        if not self.log:
            return _linear_ticks(self.lo, self.hi)
        first, last = math.ceil(math.log10(self.lo) - 1e-9), math.floor(math.log10(self.hi) + 1e-9)
        step = max(1, math.ceil((last - first + 1) / _MOST_TICKS))
        decades = [10.0**k for k in range(first, last + 1, step)]
        if len(decades) >= 3:
            return decades
        return [
            m * 10.0**k
            for k in range(first - 1, last + 1)
            for m in (1, 2, 5)
            if self.lo <= m * 10.0**k * (1 + 1e-9) <= self.hi * (1 + 2e-9)
        ]


def _linear_ticks(lo: float, hi: float) -> list[float]:
    rough = (hi - lo) / (_MOST_TICKS - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough * (1 - 1e-9))
    first = math.ceil(lo / step - 1e-9)
    return [k * step for k in range(first, first + 2 * _MOST_TICKS) if k * step <= hi + 1e-9 * step]


def draw(chart: Chart) -> Element:
    """Return the chart as a figure: picture, legend and caption."""
    points = [point for line in chart.lines for point in line.points]
    x_axis = _axis([x for x, _ in points], _LEFT, WIDTH - _RIGHT, log=chart.log_x)
    heights = [min(y, _FAR) for _, y in points] + [min(y, _FAR) for _, y in chart.levels]
    log_y = not chart.from_zero and min(heights) > 1 / _FAR and max(heights) > _LONG * min(heights)
    y_axis = _axis([*heights, *([0.0] if not log_y else [])], HEIGHT - _BOTTOM, _TOP, log=log_y, headroom=True)
    picture = make(
        "svg",
        make("title", chart.title, id=f"{chart.id}-title"),
        make("desc", chart.told, id=f"{chart.id}-desc"),
        make("g", _grid(x_axis, y_axis), class_="axes", aria_hidden="true"),
        make("g", [_level(k, y_axis.at(min(value, _FAR))) for k, (_, value) in enumerate(chart.levels)]),
        make("g", [_draw_line(k, line, x_axis, y_axis) for k, line in enumerate(chart.lines)]),
        make("text", chart.x_label + (" (log scale)" if x_axis.log else ""), class_="label", x=(_LEFT + WIDTH - _RIGHT) / 2, y=HEIGHT - 8),
        make(
            "text",
            chart.y_label + (" (log scale)" if log_y else ""),
            class_="label",
            transform=f"translate(14 {_TOP + (HEIGHT - _TOP - _BOTTOM) / 2:g}) rotate(-90)",
        ),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby=f"{chart.id}-title",
        aria_describedby=f"{chart.id}-desc",
    )
    return make("div", picture, make("ul", _legend(chart), class_="legend"), class_="chart")


def _axis(values: Sequence[float], start: float, end: float, *, log: bool, headroom: bool = False) -> _Axis:
    lo, hi = min(values), max(values)
    if hi <= lo:
        lo, hi = (lo / 2, hi * 2) if log else (lo - (abs(lo) or 1) / 2, hi + (abs(hi) or 1) / 2)
    elif headroom:
        lo, hi = (lo / (hi / lo) ** 0.05, hi * (hi / lo) ** 0.05) if log else (lo, hi + 0.06 * (hi - lo))
    return _Axis(lo, hi, start, end, log)


def _grid(x_axis: _Axis, y_axis: _Axis) -> list[Child]:
    left, right, top, bottom = _LEFT, WIDTH - _RIGHT, _TOP, HEIGHT - _BOTTOM
    made: list[Child] = []
    for tick in y_axis.ticks():
        y = _number(y_axis.at(tick))
        made += [make("line", x1=left, x2=right, y1=y, y2=y, class_="grid"), make("text", _label(tick), x=left - 6, y=y, class_="tick-y")]
    for tick in x_axis.ticks():
        x = _number(x_axis.at(tick))
        made += [
            make("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="axis"),
            make("text", _label(tick), x=x, y=bottom + 17, class_="tick-x"),
        ]
    made += [
        make("line", x1=left, x2=left, y1=top, y2=bottom, class_="axis"),
        make("line", x1=left, x2=right, y1=bottom, y2=bottom, class_="axis"),
    ]
    return made


def _draw_line(index: int, line: ChartLine, x_axis: _Axis, y_axis: _Axis) -> list[Child]:
    places = [(_number(x_axis.at(x)), _number(y_axis.at(min(y, _FAR)))) for x, y in line.points]
    path, before = f"M{places[0][0]} {places[0][1]}", places[0][1]
    for x, y in places[1:]:
        path += f"L{x} {before}L{x} {y}" if line.stepped else f"L{x} {y}"
        before = y
    made: list[Child] = [make("path", d=path, class_=f"line s{index % STYLES}")] if len(places) > 1 else []
    if line.dots or len(places) == 1:
        made += [make("circle", cx=x, cy=y, r=4, class_=f"dot s{index % STYLES}") for x, y in places]
    return made


def _level(index: int, y: float) -> Element:
    return make("line", x1=_LEFT, x2=WIDTH - _RIGHT, y1=_number(y), y2=_number(y), class_=f"level l{index % 2}")


def _legend(chart: Chart) -> list[Child]:
    made: list[Child] = []
    for k, line in enumerate(chart.lines):
        single = len(line.points) == 1
        mark = (
            make("circle", cx=15, cy=6, r=4, class_=f"dot s{k % STYLES}")
            if single
            else make("path", d="M0 6L30 6", class_=f"line s{k % STYLES}")
        )
        made.append(make("li", _swatch(mark), line.name))
    for k, (name, _) in enumerate(chart.levels):
        made.append(make("li", _swatch(make("line", x1=0, x2=30, y1=6, y2=6, class_=f"level l{k % 2}")), name))
    return made


def _swatch(mark: Element) -> Element:
    return make("svg", mark, viewBox="0 0 30 12", class_="swatch", aria_hidden="true")


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _label(value: float) -> str:
    """Return a tick's number; a tick is a place on an axis, and no result."""
    if abs(value) < 1e-12:
        return "0"
    return f"{value:.6g}" if 1e-4 <= abs(value) < 1e6 else f"{value:.2g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
