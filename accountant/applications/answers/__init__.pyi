"""The public names of accountant.applications.answers, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.answers.planning import ReleasePlan as ReleasePlan
from accountant.applications.answers.planning import plan_release as plan_release
from accountant.applications.answers.releasing import Released as Released
from accountant.applications.answers.releasing import release as release
from accountant.applications.answers.requests import By as By
from accountant.applications.answers.requests import Count as Count
from accountant.applications.answers.requests import Histogram as Histogram
from accountant.applications.answers.requests import Mean as Mean
from accountant.applications.answers.requests import Quantile as Quantile
from accountant.applications.answers.requests import Sum as Sum
from accountant.applications.answers.requests import Variance as Variance
