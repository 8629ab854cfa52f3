"""What is released, what it promises, and that nothing else depends on the data."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from accountant.amplification import amplify_add
from accountant.applications.clustering import (
    DistanceRows,
    Multiplicities,
    PrivateMetricClustering,
    bound_cost,
    measure_points,
    private,
    read_distances,
    selection,
)
from accountant.applications.clustering.private import FORM
from accountant.applications.clustering.records import MetricRecords
from accountant.applications.clustering.space import UNITS, MetricSpace
from accountant.guarantees import ARITHMETIC, EXACT_REALS, render
from accountant.guarantees.measures import Notion
from profiles import InvalidArgument, InvalidNumber, InvalidTarget
from profiles.hypotheses import OF_SAMPLES, SECURE_BITS, SEEDED_BITS
from tests.targets.laws.clustering import release_law

SPACE = read_distances([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
FORMS = [{"rounds": 2}, {"n_bound": 3}, {"size_share": "0.1"}, {"rounds": 9}]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("histogram", ["sampled", "full"])
@pytest.mark.parametrize("calibration", ["optimal", "corollary"])
@pytest.mark.parametrize("epsilon", ["0.01", "7/2"])
def test_the_guarantee_is_the_target(form, histogram, calibration, epsilon):
    model = PrivateMetricClustering(SPACE, 2, epsilon, histogram=histogram, calibration=calibration, **form)
    guarantee, target = model.guarantee, Fraction(epsilon)
    assert guarantee.notion is Notion.ADD_REMOVE_DP
    assert 0 < guarantee.bound.epsilon <= target
    if calibration == "optimal":
        assert guarantee.bound.epsilon > target * Fraction(999_999, 1_000_000)
    assert ARITHMETIC in guarantee.hypotheses
    assert EXACT_REALS not in guarantee.hypotheses
    budget = model.budget
    one_sided = budget.size + budget.selection + (0 if budget.full else budget.histogram)
    assert one_sided == (budget.plan.epsilon0 if budget.plan else 0)
    assert (budget.size > 0) == ("size_share" in form)
    answer = model.run([0, 1, 2, 2], np.random.default_rng(0))
    assert answer.guarantee.bound == guarantee.bound
    assert (SECURE_BITS in answer.guarantee.hypotheses) == (budget.plan is not None)
    assert SEEDED_BITS in answer.guarantee.hypotheses
    for item in OF_SAMPLES:  # open until a run draws its sample and drops it
        assert (item in guarantee.hypotheses) == (budget.plan is not None)
        assert item not in answer.guarantee.hypotheses


def test_everything_is_selected_where_the_number_of_rounds_says_so_publicly():
    model = PrivateMetricClustering(SPACE, 1, 1, rounds=50)
    assert model.public_rounds == 3
    assert model.budget.selection == 0
    assert model.run([0], np.random.default_rng(0)).selected == (0, 1, 2)
    full = PrivateMetricClustering(SPACE, 1, 1, rounds=50, histogram="full")
    assert full.budget.plan is None
    assert full.budget.histogram == 1
    assert "Poisson" not in render(full.guarantee)


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize(
    "data", [[], [0], [2] * 50, Multiplicities([0, 9, 0]), DistanceRows([[9.0, 8.0, 7.0]]), DistanceRows([[math.inf] * 3])]
)
@pytest.mark.parametrize("histogram", ["sampled", "full"])
def test_all_data_sets_give_k_centres_and_the_same_guarantee(form, data, histogram):
    model = PrivateMetricClustering(SPACE, 2, 1, power=2, histogram=histogram, **form)
    answer = model.run(data, np.random.default_rng(3), bits=4)
    assert len(set(answer.centres)) == 2
    assert list(answer.centres) == sorted(answer.centres)
    assert len(answer.weights) == len(answer.selected)
    assert min(answer.weights) >= 0
    assert answer.guarantee == dataclasses.replace(model).run([1, 1], np.random.default_rng(8), bits=4).guarantee
    if "size_share" not in form:
        assert len(answer.selected) == model.public_rounds


def test_the_same_seeds_give_the_same_answer_in_every_form():
    model = PrivateMetricClustering(SPACE, 1, 1, rounds=2)
    data = [0, 0, 1, 2, 2, 2]
    found = [
        model.run(form, np.random.default_rng(5), bits=6)
        for form in (data, np.array(data, dtype=np.uint8), Multiplicities([2, 1, 3]), DistanceRows(SPACE.distances[data]))
    ]
    assert all(item == found[0] for item in found)
    model.run(data, None)  # both from the secure source


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("options", [{"rounds": 1}, {"rounds": 2, "histogram": "full"}, {"size_share": "1/2"}])
def test_the_frequencies_of_releases(options):
    """What is run has the law that is compared over all neighbors in test_law.py: what is selected, and its noisy counts."""
    model = PrivateMetricClustering(SPACE, 1, 2, split="2/3", **options)
    data, most = [0, 2, 2], 3
    full, rate, p = model.budget.full, float(model.budget.histogram), model.budget.plan.p if model.budget.plan else 1.0
    bias = 0.0 if full else 1 / math.expm1(rate)
    law: dict[tuple, float] = {}
    for (_, chosen, cells), chance in release_law(model, data, most=most).items():
        key = (chosen, tuple(cell if cell > bias else -1 for cell in cells))
        law[key] = law.get(key, 0.0) + float(chance)
    rng, bits, runs = np.random.default_rng(1), np.random.default_rng(2), 300
    seen = dict.fromkeys(law, 0)
    for _ in range(runs):
        answer = model.run(data, rng, bits=bits)
        cells = [round(weight * (1 if full else p) + bias, 6) if weight else -1 for weight in answer.weights]
        seen[answer.selected, tuple(min(int(cell), most) for cell in cells)] += 1
    rare = [key for key in law if law[key] * runs < 5]
    common = [key for key in law if law[key] * runs >= 5]
    found = [*(seen[key] for key in common), sum(seen[key] for key in rare)]
    assert chisquare(found, [*(law[key] * runs for key in common), sum(law[key] for key in rare) * runs]).pvalue > 1e-7


@pytest.mark.parametrize("histogram", ["sampled", "full"])
@pytest.mark.parametrize("form", FORMS)
def test_every_draw_has_the_rate_of_its_budget(form, histogram, monkeypatch):
    """All that is drawn, in order, with its rate; and the sample with p. Statistics on tiny instances would not see a rate that is off."""
    model = PrivateMetricClustering(SPACE, 1, 1, histogram=histogram, split="1/3", **form)
    drawn: list[tuple] = []

    def record(module, name, place):
        original = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *arguments: drawn.append((name, arguments[place])) or original(*arguments))

    made = selection.ExponentialDraws
    monkeypatch.setattr(selection, "ExponentialDraws", lambda rate, digits: drawn.append(("selection", rate)) or made(rate, digits))
    record(private, "draw_geometric", 0)
    record(private, "draw_discrete_laplace", 0)
    sampling = MetricRecords.sample
    monkeypatch.setattr(MetricRecords, "sample", lambda self, p, sampler: drawn.append(("sample", p)) or sampling(self, p, sampler))
    answer = model.run([0, 1, 1], np.random.default_rng(0))
    budget, rounds = model.budget, len(answer.selected)
    expected: list[tuple] = [("sample", budget.plan.p)] if budget.plan else []
    expected += [("draw_geometric", budget.size)] if "size_share" in form else []
    expected += [("selection", budget.selection / UNITS)] if budget.selection else []
    expected += [("draw_discrete_laplace" if budget.full else "draw_geometric", budget.histogram)] * rounds
    assert drawn == expected


def test_weights_are_unbiased_where_they_are_not_cut():
    for histogram in ("sampled", "full"):
        model = PrivateMetricClustering(SPACE, 1, 1, rounds=3, histogram=histogram)
        rng = np.random.default_rng(4)
        found = np.array([model.run(Multiplicities([400, 0, 300]), rng, bits=rng).weights for _ in range(60)])
        spread = 5.5 * found.std(axis=0) / math.sqrt(60)
        assert abs(found[:, 0].mean() - 400) <= spread[0]
        assert abs(found[:, 2].mean() - 300) <= spread[2]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 0}, InvalidArgument, "k must be"),
        ({"k": 4}, InvalidArgument, "k must be"),
        ({"k": True}, InvalidArgument, "k must be"),
        ({"power": 3}, InvalidArgument, "power"),
        ({"epsilon": 0}, InvalidTarget, "epsilon"),
        ({"epsilon": "x"}, InvalidTarget, "epsilon"),
        ({"rounds": None}, InvalidArgument, "exactly one"),
        ({"n_bound": 3}, InvalidArgument, "exactly one"),
        ({"rounds": 1}, InvalidArgument, "rounds"),
        ({"rounds": None, "n_bound": 0}, InvalidArgument, "n_bound"),
        ({"rounds": None, "size_share": 1}, InvalidArgument, "size_share"),
        ({"split": 0}, InvalidArgument, "split"),
        ({"split": "half"}, InvalidNumber, "split"),
        ({"histogram": "none"}, InvalidArgument, "histogram"),
        ({"calibration": "best"}, InvalidArgument, "calibration"),
    ],
)
def test_unusable_options(options, error, words):
    with pytest.raises(error, match=words):
        PrivateMetricClustering(**{"space": SPACE, "k": 2, "epsilon": 1, "rounds": 2, **options})


def test_the_method_is_chosen_by_public_numbers():
    space = read_distances(np.abs(np.subtract.outer(np.arange(30.0), np.arange(30.0))))
    few, many = (PrivateMetricClustering(space, 2, "0.1", n_bound=n, method="auto") for n in (160, 40_000))
    assert (few.choice.method, many.choice.method) == ("selection", "everything")
    assert few.budget == PrivateMetricClustering(space, 2, "0.1", n_bound=160, histogram="full").budget
    asked = PrivateMetricClustering(space, 2, "0.1", n_bound=160, method="auto", histogram="sampled")
    assert asked.budget == PrivateMetricClustering(space, 2, "0.1", n_bound=160).budget
    errors = dict(few.choice.errors)
    sampled, rounds = asked.budget, few.public_rounds
    p = sampled.plan.p
    assert math.isclose(errors["full"], math.sqrt(2) / 0.05)
    assert math.isclose(errors["sampled"], math.sqrt((1 / (p * float(sampled.histogram))) ** 2 + (1 - p) / p * 160 / rounds))
    assert "full histogram: the standard deviation of a count is 28.28" in few.choice.reason
    crowded = PrivateMetricClustering(space, 2, 20, n_bound=29, method="auto")  # hardly any noise, but few records
    assert crowded.choice.method == "selection"
    assert crowded.choice.reason.startswith("there are more candidates than the 29 records of the bound; ")
    everything = PrivateMetricClustering(space, 2, "0.1", rounds=30, histogram="full")
    assert many.budget == everything.budget
    assert (
        many.guarantee.bound == everything.guarantee.bound == PrivateMetricClustering(space, 2, "0.1", method="everything").guarantee.bound
    )
    answer = many.run(np.arange(30).repeat(10), 1, bits=2)
    assert answer.centres == everything.run(np.arange(30).repeat(10), 1, bits=2).centres
    assert answer.choice == many.run(np.zeros(0, dtype=np.int64), 3, bits=4).choice
    assert "counting all candidates leaves noise of about 149.8 records, at most 0.9 of the bound 40000" in answer.explain()
    for options, words in (
        ({"method": "auto"}, "give n_bound"),
        ({"method": "auto", "rounds": 3}, "takes no rounds"),
        ({"method": "everything", "size_share": "1/2"}, "takes no rounds"),
        ({"method": "best", "rounds": 3}, "method must be one of"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            PrivateMetricClustering(space, 2, 1, **options)


def test_a_full_histogram_keeps_the_second_direction_of_the_selection():
    space = read_distances([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    one = PrivateMetricClustering(space, 1, 1, rounds=1, histogram="full")
    plan, spent = one.budget.plan, one.budget.selection
    assert one.guarantee.bound.remove <= 1
    assert one.guarantee.bound.add < amplify_add(None, plan.p) + one.budget.histogram  # -log(1 - p) before
    assert one.guarantee.bound.add == amplify_add(spent, plan.p) + one.budget.histogram


def test_unusable_generators():
    model = PrivateMetricClustering(SPACE, 2, 1, rounds=2)
    with pytest.raises(InvalidArgument, match="Generator"):
        model.run([0], "7")
    with pytest.raises(InvalidArgument, match="same seed"):
        model.run([0], 7, bits=7)
    with pytest.raises(InvalidArgument, match="same seed"):
        model.run([0], np.random.default_rng(7), bits=7)


@pytest.mark.parametrize("power", [1, 2])
def test_the_error_bound_holds_and_is_monotone(power):
    rng = np.random.default_rng(0)
    space = measure_points(rng.random((60, 2)))
    data = space.snap_points(0.2 * rng.standard_normal((20_000, 2)) * [[1, 0.2]] + 0.5)
    counts = np.bincount(data, minlength=60)
    costs = space.distances**power
    best = min(float(counts @ costs[:, list(pair)].min(axis=1)) for pair in itertools.combinations(range(60), 2))
    model = PrivateMetricClustering(space, 2, 1, power=power, n_bound=20_000)
    bound = bound_cost(model, best, 20_000, 0.05)
    found = [float(counts @ costs[:, list(model.run(data, rng, bits=rng).centres)].min(axis=1)) for _ in range(10)]
    assert max(found) <= bound
    assert max(found) <= 1.5 * best  # in practice far below it
    noisier = PrivateMetricClustering(space, 2, "0.5", power=power, n_bound=20_000)
    corollary = PrivateMetricClustering(space, 2, 1, power=power, n_bound=20_000, calibration="corollary")
    assert bound <= bound_cost(corollary, best, 20_000, 0.05)
    assert bound <= bound_cost(noisier, best, 20_000, 0.05)
    for wrong in ((-1, 10, 0.1), (1, 10, 0), (1, 10, 1), (1, -1, 0.5)):
        with pytest.raises(InvalidArgument, match="needed"):
            bound_cost(model, *wrong)
    with pytest.raises(InvalidArgument, match="full"):
        bound_cost(dataclasses.replace(model, histogram="full"), best, 20_000, 0.05)


def test_a_subclass_of_the_space_is_refused_and_the_form_is_a_hypothesis():
    """Found: costs of a space of one's own were not in [0, 1], and Theorem 1 was claimed for them."""

    class Other(MetricSpace):
        def scale_costs(self, distances, power):
            return 5 * super().scale_costs(distances, power)

    usual = read_distances([[0, 1], [1, 0]])
    with pytest.raises(InvalidArgument, match="Other was found"):
        PrivateMetricClustering(Other(usual.distances, usual.diameter), k=1, epsilon=1, rounds=2)
    assert FORM in PrivateMetricClustering(usual, k=1, epsilon=1, rounds=2).guarantee.hypotheses


def test_the_largest_and_the_least_budgets_run_or_are_refused():
    """Found as overflows inside a run: e^rate for a large epsilon, and noise beyond binary64 for a tiny one."""
    space = read_distances([[0, 1], [1, 0]])
    assert np.isfinite(PrivateMetricClustering(space, k=1, epsilon=10_000, rounds=2).run([0, 1], None).weights).all()
    for options in ({"epsilon": "1e-310", "histogram": "full"}, {"epsilon": 1, "split": "1e-400"}):
        with pytest.raises(InvalidTarget, match="2\\^-900"):
            PrivateMetricClustering(space, k=1, rounds=1, **options)
