"""Misuse of a release: samples that are used or drawn twice, releases that are not counted, files that were shortened."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from accountant import DeltaWarning, DPSGDClassifier, amplify_once, compose, derive_epsilon, draw_sample, write_guarantee
from accountant.curves import Participation, bound_sensitivity, curve_of, draw_batches, make_event, make_matrix
from accountant.data import parse_statistic
from accountant.guarantees import amplify_by_importance_sampling, base_profile
from accountant.interop import read_guarantee, replay
from accountant.interop.dominating import spend
from accountant.onesided import declare_directions
from profiles import InvalidArgument, NotReplayed, OpenHypotheses, SampleUsed, UnreadableFile, declare
from profiles.hypotheses import restore
from profiles.mechanisms import LaplaceSum
from tests.misuse.reading import ids
from tests.targets.suite import gaussian

SPEC = [parse_statistic("z=l1")]
DATA = np.linspace(0.1, 1, 40).reshape(-1, 1)
MECHANISM = LaplaceSum(b=2, radius=1)


def test_one_sample_is_used_twice(assumptions, profile):
    """Two analyses of one sample: log 5, where two fresh samples cost log 4."""
    answer = declare("answer", "w*log(3)/2")
    one = derive_epsilon(answer, q="1/2").guarantee
    assert "one-analysis" in ids(one)
    both = compose(one, one)
    assert "fresh-samples" in ids(both)
    assert amplify_once([answer, answer], q="1/2").bound.upper > both.bound.epsilon
    assert "one-analysis" in assumptions("epsilon", profile(), "--q", "1/2")


def test_shuffled_batches_are_counted_as_poisson_samples(assumptions):
    """A sample of one record in two, counted as Poisson: what is true is far above, and the assumption is told."""
    case = {item.name: item for item in gaussian.CASES}["fixed-size-gaussian"]
    assert case.truth.lower > 3 * case.claimed
    assert "independent-draws" in assumptions("account", "--gaussian", "1", "--sampling", "1/2", "--delta", "0.01")


def test_batches_are_not_drawn_as_they_say(assumptions):
    """One allocation for 20 epochs, counted as 20 fresh ones: the sums of the epochs tell more, and the assumptions are told."""
    fresh, once = (
        curve_of(
            make_event(
                "gaussian",
                {"noise_multiplier": noise},
                count=count,
                batches=draw_batches("random-allocation", "zero-out", steps_per_epoch=5),
            )
        )
        for noise, count in ((4, 16), (1, 1))
    )
    assert fresh.epsilon("1e-2", gap="1/10").upper < once.epsilon("1e-2", gap="1/10").lower
    assert {"batches-drawn", "batches-secret", "fresh-samples"} <= ids(fresh.guarantee)
    told = assumptions(
        "account", "--gaussian", "4", "--batches", "random-allocation", "--steps-per-epoch", "5", "--epochs", "2", "--delta", "0.01"
    )
    assert {"batches-drawn", "batches-secret", "fresh-samples"} <= set(told)


def test_records_take_part_more_often_than_noise_is_made_for(assumptions, tmp_path):
    """Ten participations next to each other, and the coefficients of 100 steps for 1,000: the assumptions are told."""
    coefficients = [1 / np.sqrt(1 + number) for number in range(100)]
    apart, together = (bound_sensitivity(make_matrix(coefficients, 1000), Participation(steps, 10)) for steps in (100, 1))
    assert together.lower > 5 * apart.upper
    short = bound_sensitivity(make_matrix(coefficients, 100), Participation(100, 10))
    assert apart.lower == 10 * short.upper
    np.save(tmp_path / "c.npy", np.array(coefficients))
    given = ("account", "--matrix", str(tmp_path / "c.npy"), "--steps", "1000", "--min-separation", "100", "--delta", "1e-5")
    assert {"matrix-mechanism", "steps-apart", "record-norm"} <= set(assumptions(*given, "--gaussian", "9", "--participations", "3"))
    assert {"matrix-mechanism", "bands-grouped", "fresh-samples"} <= set(assumptions(*given, "--gaussian", "9", "--sampling", "1/2"))


def test_a_sum_is_divided_by_the_size_that_its_batch_happens_to_have(assumptions):
    """A record alone in its batch of a tenth of 20 others moves the mean by 1, not by 1/2; the assumption is told."""
    mean = lambda batch: sum(batch) / len(batch)  # noqa: E731
    assert mean([1]) - mean([0]) == 1 > 1 / 2
    assert "public-divisor" in assumptions(
        "account", "--gaussian", "4", "--records", "20", "--batch-size", "2", "--batches", "shuffle", "--delta", "0.01"
    )


def test_one_sample_serves_all_steps(assumptions):
    """100 steps on one sample of rate 0.1: ε = 7.70, and the assumption is told where 0.876 is printed."""
    shared = curve_of(make_event("gaussian", {"noise_multiplier": 5}, count=100)).subsample("1/10")
    assert shared.epsilon("1e-6").lower > Fraction("7.69")
    assert "fresh-samples" in ids(
        curve_of(make_event("gaussian", {"noise_multiplier": 5}, count=100, sampling_probability="1/10")).guarantee
    )
    assert "fresh-samples" in assumptions(
        "account", "--gaussian", "5", "--sampling", "1/10", "--count", "2", "--delta", "1e-6", "--gap", "0.1"
    )
    with pytest.raises(InvalidArgument, match="one use of a mechanism"):
        curve_of(make_event("laplace", {"scale": 5}, count=100)).subsample("1/10")


def test_the_noise_is_counted_in_another_unit(assumptions):
    """A record of norm 2 with the noise multiplier of norm 1."""
    case = {item.name: item for item in gaussian.CASES}["gaussian-sum-twice-the-sensitivity"]
    assert case.truth.lower > 2 * case.claimed
    assert "sensitivity-one" in assumptions("account", "--gaussian", "2", "--delta", "0.01")


def test_delta_is_not_below_one_in_the_number_of_records(pdp):
    """--delta 0.5 prints epsilon <= 0, of a mechanism that may publish half of all records."""
    code, printed = pdp("account", "--gaussian", "1", "--delta", "0.5")
    assert code == 0
    assert "epsilon <= 0, delta <= 0.5" in printed
    assert "warning: delta = 0.5 is large: publishing each record as it is with this probability has epsilon = 0 at it" in printed
    assert "warning" not in pdp("account", "--gaussian", "1", "--delta", "1e-6")[1]
    model = DPSGDClassifier(noise=2, delta="1e-3", size=2000, rate="1/5", steps=1)
    with pytest.warns(DeltaWarning, match="delta = 0.001 is not below 1/n for about 2000 records"):
        model.fit(np.zeros((10, 1)), np.arange(10) % 2)


def test_a_sample_gives_its_records_away_once():
    """release() twice, a pickled or copied sample."""
    sample = draw_sample(MECHANISM, DATA, target_epsilon=1, specs=SPEC)
    with pytest.raises(SampleUsed):
        pickle.dumps(sample)
    with pytest.raises(SampleUsed):
        copy.deepcopy(sample)
    sample.release(MECHANISM)
    with pytest.raises(SampleUsed):
        sample.release(MECHANISM)


def test_a_sample_is_drawn_again_because_it_was_empty(pdp, profile, table, tmp_path):
    """ "0 selected", so the command is run again until there is something: 37 times epsilon was measured."""
    words = ("sample", profile(), "-e", "1.7", "--data", table(z=[4.0]), "--out", tmp_path / "s.csv")
    code, printed = pdp(*words)
    assert code == 0
    assert "the sample was not redrawn or chosen after it was seen" in printed
    code, printed = pdp(*words[:-1], tmp_path / "t.csv", "--all")
    assert code == 0
    assert "it was not redrawn or chosen after its size or rows were seen" in printed
    assert "use it as it is" in printed
    sample = draw_sample(MECHANISM, DATA, target_epsilon=1, specs=SPEC)
    assert "not-redrawn" in ids(sample.release(MECHANISM).guarantee)  # it may be the tenth that was drawn


def test_the_noise_has_a_known_seed():
    """release(..., np.random.default_rng(0)): the difference of two outputs shows a record."""
    seeded = draw_sample(MECHANISM, DATA, target_epsilon=1, specs=SPEC).release(MECHANISM, np.random.default_rng(0))
    assert "seeded-bits" in ids(seeded.guarantee)
    secure = draw_sample(MECHANISM, DATA, target_epsilon=1, specs=SPEC).release(MECHANISM)
    assert {"secure-bits"} <= ids(secure.guarantee)
    assert "seeded-bits" not in ids(secure.guarantee)


def test_noise_and_sample_have_the_same_seed():
    """default_rng(7) for both: the noise would repeat the draws."""
    sample = draw_sample(MECHANISM, DATA, target_epsilon=1, specs=SPEC, source=7)
    with pytest.raises(InvalidArgument, match="same seed"):
        sample.release(MECHANISM, np.random.default_rng(7))


def test_three_releases_in_a_row():
    """Each says epsilon <= 1; together they cost 3."""
    one = derive_epsilon(declare("count", "w"), q="1").guarantee
    assert "only-release" in ids(one)
    assert compose(one, one, one).bound.epsilon == 3 * one.bound.upper


def test_the_best_of_ten_runs_is_kept(pdp, profile):
    """Run ten times, publish the best: the sentence names the nine that were thrown away, and ten cost ten times as much."""
    one = derive_epsilon(declare("count", "w"), q="1").guarantee
    (said,) = [item for item in one.hypotheses if item.id == "only-release"]
    assert "thrown away" in said.sentence
    assert "best of ten" in said.meaning
    assert compose(*[one] * 10).bound.epsilon == 10 * one.bound.upper
    assert "also of runs thrown away" in pdp("epsilon", profile(), "--q", "1/2")[1]
    assert "looked at and thrown away" in pdp("epsilon", profile(), "--q", "1/2", "--all")[1]
    earlier = "this is the only release about these records: the epsilons of several add up"
    assert restore("only-release", earlier, "this release") == said


def test_a_sum_of_releases_is_computed_on_the_command_line(pdp, profile, tmp_path):
    """pdp compose a.json b.json, from certificates, guarantees and samples."""
    first, second, third = (str(tmp_path / f"{name}.json") for name in "abc")
    assert pdp("epsilon", profile(), "--q", "1/2", "--certificate", first)[0] == 0
    assert pdp("epsilon", profile(), "--q", "1/4", "--guarantee", second)[0] == 0
    code, printed = pdp("compose", first, second, second, "--out", third)
    assert code == 0
    assert "each composed release has a sample of its own, drawn anew" in printed
    assert "each of the composed releases has a sample of its own, drawn anew" in pdp("compose", first, second, second, "--all")[1]
    assert "the only release about these records" in printed
    code, printed = pdp("compose", third, first, "--json")
    assert code == 0
    assert {item["id"] for item in json.loads(printed)["premises"]} >= {"fresh-samples", "declared-profile", "only-release"}


def test_one_more_release_is_added_to_a_sum(pdp, profile, table, tmp_path):
    """The sum of last month, which has a sample twice, and one more release: what was open stays open."""
    one = derive_epsilon(declare("answer", "w*log(3)/2"), q="1/2").guarantee
    other = declare_directions("a count", 1, 1, source="")
    for whole in (compose(compose(one, one)), compose(compose(one, one), other), compose(other, compose(one, one))):
        assert "fresh-samples" in ids(whole)
        assert not any(item.hypothesis.id == "fresh-samples" for item in whole.discharged)
    assert pdp("sample", profile(), "-e", 2, "--data", table(z=[1.0]), "--out", tmp_path / "s.csv")[0] == 0
    sample, two = tmp_path / "s.csv.certificate.json", tmp_path / "two.json"
    assert pdp("compose", sample, sample, "--out", two)[0] == 0
    assert "a sample of its own" in pdp("compose", two)[1]


def test_a_profile_is_composed_as_if_it_were_an_epsilon():
    """compose() of what has no epsilon."""
    with pytest.raises(InvalidArgument, match="take its worst case first"):
        compose(base_profile(declare("count", "w")))


def test_a_sample_is_amplified_twice():
    """Amplification of what was amplified."""
    once = amplify_by_importance_sampling(base_profile(declare("count", "w")), _rule())
    with pytest.raises(InvalidArgument, match="once"):
        amplify_by_importance_sampling(once, _rule())


def test_a_budget_is_raised_in_view_of_an_output(pdp, assumptions, profile, tmp_path):
    """One more answer, because the first one was interesting: the largest budget is then no bound of the whole."""
    names, data = open_ledger(pdp, tmp_path)
    assert pdp("ledger", "charge", names[0], profile(), "--data", data, "--statistic", "z=z", "--name", "one", "--active", names[1])[0] == 0
    assert "raises-fixed" not in assumptions("ledger", "report", names[0])
    code, printed = pdp("ledger", "raise", names[0], "--budget", 8)
    assert code == 0
    assert "has no guarantee" in printed
    for option in ("--guarantee", "--composition"):
        code, printed = pdp("ledger", "report", names[0], option, tmp_path / "promised")
        assert code == 2
        assert "raised without a cap" in printed
    code, printed = pdp("ledger", "report", names[0])
    assert code == 0
    assert "no guarantee: budgets were raised without a cap ex post, Theorem O" in printed
    assert "raises-from-outputs" in printed


def test_a_ledger_is_moved_to_lose_what_it_rests_on(pdp, assumptions, profile, tmp_path):
    """A migration, or a composition that the ledger writes: fewer hypotheses than before?"""
    names, data = open_ledger(pdp, tmp_path)
    assert pdp("ledger", "charge", names[0], profile(), "--data", data, "--statistic", "z=z", "--name", "one", "--active", names[1])[0] == 0
    whole = assumptions("ledger", "report", names[0])
    told = tmp_path / "c.toml"
    assert pdp("ledger", "report", names[0], "--composition", told)[0] == 0
    assert whole <= assumptions("account", told, "--delta", "1e-6")
    assert pdp("ledger", "migrate", names[0], names[2], "--anchor", tmp_path / "other")[0] == 0
    assert whole == assumptions("ledger", "report", names[2])


def test_somebody_who_was_forgotten_comes_back(pdp, assumptions, profile, tmp_path):
    """An id is erased, its account stays, and the person is in the next file: two budgets."""
    names, _ = open_ledger(pdp, tmp_path)
    assert "forgotten-stay-away" not in assumptions("ledger", "report", names[0])
    assert pdp("ledger", "migrate", names[0], names[2], "--anchor", tmp_path / "other", "--forget", "ada")[0] == 0
    assert "forgotten-stay-away" in assumptions("ledger", "report", names[2])
    told = tmp_path / "c.toml"
    assert pdp("ledger", "report", names[2], "--composition", told)[0] == 0
    assert "forgotten-stay-away" in assumptions("account", told, "--delta", "1e-6")


def test_rows_are_clipped_for_the_charge_and_not_for_the_run(pdp, assumptions, profile, tmp_path):
    """A row of 9 is charged for 4: a run on the 9 costs more."""
    names, data = open_ledger(pdp, tmp_path)
    data.write_text("id,z\nada,9\nben,0.5\n")
    words = ("ledger", "charge", names[0], profile(), "--data", data, "--statistic", "z=z", "--name", "one", "--active", names[1])
    assert pdp(*words)[0] == 2
    code, printed = pdp(*words, "--clip", "--json")
    assert code == 0
    assert names[1].read_text().splitlines()[1].endswith('"4"')
    code, printed = pdp("ledger", "report", names[0], "--all")
    assert "moved into its declared range, also in what is run" in printed
    assert "record-statistics" in assumptions("ledger", "report", names[0])


def test_a_quota_is_taken_for_a_budget(pdp, profile, tmp_path):
    """An analyst has a quota of 1 of budgets of 4: what everybody is promised is 4."""
    names, _ = open_ledger(pdp, tmp_path)
    assert pdp("ledger", "quota", names[0], "--analyst", "ada", "--most", "1")[0] == 0
    code, printed = pdp("ledger", "report", names[0], "--json")
    assert code == 0
    assert json.loads(printed)["guarantee"]["epsilon"]["upper"] == "4"


def open_ledger(pdp, folder):
    """A ledger with three names of files, and the data that it was opened with."""
    data, names = folder / "people.csv", [folder / name for name in ("l", "active.csv", "n")]
    data.write_text("id,z\nada,1\nben,0.5\n")
    words = ("ledger", "init", names[0], "--data", data, "--key", "id", "--budget", 4, "--anchor", folder / "anchor")
    assert pdp(*words)[0] == 0
    return names, data


def _rule():
    return derive_epsilon(declare("count", "w"), q="1/2").rule


def test_assumptions_are_cut_out_of_a_file(pdp, profile, table, tmp_path):
    """A guarantee or a sample's certificate with a assumption removed by hand."""
    whole = json.loads(write_guarantee(derive_epsilon(declare("count", "w"), q="1/2").guarantee))
    whole["hypotheses"] = [item for item in whole["hypotheses"] if item["id"] != "only-release"]
    with pytest.raises((NotReplayed, UnreadableFile)):
        replay(read_guarantee(json.dumps(whole)))
    out = tmp_path / "s.csv"
    assert pdp("sample", profile(), "-e", 2, "--data", table(z=[1.0]), "--out", out)[0] == 0
    path = tmp_path / "s.csv.certificate.json"
    certificate = json.loads(path.read_text())
    for name in ("hypotheses", "premises"):
        certificate[name] = certificate[name][1:]
    path.write_text(json.dumps(certificate))
    code, printed = pdp("check", path)
    assert code == 1
    assert "hypotheses" in printed


def test_a_certificate_is_shown_without_what_it_rests_on(pdp, profile, tmp_path):
    """pdp check of the certificate of an epsilon: accepted, and therefore true of the mechanism?"""
    path = tmp_path / "c.json"
    assert pdp("epsilon", profile(), "--q", "1/2", "--certificate", path)[0] == 0
    code, printed = pdp("check", path)
    assert code == 0
    for said in ("unverified assumptions", "has its declared profile", "are used for one run"):
        assert said in printed
    code, printed = pdp("check", path, "--all")
    assert code == 0
    for said in ("not checked here", "has the profile that is declared for it", "used for one run of the declared mechanism"):
        assert said in printed


def test_a_guarantee_goes_to_another_library_without_its_assumptions():
    """Exported without looking at the open hypotheses."""
    found = derive_epsilon(declare("count", "w"), q="1/2").guarantee
    with pytest.raises(OpenHypotheses, match="this is the only release"):
        spend(found, "dp_accounting", accept_hypotheses=False)


def test_a_library_adds_two_uses_of_one_sample():
    """CertifiedAccountant().compose(event, 2)."""
    interop = pytest.importorskip("accountant.interop.dp_accounting", exc_type=ImportError)
    event = interop.make_event(derive_epsilon(declare("answer", "w*log(3)/2"), q="1/2").guarantee, accept_hypotheses=True)
    accountant = interop.CertifiedAccountant().compose(event, 2)
    assert any("sample of its own" in text for text in accountant.hypotheses)
