"""What all applications share: an answer with its guarantee, what is known of its quality, and the random numbers of one run,
with which it is concluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from accountant.guarantees import AnyGuarantee, Hypothesis, Run, conclude_run, render, ships
from profiles import decimal_text
from profiles.arrays import Booleans
from profiles.randomness.bernoulli import PoissonSampler, open_sources
from profiles.randomness.bits import BitSource

if TYPE_CHECKING:
    from accountant.ledger import Charged

Output = TypeVar("Output")


@dataclass(frozen=True, slots=True)
class UtilityBound:
    """F(T) ≥ ``ratio``·OPT − ``error`` for the answer T, over all data sets, except with probability ``failure`` (None: in expectation).

    OPT is the largest F of a set that the constraint allows. ``ratio`` is rounded down, ``error`` (in users) up. ``hypotheses``: what is
    taken for granted of the constraint and the function. ``reason``: why the bound is void, where it is: it then says nothing at all.
    """

    ratio: float
    error: float
    failure: Fraction | None
    hypotheses: tuple[Hypothesis, ...]
    reason: str | None = None

    @property
    def beta(self) -> Fraction | None:
        """The probability of failure."""
        return self.failure

    @property
    def void(self) -> bool:
        """Whether the bound says nothing, whatever the optimum is."""
        return self.reason is not None or self.ratio <= 0

    def value(self, optimum: float) -> float:
        """Return the value that is guaranteed where OPT is at least ``optimum``; 0 where the bound is vacuous."""
        return 0.0 if self.void else max(0.0, self.ratio * optimum - self.error)

    def __str__(self) -> str:
        """Say the bound in one line."""
        if self.void:
            return f"void: {self.reason or 'the ratio is 0'}"
        ratio = decimal_text(Fraction(self.ratio), 4, round_up=False)
        error = decimal_text(Fraction(self.error), 6, round_up=True)
        chance = "in expectation" if self.failure is None else f"but for a probability of {decimal_text(self.failure, 3, round_up=True)}"
        return f"value >= {ratio} of the optimum - {error} users, {chance}"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of several ways an application went, and why: a function of public numbers alone.

    ``errors``: what each way was judged by, in the unit that ``reason`` names; smaller is better.
    """

    method: str
    reason: str
    errors: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer(Generic[Output]):
    """What one run of an application released, ``output``, and what is promised about it. Nothing else here depends on the data.

    The answer of each application has the name of its output beside (``selected``, ``members``, ``permutation``, ``reports``, ...).
    ``utility``: a proved bound of its quality for all data sets, where there is one; ``choice``: the way the application chose for itself.
    ``charged``: where it was charged to a ledger, under which entry. ``guarantee`` is then that of the ledger, and ``utility`` speaks of
    the units that took part.
    """

    output: Output
    guarantee: AnyGuarantee
    utility: UtilityBound | None = field(default=None, kw_only=True)
    choice: Choice | None = field(default=None, kw_only=True)
    charged: Charged | None = field(default=None, kw_only=True)

    def explain(self) -> str:
        """Return in words: the way that was chosen and why, what is proved of the quality, and the guarantee with what it rests on."""
        lines = []
        if self.choice is not None:
            lines.append(f"method: {self.choice.method} ({self.choice.reason})")
        if self.utility is not None:
            lines.append(f"quality: {self.utility}")
        if self.charged is not None:
            lines.append(f"ledger: {self.charged}")
        return "\n".join([*lines, render(self.guarantee)])


@dataclass(frozen=True, slots=True)
class Draw:
    """The random numbers of one run: ``noise`` makes choices and noise, ``sampler`` the Poisson sample. Opened once, used by one run."""

    noise: BitSource
    sampler: PoissonSampler

    @classmethod
    def open(cls, rng: object, bits: object) -> Draw:
        """Return the sources for the arguments of a run; raises as :func:`~profiles.randomness.bernoulli.open_sources` does."""
        return cls(*open_sources(rng, bits))

    def sample(self, count: int, p: float) -> Booleans:
        """Return which of ``count`` records are in the sample: each with probability exactly ``p``, independently."""
        return self.sampler.select(np.full(count, p))

    def conclude(
        self, guarantee: AnyGuarantee, algorithm: object, *, sampled: bool = True, proved: Mapping[Hypothesis, str] | None = None
    ) -> AnyGuarantee:
        """Return the guarantee of the run of ``algorithm`` that used these numbers: :func:`~accountant.guarantees.conclude_run`."""
        draws = self.sampler.source.hypothesis if sampled else None
        return conclude_run(guarantee, Run(noise=self.noise.hypothesis, draws=draws, known=ships(algorithm), proved=dict(proved or {})))


def seed_public(source: BitSource) -> np.random.Generator:
    """Return a generator with a seed of its own, for draws that need not be secret: it tells nothing of the others."""
    return np.random.default_rng([source.digit() for _ in range(8)])
