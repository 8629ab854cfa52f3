"""The public names of profiles.mechanisms, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from profiles.mechanisms.ball import project_records as project_records
from profiles.mechanisms.catalogue import CatalogueEntry as CatalogueEntry
from profiles.mechanisms.catalogue import catalogue as catalogue
from profiles.mechanisms.gaussian_lloyd import GaussianLloyd as GaussianLloyd
from profiles.mechanisms.gaussian_sum import GaussianSum as GaussianSum
from profiles.mechanisms.interface import EXACT_ARITHMETIC as EXACT_ARITHMETIC
from profiles.mechanisms.interface import Arithmetic as Arithmetic
from profiles.mechanisms.interface import Mechanism as Mechanism
from profiles.mechanisms.k_norm_sum import KNormSum as KNormSum
from profiles.mechanisms.laplace_sum import LaplaceSum as LaplaceSum
from profiles.mechanisms.lloyd import WeightedLloyd as WeightedLloyd
from profiles.mechanisms.weighted_count import WeightedCount as WeightedCount
