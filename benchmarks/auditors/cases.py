"""Cases of the standard suite that all tools are given, and what the peers must be told about their outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.targets.suite import Sampler, SuiteCase, standard_suite
from tests.targets.suite.sparse_vector import ABORTED, ABORTED_VALUE, BELOW_VALUE


@dataclass(frozen=True)
class Case:
    """A case of the suite.

    ``flags`` are the values of an output that stand for no number; ``discrete`` marks scalar outputs 0 … k. ``postprocessing`` names what
    StatDP may look at (its worker says how), and ``reference`` what its Hamming distance is taken to.
    """

    name: str
    flags: tuple[float, ...] = ()
    postprocessing: tuple[str, ...] = ("value",)
    discrete: bool = False

    @property
    def entry(self) -> SuiteCase:
        """Mechanism, pair, claim and truth."""
        return _suite()[self.name]

    @property
    def pair(self) -> tuple[Any, Any]:
        """The two data sets."""
        return self.entry.dataset, self.entry.neighbor

    @property
    def mechanism(self) -> Sampler:
        """The mechanism."""
        return self.entry.mechanism

    @property
    def reference(self) -> tuple[int, ...] | None:
        """The noiseless output on the data set, for bits."""
        bits = getattr(self.mechanism, "filter", None)
        return None if bits is None else tuple(int(index in bits(self.entry.dataset)) for index in range(self.mechanism.length))


@cache
def _suite() -> dict[str, SuiteCase]:
    return {entry.name: entry for entry in standard_suite()}


@cache
def by_name(name: str) -> Case:
    """The case of this name."""
    return next(case for case in CASES if case.name == name)


def _numbers(columns: int) -> tuple[str, ...]:
    return (*(f"entry {index}" for index in range(columns)), "average", "least", "largest")


_BITS = ("count 0", "count 1", "hamming")

CASES = (
    Case("laplace"),
    Case("truncated-geometric", discrete=True),
    Case("noisy-histogram-1", postprocessing=("entry 0",)),
    Case("noisy-histogram-2", postprocessing=("entry 0",)),
    Case("noisy-max-1", discrete=True),
    Case("noisy-max-2", discrete=True),
    Case("noisy-max-3"),
    Case("noisy-max-4"),
    Case("svt-1", (ABORTED,), ("count 0",)),
    Case("svt-2", (ABORTED,), ("count 0",)),
    Case("svt-3", (BELOW_VALUE, ABORTED_VALUE), ("count and last",)),
    Case("svt-4", (ABORTED,), ("hamming",)),
    Case("svt-5", (), ("hamming",)),
    Case("svt-6", (), ("hamming",)),
    Case("rappor", (), _BITS),
    Case("one-time-rappor", (), _BITS),
    Case("parallel-laplace", (), _numbers(20)),
    Case("parallel-svt", (ABORTED, BELOW_VALUE, ABORTED_VALUE), ("left count and last", *(f"right {name}" for name in _BITS))),
    Case("prefix-sum", (), _numbers(10)),
    Case("prefix-sum-all-change", (), _numbers(10)),
    # StatDP fails on numbers that are 0 in more than 70 % of the outputs, as later entries are.
    Case("numerical-svt", (ABORTED_VALUE,), ("count 0", "entry 0", "entry 1", "average", "least", "largest")),
)
