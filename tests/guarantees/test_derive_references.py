"""What derive_epsilon takes: a mechanism itself is one of them, and what has no profile is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from accountant import derive_epsilon
from profiles import Declaration, InvalidArgument
from profiles.mechanisms import LaplaceSum

UNIFORM: dict[str, Any] = {"rule": "uniform", "constants": {"rate": "1/2"}}


def test_a_mechanism_is_what_its_reference_is() -> None:
    found = derive_epsilon(LaplaceSum(b=1), **UNIFORM).guarantee
    named = derive_epsilon("profiles.mechanisms.laplace_sum:default", **UNIFORM).guarantee
    assert found.bound == named.bound
    assert found.hypotheses == named.hypotheses
    assert derive_epsilon(Declaration(LaplaceSum(b=1).profile), **UNIFORM).guarantee.bound == found.bound


@pytest.mark.parametrize("given", [None, 3, object(), LaplaceSum, ["w"], b"w"])
def test_what_has_no_profile_is_refused_by_name(given: Any) -> None:
    with pytest.raises(InvalidArgument, match="a mechanism with a profile"):
        derive_epsilon(given, **UNIFORM)
