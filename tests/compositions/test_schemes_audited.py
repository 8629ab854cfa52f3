"""Schemes that are run as they say are consistent with what is accounted for; those that are run otherwise are refuted by an audit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from accountant.compositions.batches import draw_batches
from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.events import Composition, Direction, Event, make_event
from accountant.curves import Participation, declare_matrix, make_matrix
from proofs_check.audit import Claim, audit

_DELTA, _STEPS, _EPOCHS = Fraction(1, 100), 4, 9
#: One record of norm 1 among others that add nothing, and the same without it.
WITH, WITHOUT = np.r_[1.0, np.zeros(7)], np.zeros(7)

Scheme = Callable[[np.ndarray, np.random.Generator, int], np.ndarray]


def claim(event: Event) -> Claim:
    ends = [bound_epsilon(Composition("x", (event,)), _DELTA, direction, gap=Fraction(1, 50)).upper for direction in Direction]
    return Claim(max(end for end in ends if end is not None), delta=_DELTA)


def allocated(noise: float, epochs: int, *, anew: bool) -> Scheme:
    """Sums of the steps of epochs, in which each record takes part in one step, chosen in each epoch or once; epochs are added up."""

    def run(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        out = np.zeros((size, _STEPS))
        place = rng.integers(_STEPS, size=(size, len(data)))
        for _ in range(epochs):
            if anew:
                place = rng.integers(_STEPS, size=(size, len(data)))
            sums = np.stack([((place == step) * data).sum(axis=1) for step in range(_STEPS)], axis=1)
            out += sums + rng.normal(0, noise, (size, _STEPS))
        return np.sort(out, axis=1)[:, ::-1]  # the largest first

    return run


def averaged(noise: float, *, publicly: bool) -> Scheme:
    """The sum of a step over a public number, 4, or over the size that its batch has, with noise over the public number."""

    def run(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        kept = rng.random((size, len(data))) < 1 / 4
        count = np.full(size, 4.0) if publicly else np.maximum(kept.sum(axis=1), 1.0)
        return ((kept * data).sum(axis=1) / count + rng.normal(0, noise / 4, size))[:, None]

    return run


def cut(noise: float, *, dropped: bool) -> Scheme:
    """Shuffled batches of four whose sums get noise; the last one is dropped where it is not full, or else its step is always there."""

    def run(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        steps = len(data) // 4 if dropped else 2
        return np.stack([np.full(size, float(steps)), rng.normal(data.sum(), noise, size)], axis=1)

    return run


#: A strategy of two bands over six steps, of which the columns but the last one have the square 1.81.
_STRATEGY = np.eye(6) + 0.9 * np.eye(6, k=-1)


def correlated(noise: float, chosen: Callable[[np.random.Generator, int], np.ndarray]) -> Scheme:
    """Cx + z, seen along what the record moves: the first record takes part in the steps that are chosen, others always."""

    def run(data: np.ndarray, rng: np.random.Generator, size: int) -> np.ndarray:
        steps = chosen(rng, size)
        release = (data[0] * steps + data[1:].sum()) @ _STRATEGY.T + rng.normal(0, noise, (size, 6))
        return (release @ (_STRATEGY @ steps.max(axis=0)))[:, None]

    return run


def always(*steps: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Take part in these steps."""
    return lambda rng, size: np.tile(np.isin(np.arange(6), steps).astype(float), (size, 1))


def drawn(*steps: int) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Take part in each of these steps by a coin of probability 1/2."""
    return lambda rng, size: np.isin(np.arange(6), steps) * (rng.random((size, 6)) < 1 / 2).astype(float)


def of_matrix(noise: int, steps: int, rate: object = None) -> Event:
    given = make_matrix([1, "0.9"], steps)
    when = Participation(2, 3 if rate is None else None)
    return declare_matrix(given, noise, when, neighbors="zero-out", sampling_probability=rate).composition.events[0]


_EPOCHS_OF = make_event(
    "gaussian", {"noise_multiplier": 3}, count=_EPOCHS, batches=draw_batches("random-allocation", "add-remove", steps_per_epoch=_STEPS)
)
_SAMPLED = make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/4")
_SHUFFLED = make_event("gaussian", {"noise_multiplier": 4}, batches=draw_batches("shuffle", "add-remove", steps_per_epoch=2))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("event", "scheme", "refuted"),
    [
        (_EPOCHS_OF, allocated(3, _EPOCHS, anew=True), False),
        (_EPOCHS_OF, allocated(3, _EPOCHS, anew=False), True),
        (_SAMPLED, averaged(1, publicly=True), False),
        (_SAMPLED, averaged(1, publicly=False), True),
        (_SHUFFLED, cut(4, dropped=False), False),
        (_SHUFFLED, cut(4, dropped=True), True),
        (of_matrix(2, 6), correlated(2, always(0, 2, 4)), False),
        (of_matrix(2, 6), correlated(2, always(0, 1, 2, 3)), True),
        (of_matrix(2, 2), correlated(2, always(0, 2, 4)), True),
        (of_matrix(1, 6, "1/2"), correlated(1, drawn(0, 2, 4)), False),
        (of_matrix(1, 6, "1/2"), correlated(1, drawn(0, 1, 2, 3, 4)), True),
    ],
    ids=[
        "allocated",
        "one permutation for all epochs",
        "public divisor",
        "realised divisor",
        "all batches",
        "last batch dropped",
        "apart",
        "next to each other",
        "the steps of the coefficients alone",
        "groups in turn",
        "all groups in each step",
    ],
)
def test_what_is_run_otherwise_than_it_says_is_refuted(event: Event, scheme: Scheme, refuted: bool) -> None:
    result = audit(scheme, WITH, WITHOUT, claim(event), rng=np.random.default_rng(7), samples=60_000, confidence=Fraction(999, 1000))
    assert (result.finding.value == "violated") is refuted, result
