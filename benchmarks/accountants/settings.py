"""The settings that are compared: Gaussian sums, sampled ones, and Laplace sums, with how many steps and at which delta."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """``count`` steps with noise of ``scale`` (σ or b) at sensitivity 1 on Poisson samples of rate ``rate``, at ``delta``; decimals."""

    mechanism: str
    scale: str
    rate: str
    count: int
    delta: str

    @property
    def name(self) -> str:
        """One line for a table."""
        sampled = "" if self.rate == "1" else f", q = {self.rate}"
        return f"{self.mechanism} {self.scale}{sampled}, T = {self.count}, delta = {self.delta}"

    def task(self) -> dict[str, Any]:
        """What a worker reads."""
        return asdict(self)


def _gaussian(scale: str, rate: str, count: int, delta: str) -> Setting:
    return Setting("gaussian", scale, rate, count, delta)


SETTINGS = (
    # where most people are: everybody good is right
    _gaussian("4", "1", 100, "1e-5"),
    _gaussian("1", "0.01", 1000, "1e-5"),
    _gaussian("1.1", "0.00426666666666666666666666666667", 14_000, "1e-5"),
    _gaussian("0.8", "0.004", 10_000, "1e-6"),
    Setting("laplace", "10", "1", 100, "1e-5"),
    # many steps and small deltas, with closed forms
    _gaussian("100", "1", 10_000, "1e-10"),
    _gaussian("100", "1", 10_000, "1e-13"),
    _gaussian("100", "1", 10_000, "3e-15"),
    _gaussian("20", "1", 1000, "1e-13"),
    _gaussian("200", "1", 100_000, "1e-12"),
    # small deltas with samples: the truth lies in our enclosure
    _gaussian("1", "0.01", 1000, "1e-12"),
    _gaussian("1.1", "0.00426666666666666666666666666667", 14_000, "1e-12"),
    _gaussian("2", "0.1", 10_000, "1e-12"),
    # little noise: an approximation by one Gaussian sum is far off
    _gaussian("0.3", "0.001", 100, "1e-6"),
)
