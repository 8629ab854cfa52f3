"""What algorithms do with ``ledger=``: charged first, run on the rows that take part, published, and only then handed out.

The order is one for all of them, and is what Theorem L6 of docs/ledger.md is about. What is refused for all data is refused before the
charge; whatever happens after it, the charge stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from accountant.guarantees import Guarantee, ships
from profiles import InvalidArgument, InvalidTarget
from profiles.arrays import Booleans
from profiles.hypotheses import Hypothesis

if TYPE_CHECKING:
    from accountant.ledger import Analysis, Charged
    from accountant.ledger.analysis import Personal


@dataclass(frozen=True, slots=True)
class Promise:
    """What a run promises before it sees a row: its ``guarantee``, and where a ledger asks for them the privacy ``curve`` that this is a
    point of, and what each row costs by itself (``personal``).
    """

    guarantee: Guarantee
    curve: Guarantee | None = None
    personal: Personal | None = None


def release_once(
    ledger: Analysis | None,
    promise: Promise,
    size: int | None,
    run: Callable[[Booleans | None], Any],
    *,
    arguments: tuple[object, ...],
    ids: Any = None,
) -> tuple[Any, Guarantee, Charged | None]:
    """Return what ``run`` released, the guarantee that it is handed out with, and where there is a ledger what was charged.

    Without a ledger every row takes part: ``run`` gets None, and the guarantee is its own. With one it gets the mask of the rows that do,
    and the guarantee is the ledger's, of the budget of a unit: whether a row more takes part also depends on the other rows of its unit, so
    that the run by itself promises nothing about one row of a unit with several.

    ``arguments``: first the algorithm, then all else that is public and decides the law of the output. Others as for ``Analysis.release``.
    Raises what that raises, and :class:`InvalidArgument` for what is not an analysis.
    """
    if ledger is None:
        return run(None), promise.guarantee, None
    stored, charged = require_analysis(ledger).release(
        promise.guarantee,
        size,
        run,
        arguments=arguments,
        curve=promise.curve,
        personal=promise.personal,
        ids=ids,
        known=ships(*arguments[:1]),
    )
    return stored, charged.guarantee, charged


def require_analysis(ledger: object) -> Analysis:
    """Return what was given as ``ledger=`` if it is an analysis. Raises :class:`InvalidArgument`."""
    from accountant.ledger import Analysis  # noqa: PLC0415 - Arrow and SQLite are for those who keep a ledger

    if not isinstance(ledger, Analysis):
        raise InvalidArgument(
            f"ledger= takes one analysis with its name and ids, but {type(ledger).__name__} was found; give ledger.analysis(name, ids)"
        )
    return ledger


def require_charged(found: Iterable[Hypothesis], promised: Iterable[Hypothesis], what: str) -> None:
    """Refuse to hand out what rests on a hypothesis that was not ``promised`` when it was charged. Raises :class:`InvalidTarget`."""
    if not set(found) <= set(promised):
        raise InvalidTarget(f"{what} rests on more than was charged for it; nothing is handed out, and the charge stays: please report it")
