"""Heuristics may fail: SymPy raises errors of many kinds on odd expressions, and a search that fails has found nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from profiles.errors import InvalidExpression, PDPError
from proofs_check.prover.effort import within

Found = TypeVar("Found")

_log = logging.getLogger(__name__)


def until_failure(steps: Iterable[Found]) -> Iterator[Found]:
    """Yield what a heuristic finds, and end where it fails; errors of ours, which say something, go through. Failures are logged."""
    iterator = iter(steps)
    while True:
        try:
            found = next(iterator)
        except StopIteration:
            return
        except PDPError:
            raise
        except Exception:  # the kinds are SymPy's, and new ones come with every version
            _log.debug("a heuristic failed", exc_info=True)
            return
        yield found


def one_way(seconds: float, search: Callable[[], Found | None]) -> Found | None:
    """Return what one of several ways finds with its share of the work; an expression too large to be dealt with ends this way only."""
    try:
        return within(seconds, search)
    except InvalidExpression:
        _log.debug("one way ended at an expression", exc_info=True)
        return None
