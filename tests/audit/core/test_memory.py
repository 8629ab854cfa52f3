"""Mechanisms that remember: each is refused in words, or audited as what it is on data that it sees for the first time."""

from __future__ import annotations

import functools
import threading
import time

import numpy as np
import pytest

from proofs_check.audit import Claim, audit, in_processes
from proofs_check.audit import runs as runs_module
from proofs_check.audit.errors import SharedGenerator, StatefulMechanism, UnusableOutputs
from proofs_check.audit.memory import Copies, ForkedCall, NoAnswer
from proofs_check.audit.report import Circumstances, render

LARGER, SMALLER = [2.0, 1.0], [1.0]


def run(mechanism, *, claim=1, samples=1_000, **options):
    return audit(mechanism, LARGER, SMALLER, Claim(claim), rng=np.random.default_rng(1), samples=samples, **options)


class FitsOnce:
    """The first data set that it sees is what it answers from; without its memory, epsilon is 20."""

    def __init__(self, scale=0.1) -> None:
        self.total, self.scale = None, scale

    def __call__(self, dataset, rng, size):
        if self.total is None:
            self.total = float(np.sum(dataset))
        return self.total + rng.laplace(0, self.scale, size)


class WithLock(FitsOnce):
    """It cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def in_a_closure():
    memory = []

    def mechanism(dataset, rng, size):
        if not memory:
            memory.append(float(np.sum(dataset)))
        return memory[0] + rng.laplace(0, 0.1, size)

    return mechanism


def in_a_default(dataset, rng, size, memory=[]):  # noqa: B006 - the mistake
    if not memory:
        memory.append(float(np.sum(dataset)))
    return memory[0] + rng.laplace(0, 0.1, size)


@functools.lru_cache
def total_of_length_class(_):
    return {}


def in_a_cache(dataset, rng, size):
    known = total_of_length_class(0)
    return known.setdefault("total", float(np.sum(dataset))) + rng.laplace(0, 0.1, size)


class OfClass:
    total = None

    def __call__(self, dataset, rng, size):
        if OfClass.total is None:
            OfClass.total = float(np.sum(dataset))
        return OfClass.total + rng.laplace(0, 0.1, size)


class OneAtATimeModel:
    def __init__(self) -> None:
        self.total = None

    def answer(self, dataset, rng, size):
        if self.total is None:
            self.total = float(np.sum(dataset))
        return self.total + rng.laplace(0, 0.1, size)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "mechanism",
    [FitsOnce(), WithLock(), in_a_closure(), in_a_default, in_a_cache, OfClass(), OneAtATimeModel().answer, functools.partial(FitsOnce())],
    ids=["object", "not copied", "closure", "default", "cache", "class", "method", "partial"],
)
def test_what_answers_from_the_first_data_set_is_refused(mechanism) -> None:
    with pytest.raises(StatefulMechanism, match=r"remembers earlier calls: .* \(fit inside the call"):
        run(mechanism)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("calls", [1, 3, 5, 8, 10, 12, 15, 25])
def test_what_counts_its_calls_is_refused(calls) -> None:
    class Counts:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, dataset, rng, size):
            self.calls += 1
            return (5.0 * len(dataset) if self.calls > calls else 0.0) + rng.laplace(0, 1, size)

    counted = Counts()

    def as_a_function(dataset, rng, size):
        return counted(dataset, rng, size)

    for mechanism in (Counts(), as_a_function):
        with pytest.raises((StatefulMechanism, SharedGenerator, UnusableOutputs)):
            run(mechanism, claim=5)


@pytest.mark.thorough
def test_noise_or_silence_by_identity_does_not_pass() -> None:
    noise, seen = {}, set()

    def noise_of_an_object(dataset, rng, size):
        return noise.setdefault(id(dataset), rng.laplace()) + np.sum(dataset) + rng.laplace(0, 0.1, size)

    def careful_the_second_time(dataset, rng, size):
        known = id(dataset) in seen
        seen.add(id(dataset))
        return np.sum(dataset) + rng.laplace(0, 2 if known else 0.1, size)

    with pytest.raises(UnusableOutputs, match="share noise"):
        run(noise_of_an_object)
    try:
        result = run(careful_the_second_time)
    except StatefulMechanism:
        return
    assert result.finding.value == "violated"


@pytest.mark.thorough
def test_a_cache_that_changes_nothing_is_no_memory() -> None:
    sums = {}

    def cached(dataset, rng, size):
        key = tuple(dataset)
        if key not in sums:
            sums[key] = float(np.sum(dataset))
        return sums[key] + rng.laplace(0, 2, size)

    result = run(cached)
    assert (result.finding.value, result.memory) == ("consistent", "")
    assert result.to_json()["memory"] == "checked"


@pytest.mark.thorough
def test_what_was_fitted_before_the_audit_is_told() -> None:
    fitted = FitsOnce()
    fitted([7.0], np.random.default_rng(0), 1)
    result = run(fitted)
    assert result.to_json()["same_on_both"] is True
    assert "it answers from a data set that it saw before the audit" in " ".join(render(result, Circumstances("fitted")).split())
    honest = run(lambda dataset, rng, size: np.sum(dataset) + rng.laplace(0, 2, size))
    assert honest.same_on_both is False
    assert "before the audit" not in render(honest, Circumstances("honest"))


@pytest.mark.thorough
def test_own_randomness_is_compared_by_its_law() -> None:
    own = np.random.default_rng(5)
    memory = []

    def remembers(dataset, rng, size):
        memory.append(float(np.sum(dataset)))
        return memory[0] + own.laplace(0, 0.5, size)

    with pytest.raises(StatefulMechanism):
        run(remembers, own_randomness=True)

    class Own:
        """A copy of it would draw the same noise again: it is never copied."""

        def __init__(self) -> None:
            self.rng = np.random.default_rng(6)

        def __call__(self, dataset, rng, size):
            return np.sum(dataset) + self.rng.laplace(0, 2, size)

    result = run(Own(), own_randomness=True, samples=4_000)
    assert result.finding.value == "consistent"
    assert result.same_on_both is None


def test_the_mechanism_that_is_given_stays_as_it_is() -> None:
    class Keeps:
        def __init__(self) -> None:
            self.seen = []

        def __call__(self, dataset, rng, size):
            self.seen.append(dataset)
            return np.sum(dataset) + rng.laplace(0, 2, size)

    mechanism, data = Keeps(), [2.0, 1.0]
    audit(mechanism, data, [1.0], Claim(1), rng=np.random.default_rng(1), samples=100)
    assert mechanism.seen == []


@pytest.mark.thorough
def test_where_nothing_can_be_run_anew_it_is_said(monkeypatch) -> None:
    def hangs_elsewhere(call):
        raise NoAnswer("no process could be started (OSError)")

    monkeypatch.setattr(runs_module, "ForkedCall", hangs_elsewhere)
    result = run(lambda dataset, rng, size: np.sum(dataset) + rng.laplace(0, 2, size))
    assert "no process could be started" in result.to_json()["memory"]
    assert "remembers nothing of earlier calls: not checked" in " ".join(render(result, Circumstances("m")).split())
    monkeypatch.setattr(runs_module, "can_fork", lambda: False)
    assert run(lambda dataset, rng, size: rng.laplace(0, 2, size)).memory
    with pytest.raises(StatefulMechanism):  # an object is copied where processes are not
        run(FitsOnce())
    assert run(in_a_closure(), check_memory=False).memory


def global_memory(dataset, rng, size, memory=[]):  # noqa: B006 - the mistake
    memory.append(float(np.sum(dataset)))
    return memory[0] + rng.laplace(0, 0.1, size)


@pytest.mark.thorough
def test_workers_copy_objects_and_other_workers_see_the_other_order() -> None:
    with in_processes(FitsOnce(), workers=1) as pool:
        assert run(pool, samples=300).finding.value == "violated"  # nothing is remembered: what it is without its memory
    with in_processes(global_memory, workers=1) as pool, pytest.raises(StatefulMechanism):
        run(pool, samples=300)


def test_a_call_in_a_copy_of_the_process() -> None:
    state = []
    call = ForkedCall(lambda: state.append(1) or len(state))
    assert call.result(20) == 1
    assert state == []
    with pytest.raises(NoAnswer, match="raised ZeroDivisionError"):
        ForkedCall(lambda: 1 / 0).result(20)
    with pytest.raises(NoAnswer, match="in time"):
        ForkedCall(lambda: time.sleep(100)).result(0.2)
    with pytest.raises(NoAnswer, match="raised"):
        ForkedCall(lambda: lambda: 0).result(20)
    big = ForkedCall(lambda: bytes(1 << 22))
    assert len(big.result(20)) == 1 << 22
    big.end()


def test_copies_of_data_sets_have_places_of_their_own() -> None:
    copies = Copies(FitsOnce(), ([1.0], []), own_randomness=False)
    assert len({id(copies.dataset(0)) for _ in range(50)}) == 50
    assert copies.mechanism(fresh=True) is not copies.mechanism(fresh=True)
    assert copies.mechanism(fresh=False) is copies.mechanism(fresh=False)
    generators = Copies(print, ((i for i in ()), []), own_randomness=False)
    assert generators.mechanism(fresh=True) is print
    assert generators.dataset(0) is generators.dataset(0)
