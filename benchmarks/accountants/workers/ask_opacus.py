"""Opacus' accountants: PRV (its default), RDP and GDP. They need PyTorch only for the name of a class, for which another one stands in."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

from answering import answer


def _load() -> Any:
    found = importlib.util.find_spec("opacus")
    if found is None or found.origin is None:
        raise ImportError("opacus is not installed")
    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = [str(Path(found.origin).parent)]
    optimizers.DPOptimizer = object
    sys.modules |= {"opacus": package, "opacus.optimizers": optimizers}
    from opacus import accountants  # noqa: PLC0415 - the stand-ins come first

    return accountants


accountants = _load()


def _ask(setting: dict[str, Any], kind: str, **options: float) -> float:
    if setting["mechanism"] != "gaussian":
        raise NotImplementedError("Opacus accounts for Gaussian noise only")
    accountant = {"prv": accountants.PRVAccountant, "rdp": accountants.RDPAccountant, "gdp": accountants.GaussianAccountant}[kind]()
    accountant.history = [(float(setting["scale"]), float(setting["rate"]), setting["count"])]
    return float(accountant.get_epsilon(float(setting["delta"]), **options))


answer(
    "opacus",
    {
        "prv": lambda s: _ask(s, "prv"),
        "prv tuned": lambda s: _ask(s, "prv", eps_error=0.001),
        "rdp": lambda s: _ask(s, "rdp"),
        "gdp": lambda s: _ask(s, "gdp"),
    },
)
