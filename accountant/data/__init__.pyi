"""The public names of accountant.data, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.data.frames import Batch as Batch
from accountant.data.frames import Source as Source
from accountant.data.opening import open_dataset as open_dataset
from accountant.data.shifts import WeighedFile as WeighedFile
from accountant.data.shifts import compute_gaussian_weights_file as compute_gaussian_weights_file
from accountant.data.shifts import find_size_scale as find_size_scale
from accountant.data.specs import StatisticSpec as StatisticSpec
from accountant.data.specs import parse_statistic as parse_statistic
from accountant.data.weighing import WeightsSummary as WeightsSummary
from accountant.data.weighing import check_range as check_range
from accountant.data.weighing import complete_specs as complete_specs
from accountant.data.weighing import compute_weights_file as compute_weights_file
from accountant.data.weighing import find_target as find_target
from accountant.data.weighing import iter_weights as iter_weights
from accountant.data.writers import open_writer as open_writer
