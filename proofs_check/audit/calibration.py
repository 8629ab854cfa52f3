"""Calibration: how often the audit's bound exceeds the exact ε of a correct mechanism. It must not be more often than the stated error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from profiles.numbers import ExactLike, to_exact
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim
from proofs_check.audit.limits import lower_limit
from proofs_check.audit.runs import AuditedMechanism


@dataclass(frozen=True, slots=True, eq=False)
class Correct:
    """A mechanism on a pair whose ε(D, D′) is known exactly: ``claim`` states it, so that no sound bound may exceed it often."""

    name: str
    mechanism: AuditedMechanism
    dataset: Any
    neighbor: Any
    claim: Claim
    neighboring: str = "add-remove"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Of ``audits`` audits, ``above`` gave a bound above the exact ε, at a stated error of ``error``."""

    name: str
    audits: int
    above: int
    error: Fraction

    @property
    def rate(self) -> float:
        """The share of audits whose bound was above the exact ε."""
        return self.above / self.audits

    def contradicts(self, doubt: Fraction) -> bool:
        """Tell whether the true rate is above the stated error, at confidence 1 − ``doubt`` (Clopper–Pearson)."""
        return lower_limit(self.above, self.audits, doubt) > self.error


def calibrate(
    target: Correct,
    *,
    rng: np.random.Generator,
    audits: int = 3_000,
    samples: int = 200,
    confidence: ExactLike = "0.9",
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Calibration:
    """Audit a correct mechanism many times, each time with fresh outputs, and count bounds above the exact ε (in nats).

    ``samples`` outputs for each data set; ``options`` go to :func:`proofs_check.audit.audit`.
    """
    level = to_exact(confidence, "the confidence")
    above = 0
    for done in range(audits):
        own = np.random.default_rng(int(rng.integers(2**63)))
        result = audit(
            target.mechanism, target.dataset, target.neighbor, target.claim, rng=own, samples=samples, confidence=level,
            neighboring=target.neighboring, check_memory=False, **options,
        )  # fmt: skip
        above += Fraction(result.epsilon_lower) > target.claim.epsilon
        if progress is not None:
            progress(done + 1)
    return Calibration(target.name, audits, above, 1 - level)
