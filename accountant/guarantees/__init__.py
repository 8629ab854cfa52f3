"""Guarantees: bounds with their notion, derivation and open hypotheses, made only by the rules of this package."""

from accountant.guarantees.realised import ARITHMETIC, ONE_ANALYSIS, STATISTICS, assume, realise_sampling
from accountant.guarantees.render import render, to_json
from accountant.guarantees.rules import (
    DEFINED,
    EXACT_REALS,
    INDEPENDENT,
    PROBABILITY,
    adaptive_composition,
    amplify_by_importance_sampling,
    base_profile,
    derive_profile,
    discharge,
    post_processing,
    worst_case,
)
from accountant.guarantees.theorem import (
    AnyGuarantee,
    ConditionalGuarantee,
    Derivation,
    Discharged,
    EpsilonDP,
    Guarantee,
    Notion,
    ProfileBound,
    SampledBound,
)

__all__ = [
    "ARITHMETIC",
    "DEFINED",
    "EXACT_REALS",
    "INDEPENDENT",
    "ONE_ANALYSIS",
    "PROBABILITY",
    "STATISTICS",
    "AnyGuarantee",
    "ConditionalGuarantee",
    "Derivation",
    "Discharged",
    "EpsilonDP",
    "Guarantee",
    "Notion",
    "ProfileBound",
    "SampledBound",
    "adaptive_composition",
    "amplify_by_importance_sampling",
    "assume",
    "base_profile",
    "derive_profile",
    "discharge",
    "post_processing",
    "realise_sampling",
    "render",
    "to_json",
    "worst_case",
]
