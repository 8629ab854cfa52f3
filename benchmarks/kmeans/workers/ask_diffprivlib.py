"""The KMeans of diffprivlib: centres of each seed. Arguments: a .npz file in, a .npz file out.

``charged`` True puts its charge right: _split_epsilon returns (share of one coordinate, share of the count), and its caller takes them for
(count, coordinate), so that an iteration costs ε_i + d ε_0 in place of ε_0 + d ε_i; the epsilon that is handed over is divided by the
quotient of the two.
"""

import sys
import time
import warnings

import numpy as np
from diffprivlib.models import KMeans

with np.load(sys.argv[1]) as given:
    points, low, high = given["points"], given["low"], given["high"]
    clusters, epsilon, charged, seeds = int(given["clusters"]), float(given["epsilon"]), bool(given["charged"]), given["seeds"]

dimension = points.shape[1]
ratio = float(np.cbrt(4 * dimension * 0.225**2))
factor = (1 + dimension * ratio) / (dimension + ratio)
warnings.simplefilter("ignore")
found, seconds = [], []
for seed in seeds:
    start = time.process_time()
    model = KMeans(clusters, epsilon=epsilon / factor if charged else epsilon, bounds=(low, high), random_state=int(seed)).fit(points)
    seconds.append(time.process_time() - start)
    found.append(model.cluster_centers_)
np.savez(sys.argv[2], centres=np.array(found), seconds=np.array(seconds), factor=factor)
