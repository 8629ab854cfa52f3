"""A picture of a release: each answer with the 95 % interval of its noise. What was released, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from accountant.applications.answers.errors import ReleasedAnswer
from profiles.presenting.pictures import COLOURS, Picture, new_figure

#: Panels of a picture, and numbers in one.
_PANELS, _SHOWN = 4, 30


def plot_answers(names: Sequence[str], answers: Sequence[ReleasedAnswer]) -> Picture:
    """Return the answers, a panel for each of the first four ``names``; of a quantile, whose error is one in rank, the point alone.

    Raises :class:`profiles.MissingExtra` without Matplotlib.
    """
    figure, panels = new_figure(min(len(names), _PANELS))
    for axes, name in zip(panels, names, strict=False):
        shown = [item for item in answers if item.name == name][:_SHOWN]
        places = range(len(shown))
        for place, item in zip(places, shown, strict=True):
            if item.standard_error is not None:
                axes.plot(item.interval, [place, place], color=COLOURS[0], linewidth=1.8)
            axes.plot([item.value], [place], "o", color=COLOURS[0], markersize=4)
        axes.set(
            title=name,
            xlabel="released value, 95 % interval of its noise",
            yticks=list(places),
            yticklabels=[_label(item) for item in shown],
        )
        axes.invert_yaxis()
    told = "; ".join(f"{item.name} {_label(item)} {item.value:.6g}" for item in answers[:_SHOWN])
    return Picture(figure, f"Released answers with the 95 % intervals of their noise: {told}")


def _label(item: ReleasedAnswer) -> str:
    return ", ".join(str(word) for word in (*item.group, *(() if item.category is None else (item.category,))))
