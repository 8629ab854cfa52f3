"""Sampling rules: public maps from a record to its selection probability q(x)."""

from accountant.rules.closed_form import EndPointEpsilon, coreset_l1_epsilon, end_point_epsilon
from accountant.rules.named import (
    RULES,
    SamplingRule,
    describe_rules,
    make_rule,
    rule_from_declaration,
    rule_from_expression,
)
from accountant.rules.variance import VarianceOptimal, refuse_oracle, sampling_variance, variance_optimal

__all__ = [
    "RULES",
    "EndPointEpsilon",
    "SamplingRule",
    "VarianceOptimal",
    "coreset_l1_epsilon",
    "describe_rules",
    "end_point_epsilon",
    "make_rule",
    "refuse_oracle",
    "rule_from_declaration",
    "rule_from_expression",
    "sampling_variance",
    "variance_optimal",
]
