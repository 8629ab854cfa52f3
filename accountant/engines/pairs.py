"""The pairs (w, q) of a sampler as a map over Arrow record batches: what to sample with inside an engine (docs/engines.md, statement 1).

Claim: the pair of a record is that of :meth:`accountant.selection.select.Selector.select`, hence of ``pdp sample`` for the same plan, bit
for bit: a function of the record's statistics alone, whichever machine computes it and with whichever kernels of NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accountant.columns.values import Column
from accountant.data.specs import StatisticSpec, parse_statistic
from accountant.data.weighing import complete_specs
from accountant.engines.batch_map import BatchMap
from accountant.selection.select import Selector
from profiles import InvalidArgument, Profile
from profiles.arrays import Floats


@dataclass(frozen=True, slots=True)
class ArrowPairs(BatchMap):
    """The map of a selector; made by :func:`arrow_pairs`. Immutable; can be pickled, and a pickle proves nothing anew where it is read."""

    selector: Selector
    specs: tuple[StatisticSpec, ...]

    @property
    def profile(self) -> Profile:
        return self.selector.profile

    @property
    def evidence(self) -> str:
        """Why the bound of the rule holds for the numbers used."""
        return self.selector.evidence

    def read_specs(self) -> tuple[StatisticSpec, ...]:
        return self.specs

    def weigh(self, statistics: Mapping[str, Column]) -> tuple[Floats, Floats]:
        selected = self.selector.select(statistics)
        return selected.weights, selected.probabilities


def arrow_pairs(selector: Selector, specs: Sequence[StatisticSpec | str] = ()) -> ArrowPairs:
    """Return the map from record batches to record batches with the weights and selection probabilities of ``selector``.

    Claim: if the rule's bound is U, log(1 + q (e^ε(weight, x) − 1)) ≤ U in exact arithmetic for every record x of every batch; weight and q
    are functions of the record alone (docs/sampling.md, Theorem 2 and section 4).

    ``selector`` is ``plan_sample(...).selector``, or what :func:`accountant.prepare_selection` returned: any rule, not only the
    privacy-constrained one. ``specs`` say from which columns the statistics are read, as :class:`StatisticSpec` or as text
    (``"z=l2(a,b)"``); by default the column of the statistic's name.

    Raises :class:`InvalidArgument` (no selector, a profile without a statistic, specs that do not fit it).

    >>> import pyarrow as pa
    >>> from accountant import plan_sample
    >>> from profiles import declare
    >>> plan = plan_sample(declare("sum", "w*z", record={"z": [0, 4]}), target_epsilon=4)
    >>> arrow_pairs(plan.selector)(pa.record_batch({"z": [4.0]})).to_pylist()
    [{'z': 4.0, 'weight': 1.0, 'q': 1.0}]
    """
    if not isinstance(selector, Selector):
        raise InvalidArgument(
            f"the map needs a selector, but {type(selector).__name__} was found; give plan_sample(...).selector or prepare_selection(...)"
        )
    if not selector.profile.record:
        raise InvalidArgument(
            f"the profile {selector.profile.name!r} declares no record statistic, so no data can be read for it; declare one"
        )
    chosen = complete_specs(selector.profile, [parse_statistic(spec) if isinstance(spec, str) else spec for spec in specs])
    return ArrowPairs(selector, chosen)
