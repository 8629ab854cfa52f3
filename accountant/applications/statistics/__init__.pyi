"""The public names of accountant.applications.statistics, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.statistics.certificate import check_certificate as check_certificate
from accountant.applications.statistics.certificate import to_certificate as to_certificate
from accountant.applications.statistics.planning import BudgetedPlan as BudgetedPlan
from accountant.applications.statistics.planning import plan_within as plan_within
from accountant.applications.statistics.requests import SampleRequest as SampleRequest
from accountant.applications.statistics.running import BudgetedSample as BudgetedSample
from accountant.applications.statistics.running import draw_within as draw_within
from accountant.applications.statistics.running import sample_file_within as sample_file_within
from accountant.applications.statistics.running import weigh_file_within as weigh_file_within
