"""Heuristics may fail: SymPy raises errors of many kinds on odd expressions, and a search that fails has found nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

from profiles.errors import PDPError

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
