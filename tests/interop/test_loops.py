"""An account in a training loop: the count is that of the steps, whatever the loop does, and no step exceeds the budget."""

from __future__ import annotations

import copy
import json
import pickle
import threading
import time
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from accountant import compose, read_guarantee, replay, training
from accountant.cli.main import invoke
from accountant.compositions.bounds import bound_epsilon
from accountant.compositions.events import Composition, Direction, make_event
from accountant.curves import PrivacyCurve, account, curve_of, read_composition
from profiles import InvalidArgument, InvalidNumber, UnreadableFile, UnwritableOutput
from profiles.errors import OverBudget
from profiles.protection import USERS, Neighbors, Protection, Unit

SETTINGS = {"noise_multiplier": 2, "batches": "1/10", "delta": "1e-5"}


def events(steps, noise=2):
    return make_event("gaussian", {"noise_multiplier": noise}, sampling_probability="1/10", count=steps)


def true_ends(steps, noise=2):
    alone = [bound_epsilon(Composition("alone", (events(steps, noise),)), Fraction(1, 10**5), item) for item in Direction]
    return max(end.lower for end in alone), max(end.upper for end in alone)


def fit(loop, rng, *, most=10_000):
    """Logistic regression by DP-SGD with nothing but NumPy: returns how often it drew noise, which is what is released."""
    rows, labels = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    weights, drawn = np.zeros(3), 0
    while drawn < most and not loop.is_spent:
        loop.step()
        batch = rng.random(200) < 0.1  # a coin of its own for each record, in each step
        gradients = (1 / (1 + np.exp(-rows[batch] @ weights)) - labels[batch])[:, None] * rows[batch]
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        clipped = gradients / np.maximum(norms, 1.0)
        drawn += 1
        weights -= 0.5 * (clipped.sum(0) + rng.normal(0, 2, 3)) / (0.1 * 200)
    return drawn


def test_a_loop_with_numpy_stops_at_its_budget_and_its_files_say_what_it_ran(tmp_path, capsys):
    with training(**SETTINGS, budget=1, out=tmp_path / "run") as loop:
        drawn = fit(loop, np.random.default_rng(1))
        assert loop.room == 0
        with pytest.raises(OverBudget, match="would cost more than the budget"):
            loop.step()
    assert loop.steps == len(loop) == drawn
    assert true_ends(drawn)[0] <= 1 < true_ends(drawn + 1)[1]
    assert loop.guarantee.bound.upper <= 1
    whole = json.loads((tmp_path / "run.certificate.json").read_text())
    assert [event["count"] for event in whole["composition"]["events"]] == [drawn]
    for name in ("run.certificate.json", "run.guarantee.json"):
        assert invoke(["check", str(tmp_path / name)]) == 0
    capsys.readouterr()
    read = read_guarantee((tmp_path / "run.guarantee.json").read_text())
    assert read.stated.bound == loop.guarantee.bound
    assert {"declared-events", "independent-draws", "fresh-samples", "sensitivity-one"} <= {item.id for item in read.hypotheses}


def test_numbers_are_those_of_pdp_account(capsys):
    with training(**SETTINGS) as loop:
        loop.step(40)
    invoke(["account", "--gaussian", "2", "--sampling", "1/10", "--count", "40", "--delta", "1e-5", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert loop.account().to_json()["epsilon"] == told["epsilon"]


@pytest.mark.thorough
def test_epsilon_so_far_encloses_that_of_the_steps():
    with training(**SETTINGS) as loop:
        assert str(loop) == "0 <= epsilon <= 0"
        for steps in (1, 1, 3, 15, 80):
            loop.step(steps)
            low, high = loop.so_far()
            lower, upper = true_ends(loop.steps)
            assert low <= upper
            assert high >= lower
            assert str(loop).count("<=") == 2


def test_a_step_that_does_not_fit_is_not_counted():
    with training(**SETTINGS, budget="0.6") as loop:
        room = loop.room
        loop.step(room - 1)
        with pytest.raises(OverBudget):
            loop.step(2)
        assert (loop.steps, loop.room) == (room - 1, 1)
        loop.step()
        assert loop.is_spent
        assert loop.so_far()[1] <= Fraction("0.6")
    with training(**SETTINGS, budget="0.01") as small:
        assert small.is_spent
        with pytest.raises(OverBudget):
            small.step()
    assert small.steps == 0


def break_after(loop, steps, act=lambda: None):
    with loop:
        loop.step(steps)
        act()
        raise ZeroDivisionError


def test_an_exception_keeps_the_count_and_the_files_are_written(tmp_path):
    loop = training(**SETTINGS, out=tmp_path / "run")
    with pytest.raises(ZeroDivisionError) as caught:
        break_after(loop, 7)
    assert loop.steps == 7
    assert json.loads((tmp_path / "run.certificate.json").read_text())["composition"]["events"][0]["count"] == 7
    assert not getattr(caught.value, "__notes__", [])


def test_files_that_cannot_be_written_do_not_hide_the_error_of_the_loop(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    loop = training(**SETTINGS, out=folder / "run")
    with pytest.raises(ZeroDivisionError) as caught:
        break_after(loop, 1, folder.rmdir)
    assert "were not written" in caught.value.__notes__[0]
    assert list(tmp_path.iterdir()) == []


def test_two_loops_and_nested_accounts_each_count_their_own():
    with training(**SETTINGS) as outer:
        for _ in range(3):
            outer.step()
        with training(**{**SETTINGS, "noise_multiplier": 3}) as inner:
            for _ in range(5):
                inner.step()
                outer.step()
        for _ in range(2):
            outer.step()
    assert (outer.steps, inner.steps) == (10, 5)
    both = outer.curve.compose(inner.curve)
    assert [event.count for event in both.composition.events] == [10, 5]
    assert "only-release" in {item.id for item in outer.hypotheses}  # no account knows of the other one


@pytest.mark.parametrize("noise", [2, 3])
def test_a_resumed_run_counts_what_went_before(noise):
    with training(**SETTINGS) as first:
        first.step(20)
    assert [event.count for event in read_composition(first.state()).composition.events] == [20]
    with training(**{**SETTINGS, "noise_multiplier": noise}) as second:
        second.resume(first.state())
        assert second.steps == 20
        second.step(10)
    again = curve_of(Composition("both", (events(20), events(10, noise))))
    assert second.steps == 30
    assert second.curve.composition.events == again.composition.events
    assert second.account().point.upper == account(again, delta="1e-5").point.upper
    third = training(**SETTINGS)
    third.resume(second.state())
    assert third.steps == 30


def test_a_budget_is_for_all_steps_of_a_resumed_run():
    with training(**SETTINGS, budget=1) as whole:
        most = whole.room
        whole.step(most - 4)
    with training(**SETTINGS, budget=1) as rest:
        rest.resume(whole.state())
        assert rest.room == 4
        rest.step(4)
        with pytest.raises(OverBudget):
            rest.step()
    assert rest.guarantee.bound.upper <= 1


def test_hypotheses_and_protection_of_an_earlier_state_stay():
    earlier = read_composition(
        'name = "a year"\nunit = "user"\n[[event]]\nmechanism = "pure"\nepsilon = "0.1"\n[[hypothesis]]\nid = "stated"\n'
        'sentence = "the histogram is of one table"\nhead = "your data"\n'
    )
    with training(**SETTINGS, protection=USERS) as loop:
        loop.resume(earlier)
        loop.step(2)
    told = loop.guarantee
    assert told.protection.unit is Unit.USER
    assert {"stated", "neighbors-assumed"} <= {item.id for item in told.hypotheses}
    with pytest.raises(InvalidArgument, match="other units"):
        training(**SETTINGS).resume(earlier)


def test_a_guarantee_composes_and_replays(tmp_path):
    with training(**SETTINGS, out=tmp_path / "run") as loop:
        loop.step(5)
    again = replay(read_guarantee((tmp_path / "run.guarantee.json").read_text()))
    assert again.bound == loop.guarantee.bound
    assert compose(again, loop.guarantee).bound.upper <= 2 * loop.guarantee.bound.upper
    assert isinstance(loop.curve, PrivacyCurve)


def test_a_loader_that_says_its_rate_is_taken_and_others_are_refused():
    with training(noise_multiplier=2, batches=SimpleNamespace(sample_rate=0.125), delta="1e-5") as loop:
        loop.step()
    assert loop.curve.composition.events[0].sampling_probability == Fraction(1, 8)
    with training(noise_multiplier=2, batches={"sampling_probability": "1/8"}, delta="1e-5") as loop:
        loop.step()
    assert loop.curve.composition.events[0].sampling_probability == Fraction(1, 8)
    shuffled = SimpleNamespace(batch_size=8, sampler=None, batch_sampler=None)
    for wrong in (shuffled, [1, 2], iter([]), {"sampling": "shuffle"}, {}):
        with pytest.raises(InvalidArgument):
            training(noise_multiplier=2, batches=wrong, delta="1e-5")


def test_use_outside_of_the_block_is_refused():
    loop = training(**SETTINGS)
    with pytest.raises(InvalidArgument, match="not open"):
        loop.step()
    with loop:
        loop.step()
        with pytest.raises(InvalidArgument, match="entered once"):
            loop.__enter__()
        with pytest.raises(InvalidArgument, match="before the first step"):
            loop.resume(loop.state())
    with pytest.raises(InvalidArgument, match="not open"):
        loop.step()
    with pytest.raises(InvalidArgument, match="entered once"):
        loop.__enter__()
    assert loop.steps == 1


def test_a_run_without_steps_has_nothing_to_write(tmp_path):
    with pytest.raises(InvalidArgument, match="no step was counted"), training(**SETTINGS, out=tmp_path / "run"):
        pass
    with pytest.raises(InvalidArgument, match="no step was counted"):
        training(**SETTINGS).state()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"noise_multiplier": 0}, InvalidArgument), ({"noise_multiplier": "x"}, InvalidNumber), ({"noise_multiplier": -1}, InvalidArgument),
     ({"batches": 0}, InvalidArgument), ({"batches": 2}, InvalidArgument), ({"batches": float("nan")}, InvalidNumber),
     ({"batches": None}, InvalidNumber), ({"delta": 0}, InvalidArgument), ({"delta": 1}, InvalidArgument), ({"delta": "x"}, InvalidNumber),
     ({"budget": -1}, InvalidArgument), ({"budget": float("inf")}, InvalidNumber), ({"protection": "record"}, InvalidArgument),
     ({"out": "/nowhere/at/all/run"}, UnwritableOutput)],
)  # fmt: skip
def test_other_numbers_are_refused_in_a_sentence(changes, error):
    with pytest.raises(error, match=";"):
        training(**{**SETTINGS, **changes})


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "many", None])
def test_steps_are_whole_and_positive(count):
    with training(**SETTINGS) as loop:
        with pytest.raises(InvalidArgument):
            loop.step(count)
        assert loop.steps == 0


@pytest.mark.parametrize("state", ["", "name = 3", 'name = "n"', None, 3, {"steps": 4}])
def test_no_state_is_refused(state):
    loop = training(**SETTINGS)
    with pytest.raises((InvalidArgument, UnreadableFile)):
        loop.resume(state)
    with loop:
        loop.step()
    assert loop.steps == 1


@pytest.mark.parametrize("neighbors", ["add-remove", "zero-out", "replace-one"])
@pytest.mark.parametrize("rate", ["1", "1/10"])
def test_the_noise_is_that_over_the_norm_whatever_the_neighbors_are(neighbors, rate, capsys):
    """A unit in place of another moves a sum by twice the norm: with the noise of add/remove the bound would be of half of that."""
    options = ["--gaussian", "2", "--sampling", rate, "--count", "3", "--neighbors", neighbors, "--delta", "1e-5", "--json"]
    assert invoke(["account", *options]) == 0
    told = json.loads(capsys.readouterr().out)
    with training(noise_multiplier=2, batches=rate, delta="1e-5", protection=Protection(Unit.RECORD, Neighbors(neighbors))) as loop:
        loop.step(3)
    found = loop.account()
    assert found.to_json()["epsilon"] == told["epsilon"]
    assert found.guarantee.protection.neighbors is Neighbors(neighbors)
    if rate == "1":
        mu = 3**0.5 / 2 * (2 if neighbors == "replace-one" else 1)
        plain = curve_of(make_event("gaussian", {"noise_multiplier": Fraction(1 / mu)})).epsilon("1e-5")
        assert float(found.point.upper) == pytest.approx(float(plain.upper), rel=1e-6)
    again = curve_of(read_composition(loop.state()))
    assert again.composition == loop.curve.composition
    assert again.guarantee.protection == found.guarantee.protection


def test_steps_of_an_earlier_state_that_counts_noise_otherwise_are_refused():
    """A file that says no neighbors is about one unit more or less, and its noise is not that of a replaced one."""
    state = 'name = "earlier"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 2\ncount = 3\n'
    loop = training(noise_multiplier=2, batches=1, delta="1e-5", protection=Protection(Unit.RECORD, Neighbors.REPLACE_ONE))
    with pytest.raises(InvalidArgument, match="twice the norm"):
        loop.resume(state)
    with loop:
        loop.step()
    assert loop.steps == 1


_EARLIER = {
    "other noise after steps alike": (
        'sampling_probability = "0.1"\nnoise_multiplier = 2\ncount = 10\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 1\n'
    ),
    "epochs": 'sampling = "random-allocation"\nsteps_per_epoch = 10\nepochs = 3\nnoise_multiplier = 1\n',
    "other steps after steps alike": (
        'sampling_probability = "0.1"\nnoise_multiplier = 2\ncount = 10\n[[event]]\nmechanism = "gaussian"\n'
        'sampling_probability = "0.5"\nnoise_multiplier = 1\ncount = 2\n'
    ),
}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("earlier", "budget"), [(name, None) for name in _EARLIER] + [("epochs", 9)])
def test_what_is_shown_after_an_earlier_state_is_about_all_of_it(earlier, budget):
    """Epochs were counted as steps, and events merged where they came first: 1.2 was shown where 7.4 was lost."""
    state = 'name = "earlier"\nneighbors = "add-remove"\n[[event]]\nmechanism = "gaussian"\n' + _EARLIER[earlier]
    loop = training(noise_multiplier=2, batches="0.1", delta="1e-5", budget=budget)
    loop.resume(state)
    with loop:
        for _ in range(2):
            loop.step(2)
            low, high = loop.so_far()
            told = curve_of(read_composition(loop.state())).epsilon("1e-5", gap="1/20")
            assert low <= told.upper
            assert high >= told.lower
            assert high <= told.upper * 2
    assert loop.steps == 4 + (30 if earlier == "epochs" else 12 if "steps" in earlier.split(" after")[0] else 11)


def test_threads_do_not_count_past_the_budget_together(monkeypatch):
    """Both looked at the same number of steps while the budget was searched, and both were allowed the last one."""
    loop, done = training(**SETTINGS), []
    monkeypatch.setattr(loop, "_find_most", lambda: time.sleep(0.05) or 1)

    def count():
        with suppress(OverBudget, InvalidArgument):
            loop.step()
            done.append(1)

    with loop:
        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (loop.steps, len(done)) == (1, 1)


#: What a loop may say of its batches: the settings, and those of ``pdp account`` for so many uses (steps, or epochs).
SCHEMES = {
    "none": ({"sampling": "none"}, ["--batches", "none"], "--count"),
    "poisson": ({"records": 100, "batch_size": 10}, ["--records", "100", "--batch-size", "10"], "--count"),
    "fixed-size": (
        {"sampling": "fixed-size", "records": 100, "batch_size": 10},
        ["--batches", "fixed-size", "--records", "100", "--batch-size", "10"],
        "--count",
    ),
    "with-replacement": (
        {"sampling": "with-replacement", "records": 100, "batch_size": 10},
        ["--batches", "with-replacement", "--records", "100", "--batch-size", "10"],
        "--count",
    ),
    "truncated-poisson": (
        {"sampling": "truncated-poisson", "records": 100, "batch_size": 10, "limit": 14},
        ["--batches", "truncated-poisson", "--records", "100", "--batch-size", "10", "--limit", "14"],
        "--count",
    ),
    "random-allocation": (
        {"sampling": "random-allocation", "steps_per_epoch": 10},
        ["--batches", "random-allocation", "--steps-per-epoch", "10"],
        "--epochs",
    ),
    "shuffle": ({"sampling": "shuffle", "records": 105, "batch_size": 10}, ["--batches", "shuffle", "--steps-per-epoch", "10"], "--epochs"),
}
#: Of these pairs nothing is proved.
UNKNOWN = {("with-replacement", "zero-out")}


def train(loop, uses, *, by_epochs):
    for _ in range(uses):
        if by_epochs:
            loop.epoch()
        loop.step()


#: The slow ones are those of half a minute.
PAIRS = [
    pytest.param(scheme, neighbors, marks=pytest.mark.slow if (scheme, neighbors) == ("random-allocation", "replace-one") else ())
    for scheme in SCHEMES
    for neighbors in ("add-remove", "zero-out", "replace-one")
]


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize(("scheme", "neighbors"), PAIRS)
def test_each_scheme_has_the_number_of_pdp_account(scheme, neighbors, capsys):
    """Two uses: an epoch that was begun counts as one, though a single step of it was run."""
    batches, options, often = SCHEMES[scheme]
    settings = {"noise_multiplier": 2, "delta": "1e-5", "protection": Protection(Unit.RECORD, Neighbors(neighbors)), "batches": batches}
    if (scheme, neighbors) in UNKNOWN:
        with pytest.raises(InvalidArgument, match="none is proved"):
            training(**settings)
        return
    with training(**settings) as loop:
        train(loop, 2, by_epochs=often == "--epochs")
    assert loop.steps == 2
    assert invoke(["account", "--gaussian", "2", *options, often, "2", "--neighbors", neighbors, "--delta", "1e-5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = loop.account()
    assert found.to_json()["epsilon"] == told["epsilon"]
    assert found.guarantee.protection.neighbors is Neighbors(neighbors)
    assert {item["id"] for item in told["premises"]} <= {item.id for item in loop.hypotheses}
    low, high = loop.so_far()
    assert low <= found.point.upper
    assert high is None or high >= found.point.lower
    assert curve_of(read_composition(loop.state())).composition == loop.curve.composition


ALLOCATED = {"noise_multiplier": 2, "batches": {"sampling": "random-allocation", "steps_per_epoch": 10}, "delta": "1e-5"}


def test_an_epoch_that_is_left_in_the_middle_counts_as_a_whole_one():
    """Whoever draws anew after a few steps has begun an epoch more: counting steps would take ten such for one."""
    with training(**ALLOCATED) as loop:
        for _ in range(3):
            loop.epoch()
            loop.step(4)
        assert loop.steps == 12
        loop.epoch()
        loop.step(10)
    (event,) = loop.curve.composition.events
    assert (loop.steps, event.count) == (22, 4)


def test_steps_of_no_epoch_are_refused():
    with training(**ALLOCATED) as loop:
        with pytest.raises(InvalidArgument, match=r"call epoch\(\)"):
            loop.step()
        loop.epoch()
        loop.step(9)
        with pytest.raises(InvalidArgument, match=r"call epoch\(\)"):
            loop.step(2)
        assert loop.steps == 9
        loop.step()
        with pytest.raises(InvalidArgument, match=r"call epoch\(\)"):
            loop.step()
    assert (loop.steps, loop.curve.composition.events[0].count) == (10, 1)


def test_an_epoch_of_steps_that_are_drawn_by_themselves_costs_nothing():
    with training(**SETTINGS, budget=1) as loop:
        most = loop.room
        loop.epoch()
        assert (loop.room, loop.steps) == (most, 0)
        loop.step(3)
        loop.epoch()
        assert (loop.room, loop.steps) == (most - 3, 3)
    with pytest.raises(InvalidArgument, match="not open"):
        loop.epoch()


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "noise", "steps"), [("random-allocation", 2, 10), ("shuffle", 4, 11)])
def test_a_budget_is_for_whole_epochs(scheme, noise, steps, tmp_path, capsys):
    """Of 105 records in batches of 10 a loader makes 11 steps: that many are told, and 10 are accounted for."""
    with training(noise_multiplier=noise, batches=SCHEMES[scheme][0], delta="1e-5", budget=6, out=tmp_path / "run") as loop:
        most = loop.room // steps
        assert most > 1
        for _ in range(most - 1):
            loop.epoch()
        assert loop.room == 2 * steps
        loop.step(4)
        assert (loop.room, loop.is_spent) == (2 * steps - 4, False)
        loop.epoch()
        assert (loop.room, loop.is_spent) == (steps, False)
        with pytest.raises(OverBudget, match="another epoch"):
            loop.epoch()
        loop.step(steps)
        assert loop.is_spent
        assert loop.room == 0
        low, high = loop.so_far()
        assert low <= high <= 6
    told = loop.account().point
    assert told.upper <= 6
    for name in ("run.certificate.json", "run.guarantee.json"):
        assert invoke(["check", str(tmp_path / name)]) == 0
        assert f"{most} epochs" in capsys.readouterr().out
    alone = replace(loop.curve.composition.events[0], count=most + 1)
    assert curve_of(alone).epsilon_above("1e-5", gap="1/1000") > 6


@pytest.mark.thorough
def test_a_run_goes_on_in_an_epoch_of_its_own():
    """The order of the epoch that was left is not that of a loader which is made again."""
    with training(**ALLOCATED, budget=6) as first:
        first.epoch()
        first.step(3)
    with training(**ALLOCATED, budget=6) as second:
        second.resume(first.state())
        assert (second.steps, second.room) == (10, first.room - 7)
        with pytest.raises(InvalidArgument, match=r"call epoch\(\)"):
            second.step()
        second.epoch()
        second.step(2)
    assert second.curve.composition.events[0].count == 2
    with pytest.raises(InvalidArgument, match="before the first step"):
        second.resume(first.state())


def test_an_epoch_without_steps_counts_and_has_files(tmp_path):
    with training(**ALLOCATED, out=tmp_path / "run") as loop:
        loop.epoch()
        with pytest.raises(InvalidArgument, match="before the first step"):
            loop.resume(loop.state())
    assert loop.steps == 0
    assert json.loads((tmp_path / "run.certificate.json").read_text())["composition"]["events"][0]["epochs"] == 1
    assert str(loop).startswith("0.")


@pytest.mark.parametrize(
    "batches",
    [{"sampling": "shuffle"}, {"sampling": "bins", "steps_per_epoch": 3}, {"count": 3, "sampling_probability": "0.1"},
     {"sampling": "random-allocation", "steps_per_epoch": 10, "epochs": 3}, {"sampling": "fixed-size", "records": 10},
     {"sampling": "fixed-size", "records": 10, "batch_size": 11}, {"sampling": "random-allocation", "steps_per_epoch": 1},
     {"sampling": "none", "sampling_probability": "0.1"}, {"rate": "0.1"}, {"sampling": "shuffle", "steps_per_epoch": 2.5}, {1: 2}],
)  # fmt: skip
def test_other_batches_are_refused_in_a_sentence(batches):
    with pytest.raises(InvalidArgument, match=";"):
        training(noise_multiplier=2, batches=batches, delta="1e-5")


@pytest.mark.thorough
def test_a_progress_bar_of_batches_whose_ends_are_apart_is_as_quick_as_others():
    """Cells were made finer to bring together what does not come together: 45 seconds for 50 epochs that are shuffled."""
    with training(noise_multiplier=3, batches=SCHEMES["shuffle"][0], delta="1e-5") as loop:
        before = time.process_time()
        for _ in range(3):
            loop.epoch()
            loop.step()
        low, high = loop.so_far()
        assert time.process_time() - before < 8
    told = loop.account().point
    assert told.lower * Fraction(97, 100) <= low <= told.upper
    assert told.lower <= high <= told.upper * Fraction(102, 100)


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_account_is_not_copied(copied):
    """Two of them would have the budget of one each; a worker's count would be lost."""
    with training(**SETTINGS) as loop, pytest.raises(InvalidArgument, match=r"keep state\(\)"):
        copied(loop)
