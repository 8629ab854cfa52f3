"""How a privacy budget is divided among the number of rounds, the selection and the histogram, and the guarantee that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.applications.premises import ONLY_OUTPUT, OWN_ENTRY
from accountant.guarantees import ARITHMETIC, ONE_ANALYSIS, AnyGuarantee, discharge, post_processing
from accountant.onesided import (
    OneSidedCalibration,
    calibrate_one_sided,
    compose_directions,
    declare_add_dp,
    declare_directions,
    realise_draws,
    subsample,
)

PAGE = "docs/metric-clustering.md"
PUBLIC = "the candidates, their distances, k, the power, the number of rounds or what it is made from, and the split are public"
FORM = "the records have the declared form (candidate numbers, finite points, distances), or nobody learns that they were refused"
FEW_RECORDS = "there are fewer than 2^38 records"
RANDOM_DIGITS = "the random digits of selection and noise are uniform, independent, and unknown to whoever sees the output"
_SOLVER = "the solution of the weighted instance"
_DESCRIPTION = f"{_SOLVER} uses the data only through the output of the mechanism"


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


def derive_guarantee(budget: Budget, *, digits: str = RANDOM_DIGITS, sampling: str | None = None) -> AnyGuarantee:
    """Return the guarantee of selected candidates, weights and centres together: docs/metric-clustering.md, Theorems 1 to 4.

    ``digits`` and ``sampling`` are the hypotheses about the random bits; without ``sampling`` the draws of the sample stay a hypothesis.
    """
    hypotheses = (PUBLIC, FORM, OWN_ENTRY, FEW_RECORDS, ONLY_OUTPUT, ARITHMETIC, digits)
    parts: list[AnyGuarantee] = []
    if budget.size:
        parts.append(_declare("number of records with geometric noise", budget.size, "Theorem 3", hypotheses))
    if budget.selection:
        source = f"Ghazi et al. 2024, Theorem 4.3; {PAGE}, Theorem 1"
        parts.append(
            declare_add_dp("repeated exponential mechanism on cost reductions", budget.selection, source=source, hypotheses=hypotheses)
        )
    if not budget.full:
        parts.append(_declare("histogram with geometric noise", budget.histogram, "Theorem 2", hypotheses))
    found: list[AnyGuarantee] = []
    if parts and budget.plan is not None:
        sampled = subsample(compose_directions("one-sided parts", parts), budget.plan.p)
        evidence = "the sample is drawn inside of run, and is used for the composed parts alone"
        sampled = discharge(sampled, ONE_ANALYSIS, evidence)
        found.append(sampled if sampling is None else realise_draws(sampled, sampling))
    if budget.full:
        source = f"Ghosh et al. 2009; {PAGE}, Theorem 2"
        name = "histogram with two-sided geometric noise"
        found.append(declare_directions(name, budget.histogram, budget.histogram, source=source, hypotheses=hypotheses))
    whole = found[0] if len(found) == 1 else compose_directions("selection on a sample, histogram of all records", found)
    evidence = "the solver is given candidates and noisy weights only, and its random starts have a fixed seed"
    return discharge(post_processing(whole, _SOLVER), _DESCRIPTION, evidence)


def _declare(subject: str, epsilon: Fraction, theorem: str, hypotheses: Sequence[str]) -> AnyGuarantee:
    return declare_add_dp(subject, epsilon, source=f"{PAGE}, {theorem}", hypotheses=hypotheses)
