"""Pictures of results: a Matplotlib figure with the words that say what is on it, for a notebook and for a file."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidArgument, InvalidProfile, MissingExtra
from profiles.numbers import exact_text, to_exact, to_number
from profiles.presenting.elements import make, serialise
from profiles.symbolic import from_sympy, to_rational, to_sympy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from profiles.profile import Profile

#: Okabe and Ito's colours, which people with any kind of colour blindness tell apart; each line has a dash pattern as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
FAINT = "#5a5a5a"
_FORMATS = ("png", "svg", "pdf")
_RESOLUTION = 110
_POINTS = 400


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A Matplotlib ``figure`` and what it shows in words (``told``). A notebook shows it; ``save`` writes it to a file."""

    figure: Any
    told: str

    def save(self, path: str | PathLike[str]) -> None:
        """Write the picture; the suffix says how: .png, .svg or .pdf. Raises :class:`InvalidArgument`, ``OSError``."""
        find_format(str(path))
        self.figure.savefig(path, dpi=150)

    def to_bytes(self, name: str) -> bytes:
        """Return the picture as a file of that name, with what it shows in words as its title. Raises :class:`InvalidArgument`."""
        kind, stream = find_format(name), io.BytesIO()
        dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
        self.figure.savefig(stream, format=kind, dpi=150, metadata={"Title": self.told, **dates[kind]})
        return stream.getvalue()

    def _repr_html_(self) -> str:
        stream = io.BytesIO()
        self.figure.savefig(stream, format="png", dpi=_RESOLUTION, facecolor="white", metadata={"Software": None})
        shown = base64.b64encode(stream.getvalue()).decode()
        return serialise(make("img", src=f"data:image/png;base64,{shown}", alt=self.told, style="max-width: 100%; background: white"))


def find_format(name: str) -> str:
    """Return the format of a file by its suffix: png, svg or pdf. Raises :class:`InvalidArgument`."""
    ending = name.lower().rpartition(".")[2]
    if ending not in _FORMATS:
        raise InvalidArgument(f"a picture is written as .png, .svg or .pdf, but {name[:80]!r} was found; choose one of these suffixes")
    return ending


def load_figure() -> Any:
    """Return Matplotlib's class of figures. Raises :class:`MissingExtra` where it is not installed."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - the extra plots
    except ImportError:
        raise MissingExtra("a picture needs Matplotlib, which is not installed; pip install 'pdp-accountant[plots]'") from None
    return Figure


def new_figure(panels: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure and its axes, side by side. Raises :class:`MissingExtra` without Matplotlib."""
    figure = load_figure()(figsize=(5.2 * panels + 0.6, 3.6), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(visible=True, color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    return figure, list(axes)


def plot_profile(profile: Profile, records: Sequence[Mapping[str, object]] | None = None, largest: object = 20) -> Picture:
    """Return ε(w, x) against the weight w (left), and the loss ψ of a record that is selected with q = 1/w (right).

    ``records`` are at most four; by default the lower end, the middle and the upper end of the ranges. ``largest`` is the largest weight.
    For the eye: the numbers are not certified. Raises :class:`InvalidProfile` for parameters without a number, :class:`MissingExtra`.
    """
    import numpy as np  # noqa: PLC0415 - pictures only

    require_numbers(profile)
    top = to_number(largest, "the largest weight of a picture", "(1, inf)", "give a larger one")
    shown = spread_records(profile) if records is None else [_read(profile, record) for record in records]
    if not 1 <= len(shown) <= len(COLOURS):
        raise InvalidArgument(f"a picture shows 1 to {len(COLOURS)} records, but {len(shown)} were given; give fewer, or leave them out")
    figure, (left, right) = new_figure(2)
    weights = np.geomspace(1, float(top), _POINTS)
    for index, record in enumerate(shown):
        epsilon = _evaluate(profile, record, weights)
        style = {"color": COLOURS[index], "linestyle": DASHES[index], "linewidth": 1.8}
        left.plot(weights, epsilon, label=name_record(record), **style)
        with np.errstate(all="ignore"):
            right.plot(weights, np.logaddexp(np.log1p(-1 / weights), epsilon - np.log(weights)), **style)
    left.set(xlabel="weight w", ylabel="ε(w, x) in nats", title="a record of weight w")
    right.set(xlabel="weight w, selected with q = 1/w", ylabel="ψ(x) in nats", title="after sampling", xscale="log")
    left.legend(frameon=False)
    told = f"The loss of {profile.name} against the weight, without and with sampling, for the records "
    return Picture(figure, told + "; ".join(name_record(record) for record in shown))


def require_numbers(profile: Profile) -> None:
    """Refuse a picture of a profile with parameters without a number. Raises :class:`InvalidProfile`."""
    free = [parameter.name for parameter in profile.free_parameters]
    if free:
        raise InvalidProfile(
            f"a picture needs numbers for all parameters, but {', '.join(free)} has none; use with_parameters({free[0]}=1)"
        )


def name_record(record: Mapping[str, Fraction]) -> str:
    """Return the statistics of a record as ``name = value``, each cut to 12 characters; "every record" where there is none."""
    return ", ".join(f"{name} = {exact_text(value)[:12]}" for name, value in record.items()) or "every record"


def spread_records(profile: Profile) -> list[dict[str, Fraction]]:
    """Return records at the lower ends, in the middle and at the upper ends of the ranges: one where no statistic has a range."""
    if not any(item.lo < item.hi for item in profile.record):
        return [{item.name: item.lo for item in profile.record}]
    return [{item.name: item.lo + (item.hi - item.lo) * share / 2 for item in profile.record} for share in range(3)]


def _read(profile: Profile, record: Mapping[str, object]) -> dict[str, Fraction]:
    names = {item.name for item in profile.record}
    if not hasattr(record, "keys") or set(record) != names:
        raise InvalidArgument(
            f"a record of {profile.name!r} has the statistics {', '.join(sorted(names)) or 'none'}; give each of them once"
        )
    values = {name: to_exact(value, f"the statistic {name}") for name, value in record.items()}
    for item in profile.record:
        if not item.lo <= values[item.name] <= item.hi:
            raise InvalidArgument(f"the statistic {item.name} of a record lies outside its declared range; give one inside")
    return values


def _evaluate(profile: Profile, record: Mapping[str, Fraction], weights: Any) -> Any:
    import numpy as np  # noqa: PLC0415
    import sympy  # noqa: PLC0415

    symbols = profile.symbols()
    values = {**symbols, **{name: to_rational(value) for name, value in record.items()}}
    fixed = to_sympy(from_sympy(profile.expression()), values)  # which bounds the numbers that come out
    with np.errstate(all="ignore"):
        computed = sympy.lambdify([symbols["w"]], fixed, "numpy")(weights)
    return np.broadcast_to(np.asarray(computed, dtype=float), weights.shape)
