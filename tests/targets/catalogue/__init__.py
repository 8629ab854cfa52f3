"""Audits of what the accountant claims about the mechanisms of the catalogue, and broken twins that they have to refute."""

from tests.targets.catalogue.case import AuditCase, ClaimKind
from tests.targets.catalogue.claims import base_claim, certified_bound, sampled_claim, times_claim, worst_case_claim
from tests.targets.catalogue.correct import catalogue_cases
from tests.targets.catalogue.pipeline import pipeline_cases, pipeline_twins
from tests.targets.catalogue.repeated import repeated_cases, repeated_twins
from tests.targets.catalogue.running import (
    PoissonSampled,
    ShippedSelection,
    Together,
    find_shipped,
    repeat,
)
from tests.targets.catalogue.twins import broken_twins

__all__ = [
    "AuditCase",
    "ClaimKind",
    "PoissonSampled",
    "ShippedSelection",
    "Together",
    "base_claim",
    "broken_twins",
    "catalogue_cases",
    "certified_bound",
    "find_shipped",
    "pipeline_cases",
    "pipeline_twins",
    "repeat",
    "repeated_cases",
    "repeated_twins",
    "sampled_claim",
    "times_claim",
    "worst_case_claim",
]
