"""What a method of k-means is: from :class:`~accountant.applications.budget.protocols.DataAccess` to centres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from accountant.applications.budget.protocols import DataAccess
from profiles.arrays import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """What a method found, in centred coordinates: ``centres`` of shape (k, d), and the noisy ``counts`` of their clusters, shape (k,).

    ``choices``: what the method chose, by name, in words or numbers; ``warnings``: sentences for whoever reads the centres. Functions of
    released numbers, all of them, and of random numbers that have nothing to do with the data.
    """

    centres: Floats
    counts: Floats
    choices: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Method(Protocol):
    """How centres are found: it spends what is left of the budget of ``access``."""

    def __call__(self, access: DataAccess, clusters: int, rng: np.random.Generator) -> Clustering:
        """Return centres; ``rng`` draws what need not be secret, and nothing of the noise."""
