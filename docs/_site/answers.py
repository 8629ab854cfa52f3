"""Pictures of what the one-sided commands answer on the tables of ``examples``: the printed examples, run when the site is built."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_PIXELS = str(_EXAMPLES / "pixels.csv")
_LINES = str(_EXAMPLES / "lines.csv")
_PETALS = str(_EXAMPLES / "petals.csv")


def run_command(*arguments: str) -> dict[str, Any]:
    """Return the answer of a command, seeded: a picture is no release."""
    from accountant.cli.main import invoke  # noqa: PLC0415

    with contextlib.redirect_stdout(io.StringIO()) as text:
        invoke([*arguments, "-e", "1", "--seed", "1", "--json"])
    found: dict[str, Any] = json.loads(text.getvalue())["answer"]
    return found


def draw_select(axes: Any, faint: str, colours: Sequence[str]) -> None:
    """How many of 300 images have ink at a pixel, and the five pixels that were selected."""
    answer = run_command("select", _PIXELS, "--user", "image", "--item", "pixel", "--candidates", "64", "-k", "5")
    _draw_pixels(axes, faint, colours, answer["candidate"])


def draw_cover(axes: Any, faint: str, colours: Sequence[str]) -> None:
    """The same pixels as sets of images, and the first ten of the order."""
    answer = run_command("cover", _PIXELS, "--element", "image", "--set", "pixel", "--sets", "64")
    _draw_pixels(axes, faint, colours, answer["set"][:10])


def _draw_pixels(axes: Any, faint: str, colours: Sequence[str], chosen: Sequence[Any]) -> None:
    counts = Counter(int(row["pixel"]) for row in _read(_PIXELS))
    _draw_counts(axes, faint, [[counts[8 * row + column] for column in range(8)] for row in range(8)])
    for rank, pixel in enumerate(chosen, start=1):
        row, column = divmod(int(pixel), 8)
        _mark(axes, column, row, colours[1])
        axes.text(column, row, rank, ha="center", va="center", fontsize=9, color="white" if counts[int(pixel)] > 130 else "black")
    axes.set(xlabel="column of the image", ylabel="row")


def draw_monitor(axes: Any, faint: str, colours: Sequence[str]) -> None:
    """How many images have their darkest column at a place of each row, and the pairs that were reported."""
    answer = run_command("monitor", _LINES, "--domain", "8", "--times", "0:8", "-k", "2", "--beta", "0.05")
    counts = Counter((int(row["time"]), int(row["item"])) for row in _read(_LINES))
    _draw_counts(axes, faint, [[counts[time, item] for time in range(8)] for item in range(8)])
    for time, item in zip(answer["time"], answer["item"], strict=True):
        _mark(axes, int(time), int(item), colours[1])
    axes.set(xlabel="time (row of the image)", ylabel="item (darkest column)")


def draw_cluster(axes: Any, faint: str, colours: Sequence[str]) -> None:
    """150 irises, the public candidates, and three centres."""
    grid = _EXAMPLES / "grid.csv"
    answer = run_command(
        "cluster", _PETALS, "--points", str(grid), "--columns", "length,width", "-k", "3", "--n-bound", "1000",
    )  # fmt: skip
    for rows, look in ((_read(str(grid)), {"marker": "+", "s": 14, "color": faint, "label": "public candidates"}),
                       (_read(_PETALS), {"marker": ".", "s": 18, "color": colours[0], "label": "records"})):  # fmt: skip
        axes.scatter([float(row["length"]) for row in rows], [float(row["width"]) for row in rows], **look)
    axes.scatter(
        answer["length"], answer["width"], marker="D", s=70, facecolors="none", edgecolors=colours[1], linewidths=2, label="centres"
    )
    axes.set(xlabel="length of the petal, cm", ylabel="width, cm", ylim=(-0.3, 3.7))
    axes.legend(frameon=False, ncols=3, loc="upper center", fontsize=8, handletextpad=0.1, columnspacing=0.6)


def _draw_counts(axes: Any, faint: str, counts: Sequence[Sequence[int]]) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    shown = axes.imshow(counts, cmap="Blues", vmin=0, vmax=300, aspect="auto")
    bar = plt.colorbar(shown, ax=axes, label="images (private)")
    bar.outline.set_edgecolor(faint)
    axes.set(xticks=range(8), yticks=range(8))


def _mark(axes: Any, x: int, y: int, colour: str) -> None:
    axes.plot([x - 0.42, x + 0.42, x + 0.42, x - 0.42, x - 0.42], [y - 0.42, y - 0.42, y + 0.42, y + 0.42, y - 0.42], color=colour)


def _read(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


#: How the answer of each command is drawn.
DRAWN = {"select": draw_select, "cover": draw_cover, "cluster": draw_cluster, "monitor": draw_monitor}
