"""The public names of profiles.randomness, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from profiles.randomness.bits import BitSource as BitSource
from profiles.randomness.bits import draw_below as draw_below
from profiles.randomness.bits import open_bits as open_bits
from profiles.randomness.choice import ExponentialChoice as ExponentialChoice
from profiles.randomness.choice import ExponentialDraws as ExponentialDraws
from profiles.randomness.choice import measure_gaps as measure_gaps
from profiles.randomness.exponentials import draw_discrete_laplace as draw_discrete_laplace
from profiles.randomness.exponentials import draw_exp as draw_exp
from profiles.randomness.exponentials import draw_geometric as draw_geometric
from profiles.randomness.exponentials import enclose_exp as enclose_exp
from profiles.randomness.geometric import draw_geometrics as draw_geometrics
