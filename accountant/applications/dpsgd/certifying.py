"""The guarantee of one training run: that of its plan, less what the run makes true by itself (docs/dp-sgd.md, section 4)."""

from __future__ import annotations

from accountant.guarantees import Guarantee, Run, assume, conclude_run
from accountant.guarantees.theorem import update_hypotheses
from profiles.hypotheses import DECLARED_EVENTS, EXACT_REALS, PUBLIC_CONSTANTS, RECORD_STATISTICS, SENSITIVITY_ONE, Hypothesis
from profiles.mechanisms.interface import EXACT_MODE, Arithmetic

GIVEN_ROW = RECORD_STATISTICS.about(names="each row and its label that are given to fit")
PUBLIC_CLASSES = PUBLIC_CONSTANTS.about(names="which classes there are, as fit found them among the labels, is")
_DOMINATED = "each step is dominated by this event: docs/dp-sgd.md, Theorems 1 and 2"
_CLIPPED = "each weighted gradient is moved into the ball of this radius by itself"
_ROUNDED = "sums of truncated gradients and normal noise are released as correctly rounded values (docs/exact-noise.md, Theorems 1 to 3)"


def certify_training(made: Guarantee, run: Run, arithmetic: Arithmetic, supposes: tuple[Hypothesis, ...] = ()) -> Guarantee:
    """Return the guarantee of a run of a plan by :class:`~accountant.applications.dpsgd.training.Trainer`: ``made`` is that of the plan, or
    the curve that it is a point of.

    Of code that is not known (``run.known``) nothing is discharged that speaks of what it computes.
    """
    if run.known:
        closed = {
            item: reason
            for item in made.hypotheses
            for known, reason in ((DECLARED_EVENTS, _DOMINATED), (SENSITIVITY_ONE, _CLIPPED))
            if item.id == known.id
        }
        made = update_hypotheses(made, closed)
        if arithmetic is Arithmetic.EXACT:
            made = update_hypotheses(made, {EXACT_REALS: _ROUNDED}, EXACT_MODE)
    return assume(conclude_run(made, run), (GIVEN_ROW, *supposes))
