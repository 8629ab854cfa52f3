"""Shifting heavy hitters in a stream, with pure differential privacy for whole users: docs/heavy-hitters.md."""

from accountant.applications.heavyhitters.clock import Clock, ClockedWatch, PublicClock
from accountant.applications.heavyhitters.domain import PublicDomain, read_domain
from accountant.applications.heavyhitters.monitor import HeavyHitterAnswer, HeavyHitterMonitor
from accountant.applications.heavyhitters.planning import ThresholdPlan, plan_threshold, theorem_level
from accountant.applications.heavyhitters.streams import StreamBatch, StreamFile, open_stream
from accountant.applications.heavyhitters.watching import StepReport, Watch

__all__ = [
    "Clock",
    "ClockedWatch",
    "HeavyHitterAnswer",
    "HeavyHitterMonitor",
    "PublicClock",
    "PublicDomain",
    "StepReport",
    "StreamBatch",
    "StreamFile",
    "ThresholdPlan",
    "Watch",
    "open_stream",
    "plan_threshold",
    "read_domain",
    "theorem_level",
]
