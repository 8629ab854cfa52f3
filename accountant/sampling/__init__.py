"""Sampling rules: public maps from a record to its selection probability q(x)."""

from accountant.sampling.feasibility import check_probability, exact_value, show_record
from accountant.sampling.rules import RULES, SamplingRule, describe_rules, make_rule, rule_from_declaration, rule_from_expression

__all__ = [
    "RULES",
    "SamplingRule",
    "check_probability",
    "describe_rules",
    "exact_value",
    "make_rule",
    "rule_from_declaration",
    "rule_from_expression",
    "show_record",
]
