"""How values are shown: generic functions for text, HTML, LaTeX and pictures. Values know these, and none of their pictures.

The root of each package names in ``__presenting__`` the module that shows its values. That module registers its functions here, and is
loaded when a value is first shown: a value reaches what stands far above it, and imports nothing of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import singledispatch
from importlib import import_module
from typing import TYPE_CHECKING, Any

from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture


@singledispatch
def show_text(value: object) -> str:
    """Return a value on one line, as ``repr`` does. Raises :class:`InvalidArgument` for values that nothing shows so."""
    shown: str = _find(show_text, value)(value)
    return shown


@singledispatch
def show_html(value: object) -> str:
    """Return a value as a card of a notebook: HTML that is escaped and loads nothing. Raises :class:`InvalidArgument` as above.

    >>> from profiles import declare
    >>> "<math" in show_html(declare("sum", "w*z", record={"z": [0, 1]}))
    True
    """
    shown: str = _find(show_html, value)(value)
    return shown


@singledispatch
def show_latex(value: object) -> str:
    """Return a value in LaTeX's display mathematics. Raises :class:`InvalidArgument` as above."""
    shown: str = _find(show_latex, value)(value)
    return shown


@singledispatch
def show_picture(value: object, *how: Any) -> Picture:
    """Return a picture of a value. Raises :class:`InvalidArgument` as above, :class:`MissingExtra` without Matplotlib."""
    shown: Picture = _find(show_picture, value)(value, *how)
    return shown


def _find(view: Any, value: object) -> Callable[..., Any]:
    """Load what shows the values of the packages that a class and its bases are of, and return what it registered for them."""
    for kind in type(value).__mro__:
        room = getattr(sys.modules.get(kind.__module__.partition(".")[0]), "__presenting__", None)
        if room is not None:
            import_module(room)
    shown: Callable[..., Any] = view.dispatch(type(value))
    if shown is view.dispatch(object):
        raise InvalidArgument(
            f"{view.__name__} shows results of this library, but {type(value).__name__} has no such view; print it instead"
        )
    return shown
