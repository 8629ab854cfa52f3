"""A picture of a private fit: the released centres, with areas that go with their noisy numbers of records. Nothing else of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from profiles.arrays import Floats
from profiles.presenting.pictures import COLOURS, FAINT, Picture, new_figure

_LARGEST = 300.0


def plot_centres(centres: Floats, counts: Floats, names: Sequence[str], bounds: Mapping[str, tuple[str, str]] | None = None) -> Picture:
    """Return the centres in their first two columns (of one column: along a line), with the public bounds as a frame.

    Raises :class:`profiles.MissingExtra` without Matplotlib.
    """
    figure, (axes,) = new_figure()
    flat = centres.shape[1] == 1
    shown = np.maximum(np.asarray(counts, dtype=float), 0)
    areas = 20 + _LARGEST * shown / max(float(shown.max(initial=0)), 1.0)
    heights = np.zeros(len(centres)) if flat else centres[:, 1]
    axes.scatter(centres[:, 0], heights, s=areas, facecolors="none", edgecolors=COLOURS[0], linewidths=1.8)
    axes.plot(centres[:, 0], heights, "+", color=COLOURS[0])
    for draw_line, name in zip((axes.axvline, axes.axhline), names[:2], strict=False):
        for end in () if bounds is None else bounds[name]:
            draw_line(float(end), color=FAINT, linewidth=1, linestyle=":")
    axes.set(xlabel=names[0], ylabel="" if flat else names[1], title="released centres; areas: noisy numbers of records")
    if flat:
        axes.set_yticks([])
    left_out = "" if len(names) <= 2 else f", the first two of {len(names)} columns"
    return Picture(figure, f"{len(centres)} released centres in {', '.join(names[:2])}{left_out}")
