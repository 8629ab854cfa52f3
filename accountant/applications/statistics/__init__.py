"""Samples and weights by statistics of the data that are released with noise, within one budget: docs/private-statistics.md."""

from accountant.applications.statistics.certificate import check_certificate, read_certificate, to_certificate
from accountant.applications.statistics.planning import BudgetedPlan, plan_within
from accountant.applications.statistics.requests import SampleRequest
from accountant.applications.statistics.running import BudgetedSample, draw_within, sample_file_within, weigh_file_within

__all__ = [
    "BudgetedPlan",
    "BudgetedSample",
    "SampleRequest",
    "check_certificate",
    "draw_within",
    "plan_within",
    "read_certificate",
    "sample_file_within",
    "to_certificate",
    "weigh_file_within",
]
