"""What all applications share: an answer with its guarantee, what is known of its quality, and the random numbers of one run,
with which it is concluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from accountant.applications.quality import Utility
from accountant.guarantees import Guarantee, Hypothesis, Run, conclude_run, render, ships
from profiles.arrays import Booleans
from profiles.randomness.bernoulli import PoissonSampler, open_sources
from profiles.randomness.bits import BitSource

if TYPE_CHECKING:
    from accountant.ledger import Charged

Output = TypeVar("Output")


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
    ``utility``: a proved bound of its quality for all data sets, or one that is void, with the reason; ``choice``: the way the application
    chose for itself, or was asked to go.
    ``charged``: where it was charged to a ledger, under which entry. ``guarantee`` is then that of the ledger, and ``utility`` speaks of
    the units that took part.
    """

    output: Output
    guarantee: Guarantee
    utility: Utility | None = field(default=None, kw_only=True)
    choice: Choice | None = field(default=None, kw_only=True)
    charged: Charged | None = field(default=None, kw_only=True)

    def explain(self) -> str:
        """Return in words: the way that was chosen and why, what is proved of the quality, and the guarantee with what it rests on."""
        lines = []
        if self.choice is not None:
            lines.append(f"method: {self.choice.method} ({self.choice.reason})")
        if self.utility is not None:
            lines.append(f"quality: {self.utility}")
            lines += [f"  assumed: {hypothesis}" for hypothesis in self.utility.hypotheses]
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
        self, guarantee: Guarantee, algorithm: object, *, sampled: bool = True, proved: Mapping[Hypothesis, str] | None = None
    ) -> Guarantee:
        """Return the guarantee of the run of ``algorithm`` that used these numbers: :func:`~accountant.guarantees.conclude_run`."""
        draws = self.sampler.source.hypothesis if sampled else None
        return conclude_run(guarantee, Run(noise=self.noise.hypothesis, draws=draws, known=ships(algorithm), proved=dict(proved or {})))


def seed_public(source: BitSource) -> np.random.Generator:
    """Return a generator with a seed of its own, for draws that need not be secret: it tells nothing of the others."""
    return np.random.default_rng([source.digit() for _ in range(8)])
