"""The public names of accountant.rules, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.rules.closed_form import EndPointEpsilon as EndPointEpsilon
from accountant.rules.closed_form import coreset_l1_epsilon as coreset_l1_epsilon
from accountant.rules.closed_form import end_point_epsilon as end_point_epsilon
from accountant.rules.named import RULES as RULES
from accountant.rules.named import SamplingRule as SamplingRule
from accountant.rules.named import describe_rules as describe_rules
from accountant.rules.named import make_rule as make_rule
from accountant.rules.named import rule_from_declaration as rule_from_declaration
from accountant.rules.named import rule_from_expression as rule_from_expression
from accountant.rules.variance import VarianceOptimal as VarianceOptimal
from accountant.rules.variance import refuse_oracle as refuse_oracle
from accountant.rules.variance import sampling_variance as sampling_variance
from accountant.rules.variance import variance_optimal as variance_optimal
