"""Algorithms as the papers print them, **faulty**, run on small instances with exact numbers: ``pdp claims --run``. For nothing else.

No release may be made with anything here. What is right is in ``accountant/applications`` and ``accountant/weights``; what is wrong is
in ``docs/errata.md``.
"""

from proofs_check.printed.reruns import RUNNABLE, run_again
from proofs_check.printed.results import Rerun

__all__ = ["RUNNABLE", "Rerun", "run_again"]
