"""The public names of accountant.testing, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.testing.checking import ClaimChecker as ClaimChecker
from accountant.testing.checking import Satisfaction as Satisfaction
from accountant.testing.domains import RecordBall as RecordBall
from accountant.testing.errors import ClaimRefuted as ClaimRefuted
from accountant.testing.errors import ClaimTooLarge as ClaimTooLarge
from accountant.testing.errors import NotAudited as NotAudited
from accountant.testing.errors import NotRefuted as NotRefuted
from accountant.testing.neighbors import NeighboringPair as NeighboringPair
from accountant.testing.strategies import adversarial_datasets as adversarial_datasets
from accountant.testing.strategies import adversarial_records as adversarial_records
from accountant.testing.strategies import adversarial_weights as adversarial_weights
from accountant.testing.strategies import neighboring_pairs as neighboring_pairs
from accountant.testing.strategies import parameters as parameters
from accountant.testing.strategies import points as points
from accountant.testing.strategies import profiles as profiles
from accountant.testing.strategies import records as records
from accountant.testing.strategies import sampling_rules as sampling_rules
from accountant.testing.strategies import statistics as statistics
from accountant.testing.strategies import unchecked_profiles as unchecked_profiles
from accountant.testing.strategies import weighted_datasets as weighted_datasets
from accountant.testing.strategies import weights as weights
