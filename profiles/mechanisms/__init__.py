"""The catalogue: one mechanism a module, its declared profile beside the sampler that runs it."""

from profiles.mechanisms.ball import project_records
from profiles.mechanisms.catalogue import CatalogueEntry, catalogue
from profiles.mechanisms.gaussian_lloyd import GaussianLloyd
from profiles.mechanisms.gaussian_sum import GaussianSum
from profiles.mechanisms.interface import EXACT_ARITHMETIC, Arithmetic, Mechanism
from profiles.mechanisms.k_norm_sum import KNormSum
from profiles.mechanisms.laplace_sum import LaplaceSum
from profiles.mechanisms.lloyd import WeightedLloyd
from profiles.mechanisms.weighted_count import WeightedCount

__all__ = [
    "EXACT_ARITHMETIC",
    "Arithmetic",
    "CatalogueEntry",
    "GaussianLloyd",
    "GaussianSum",
    "KNormSum",
    "LaplaceSum",
    "Mechanism",
    "WeightedCount",
    "WeightedLloyd",
    "catalogue",
    "project_records",
]
