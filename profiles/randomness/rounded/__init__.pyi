"""The public names of profiles.randomness.rounded, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from profiles.randomness.rounded.grid import Grid as Grid
from profiles.randomness.rounded.ieee import check_rounding as check_rounding
from profiles.randomness.rounded.laws import EUCLIDEAN as EUCLIDEAN
from profiles.randomness.rounded.laws import EXPONENTIAL as EXPONENTIAL
from profiles.randomness.rounded.laws import LAPLACE as LAPLACE
from profiles.randomness.rounded.laws import MAXIMUM as MAXIMUM
from profiles.randomness.rounded.laws import NORMAL as NORMAL
from profiles.randomness.rounded.laws import NoiseLaw as NoiseLaw
from profiles.randomness.rounded.laws import k_norm_law as k_norm_law
from profiles.randomness.rounded.rounding import Precision as Precision
from profiles.randomness.rounded.rounding import draw_rounded as draw_rounded
from profiles.randomness.rounded.rounding import draw_rounded_integers as draw_rounded_integers
