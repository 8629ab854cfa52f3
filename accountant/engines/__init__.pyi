"""The public names of accountant.engines, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.engines.pairs import ArrowPairs as ArrowPairs
from accountant.engines.pairs import arrow_pairs as arrow_pairs
from accountant.engines.samples import ArrowSample as ArrowSample
from accountant.engines.samples import Draw as Draw
from accountant.engines.samples import arrow_sample as arrow_sample
from accountant.engines.samples import select_rows as select_rows
from accountant.engines.samples import spawn_generator as spawn_generator
from accountant.engines.weights import ArrowWeights as ArrowWeights
from accountant.engines.weights import arrow_weights as arrow_weights
