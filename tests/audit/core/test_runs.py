"""Broken experiments are refused by name and never become evidence."""

import contextlib
import random
import signal
import sys
import time

import numpy as np
import pytest

from profiles.errors import InvalidArgument, InvalidData
from profiles.mechanisms import LaplaceSum
from proofs_check.audit import Claim, audit
from proofs_check.audit.errors import ConstantOutputs, MechanismHangs, MechanismRaised, SharedGenerator, UnusableOutputs
from proofs_check.audit.runs import LabelledStream

PAIR = ((1.0,), (0.0,))


def run(mechanism, **options):
    own = np.random.default_rng(1)
    return audit(mechanism, np.array([1.0]), np.array([0.0]), Claim(1), rng=own, samples=300, neighboring="stated", **options)


def raises(dataset, rng, size):
    raise RuntimeError("no\nluck")


def leaves(dataset, rng, size):
    sys.exit(0)


def hangs(dataset, rng, size):
    while True:
        with contextlib.suppress(Exception):  # a mechanism may swallow whatever it likes
            time.sleep(0.01)


def nan(dataset, rng, size):
    return np.where(rng.random(size) < 0.1, np.nan, 0.0)


def wrong_size(dataset, rng, size):
    return rng.random(size + 1)


def constant(dataset, rng, size):
    return np.full(size, dataset[0])


def copies(dataset, rng, size):
    return np.full(size, rng.random())


def global_numpy(dataset, rng, size):
    return np.random.laplace(size=size)  # noqa: NPY002


def global_python(dataset, rng, size):
    return [random.random() for _ in range(size)]


HIDDEN = np.random.default_rng(5)


def hidden_generator(dataset, rng, size):
    return HIDDEN.random(size)


def fixed_seed(dataset, rng, size):
    return np.random.default_rng(5).random(size)


def spoils_its_data(dataset, rng, size):
    dataset[0] += 1
    return dataset[0] + rng.random(size)


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize(
    ("mechanism", "error"),
    [
        (raises, MechanismRaised),
        (leaves, MechanismRaised),
        (nan, UnusableOutputs),
        (wrong_size, UnusableOutputs),
        (constant, ConstantOutputs),
        (copies, UnusableOutputs),
        (global_numpy, SharedGenerator),
        (global_python, SharedGenerator),
        (hidden_generator, SharedGenerator),
        (fixed_seed, SharedGenerator),
        (spoils_its_data, UnusableOutputs),
    ],
)
def test_broken_mechanisms_are_named(mechanism, error) -> None:
    with pytest.raises(error) as found:
        run(mechanism)
    assert "\n" not in str(found.value)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs the alarm of a Unix system")
def test_a_hanging_mechanism_is_stopped() -> None:
    with pytest.raises(MechanismHangs, match=r"0\.2 seconds"):
        run(hangs, time_limit=0.2)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_mechanism_s_own_errors_pass() -> None:
    with pytest.raises(InvalidData):
        audit(LaplaceSum(b=1), np.array([9.0]), np.array([]), Claim(1), rng=np.random.default_rng(1), samples=100)


@pytest.mark.thorough
def test_own_randomness_can_be_allowed() -> None:
    assert run(hidden_generator, own_randomness=True).epsilon_lower <= 1


def test_a_rare_event_is_no_constant() -> None:
    result = run(lambda dataset, rng, size: (rng.random(size) < 0.02).astype(float))
    assert result.epsilon_lower <= 1


@pytest.mark.parametrize(
    "options",
    [
        {"samples": 0},
        {"samples": 2.5},
        {"samples": True},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": "1.5"},
        {"mode": "best"},
        {"effort": "huge"},
        {"time_limit": 0},
        {"time_limit": float("nan")},
        {"tests": 0},
        {"statistic": abs, "log_ratio": abs},
        {"statistic": 3},
    ],
)
def test_unusable_arguments(options) -> None:
    given = {"samples": 100, "neighboring": "stated", **options}
    with pytest.raises(InvalidArgument):
        audit(lambda d, r, n: r.random(n), *PAIR, Claim(1), rng=np.random.default_rng(1), **given)


def test_a_generator_is_needed() -> None:
    with pytest.raises(InvalidArgument):
        audit(lambda d, r, n: r.random(n), *PAIR, Claim(1), rng=3, samples=100, neighboring="stated")
    with pytest.raises(InvalidArgument):
        audit(3, *PAIR, Claim(1), rng=np.random.default_rng(3), samples=100, neighboring="stated")


def test_labels_are_fair_and_outputs_belong_to_them() -> None:
    stream = LabelledStream(lambda dataset, rng, size: np.full(size, dataset[0]) + 0 * rng.random(size), PAIR, np.random.default_rng(2))
    batch = stream.draw(20_000)
    assert (batch.outputs.values[:, 0] == np.where(batch.is_first, 1.0, 0.0)).all()
    assert abs(batch.is_first.mean() - 0.5) < 5 * 0.5 / np.sqrt(20_000)
    assert abs(np.corrcoef(batch.is_first[1:], batch.is_first[:-1])[0, 1]) < 0.04


@pytest.mark.thorough
def test_the_seed_repeats_the_run() -> None:
    first, second = (audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=np.random.default_rng(77), samples=2_000) for _ in range(2))
    assert first.seed == second.seed == 77
    assert first.epsilon_lower == second.epsilon_lower
    assert first.trace == second.trace


def test_lazily_made_outputs_are_watched() -> None:
    def endless(dataset, rng, size):
        while True:
            yield rng.random()

    def raises_late(dataset, rng, size):
        yield rng.random()
        raise RuntimeError("late")

    def draws_late(dataset, rng, size):
        return (np.random.random() for _ in range(size))  # noqa: NPY002

    for mechanism, error in ((endless, UnusableOutputs), (raises_late, MechanismRaised), (draws_late, SharedGenerator)):
        with pytest.raises(error):
            run(mechanism, time_limit=5)


class Plain:
    """A data set without equality, which cannot be told apart from its copy by ==."""

    def __init__(self, value) -> None:
        self.value = value


@pytest.mark.thorough
def test_data_sets_may_be_any_objects() -> None:
    def of_plain(dataset, rng, size):
        return dataset.value + rng.laplace(0, 1, size)

    def of_array(dataset, rng, size):
        return np.nansum(dataset) + rng.laplace(0, 1, size)

    def of_generator(dataset, rng, size):
        return rng.laplace(0, 1, size)

    options = {"rng": np.random.default_rng(1), "samples": 100}
    assert audit(of_plain, Plain(1.0), Plain(0.0), Claim(1), **options).epsilon_lower <= 1
    assert audit(of_array, np.array([1.0, np.nan]), np.array([np.nan]), Claim(1), **options).epsilon_lower <= 1
    assert audit(of_generator, (i for i in ()), (i for i in ()), Claim(1), **options).epsilon_lower <= 1


def test_changes_inside_objects_are_noticed() -> None:
    def spoils(dataset, rng, size):
        dataset.value += 1
        return dataset.value + rng.laplace(0, 1, size)

    def spoils_dictionary(dataset, rng, size):
        dataset["x"][0] += 1
        return dataset["x"][0] + rng.laplace(0, 1, size)

    with pytest.raises(UnusableOutputs, match="changes its data"):
        audit(spoils, Plain(1.0), Plain(0.0), Claim(1), rng=np.random.default_rng(1), samples=100)
    with pytest.raises(UnusableOutputs, match="changes its data"):
        audit(spoils_dictionary, {"x": np.ones(1)}, {"x": np.zeros(1)}, Claim(1), rng=np.random.default_rng(1), samples=100)


def test_noise_shared_by_a_call_is_noticed() -> None:
    def one_threshold(dataset, rng, size):
        return rng.laplace(0, 1, (size, 3)) > rng.laplace(0, 1)

    def one_constant_place(dataset, rng, size):
        return np.stack((np.full(size, rng.laplace()), rng.laplace(size=size)), axis=1)

    for mechanism in (one_threshold, one_constant_place):
        with pytest.raises(UnusableOutputs, match="share noise"):
            run(mechanism)


def test_a_statistic_must_not_mix_outputs() -> None:
    def noise(dataset, rng, size):
        return rng.laplace(0, 1, size)

    with pytest.raises(InvalidArgument, match="each output by itself"):
        run(noise, statistic=lambda outputs: outputs - outputs[0])
    with pytest.raises(InvalidArgument, match="one number"):
        run(noise, log_ratio=lambda outputs: ["a"] * len(outputs))
    with pytest.raises(InvalidArgument, match="one number"):
        run(noise, log_ratio=lambda outputs: np.zeros((len(outputs), 2)) + outputs[:, np.newaxis])


@pytest.mark.thorough
def test_a_buffer_may_be_used_again() -> None:
    buffer = np.empty(100_000)

    def of_buffer(dataset, rng, size):
        buffer[:size] = dataset[0] + rng.laplace(0, 1, size)
        return buffer[:size]

    options = {"rng": np.random.default_rng(1), "samples": 5_000, "neighboring": "stated"}
    assert 0.5 < audit(of_buffer, (1.0,), (0.0,), Claim(1), **options).epsilon_lower <= 1


def test_empty_outputs_are_outputs() -> None:
    def selects(dataset, rng, size):
        return [["x"] if u < (0.3 if dataset[0] else 0.1) else [] for u in rng.random(size)]

    result = audit(selects, (1.0,), (0.0,), Claim(2), rng=np.random.default_rng(1), samples=3_000, neighboring="stated")
    assert 0.7 < result.epsilon_lower <= np.log(3)


@pytest.mark.thorough
def test_wide_outputs_need_little_memory() -> None:
    def wide(dataset, rng, size):
        return dataset[0] / 1_500 + rng.laplace(0, 1, (size, 1_500))

    assert audit(wide, (1.0,), (0.0,), Claim(1), rng=np.random.default_rng(1), samples=200, neighboring="stated").epsilon_lower <= 1


@pytest.mark.thorough
def test_the_seed_is_given_only_where_it_repeats_the_run() -> None:
    used = np.random.default_rng(7)
    assert audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=used, samples=100).seed == 7
    assert audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=used, samples=100).seed is None
    drawn = np.random.default_rng(7)
    drawn.random()
    assert audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=drawn, samples=100).seed is None


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("options", [{"confidence": "1e-5"}, {"tests": np.int64(3)}, {"samples": np.int64(50)}])
def test_numbers_of_numpy_and_odd_levels_are_fine(options) -> None:
    assert audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=np.random.default_rng(1), **{"samples": 100, **options}).samples > 0


def test_an_error_near_zero_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="1e-300"):
        audit(LaplaceSum(b=1), [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=100, tests=10**400)


class Unreadable(Exception):
    """An error that cannot be shown."""

    def __str__(self) -> str:
        raise ValueError("no")


def test_errors_that_cannot_be_shown() -> None:
    def raises_badly(dataset, rng, size):
        raise Unreadable

    with pytest.raises(MechanismRaised, match="raised Unreadable") as caught:
        run(raises_badly)
    assert caught.value.private == "no readable message"


def test_floating_point_settings_of_a_mechanism_end_with_it() -> None:
    def strict(dataset, rng, size):
        np.seterr(all="raise")
        return dataset[0] + rng.laplace(0, 1, size)

    before = np.geterr()
    assert run(strict).epsilon_lower <= 1
    assert np.geterr() == before


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("effort", ["fast", "normal"])
@pytest.mark.parametrize("shape", [(), (1,), (3,)])
def test_constant_outputs_of_any_shape_are_refused_by_name(shape, effort):
    """Found with vectors: a model was fitted to no features, and its library's error came through."""

    def mechanism(dataset, rng, size):
        return np.ones((size, *shape))

    with pytest.raises(ConstantOutputs, match="the same one on both"):
        audit(mechanism, [0.0], [], Claim(1), rng=np.random.default_rng(1), samples=8_000, effort=effort, mode="fixed")
