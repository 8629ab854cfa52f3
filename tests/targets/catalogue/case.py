"""One statement of the accountant about a mechanism of the catalogue, with the pair of data sets on which an audit tries to refute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from profiles.arrays import Floats
from proofs_check.audit import AuditResult, Claim, audit
from proofs_check.audit.runs import AuditedMechanism
from tests.targets.catalogue.running import find_shipped
from tests.targets.suite import Truth


class ClaimKind(Enum):
    """Which statement of the accountant the claim is an instance of."""

    BASE = "base profile"
    SAMPLED = "sampled profile"
    COMPOSED = "composition"
    WORST_CASE = "certified worst case"


@dataclass(frozen=True, slots=True, eq=False)
class AuditCase:
    """Claim: unless ``broken``, ``claim`` holds for ``mechanism`` on (``dataset``, ``neighbor``); a broken twin violates it there.

    ``name`` is unique and starts with a short name of the mechanism; ``entry`` is the name of the entry of the catalogue.
    ``truth`` encloses ε(D, D′) in exact real arithmetic: truth.upper ≤ claim.epsilon, or else truth.lower > claim.epsilon.
    ``derivation`` says where the claim comes from, and for a twin what is wrong and what is true instead. ``samples`` is a number of
    outputs on each data set with which a twin is refuted at confidence 0.99, for nearly every seed. ``log_ratio``, where given,
    maps outputs to numbers, shape (size,), that order them as the log-likelihood ratio does: what to look at where the excess is small.
    ``bits``: also look at what floating point gives away. ``ships`` are the functions of what ships that a run goes through.
    """

    name: str
    entry: str
    kind: ClaimKind
    mechanism: AuditedMechanism
    dataset: Any
    neighbor: Any
    claim: Claim
    truth: Truth
    derivation: str
    broken: bool = False
    samples: int = 20_000
    log_ratio: Callable[[Floats], Floats] | None = None
    bits: bool = False

    @property
    def ships(self) -> tuple[str, ...]:
        """The functions of what ships that an output comes from, as ``module:class.function``; a test holds that a run calls each."""
        return find_shipped(self.mechanism)

    def run(self, rng: np.random.Generator, *, samples: int | None = None, **options: Any) -> AuditResult:
        """Return the audit of the case with ``samples`` outputs on each data set; ``options`` go to :func:`proofs_check.audit.audit`."""
        return audit(
            self.mechanism,
            self.dataset,
            self.neighbor,
            self.claim,
            rng=rng,
            samples=self.samples if samples is None else samples,
            log_ratio=self.log_ratio,
            bits=self.bits,
            **options,
        )
