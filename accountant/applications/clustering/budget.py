"""How a privacy budget is divided among the number of rounds, the selection and the histogram, and the guarantee that follows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from accountant.guarantees import ARITHMETIC, AnyGuarantee, discharge, post_processing
from accountant.onesided import (
    OneSidedCalibration,
    calibrate_one_sided,
    compose_directions,
    prove_losses,
    subsample,
)
from profiles.hypotheses import FEW_RECORDS, ONLY_THROUGH_OUTPUT, OWN_ENTRY, PUBLIC_CONSTANTS, WELL_FORMED

PAGE = "docs/metric-clustering.md"
PUBLIC = PUBLIC_CONSTANTS.about(
    names="the candidates, their distances, k, the power, the number of rounds or what it is made from, and the split are"
)
FORM = WELL_FORMED.about(what="the records have the declared form (candidate numbers, finite points, distances)")
FEW = FEW_RECORDS.about(most="2^38 records")
_SOLVER = "the solution of the weighted instance"


@dataclass(frozen=True, slots=True)
class Budget:
    """Losses in nats of the three parts, 0 for a part that is not run; ``plan`` says how the records of the one-sided ones are sampled.

    One-sided: ``size`` (noisy number of records), ``selection``, and ``histogram``; where ``full`` the latter is two-sided, on all records.
    """

    plan: OneSidedCalibration | None
    size: Fraction
    selection: Fraction
    histogram: Fraction
    full: bool


def divide_budget(epsilon: Fraction, *, split: Fraction, size_share: Fraction, everything: bool, full: bool, calibration: str) -> Budget:
    """Return the budget for a target of ``epsilon``.

    ``split`` of what the size leaves goes to the selection, the rest to the histogram; where ``everything`` is selected, publicly, all
    goes to the histogram. Sampled: the three share the ε₀ of the target's calibration. Full: the first two share the ε₀ of split·ε, and the
    histogram has (1 − split)·ε. Raises what :func:`accountant.onesided.calibrate_one_sided` raises.
    """
    if full:
        if everything:
            return Budget(None, Fraction(0), Fraction(0), epsilon, full)
        plan = calibrate_one_sided(split * epsilon, choice=calibration)
        size = size_share * plan.epsilon0
        return Budget(plan, size, plan.epsilon0 - size, (1 - split) * epsilon, full)
    plan = calibrate_one_sided(epsilon, choice=calibration)
    if everything:
        return Budget(plan, Fraction(0), Fraction(0), plan.epsilon0, full)
    size = size_share * plan.epsilon0
    rest = plan.epsilon0 - size
    return Budget(plan, size, split * rest, (1 - split) * rest, full)


def derive_guarantee(budget: Budget, algorithm: object) -> AnyGuarantee:
    """Return the guarantee of selected candidates, weights and centres together, before it is known where the random numbers come from.

    ``algorithm`` is what runs. Source: docs/metric-clustering.md, Theorems 1 to 4.
    """
    parts: list[AnyGuarantee] = []
    if budget.size:
        parts.append(_prove(algorithm, "number of records with geometric noise", budget.size, f"{PAGE}, Theorem 3"))
    if budget.selection:
        theorem = f"Ghazi et al. 2024, Theorem 4.3; {PAGE}, Theorem 1"
        parts.append(_prove(algorithm, "repeated exponential mechanism on cost reductions", budget.selection, theorem))
    if not budget.full:
        parts.append(_prove(algorithm, "histogram with geometric noise", budget.histogram, f"{PAGE}, Theorem 2"))
    found: list[AnyGuarantee] = []
    if parts and budget.plan is not None:
        found.append(subsample(compose_directions("one-sided parts", parts), budget.plan.p))
    if budget.full:
        name = "histogram with two-sided geometric noise"
        found.append(_prove(algorithm, name, budget.histogram, f"Ghosh et al. 2009; {PAGE}, Theorem 2", two_sided=True))
    whole = found[0] if len(found) == 1 else compose_directions("selection on a sample, histogram of all records", found)
    evidence = "the solver is given candidates and noisy weights only, and its random starts have a fixed seed"
    return discharge(post_processing(whole, _SOLVER), ONLY_THROUGH_OUTPUT.about(what=_SOLVER), evidence)


def _prove(algorithm: object, subject: str, epsilon: Fraction, theorem: str, *, two_sided: bool = False) -> AnyGuarantee:
    supposed = (PUBLIC, FORM, OWN_ENTRY, FEW, ARITHMETIC)
    minus = epsilon if two_sided else None
    return prove_losses(subject, epsilon, minus, theorem=theorem, algorithm=algorithm, hypotheses=supposed)
