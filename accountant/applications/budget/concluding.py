"""The steps from the costs of what was released to a guarantee that every release within one budget goes through."""

from __future__ import annotations

from typing import Any

from accountant.guarantees import Guarantee
from accountant.guarantees.derive import DerivedEpsilon, derive_epsilon
from accountant.guarantees.mechanism_proofs import prove_promises
from profiles import Declaration, Profile
from profiles.hypotheses import DECLARED_PROFILE, EXACT_REALS
from profiles.mechanisms import KNormSum


def bound_costs(costs: Profile) -> DerivedEpsilon:
    """Return the certified worst case of costs for records that are used once. Raises what :func:`derive_epsilon` raises."""
    return derive_epsilon(Declaration(costs, hypotheses=(EXACT_REALS,)), rule="uniform", constants={"rate": 1})


def prove_released(guarantee: Guarantee, reason: str, noise: Any = None) -> Guarantee:
    """Discharge by the theorem that ``reason`` names that a run has the costs that are declared for it: what it releases are sums with the
    exact noise of one mechanism of the catalogue, ``noise``, by default the K-norm mechanism, and of nothing else.
    """
    named = {item: reason for item in guarantee.hypotheses if item.id == DECLARED_PROFILE.id}
    return prove_promises(guarantee, (KNormSum(beta_sum=1) if noise is None else noise,), named)
