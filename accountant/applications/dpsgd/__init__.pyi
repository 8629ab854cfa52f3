"""The public names of accountant.applications.dpsgd, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.dpsgd.estimator import DPSGDClassifier as DPSGDClassifier
from accountant.applications.dpsgd.noise import find_noise as find_noise
from accountant.applications.dpsgd.noise import find_rate as find_rate
from accountant.applications.dpsgd.plan import DPSGDPlan as DPSGDPlan
from accountant.applications.dpsgd.plan import dp_sgd_plan as dp_sgd_plan
from accountant.applications.dpsgd.plan import plan_for_target as plan_for_target
from accountant.applications.dpsgd.rules import GradientRule as GradientRule
from accountant.applications.dpsgd.rules import capped as capped
