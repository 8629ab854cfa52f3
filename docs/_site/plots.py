"""The plots of the site, drawn when it is built; a page asks for one with the comment ``<!-- plot: name: words -->``, unseen elsewhere.

A plot is a row of panels, each a picture of its own that fits a phone, and each drawn twice: for light pages and for dark ones.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = re.compile(r"^<!-- plot: ([\w-]+): (.+) -->$", re.MULTILINE)
_STYLES = ("-", "--", "-.", ":")
#: Colours of text, of faint text, and of the lines.
_THEMES = {
    "light": ("#1b1f24", "#5a636d", ("#0060a8", "#b34700", "#00704f", "#8a3a7a")),
    "dark": ("#cfd0d0", "#9aa3ad", ("#6cb8f5", "#ff9d57", "#5fd0ab", "#e39bd3")),
}
_SIZE = (4.4, 3.1)


@dataclass(frozen=True, slots=True)
class Panel:
    """A picture: what it shows in words, and how to draw it on axes with the colours of a theme (faint text, lines)."""

    title: str
    draw: Callable[[Any, str, Sequence[str]], None]


def insert(_app: Any, _page: str, source: list[str]) -> None:
    """Put images in place of the comments."""
    source[0] = _MARK.sub(_images, source[0])


def _images(found: re.Match[str]) -> str:
    name, words = found[1], found[2]
    lines = ["", *([CAPTIONS[name](), ""] if name in CAPTIONS else []), ":::::{container} plots"]
    for index, panel in enumerate(PLOTS[name]):
        for theme in _THEMES:
            lines += [
                f"```{{image}} _generated/{name}-{index}-{theme}.svg", f":alt: {words}. {panel.title}", f":class: plot only-{theme}", "```"
            ]  # fmt: skip
    return "\n".join([*lines, ":::::", ""])


def draw_all(folder: Path) -> None:
    """Draw every panel into ``folder``, once for each theme."""
    for theme in _THEMES:
        for name, panels in PLOTS.items():
            for index, panel in enumerate(panels):
                draw_panel(panel, folder / f"{name}-{index}-{theme}.svg", theme)


def draw_panel(panel: Panel, path: Path, theme: str, *, transparent: bool = True) -> None:
    """Draw one panel, for pages of a theme."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    ink, faint, colours = _THEMES[theme]
    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "pdp-accountant",
        "font.family": "sans-serif",
        "font.size": 11,
        "axes.titlesize": 11,
        "legend.fontsize": 10,
        "lines.linewidth": 1.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), ink),
    }
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=_SIZE, constrained_layout=True)
        panel.draw(axes, faint, colours)
        axes.set_title(panel.title)
        figure.savefig(path, transparent=transparent, metadata={"Date": None})
        plt.close(figure)


def _caption_mechanism(reference: str) -> str:
    from profiles import load  # noqa: PLC0415

    profile = load(reference).profile
    constants = ", ".join(f"{parameter.name} = {float(parameter.value or 0):g}" for parameter in profile.parameters)
    return f"**{profile.name}**: `epsilon(w, x) = {profile.text}` with {constants}"


def _draw_mechanism(reference: str, axes: Any, _faint: str, colours: Sequence[str], *, sampled: bool) -> None:
    """ε(w, x) grows with the weight; or the loss of a record that is sampled with q = 1/w and gets that weight."""
    import numpy as np  # noqa: PLC0415

    from profiles import load  # noqa: PLC0415

    profile = load(reference).profile
    weights = np.geomspace(1, 50, 200)
    for index, share in enumerate((1.0, 0.5, 0.125) if profile.record else (1.0,)):
        record = {s.name: float(s.lo) + share * float(s.hi - s.lo) for s in profile.record}
        epsilon = _evaluate(profile, weights, record)
        label = ", ".join(f"{name} = {value:g}" for name, value in record.items()) or "any record"
        drawn = _sampled(epsilon, 1 / weights) if sampled else epsilon
        axes.plot(weights, drawn, color=colours[index], linestyle=_STYLES[index], label=label)
    axes.set(xscale="log", yscale="log", xlabel="weight w = 1/q" if sampled else "weight w")
    axes.set_ylabel("ψ(x) in nats" if sampled else "ε(w, x) in nats")
    axes.legend(frameon=False)


def _draw_weights_hurt(axes: Any, faint: str, colours: Sequence[str]) -> None:
    """One record of a Laplace sum: the loss against q, without weights and with the weight 1/q."""
    import numpy as np  # noqa: PLC0415

    from profiles import load  # noqa: PLC0415

    profile = load("profiles.mechanisms.laplace_sum:default").profile
    q = np.geomspace(0.02, 1, 300)
    base = _evaluate(profile, np.ones(1), {"z": 1.0})[0]
    with_weights = _sampled(_evaluate(profile, 1 / q, {"z": 1.0}), q)
    axes.plot(q, _sampled(np.full(q.size, base), q), color=colours[0], label="selected with q, weight 1")
    axes.plot(q, with_weights, color=colours[1], linestyle="--", label="selected with q, weight 1/q")
    axes.axhline(base, color=faint, linewidth=0.8)
    axes.annotate("not sampled at all", (0.021, base), xytext=(0, 4), textcoords="offset points", color=faint)
    axes.set(xscale="log", yscale="log", xlabel="selection probability q", ylabel="ψ(x) in nats")
    axes.legend(frameon=False)


def _draw_rules(axes: Any, _faint: str, colours: Sequence[str], *, losses: bool) -> None:
    """DP-Lloyd of examples/lloyd.toml: the loss of each record under three rules, or how often the rules select it."""
    import numpy as np  # noqa: PLC0415

    profile, z, rules = _rules()
    for index, (name, q) in enumerate(rules.items()):
        drawn = _sampled(_evaluate(profile, 1 / q, {"z": z}), q) if losses else q
        axes.plot(z, drawn, color=colours[index], linestyle=_STYLES[index], label=name)
    axes.set(xlabel="norm z of the record", ylabel="ψ(x) in nats" if losses else "q(x)")
    axes.set_ylim(bottom=None if losses else 0, top=None if losses else 1.25 * max(np.max(q) for q in rules.values()))
    if not losses:
        axes.legend(frameon=False, fontsize=9)


@functools.cache
def _rules() -> tuple[Any, Any, dict[str, Any]]:
    import numpy as np  # noqa: PLC0415

    from accountant import optimal_weights, prove_convexity  # noqa: PLC0415
    from profiles import load  # noqa: PLC0415

    profile = load(str(Path(__file__).parents[2] / "examples" / "lloyd.toml")).profile
    z = np.linspace(0, 1.511, 200)
    share = 2000 / 48740
    constrained = 1 / optimal_weights(profile, 19, {"z": z}, convexity=prove_convexity(profile, 19)).weights
    rules = {
        "uniform": np.full(z.size, share),
        "coreset (squared norm)": share * (0.5 + 0.5 * z**2 / 1.26396),
        "privacy-constrained, ε* = 19": constrained,
    }
    return profile, z, rules


def _evaluate(profile: Any, weights: Any, record: dict[str, Any]) -> Any:
    import numpy as np  # noqa: PLC0415
    import sympy  # noqa: PLC0415

    symbols = profile.symbols()
    function = sympy.lambdify([symbols["w"], *(symbols[name] for name in record)], profile.expression(), "numpy")
    return np.broadcast_to(function(weights, *record.values()), np.shape(weights)).astype(float)


def _sampled(epsilon: Any, q: Any) -> Any:
    """Return ψ = log(1 + q (e^ε − 1)), for the eye only: certified numbers come from pdp epsilon."""
    import numpy as np  # noqa: PLC0415

    with np.errstate(divide="ignore"):
        return np.logaddexp(np.log1p(-q), np.log(q) + epsilon)


def _draw_answer(command: str, axes: Any, faint: str, colours: Sequence[str]) -> None:
    from _site import answers  # noqa: PLC0415

    answers.DRAWN[command](axes, faint, colours)


def _draw_units(axes: Any, faint: str, colours: Sequence[str], *, bounded: bool) -> None:
    """Made-up people of three kinds in two units, and private centres of them: with bounds of each column, or one ball for both."""
    import warnings  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415

    from accountant import DPKMeans  # noqa: PLC0415

    rng = np.random.default_rng(0)
    kinds = np.array([[25, 20_000], [45, 90_000], [70, 30_000]])[rng.integers(0, 3, 20_000)]
    people = kinds + rng.normal(size=(20_000, 2)) * [4, 5_000]
    public: dict[str, Any] = {"bounds": [(0, 110), (0, 200_000)]} if bounded else {"radius": 200_000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the picture is what is warned of
        centres = DPKMeans(3, epsilon=1, random_state=1, **public).fit(people).cluster_centers_
    axes.plot(*people[:300].T, ".", color=faint, markersize=2.5, label="people")
    axes.plot(*centres.T, "X", color=colours[0 if bounded else 1], markersize=9, label="private centres")
    axes.set(xlabel="age in years", ylabel="income", xlim=(-80, 270), ylim=(0, 120_000))
    axes.legend(frameon=False, fontsize=9, loc="upper right")


def _draw_epochs(axes: Any, _faint: str, colours: Sequence[str]) -> None:
    """ε at δ = 1e-5 of sampled Gaussian sums over 60 epochs, from both sides: the band is filled, and as thin as the line."""
    from accountant.curves import Composition, account, make_event  # noqa: PLC0415

    epochs = [1, 2, 4, 7, 10, 15, 20, 30, 40, 50, 60]
    lowers, uppers = [], []
    for epoch in epochs:
        event = make_event("gaussian", {"noise_multiplier": "1.1"}, sampling_probability="256/60000", count=epoch * 234)
        found = account(Composition("steps", (event,)), delta="1e-5").point
        lowers.append(float(found.lower))
        uppers.append(float(found.upper))
    axes.plot(epochs, uppers, color=colours[0], label="ε ≤, checked by the kernel")
    axes.plot(epochs, lowers, color=colours[1], linestyle="--", label="ε ≥")
    axes.fill_between(epochs, lowers, uppers, color=colours[0], alpha=0.25)
    axes.set(xlabel="epochs of 60,000 records, batches of 256", ylabel="ε at δ = 1e-5, in nats", ylim=(0, None), xlim=(0, 61))
    axes.legend(frameon=False, loc="lower right")


_MECHANISMS = {
    f"mechanism-{name}": f"profiles.mechanisms.{name}:default" for name in ("laplace_sum", "weighted_count", "k_norm_sum", "lloyd")
}

#: What stands above a plot.
CAPTIONS: dict[str, Callable[[], str]] = {name: functools.partial(_caption_mechanism, reference) for name, reference in _MECHANISMS.items()}

PLOTS: dict[str, tuple[Panel, ...]] = {
    **{
        name: (
            Panel("a record of weight w", functools.partial(_draw_mechanism, reference, sampled=False)),
            Panel("a record selected with q = 1/w", functools.partial(_draw_mechanism, reference, sampled=True)),
        )
        for name, reference in _MECHANISMS.items()
    },
    "one-sided": (
        Panel("pdp select: five pixels", functools.partial(_draw_answer, "select")),
        Panel("pdp cover: the first ten sets", functools.partial(_draw_answer, "cover")),
        Panel("pdp cluster: three centres", functools.partial(_draw_answer, "cluster")),
        Panel("pdp monitor: reported pairs", functools.partial(_draw_answer, "monitor")),
    ),
    "kmeans-units": (
        Panel("one ball: --radius 200000", functools.partial(_draw_units, bounded=False)),
        Panel("bounds of each column: --bounds", functools.partial(_draw_units, bounded=True)),
    ),
    "epochs": (Panel("noise multiplier 1.1", _draw_epochs),),
    "weights-hurt": (Panel("the loss of one record", _draw_weights_hurt),),
    "rules": (
        Panel("what a record costs", functools.partial(_draw_rules, losses=True)),
        Panel("how often it is selected", functools.partial(_draw_rules, losses=False)),
    ),
}


if __name__ == "__main__":  # python docs/_site/plots.py: the picture of the README, which is drawn on white
    draw_panel(PLOTS["epochs"][0], Path(__file__).parents[1] / "epochs.svg", "light", transparent=False)
