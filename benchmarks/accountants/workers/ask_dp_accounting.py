"""dp_accounting: ``PLDAccountant``, as its users call it, and its distributions, on a grid of 1e-4 (default) and 1e-5 (tuned)."""

from __future__ import annotations

from typing import Any

from answering import answer
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld


def _make(setting: dict[str, Any], interval: float) -> Any:
    scale, rate = float(setting["scale"]), float(setting["rate"])
    if setting["mechanism"] == "laplace":
        return pld.from_laplace_mechanism(scale, value_discretization_interval=interval, sampling_prob=rate)
    return pld.from_gaussian_mechanism(scale, value_discretization_interval=interval, sampling_prob=rate)


def _epsilon(setting: dict[str, Any], interval: float) -> float:
    composed = _make(setting, interval).self_compose(setting["count"])
    return float(composed.get_epsilon_for_delta(float(setting["delta"])))


def _account(setting: dict[str, Any]) -> float:
    scale, rate = float(setting["scale"]), float(setting["rate"])
    event = LaplaceDpEvent(scale) if setting["mechanism"] == "laplace" else GaussianDpEvent(scale)
    once = event if rate == 1 else PoissonSampledDpEvent(rate, event)
    return float(PLDAccountant().compose(SelfComposedDpEvent(once, setting["count"])).get_epsilon(float(setting["delta"])))


answer("dp-accounting", {"accountant": _account, "default": lambda s: _epsilon(s, 1e-4), "tuned": lambda s: _epsilon(s, 1e-5)})
