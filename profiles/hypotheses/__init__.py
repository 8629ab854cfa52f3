"""Every hypothesis of every guarantee, once: an id, one sentence, what it means, and what discharges it.

A guarantee rests on its hypotheses. Each is open, or was discharged by a named step; none is ever dropped. The rules of
``accountant.guarantees`` name theirs by the objects of this module, so that nothing is matched by its words.
"""

from profiles.hypotheses.code import *  # noqa: F403
from profiles.hypotheses.data import *  # noqa: F403
from profiles.hypotheses.kinds import *  # noqa: F403
from profiles.hypotheses.machine import *  # noqa: F403
from profiles.hypotheses.registry import *  # noqa: F403
from profiles.hypotheses.release import *  # noqa: F403
