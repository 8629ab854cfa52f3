"""Pictures of an audit (Matplotlib): the outputs on both data sets with the event that tells most, and the bound as it grew."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from profiles.arrays import Floats
from profiles.presenting.pictures import COLOURS, Picture, load_figure, new_figure
from profiles.private import EYES_ONLY
from proofs_check.audit.errors import UnusableOutputs
from proofs_check.audit.guesses import GuessingRule
from proofs_check.audit.outputs import ABSENT, Outputs, Reader, join
from proofs_check.audit.report import bound_texts, confidence_text
from proofs_check.audit.results import AuditResult, Finding
from proofs_check.audit.scores.interface import Score, evaluate
from proofs_check.audit.scores.one_dimension import place

#: What each colour stands for: D, D′, the bound of the fixed sample, the sequential one; and the claim.
FIRST, SECOND, FIXED, SEQUENTIAL = COLOURS
CLAIM = "#333333"
_OUTPUTS, _SECONDS = 20_000, 10.0
_BINS, _GRID, _BARS = 90, 6_000, 12
_MOST_ATOMS = 40
#: A tail is long where the range is so many interquartile ranges.
_LONG_TAIL = 30.0
_LONGEST_WORDS = 42


@dataclass(frozen=True, slots=True, eq=False)
class FreshOutputs:
    """Fresh outputs on both data sets, and the reader that knows their symbols."""

    first: Outputs
    second: Outputs
    reader: Reader


def draw_samples(
    mechanism: Callable[..., Any], pair: tuple[Any, Any], result: AuditResult, *, change: Callable[[Any], Any] | None = None
) -> FreshOutputs:
    """Return fresh outputs for a plot, by a generator made from the audit's seed: at most 20,000 on each data set, and about 10 s of work.

    ``change`` is the statistic or log-likelihood ratio that was judged. Raises what the mechanism raises.
    """
    rng = np.random.default_rng([result.seed or 0, 0x706C6F74])
    reader = result.reader or Reader()
    parts: tuple[list[Outputs], list[Outputs]] = ([], [])
    drawn, size, started = 0, 64, time.monotonic()
    while drawn < _OUTPUTS and (not drawn or time.monotonic() - started < _SECONDS):
        size = min(size * 2, _OUTPUTS - drawn)
        for dataset, part in zip(pair, parts, strict=True):
            returned = mechanism(dataset, rng, size)
            part.append(reader.read(returned if change is None else change(returned), size))
        drawn += size
    return FreshOutputs(join(parts[0]), join(parts[1]), reader)


def plot_audit(result: AuditResult, samples: FreshOutputs) -> Any:
    """Return the figure: the outputs with the event on the left, the bound on the right.

    Raises :class:`profiles.MissingExtra` without Matplotlib, :class:`UnusableOutputs`.
    """
    used = result.rule
    if result.reader is None and any(part.symbols is not None for part in (samples.first, samples.second)):
        used = None  # symbols were numbered by another reader
    figure = load_figure()(figsize=(11.5, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    bound, claimed = bound_texts(result)
    verdict = "VIOLATED" if result.finding is Finding.VIOLATED else "consistent (which does not mean that the claim is true)"
    figure.suptitle(f"{verdict}: ε ≥ {bound} with {confidence_text(result)} confidence, claimed ≤ {claimed} (nats)", fontsize=12)
    plot_outputs(left, samples, used)
    if used is None:
        ended = "no event is shaded: the run ended before one was tested"
        left.set_title(ended if result.refuted_after is not None else "no event was found", fontsize=10)
    plot_bound(right, result)
    figure.text(0.995, 0.005, f"{EYES_ONLY}: outputs reveal the data sets", ha="right", va="bottom", fontsize=8, color=CLAIM)
    return figure


def picture_bound(result: AuditResult) -> Picture:
    """Return a picture of :func:`plot_bound` alone, which tells nothing of the outputs. Raises :class:`profiles.MissingExtra`."""
    figure, (axes,) = new_figure()
    plot_bound(axes, result)
    bound, claimed = bound_texts(result)
    told = f"The lower bound on epsilon against the number of outputs: it ends at {bound}, with {confidence_text(result)} confidence"
    return Picture(figure, f"{told}; at most {claimed} was claimed: {result.finding.value}")


def to_bytes(figure: Any, kind: str) -> bytes:
    """Return a figure as a file of a format."""
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, dpi=150)
    return stream.getvalue()


def plot_outputs(axes: Any, samples: FreshOutputs, rule: GuessingRule | None) -> None:
    """Draw both distributions in the way that suits the outputs: bars of patterns, a histogram of numbers, or the score of vectors."""
    first, second = samples.first, samples.second
    both = join([first, second])
    if not len(both):
        raise UnusableOutputs("a plot needs outputs, but none were given; draw some")
    keys = both.keys()
    distinct, counts = np.unique(keys, return_counts=True)
    if len(distinct) <= 4 * _MOST_ATOMS and counts.mean() >= 8:
        _plot_patterns(axes, both, keys, len(first), samples.reader, rule)
    elif both.symbols is None and (both.width == 1 or rule is None) and not _is_about_bits(rule):
        place = 0 if both.width == 1 else _most_different_place(first, second)
        _plot_numbers(axes, first.values[:, place], second.values[:, place], rule if both.width == 1 else None)
        axes.set_xlabel("output" if both.width == 1 else f"place {place + 1} of the output, where the medians differ most")
    elif rule is not None:
        _plot_score(axes, samples, rule)
    else:
        _plot_patterns(axes, both, keys, len(first), samples.reader, rule)


def plot_bound(axes: Any, result: AuditResult) -> None:
    """Draw the bound of the sequential test against the number of outputs, the bound of the fixed sample, and the claim."""
    trace, last = result.trace, max(result.outputs, 2)
    start = max(1, min((point.outputs for point in trace), default=last // 100))
    claimed, bound = float(result.claim.epsilon), result.epsilon_lower
    shown = claimed < 8 * max(bound, 0.1)
    top = 1.18 * max(bound, claimed if shown else 0.0, 1e-3)
    if trace:
        outputs, bounds = [point.outputs for point in trace], [point.bound for point in trace]
        axes.step(outputs, bounds, where="post", color=SEQUENTIAL, lw=2.2, label="sequential test (valid at any time)")
    if result.fixed is not None:
        axes.plot([start, last], [result.fixed] * 2, color=FIXED, lw=1, ls=":")
        axes.plot([last], [result.fixed], "D", color=FIXED, ms=8, clip_on=False, label="fixed sample (valid at the end)")
    if shown:
        axes.axhline(claimed, color=CLAIM, ls="--", lw=1.3, label="claimed")
    else:
        beyond = f"↑ claimed {bound_texts(result)[1]}, beyond this axis"
        axes.text(0.02, 0.98, beyond, va="top", transform=axes.transAxes, color=CLAIM, fontsize=9)
    if result.refuted_after is not None:
        axes.axvline(result.refuted_after, color=SEQUENTIAL, lw=1, ls="-.")
        refuted = f"claim refuted after {result.refuted_after} outputs "
        axes.text(result.refuted_after, 0.02 * top, refuted, ha="right", va="bottom", fontsize=9)
    axes.set_xscale("log")
    axes.set_xlim(start, last * 1.3)
    axes.set_ylim(0, top)
    axes.set_xlabel("outputs on both data sets together (log scale)")
    axes.set_ylabel("lower confidence bound on ε (nats)")
    axes.set_title("the bound as outputs came in", fontsize=10)
    axes.grid(visible=True, alpha=0.25)
    if axes.get_legend_handles_labels()[0]:
        _place_legend(axes)


def _is_about_bits(rule: GuessingRule | None) -> bool:
    return rule is not None and "bit" in rule.score.name


def _most_different_place(first: Outputs, second: Outputs) -> int:
    width = min(first.width, second.width)
    both = np.concatenate((first.values[:, :width], second.values[:, :width]))
    spread = np.subtract(*np.quantile(both, (0.75, 0.25), axis=0))
    gaps = np.abs(np.median(first.values[:, :width], axis=0) - np.median(second.values[:, :width], axis=0))
    return int(np.argmax(gaps / np.where(spread > 0, spread, math.inf)))


def _plot_patterns(axes: Any, both: Outputs, keys: NDArray[Any], firsts: int, reader: Reader, rule: GuessingRule | None) -> None:
    """Draw bars of the commonest patterns, and of the commonest of those that are guessed; the others are one bar."""
    distinct, at, inverse = np.unique(keys, return_index=True, return_inverse=True)
    of_first = np.bincount(inverse[:firsts], minlength=len(distinct)) / firsts
    of_second = np.bincount(inverse[firsts:], minlength=len(distinct)) / (len(keys) - firsts)
    guesses = np.zeros(len(distinct)) if rule is None else rule.guess(both.take(at))
    share = of_first + of_second
    order = np.argsort(-share, kind="stable")
    guessed = [k for side in (1, -1) for k in order[guesses[order] == side][:3]]
    shown = sorted({*map(int, guessed), *map(int, order[: _BARS - len(guessed)])}, key=lambda k: -share[k])
    names = [_pattern_text(both.take(slice(int(at[k]), int(at[k]) + 1)), reader) for k in shown]
    rows: list[tuple[str, float, float, int]] = [
        (name, of_first[k], of_second[k], int(guesses[k])) for name, k in zip(names, shown, strict=True)
    ]
    others = np.setdiff1d(np.arange(len(distinct)), shown)
    if len(others):
        rows.append((f"{len(others)} others", float(of_first[others].sum()), float(of_second[others].sum()), 0))
    least = 0.3 / min(firsts, len(keys) - firsts)
    for y, (_, a, b, guess) in enumerate(rows):
        if guess:
            axes.axhspan(y - 0.5, y + 0.5, color=FIRST if guess > 0 else SECOND, alpha=0.16, lw=0)
            name = "D" if guess > 0 else "D'"
            axes.text(0.995, y, f"guess {name}", transform=axes.get_yaxis_transform(), ha="right", va="center", fontsize=8)
        for offset, value, colour, hatch in ((-0.2, a, FIRST, ""), (0.2, b, SECOND, "///")):
            axes.barh(y + offset, max(value - least, 0.0), height=0.38, left=least, color=colour, hatch=hatch, edgecolor="white", lw=0.3)
            if not value:
                axes.text(least * 1.1, y + offset, "not seen", va="center", fontsize=7, color=colour)
    axes.set_xscale("log")
    axes.set_xlim(least, 4)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("share of outputs (log scale)")
    axes.set_ylabel("output")
    _legend(axes, firsts, len(keys) - firsts, rule, bars=True)


def _pattern_text(row: Outputs, reader: Reader) -> str:
    parts = []
    for j in range(row.width):
        symbol = 0 if row.symbols is None else int(row.symbols[0, j])
        parts.append(reader.name(symbol) if symbol else f"{row.values[0, j]:.6g}")
        if symbol == ABSENT:
            parts.pop()
    text = parts[0] if row.width == 1 else "(" + ", ".join(parts) + ")"
    return text if len(text) <= 28 else text[:25] + "..."


def _plot_numbers(axes: Any, first: Floats, second: Floats, rule: GuessingRule | None) -> None:
    """Draw histograms of two samples of numbers, with atoms as stems and the guessed sets shaded."""
    finite = [values[np.isfinite(values)] for values in (first, second)]
    both = np.concatenate(finite)
    if not len(both):
        raise UnusableOutputs("a plot needs finite outputs, but none were found; judge a statistic of them")
    scale = _Scale.of(both)
    low, high = scale.ends(both)
    both = both[(both >= low) & (both <= high)]
    distinct, counts = np.unique(both, return_counts=True)
    repeated = distinct[counts >= max(8, 0.002 * len(both))]
    atoms = repeated[np.argsort(-counts[np.isin(distinct, repeated)])][:_MOST_ATOMS]
    edges = scale.back(np.linspace(scale.to(low), scale.to(high), _BINS + 1))
    edges[0], edges[-1] = low, high
    lowest = 0.5 / max(len(first), len(second))
    for values, total, colour, style in ((finite[0], len(first), FIRST, "-"), (finite[1], len(second), SECOND, "--")):
        smooth = values[~np.isin(values, atoms)]
        if len(smooth) and edges[0] < edges[-1]:
            heights = np.histogram(smooth, edges)[0] / total
            axes.stairs(np.maximum(heights, lowest), edges, baseline=lowest, color=colour, lw=1.5, ls=style)
        if len(atoms):
            heights = np.array([(values == atom).mean() for atom in atoms])
            shift = 0.0 if style == "-" else 0.004 * (scale.to(high) - scale.to(low))
            at = scale.back(scale.to(atoms) + shift)
            axes.vlines(at, lowest, np.maximum(heights, lowest), color=colour, lw=2, ls=style)
            axes.plot(at, np.maximum(heights, lowest), "o" if style == "-" else "s", color=colour, ms=5)
    axes.set_yscale("log")
    axes.set_ylim(lowest, None)
    scale.apply(axes, low, high)
    if rule is not None:
        _shade(axes, rule, scale, both, atoms)
    axes.set_ylabel(f"share of outputs{' in each bin' if len(atoms) < len(distinct) else ''} (log scale)")
    beyond = [1 - float(((values >= low) & (values <= high)).mean()) for values in (first, second)]
    if any(beyond):
        told = f"beyond this axis: {beyond[0]:.2%} on D, {beyond[1]:.2%} on D'"
        axes.text(0.99, 0.98, told, transform=axes.transAxes, ha="right", va="top", fontsize=8)
    _legend(axes, len(first), len(second), rule)


def _shade(axes: Any, rule: GuessingRule, scale: _Scale, both: Floats, atoms: Floats) -> None:
    """Shade where D and D′ are guessed, and mark pieces that are too narrow to be seen."""
    low, high = scale.to(both.min()), scale.to(both.max())
    grid = np.linspace(low, high, _GRID)
    at = np.unique(np.concatenate((scale.back(grid), both[:: max(1, len(both) // _GRID)])))
    guesses = rule.guess(Outputs(at[:, np.newaxis]))
    for side, colour in ((1, FIRST), (-1, SECOND)):
        padded = np.concatenate(([False], guesses == side, [False])).astype(np.int8)
        for start, end in zip(np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1) - 1, strict=True):
            axes.axvspan(at[start], at[end], color=colour, alpha=0.16, lw=0)
            if scale.to(at[end]) - scale.to(at[start]) < 0.008 * (high - low):
                axes.axvline(0.5 * (at[start] + at[end]), color=colour, alpha=0.35, lw=1.5)
    if len(atoms):
        for atom, guess in zip(atoms, rule.guess(Outputs(atoms[:, np.newaxis])), strict=True):
            if guess:
                axes.axvline(atom, color=FIRST if guess > 0 else SECOND, alpha=0.3, lw=5)


def _plot_score(axes: Any, samples: FreshOutputs, rule: GuessingRule) -> None:
    """Draw the distribution of the score that was chosen; the event is where it is beyond a threshold."""
    scores = [evaluate(rule.score, outputs.fit(rule.width)) for outputs in (samples.first, samples.second)]
    usable = [values[~np.isnan(values)] for values in scores]
    if not all(len(values) for values in usable):
        raise UnusableOutputs("a plot needs the score of some output, but all are NaN; plot a statistic of the outputs")
    as_rule = _threshold_rule(rule)
    _plot_numbers(axes, usable[0], usable[1], as_rule)
    axes.set_xlabel(f"score of the output: {rule.score.name} (large values speak for D)")


def _threshold_rule(rule: GuessingRule) -> GuessingRule:
    """Return the rule that makes the same guesses from the score itself."""
    itself = Score(rule.score.name, place(0), rule.score.describe)
    return GuessingRule(itself, rule.first_from, rule.second_to, 1, rule.promise, rule.share)


def _legend(axes: Any, firsts: int, seconds: int, rule: GuessingRule | None, *, bars: bool = False) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415
    from matplotlib.patches import Patch  # noqa: PLC0415

    handles: list[Any]
    if bars:
        handles = [Patch(color=FIRST), Patch(facecolor=SECOND, hatch="///", edgecolor="white")]
    else:
        handles = [Line2D([], [], color=FIRST, lw=1.5), Line2D([], [], color=SECOND, lw=1.5, ls="--")]
    labels = ["on D", "on D'"]
    if rule is not None:
        for is_first, colour, name in ((True, FIRST, "guess D"), (False, SECOND, "guess D'")):
            words = rule.describe(first=is_first)
            if words is not None:
                handles.append(Patch(color=colour, alpha=0.25, lw=0))
                labels.append(f"{name}: {words if len(words) <= _LONGEST_WORDS else words[: _LONGEST_WORDS - 3] + '...'}")
    axes.set_title(f"{firsts} fresh outputs on D, {seconds} on D'", fontsize=10)
    _place_legend(axes, handles, labels)


def _place_legend(axes: Any, *entries: Any) -> None:
    """Put the legend below the axes, where it hides nothing."""
    axes.legend(*entries, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False, ncols=2)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The horizontal axis: linear, or asinh((x − centre)/spread) where tails are long."""

    centre: float
    spread: float
    long: bool

    @classmethod
    def of(cls, values: Floats) -> _Scale:
        low, centre, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
        spread = high - low
        long = spread > 0 and float(np.ptp(values)) > _LONG_TAIL * spread
        return cls(centre, spread if spread > 0 else 1.0, long)

    def to(self, values: Any) -> Any:
        return np.arcsinh((np.asarray(values) - self.centre) / self.spread) if self.long else np.asarray(values)

    def back(self, values: Any) -> Any:
        return self.centre + self.spread * np.sinh(np.asarray(values)) if self.long else np.asarray(values)

    def ends(self, values: Floats) -> tuple[float, float]:
        """Return the range that is drawn: everything, or all but one in a thousand where tails are long."""
        low, high = np.quantile(values, (0.0005, 0.9995)) if self.long else (values.min(), values.max())
        return float(low), float(high)

    def apply(self, axes: Any, low: float, high: float) -> None:
        if not self.long:
            return
        axes.set_xscale("function", functions=(self.to, self.back))
        ticks = [float(f"{tick:.1g}") for tick in self.back(np.linspace(self.to(low), self.to(high), 8))]
        inside = sorted({tick for tick in ticks if low <= tick <= high})
        axes.set_xticks(inside, [f"{tick:g}" for tick in inside])
        axes.minorticks_off()
        axes.set_xlim(low, high)
