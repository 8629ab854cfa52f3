"""The plots of the site, drawn when it is built; a page asks for one with the comment ``<!-- plot: name -->``, unseen elsewhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_MARK = re.compile(r"^<!-- plot: ([\w-]+): (.+) -->$", re.MULTILINE)
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
_STYLES = ("-", "--", "-.", ":")


def insert(_app: Any, _page: str, source: list[str]) -> None:
    """Put images in place of the comments."""
    source[0] = _MARK.sub(lambda found: f"```{{image}} _generated/{found[1]}.svg\n:alt: {found[2]}\n:class: plot\n```", source[0])


def draw_all(folder: Path) -> None:
    """Draw every plot into ``folder``."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    settings = {
        "axes.titlesize": 10,
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with mpl.rc_context(settings):
        for name, draw in PLOTS.items():
            draw(folder / f"{name}.svg")


def _save(figure: Any, path: Path) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _draw_mechanism(reference: str, path: Path) -> None:
    """Left: ε(w, x) grows with the weight. Right: the loss of a record that is sampled with q = 1/w and gets that weight."""
    import matplotlib.pyplot as plt  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    from profiles import load  # noqa: PLC0415

    profile = load(reference).profile
    weights = np.geomspace(1, 50, 200)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.2), constrained_layout=True)
    constants = ", ".join(f"{parameter.name} = {float(parameter.value or 0):g}" for parameter in profile.parameters)
    figure.suptitle(f"{profile.name}: ε(w, x) = {profile.text} with {constants}", fontsize=11, fontweight="bold")
    for index, share in enumerate((1.0, 0.5, 0.125) if profile.record else (1.0,)):
        record = {s.name: float(s.lo) + share * float(s.hi - s.lo) for s in profile.record}
        epsilon = _evaluate(profile, weights, record)
        label = ", ".join(f"{name} = {value:g}" for name, value in record.items()) or "any record"
        look = {"color": _COLOURS[index], "linestyle": _STYLES[index], "label": label}
        left.plot(weights, epsilon, **look)
        right.plot(weights, _sampled(epsilon, 1 / weights), **look)
    left.set(xscale="log", yscale="log", xlabel="weight w", ylabel="ε(w, x) in nats", title="a record of weight w")
    right.set(xscale="log", yscale="log", xlabel="weight w = 1/q", ylabel="ψ(x) in nats", title="a record selected with q = 1/w")
    left.legend(frameon=False)
    _save(figure, path)


def _draw_weights_hurt(path: Path) -> None:
    """One record of a Laplace sum: the loss against q, without weights and with the weight 1/q."""
    import matplotlib.pyplot as plt  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    from profiles import load  # noqa: PLC0415

    profile = load("profiles.mechanisms.laplace_sum:default").profile
    q = np.geomspace(0.02, 1, 300)
    figure, axes = plt.subplots(figsize=(6.4, 3.4), constrained_layout=True)
    base = _evaluate(profile, np.ones(1), {"z": 1.0})[0]
    with_weights = _sampled(_evaluate(profile, 1 / q, {"z": 1.0}), q)
    axes.plot(q, _sampled(np.full(q.size, base), q), color=_COLOURS[0], label="selected with q, weight 1")
    axes.plot(q, with_weights, color=_COLOURS[1], linestyle="--", label="selected with q, weight 1/q")
    axes.axhline(base, color="0.5", linewidth=0.8)
    axes.annotate("not sampled at all", (0.021, base), xytext=(0, 4), textcoords="offset points", color="0.35")
    axes.set(xscale="log", yscale="log", xlabel="selection probability q", ylabel="ψ(x) in nats")
    axes.legend(frameon=False)
    _save(figure, path)


def _draw_rules(path: Path) -> None:
    """DP-Lloyd of examples/lloyd.toml: the loss of each record under three rules, and how often the rules select it."""
    import matplotlib.pyplot as plt  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415

    from accountant import optimal_weights, prove_premise  # noqa: PLC0415
    from profiles import load  # noqa: PLC0415

    profile = load(str(Path(__file__).parents[2] / "examples" / "lloyd.toml")).profile
    z = np.linspace(0, 1.511, 200)
    share = 2000 / 48740
    rules = {
        "uniform": np.full(z.size, share),
        "coreset (squared norm)": share * (0.5 + 0.5 * z**2 / 1.26396),
        "privacy-constrained, ε* = 19": 1 / optimal_weights(profile, 19, {"z": z}, premise=prove_premise(profile, 19)).weights,
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.2, 3.3), constrained_layout=True)
    for index, (name, q) in enumerate(rules.items()):
        look = {"color": _COLOURS[index], "linestyle": _STYLES[index], "label": name}
        left.plot(z, _sampled(_evaluate(profile, 1 / q, {"z": z}), q), **look)
        right.plot(z, q, **look)
    left.set(xlabel="norm z of the record", ylabel="ψ(x) in nats", title="what a record costs")
    right.set(xlabel="norm z of the record", ylabel="q(x)", title="how often it is selected")
    right.set_ylim(bottom=0)
    right.legend(frameon=False, fontsize=9)
    _save(figure, path)


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


PLOTS: dict[str, Callable[[Path], None]] = {
    **{
        f"mechanism-{name}": functools.partial(_draw_mechanism, f"profiles.mechanisms.{name}:default")
        for name in ("laplace_sum", "weighted_count", "k_norm_sum", "lloyd")
    },
    "weights-hurt": _draw_weights_hurt,
    "rules": _draw_rules,
}
