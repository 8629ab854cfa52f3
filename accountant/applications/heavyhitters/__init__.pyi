"""The public names of accountant.applications.heavyhitters, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from accountant.applications.heavyhitters.clock import Clock as Clock
from accountant.applications.heavyhitters.clock import ClockedWatch as ClockedWatch
from accountant.applications.heavyhitters.clock import PublicClock as PublicClock
from accountant.applications.heavyhitters.domain import PublicDomain as PublicDomain
from accountant.applications.heavyhitters.domain import read_domain as read_domain
from accountant.applications.heavyhitters.monitor import HeavyHitterAnswer as HeavyHitterAnswer
from accountant.applications.heavyhitters.monitor import HeavyHitterMonitor as HeavyHitterMonitor
from accountant.applications.heavyhitters.planning import ThresholdPlan as ThresholdPlan
from accountant.applications.heavyhitters.planning import plan_threshold as plan_threshold
from accountant.applications.heavyhitters.planning import theorem_level as theorem_level
from accountant.applications.heavyhitters.streams import StreamBatch as StreamBatch
from accountant.applications.heavyhitters.streams import StreamFile as StreamFile
from accountant.applications.heavyhitters.streams import open_stream as open_stream
from accountant.applications.heavyhitters.watching import StepReport as StepReport
from accountant.applications.heavyhitters.watching import Watch as Watch
