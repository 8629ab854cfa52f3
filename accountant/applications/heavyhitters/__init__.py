"""Shifting heavy hitters in a stream, with pure differential privacy for whole users: docs/heavy-hitters.md."""

from accountant.applications.heavyhitters.clock import Clock, ClockedWatch, PublicClock
from accountant.applications.heavyhitters.domain import PublicDomain, read_domain
from accountant.applications.heavyhitters.law import report_law, sampled_report_law
from accountant.applications.heavyhitters.lower_bound import HardInstance, draw_hard_instance, least_error
from accountant.applications.heavyhitters.monitor import HeavyHitterAnswer, HeavyHitterMonitor
from accountant.applications.heavyhitters.planning import ThresholdPlan, plan_threshold, theorem_level
from accountant.applications.heavyhitters.streams import StreamBatch, StreamFile, open_stream
from accountant.applications.heavyhitters.watching import StepReport, Watch

__all__ = [
    "Clock",
    "ClockedWatch",
    "HardInstance",
    "HeavyHitterAnswer",
    "HeavyHitterMonitor",
    "PublicClock",
    "PublicDomain",
    "StepReport",
    "StreamBatch",
    "StreamFile",
    "ThresholdPlan",
    "Watch",
    "draw_hard_instance",
    "least_error",
    "open_stream",
    "plan_threshold",
    "read_domain",
    "report_law",
    "sampled_report_law",
    "theorem_level",
]
