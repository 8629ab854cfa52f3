"""The public names of accountant.testing.strategies, each with the module that it is at home in (profiles/lazy.py)."""

from accountant.testing.strategies.datasets import adversarial_datasets as adversarial_datasets
from accountant.testing.strategies.datasets import adversarial_weights as adversarial_weights
from accountant.testing.strategies.datasets import neighboring_pairs as neighboring_pairs
from accountant.testing.strategies.datasets import points as points
from accountant.testing.strategies.datasets import weighted_datasets as weighted_datasets
from accountant.testing.strategies.datasets import weights as weights
from accountant.testing.strategies.declared import parameters as parameters
from accountant.testing.strategies.declared import profiles as profiles
from accountant.testing.strategies.declared import statistics as statistics
from accountant.testing.strategies.declared import unchecked_profiles as unchecked_profiles
from accountant.testing.strategies.records import adversarial_records as adversarial_records
from accountant.testing.strategies.records import records as records
from accountant.testing.strategies.sampling_rules import sampling_rules as sampling_rules
