"""Declarations that say something else than is true: neighbors, units, numbers in another measure, keys that nobody reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accountant import DPKMeans, declare, derive_epsilon, training
from accountant.curves import Composition, curve_of, make_event, read_composition
from accountant.guarantees import declare_events, subsample
from profiles import InvalidArgument, InvalidNumber, InvalidProfile, UnreadableFile
from tests.misuse.reading import ids


def _sensitivity(*events, **protection):
    """What is said of the sensitivity of events."""
    made = declare_events(Composition("events", tuple(events)), **protection)
    (said,) = [item.sentence for item in made.hypotheses if item.id == "sensitivity-one"]
    return said


def test_an_epsilon_of_replaced_records_is_taken_for_one_of_added_records():
    """mechanism = "pure" with the epsilon of another tool, and then a sample."""
    event = make_event("randomized-response", {"epsilon": 1})
    assert "neighbors-assumed" in ids(curve_of(event).guarantee)
    replaced = declare_events(curve_of(event).composition, neighbors="replace-one")
    assert "neighbors-assumed" not in ids(replaced)
    assert replaced.protection.describe() == "one record is replaced by another"
    with pytest.raises(InvalidArgument, match="holds for neighbors add-remove, but one record is replaced by another"):
        subsample(replaced, "1/100")


def test_noise_over_the_norm_of_a_record_is_taken_for_noise_over_the_change():
    """A file of an earlier release, in which a replaced record moved a sum by 1: it is not read with another meaning, nor is an event."""
    text = 'name = "x"\nneighbors = "replace-one"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 2\n'
    with pytest.raises(UnreadableFile, match='sampling = "none"'):
        read_composition(text)
    with pytest.raises(InvalidArgument, match="twice the norm of a record"):
        curve_of(make_event("gaussian", {"noise_multiplier": 2}), neighbors="replace-one")
    assert "record-norm" in ids(curve_of(read_composition(f'{text}sampling = "none"\n')).guarantee)


def test_the_sensitivity_is_that_of_a_mean():
    """Noise for 1/n on a mean: what one record more or less moves is named."""
    assert (
        _sensitivity(make_event("laplace", {"scale": 2}))
        == "one record more or less changes what each noise is added to by at most 1: one number (laplace)"
    )


def test_a_batch_is_clipped_in_place_of_each_gradient():
    """The mean gradient, clipped to norm 1."""
    assert "one record more or less changes" in _sensitivity(make_event("gaussian", {"noise_multiplier": 1}, sampling_probability="1/10"))
    assert "a vector in the Euclidean norm" in _sensitivity(make_event("gaussian", {"noise_multiplier": 1}))


def test_a_unit_is_declared_and_the_noise_is_for_rows():
    """unit = "user" beside noise for the norm of a row."""
    assert _sensitivity(make_event("gaussian", {"noise_multiplier": 1}), unit="user").startswith("one user more or less changes")


def test_integer_noise_is_added_to_decimals():
    """discrete-laplace on numbers in steps of 0.1."""
    assert _sensitivity(make_event("discrete-laplace", {"scale": 1})).endswith("one integer (discrete-laplace)")
    assert _sensitivity(make_event("discrete-gaussian", {"noise_multiplier": 1})).endswith("one integer (discrete-gaussian)")


def test_a_rate_is_given_in_percent(pdp, profile):
    """sampling_probability = 10, --q 10, --sampling 1.5."""
    with pytest.raises(InvalidArgument, match=r"must lie in \(0, 1\]"):
        make_event("gaussian", {"noise_multiplier": 1}, sampling_probability=10)
    assert pdp("account", "--gaussian", "1", "--sampling", "1.5", "--delta", "1e-6")[0] == 2
    code, printed = pdp("epsilon", profile(), "--q", "10")
    assert code == 2
    assert "q must be a probability" in printed


def test_a_delta_is_given_in_percent(pdp):
    """--delta 5."""
    with pytest.raises(InvalidArgument, match="delta must lie in"):
        curve_of(make_event("gaussian", {"noise_multiplier": 1})).at_delta(5)
    assert pdp("account", "--gaussian", "1", "--delta", "5")[0] == 2


def test_a_key_is_misspelt(pdp, profile):
    """sampling_rate for sampling_probability would be no sampling."""
    with pytest.raises(UnreadableFile, match="unknown key 'sampling_rate'"):
        read_composition('name = "t"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 1\nsampling_rate = 0.1\n')
    code, printed = pdp("verify", profile(rest="epsilom = 3"), "-e", "1")
    assert code == 2
    assert "unknown" in printed


def test_a_profile_forgets_the_weight(pdp, profile):
    """epsilon = "z/b" is a mechanism to which weights do nothing."""
    with pytest.raises(InvalidProfile, match="does not contain the weight w"):
        derive_epsilon(declare("sum", "z", record={"z": [0, 1]}), q="1/2")
    assert pdp("verify", profile("z/b"), "-e", "1")[0] == 2


def test_a_range_has_its_ends_exchanged(pdp, profile):
    """z = [4, 0]."""
    with pytest.raises(InvalidProfile, match="the range of z is empty"):
        declare("sum", "w*z", record={"z": [4, 0]})
    assert pdp("verify", profile(z="[4, 0]"), "-e", "1")[0] == 2


@pytest.mark.parametrize("given", [0, -1, float("nan"), float("inf"), True, "nothing"])
def test_an_epsilon_is_zero_negative_infinite_or_no_number(given):
    """epsilon=0 of an estimator, an event, a profile."""
    with pytest.raises((InvalidArgument, InvalidNumber)):
        DPKMeans(3, epsilon=given, radius=1).fit([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
    if given != 0 or given is True:
        with pytest.raises((InvalidArgument, InvalidNumber)):
            make_event("pure", {"epsilon": given})
    if not isinstance(given, str):
        with pytest.raises((InvalidArgument, InvalidNumber, InvalidProfile)):
            derive_epsilon(declare("sum", "-w"), q="1/2")


def test_an_epoch_that_is_left_in_the_middle_is_counted_by_its_steps():
    """Ten first steps of epochs that are drawn anew: ten epochs, and not one; and nothing is told of steps without one."""
    batches = {"sampling": "random-allocation", "steps_per_epoch": 10}
    with training(noise_multiplier=2, batches=batches, delta="1e-5") as loop:
        with pytest.raises(InvalidArgument, match="call epoch"):
            loop.step(10)
        for _ in range(10):
            loop.epoch()
            loop.step()
    whole, one = loop.curve.epsilon("1e-5", gap="1/10"), curve_of(replace(loop.curve.composition.events[0], count=1))
    assert whole.lower > 3 * one.epsilon("1e-5", gap="1/10").upper
    assert "declared-events" in ids(loop.guarantee)
