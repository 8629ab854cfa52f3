"""What a sample rests on that somebody draws with weights from a file."""

from __future__ import annotations

from collections.abc import Sequence

from accountant.data.specs import StatisticSpec, describe_spec
from accountant.data.weighing import complete_specs
from accountant.guarantees import ARITHMETIC, EXACT_REALS, STATISTICS, Hypothesis
from accountant.guarantees.rules import list_premises
from accountant.rules import make_rule
from profiles import Declaration
from profiles.hypotheses import RECORD_STATISTICS, TARGET_FIXED, TARGET_FROM_DATA


def list_weight_premises(
    declaration: Declaration, specs: Sequence[StatisticSpec], target_epsilon: object, *, from_data: bool
) -> tuple[Hypothesis, ...]:
    """Return the hypotheses under which a sample with these weights, drawn by whoever has them, is private with the target ε*.

    Those of privacy-constrained sampling of the declared mechanism, with the columns that the statistics are read from; ``from_data``: the
    target was computed from the data set to reach a sample size. Raises what :func:`complete_specs` raises.
    """
    profile = declaration.profile
    rule = make_rule("privacy-constrained", profile, target_epsilon=target_epsilon)
    found = list_premises(profile, rule, tuple(dict.fromkeys((EXACT_REALS, *declaration.hypotheses))))
    read = [RECORD_STATISTICS.about(names=describe_spec(spec)) for spec in complete_specs(profile, specs)]
    named = [item for item in found if item.id != RECORD_STATISTICS.id]
    named = [TARGET_FROM_DATA if from_data and item == TARGET_FIXED else item for item in named]
    return (*named, *read, STATISTICS, ARITHMETIC)
