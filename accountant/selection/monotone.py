"""Does ε(w, x) not fall as w rises? Then rounding down keeps the guarantee of the exact rule (docs/sampling.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from profiles import Profile
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.results import Verdict
from proofs_check.verify import decide_in_time

#: w·ε′ ≥ ε ≥ 0 for all records and all w ≥ 1, with ε continuously differentiable: then ε′ ≥ 0. Concave profiles are beyond it.
MONOTONE = "proposition-17"


def prove_monotone(profile: Profile) -> Mapping[str, Any] | None:
    """Return a claim that the kernel accepts and from which ε(w, x) does not fall as w rises on [1, ∞), for every record; else None.

    None proves nothing: ε may be monotone all the same.
    """
    decision, _ = decide_in_time(Context(admit(profile), Fraction(1)), MONOTONE)
    return decision.claim if decision.verdict is Verdict.PROVED and decision.checked else None
