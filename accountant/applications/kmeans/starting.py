"""Initial centres that do not look at the data: spread over the declared ball, away from its boundary and from each other.

Su et al. 2016 start DP k-means from a random packing of balls into the domain. The same idea without their search for the largest
radius: candidates are drawn in the ball, and one after the other the candidate is taken for which the smaller of its distance to
the boundary and half its distance to the centres chosen so far is largest. Candidates have a uniform radius and the direction of the cone
measure: a uniform point of the ball would lie at the boundary in high dimension. Nothing here affects privacy.
"""

from __future__ import annotations

import numpy as np

from profiles.arrays import Floats
from profiles.mechanisms.datasets import compute_norms
from profiles.mechanisms.noise import draw_directions

_CANDIDATES = 32
_MOST = 2**14


def pack_centres(clusters: int, dimension: int, p: float, radius: float, rng: np.random.Generator) -> Floats:
    """Return ``clusters`` centres in the l_p ball of ``radius``, shape (k, d), drawn without any data.

    >>> pack_centres(3, 2, 2, 1.0, np.random.default_rng(0)).shape
    (3, 2)
    """
    count = max(clusters, min(_CANDIDATES * clusters, _MOST))
    candidates = draw_directions(rng, (count,), dimension, p) * rng.random((count, 1))
    room = 1 - compute_norms(candidates, p)
    chosen = np.empty(clusters, dtype=np.intp)
    for j in range(clusters):
        chosen[j] = room.argmax()
        gaps = candidates - candidates[chosen[j]]
        room = np.minimum(room, np.sqrt(np.einsum("ij,ij->i", gaps, gaps)) / 2)
        room[chosen[j]] = -1.0
    return candidates[chosen] * radius
