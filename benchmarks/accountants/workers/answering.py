"""What all workers share: reading a setting, timing an answer, and telling what went wrong. Standard library only."""

from __future__ import annotations

import contextlib
import io
import json
import math
import resource
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any


def answer(package: str, ways: Mapping[str, Callable[[dict[str, Any]], float]]) -> None:
    """Print what each way of a peer says of the setting on standard input: ε, seconds of processor time, and the peer's own warnings."""
    setting = json.load(sys.stdin)
    chosen = sys.argv[1:] or list(ways)
    found = {}
    for name in chosen:
        started = time.process_time()
        with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("always")
            try:
                value: dict[str, Any] = {"epsilon": _plain(ways[name](setting))}
            except Exception as error:
                value = {"problem": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        value["seconds"] = time.process_time() - started
        value["warnings"] = list(dict.fromkeys(" ".join(str(item.message).split())[:200] for item in told))[:3]
        found[name] = value
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    json.dump({"version": version(package), "peak_mb": peak, "ways": found}, sys.stdout)


def _plain(value: Any) -> float | str:
    number = float(value)
    return number if math.isfinite(number) else str(number)
