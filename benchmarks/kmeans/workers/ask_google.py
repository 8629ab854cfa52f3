"""Google's clustering by locality-sensitive hashing: centres of each seed. Arguments: a .npz file in, one out, its folder ``learning``.

Its own measurement of the result, a loop over all records in Python that is not private, is left out.
"""

import sys
import time

sys.path.insert(0, sys.argv[3])
import numpy as np
from clustering import clustering_algorithm, clustering_params

clustering_algorithm.ClusteringResult = lambda data, centers: centers  # noqa: ARG005

with np.load(sys.argv[1]) as given:
    points, radius = given["points"], float(given["radius"])
    clusters, epsilon, delta, seeds = int(given["clusters"]), float(given["epsilon"]), float(given["delta"]), given["seeds"]

found, seconds = [], []
for seed in seeds:
    np.random.seed(int(seed))  # noqa: NPY002
    start = time.process_time()
    private = clustering_params.DifferentialPrivacyParam(epsilon=epsilon, delta=delta)
    centres = clustering_algorithm.private_lsh_clustering(clusters, clustering_params.Data(points, radius), private)
    seconds.append(time.process_time() - start)
    whole = np.zeros((clusters, points.shape[1]))
    whole[: len(centres)] = centres
    whole[len(centres) :] = centres[0]
    found.append(whole)
np.savez(sys.argv[2], centres=np.array(found), seconds=np.array(seconds))
