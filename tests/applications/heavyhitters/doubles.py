"""What stands for draws and samples where a monitor is compared with one that has none."""

import numpy as np


class NoNoise:
    """Draws in which noise is 0: an event happens iff its gap is 0."""

    def passes(self, gaps):
        return gaps == 0

    def passes_one(self, gap):
        return gap == 0

    def failures(self, _gap):
        return 2**62


class Everyone:
    remembers = True

    def decide(self, users):
        return np.ones(len(users), dtype=np.bool_)
