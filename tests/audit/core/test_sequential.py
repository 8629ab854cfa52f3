"""The e-process: fair at the border of the claim, never better than fair within it, and inverted without correction for the grid."""

import copy
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_check.audit import Claim, audit
from proofs_check.audit.bettors import CellBettor, SigmoidBettor, SlopeBettor, Terms, settle
from proofs_check.audit.report import Circumstances, render
from proofs_check.audit.sequential import SequentialAudit, make_grid, next_batch

CHANCES = st.floats(0, 1)


@st.composite
def laws(draw):
    """A law of (cell, label): the chance of each cell and of D in it, and an ε₀ with the beliefs of a bettor."""
    cells = draw(st.integers(1, 5))
    weights = np.array(draw(st.lists(st.floats(0.01, 1), min_size=cells, max_size=cells)))
    beliefs = np.array(draw(st.lists(CHANCES, min_size=cells, max_size=cells)))
    return weights / weights.sum(), beliefs, draw(st.floats(0.01, 5))


def expected_factor(weights, beliefs, chances, terms):
    """E of the factor by which one output multiplies the wealth: the sum over cells and labels."""
    total = 0.0
    for k in range(len(weights)):
        for is_first, chance in ((True, chances[k]), (False, 1 - chances[k])):
            one = np.zeros(len(weights))
            one[k] = 1.0
            change = settle(beliefs, one if is_first else 0 * one, 0 * one if is_first else one, terms, 1)[0]
            total += weights[k] * chance * np.exp(change)
    return total


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(laws(), st.data())
def test_wealth_is_fair_or_less_under_the_claim(law, data) -> None:
    weights, beliefs, epsilon = law
    odds = 1 / (1 + np.exp(-epsilon))
    terms = Terms(np.array([odds]), 0.0, one_sided=False)
    inside = np.array(data.draw(st.lists(st.floats(1 - odds, odds), min_size=len(weights), max_size=len(weights))))
    assert expected_factor(weights, beliefs, inside, terms) <= 1 + 1e-9
    border = np.where(beliefs >= 0.5, odds, 1 - odds)
    assert expected_factor(weights, beliefs, border, terms) == pytest.approx(1, abs=1e-9)


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(laws(), st.data())
def test_one_sided_claims_bound_one_side(law, data) -> None:
    """Under add-DP the chance of D is at most p₀ and may be as small as 0: only bets on D are made."""
    weights, beliefs, epsilon = law
    odds = 1 / (1 + np.exp(-epsilon))
    inside = np.array(data.draw(st.lists(st.floats(0, odds), min_size=len(weights), max_size=len(weights))))
    assert expected_factor(weights, beliefs, inside, Terms(np.array([odds]), 0.0, one_sided=True)) <= 1 + 1e-9


@pytest.mark.thorough
@settings(max_examples=200, deadline=None)
@given(laws(), st.floats(0.001, 0.3), st.data())
def test_delta_is_paid_for(law, slack, data) -> None:
    """Move a mass of at most δ′ from wrong to right beyond the odds, in any cells: the factor's mean stays at most 1."""
    weights, beliefs, epsilon = law
    odds = 1 / (1 + np.exp(-epsilon))
    share = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(weights), max_size=len(weights))))
    # In cell k: right = e^ε wrong + extra with total extra at most δ′; extra as large as the cell's mass allows.
    extra = np.minimum(share / max(share.sum(), 1e-9) * slack, weights)
    right = extra + (weights - extra) * odds
    chance_right = right / weights
    chances = np.where(beliefs >= 0.5, chance_right, 1 - chance_right)
    assert expected_factor(weights, beliefs, chances, Terms(np.array([odds]), slack, one_sided=False)) <= 1 + 1e-9


def test_bettors_do_not_see_what_they_bet_on() -> None:
    """The change of wealth on a batch is the same whatever was learned from that batch: it is computed before the labels are kept."""
    rng = np.random.default_rng(1)
    terms = Terms(np.array([0.6]), 0.0, one_sided=False)
    for bettor in (CellBettor(np.array([0.5]), 1), SigmoidBettor(1)):
        bettor.calibrate(rng.normal(size=100))
        bettor.bet(np.array([1.0] * 20), np.ones(20, dtype=bool), terms)
        assert bettor.wealth[0] == 0.0  # nothing was known: no bet, although all labels agree


@pytest.mark.thorough
@settings(deadline=None)
@given(
    st.lists(st.floats(-1e300, 1e300) | st.just(math.nan), min_size=1, max_size=4),
    st.lists(st.floats(0.01, 100), min_size=1, max_size=5),
    st.floats(0.001, 6),
    st.floats(0, 1),
    st.booleans(),
)
def test_fixed_multiples_cannot_win_against_a_true_claim(values, slopes, epsilon, where, one_sided) -> None:
    """One output at a time: its label is D with a chance between 1 − p₀ and p₀, and the mean factor of the wealth is at most 1."""
    p0 = 1 / (1 + math.exp(-epsilon))
    chance = (1 - p0) + where * (2 * p0 - 1)
    bettor = SlopeBettor(np.array(slopes), 1)
    for value in values:
        after = []
        for label in (True, False):
            fork = copy.deepcopy(bettor)
            fork.bet(np.array([value]), np.array([label]), Terms(np.array([p0]), 0.0, one_sided=one_sided))
            after.append(fork)
        before, won, lost = (math.exp(item.wealth[0]) for item in (bettor, *after))
        assert chance * won + (1 - chance) * lost <= before * (1 + 1e-9)
        bettor = after[0]


def test_the_exact_ratio_is_believed_from_the_start() -> None:
    """Uniform on [0, 1] against density 2y, claim 0.1: with the exact ratio the first bets are made at once, and right more often."""
    rng = np.random.default_rng(5)
    values = rng.uniform(0.001, 0.1, size=40)  # far out: D has density 1, D′ at most 0.2
    bettor = SlopeBettor(np.array([1.0]), 1)
    bettor.bet(-np.log(2 * values), np.ones(40, dtype=bool), Terms(np.array([1 / (1 + math.exp(-0.1))]), 0.0, one_sided=False))
    assert bettor.wealth[0] > 40 * 0.4


def test_the_grid_contains_the_claim_and_a_point_above() -> None:
    for claimed in (0.0, 1e-6, 0.1, 3.0, 100.0):
        grid = make_grid(claimed)
        assert (np.diff(grid) > 0).all()
        assert claimed == 0 or claimed in grid
        assert claimed < grid[np.searchsorted(grid, claimed, side="right")] <= max(claimed * (1 + 1e-8), 1e-300)


def test_the_bound_needs_all_smaller_values_rejected() -> None:
    test = SequentialAudit.__new__(SequentialAudit)
    test.grid = np.array([0.1, 0.2, 0.3])
    test._threshold = 1.0
    for best, bound in (([2, 2, 0], 0.2), ([0, 2, 2], 0.0), ([2, 0, 2], 0.1), ([2, 2, 2], 0.3), ([0, 0, 0], 0.0)):
        test._best = np.array(best, dtype=float)
        assert test.bound() == bound


def test_batches_grow_and_end() -> None:
    seen, sizes = 0, []
    while seen < 10_000:
        sizes.append(next_batch(seen, 10_000 - seen))
        seen += sizes[-1]
    assert seen == 10_000
    assert sizes[0] == 4
    assert len(sizes) < 80


def wrong_radius(dimension):
    """Euclidean noise whose radius is exponential instead of Gamma(d): a pole at the true answer."""

    def mechanism(dataset, rng, size):
        directions = rng.normal(size=(size, dimension))
        directions /= np.linalg.norm(directions, axis=1)[:, np.newaxis]
        return np.asarray(dataset) + directions * rng.exponential(1.0, (size, 1))

    return mechanism


@pytest.mark.thorough
@pytest.mark.parametrize(("dimension", "most"), [(2, 700), (5, 250), (10, 200), (50, 200)])
def test_a_wrong_radius_law_falls_fast(dimension: int, most: int) -> None:
    first = np.zeros(dimension)
    first[0] = 1.0
    needed = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        options = {"rng": rng, "samples": 20_000, "mode": "sequential", "neighboring": "stated", "stop_when_refuted": True}
        result = audit(wrong_radius(dimension), first, np.zeros(dimension), Claim(1), **options)
        needed.append(result.refuted_after)
        assert result.epsilon_lower > 1
    assert sorted(n or 10**9 for n in needed)[2] <= most


def broken(dataset, rng, size):
    return dataset[0] + rng.laplace(0, 0.1, size)


def run(claim, **options):
    return audit(broken, (1.0,), (0.0,), claim, rng=np.random.default_rng(3), neighboring="stated", **options)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("mode", ["both", "sequential"])
def test_a_run_goes_on_after_the_refutation_to_tell_how_bad_it_is(mode: str) -> None:
    stopped = run(Claim(1), samples=20_000, mode=mode, stop_when_refuted=True)
    result = run(Claim(1), samples=20_000, mode=mode)
    assert result.finding.value == stopped.finding.value == "violated"
    assert result.refuted_after == stopped.refuted_after <= 2_000  # a twentieth of what was asked for
    assert result.outputs == result.asked == 40_000
    assert stopped.outputs < 4_000
    assert result.epsilon_lower > stopped.epsilon_lower > 1
    assert result.epsilon_lower <= 10


@pytest.mark.thorough
def test_after_a_refutation_both_levels_are_used_up_once() -> None:
    """The fixed sample has its 4/5 of the error whether or not the bets refute the claim: the same bound as where they do not."""
    refuted, silent = run(Claim(1), samples=3_000), run(Claim(10), samples=3_000)
    assert refuted.refuted_after is not None
    assert silent.refuted_after is None
    alone = run(Claim(1), samples=3_000, mode="fixed", confidence=1 - Fraction(4, 5) / 100)
    assert refuted.fixed == alone.fixed or abs(refuted.fixed - alone.fixed) < 1  # other batches, the same level
    assert refuted.epsilon_lower == max(refuted.fixed, refuted.sequential)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (1, {"mode": "both"}), (1, {"mode": "fixed"}), (1, {"mode": "sequential"}), (1, {"mode": "both", "stop_when_refuted": True}),
        (1, {"mode": "sequential", "stop_when_refuted": True}), (10, {"mode": "both"}), (10, {"mode": "sequential"}),
    ],
)  # fmt: skip
def test_the_counts_add_up(claim, options) -> None:
    result = run(Claim(claim), samples=3_000, **options)
    found = result.to_json()
    assert found["parts"].keys() == {"learned", "chosen", "counted", "bets", "shown"}
    assert sum(found["parts"].values()) == found["outputs"] == result.outputs <= found["asked"] == 6_000
    assert found["samples"] == (found["outputs"] + 1) // 2
    judged = found["parts"]["counted"] + found["parts"]["shown"]
    assert found["guesses"]["right"] + found["guesses"]["wrong"] + found["guesses"]["passed"] == judged
    for event in found["private"]["events"]:
        assert event["seen"][1] + event["seen_neighbor"][1] == judged
    if found["refuted_after"] is not None:
        assert found["parts"]["bets"] in (0, found["refuted_after"])
    text = " ".join(render(result, Circumstances("a mechanism")).split())
    (outputs,) = re.findall(r"outputs (\d+) on both data sets together", text)
    told = re.findall(r"together \((.*?)\), in", text)
    assert int(outputs) == result.outputs
    assert not told or sum(map(int, re.findall(r"\d+", told[0]))) == result.outputs
    headline = f"VIOLATED refuted after {result.refuted_after} outputs; epsilon(D, D') is at least"
    assert (headline in text) == (result.refuted_after is not None)
    assert ("stopped early" in text) == (result.outputs < 6_000)


def test_a_claim_that_is_not_refuted_takes_all_outputs() -> None:
    correct = run(Claim(10), samples=3_000, stop_when_refuted=True)
    assert correct.outputs == 6_000
    assert correct.samples == 3_000
    assert correct.refuted_after is None


@pytest.mark.thorough
def test_a_seen_bound_is_kept() -> None:
    """The bound is anytime valid: it never falls when more outputs come."""

    def broken(dataset, rng, size):
        return dataset[0] + rng.laplace(0, 0.5, size)

    options = {"samples": 3_000, "neighboring": "stated", "mode": "sequential"}
    result = audit(broken, (1.0,), (0.0,), Claim(Fraction(19, 10)), rng=np.random.default_rng(3), **options)
    bounds = [point.bound for point in result.trace]
    assert bounds == sorted(bounds)
    assert bounds[-1] > 0.5


@pytest.mark.thorough
def test_delta_is_paid_for_outputs_that_are_not_betted_on() -> None:
    """(0, 0.01)-DP: D moves one output in a hundred from infinity to 5, D′ none. Infinite outputs must not make δ cheaper."""

    def moved(dataset, rng, size):
        return np.where(rng.random(size) < 0.01 * dataset[0], 5.0, np.inf)

    for mode in ("sequential", "both"):
        options = {"samples": 20_000, "neighboring": "stated", "mode": mode}
        result = audit(moved, (1.0,), (0.0,), Claim(0, "0.01"), rng=np.random.default_rng(1), **options)
        assert result.finding.value == "consistent"
