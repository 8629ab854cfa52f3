"""What runs fast does what the definition says: against plain loops over sets of Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant.applications.choosing import choose_with_kept_noise
from accountant.applications.setcover import CoverageInstance, cover_cost, greedy_cover
from accountant.applications.setcover.private import draw_noise, pass_once, track_uncovered
from profiles.randomness.bernoulli import PoissonSampler

SYSTEMS = st.lists(st.sets(st.integers(0, 5), max_size=4), max_size=12)
NOISE = st.lists(st.integers(0, 4), min_size=6, max_size=6)


def count(rows, chosen, item):
    return sum(item in row and not row & set(chosen) for row in rows)


def state_of(rows, taken=()):
    marked = np.zeros(6, dtype=bool)
    marked[list(taken)] = True
    system = CoverageInstance.from_sets(rows, candidates=6)
    return track_uncovered(system, np.ones(system.users, dtype=np.bool_), marked)


@pytest.mark.thorough
@given(SYSTEMS, NOISE, st.integers(0, 6), st.permutations(range(6)), st.integers(0, 3))
@settings(deadline=None, max_examples=150)
def test_greedy_and_passes(rows, noise, level, order, before):
    taken, remaining = order[:before], order[before:]
    drawn = np.array(noise[: len(remaining)], dtype=np.int64)
    for pick, plain in ((pick_greedily, plain_greedy), (pass_once, plain_pass)):
        state = state_of(rows, taken)
        found = pick(state, np.array(remaining), drawn, level)
        assert found == plain(rows, taken, remaining, drawn.tolist(), level)
        left = [row for row in rows if not row & {*taken, *found}]
        assert state.left == sum(bool(row) for row in left)
        assert state.gains.tolist() == [count(left, (), item) for item in range(6)]


def pick_greedily(state, remaining, noise, floor=0):
    return choose_with_kept_noise(state, remaining, noise.tolist(), len(remaining), floor)


def plain_greedy(rows, taken, remaining, noise, floor):
    chosen, rest = [], dict(zip(remaining, noise, strict=True))
    while rest:
        best = max(rest, key=lambda item: (count(rows, [*taken, *chosen], item) + rest[item], -remaining.index(item)))
        if count(rows, [*taken, *chosen], best) + rest.pop(best) < floor:
            break
        chosen.append(best)
    return chosen


def plain_pass(rows, taken, remaining, noise, threshold):
    chosen = []
    for item, extra in zip(remaining, noise, strict=True):
        if count(rows, [*taken, *chosen], item) + extra >= threshold:
            chosen.append(item)
    return chosen


@given(SYSTEMS, st.permutations(range(6)))
@settings(deadline=None, max_examples=60)
def test_cost(rows, order):
    system = CoverageInstance.from_sets(rows, candidates=6)
    assert cover_cost(np.array(order), system) == len({next(item for item in order if item in row) for row in rows if row})
    greedy = greedy_cover(system).tolist()
    assert greedy == pick_greedily(system.track(), np.arange(6), np.zeros(6, dtype=np.int64))  # without noise: the same
    used = [place for place, item in enumerate(greedy) if count(rows, greedy[:place], item)]
    assert cover_cost(greedy, system) == len(used)
    assert used == list(range(len(used)))


def test_noise_has_its_law():
    """P[G >= j] = 3^-j; 30000 draws, six standard deviations."""
    found = draw_noise(1 / 3, 30_000, PoissonSampler(5))
    for j in range(5):
        mean = 3.0**-j
        assert abs((found >= j).mean() - mean) <= 6 * (mean * (1 - mean) / 30_000) ** 0.5 + 1e-12
