"""The law of the released numbers without statistics: all words of a few bits through the implementation, and certified bounds of its ε.

Of the words' rows, those that are decided keep their output whatever the further bits are. So every probability has certified bounds, and
so has every loss, of the implementation as it is: nothing is sampled here. Mistakes are put in by substituting one function.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from profiles.mechanisms import quantised
from profiles.mechanisms.quantised import SumUnit, total_units
from profiles.randomness.rounded import EUCLIDEAN, EXPONENTIAL, LAPLACE, MAXIMUM, NORMAL, NoiseLaw, laws, rounding
from tests.randomness.rounded import exact_laws
from tests.randomness.rounded.enumeration import OPEN, enumerate_fast, enumerate_law, list_words, make_grid
from tests.randomness.rounded.masses import Masses, ball, bound_delta, bound_epsilon, bound_one_way

RATIOS = [Fraction(1, 2), Fraction(3), Fraction(17, 5)]
KNOWN, FINE = 12, 3


def masses_at(law: NoiseLaw, ratio: Fraction, total: int = 0) -> Masses:
    """Masses of one number for a total in units of an eighth of the output grid."""
    return enumerate_law(law, make_grid(ratio, FINE), (total,), KNOWN)


def contains(masses: Masses, distribution: exact_laws.Distribution, ratio: Fraction, total: int) -> bool:
    """Whether the exact probability of each output lies between its bounds, and that of each event "at most k" too."""
    outputs = sorted(masses.certain)
    for k in range(outputs[0][0], outputs[-1][0] + 1):
        lower, upper = masses.bounds([(k,)])
        exact = exact_laws.cell(distribution, ratio, Fraction(total, 2**FINE), k)
        if not (ball(lower) <= exact and exact <= ball(upper)):
            return False
    return True


@pytest.mark.parametrize("ratio", RATIOS, ids=str)
def test_correct_rounding_stays_below_the_claim_for_every_move_of_the_total(ratio: Fraction) -> None:
    """A record moves the total by at most w·|x| and costs w·|x|/b: also where it moves it by a part of the output grid only."""
    at = {total: masses_at(LAPLACE, ratio, total) for total in (0, 1, 4, 8, 11, 16)}
    for moved in (1, 4, 8, 11, 16):
        claim = Fraction(moved, 2**FINE) / ratio
        found = bound_epsilon(at[0], at[moved])
        assert found <= claim
        for one, other in ((at[0], at[moved]), (at[moved], at[0])):
            lower, upper = bound_delta(one, other, claim)
            assert lower == 0.0
            left_open = float(one.open_mass) + math.exp(claim) * float(other.open_mass)
            assert upper <= left_open * (1 + 1e-12)  # what 12 bits leave open, and nothing else
    assert bound_epsilon(at[0], at[8]) > 0.97 * float(1 / ratio)  # the bounds see nearly all of the claim


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@pytest.mark.parametrize(
    ("law", "distribution", "total"),
    [
        (LAPLACE, exact_laws.laplace, 0), (LAPLACE, exact_laws.laplace, 5), (EXPONENTIAL, exact_laws.exponential, 0),
        (EXPONENTIAL, exact_laws.exponential, 3),
    ],
    ids=lambda value: getattr(value, "name", getattr(value, "__name__", value)),
)  # fmt: skip
def test_every_probability_lies_between_its_bounds(
    law: NoiseLaw, distribution: exact_laws.Distribution, total: int, ratio: Fraction
) -> None:
    masses = masses_at(law, ratio, total)
    assert masses.open_mass < Fraction(1, 100)
    assert contains(masses, distribution, ratio, total)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("ratio", RATIOS, ids=str)
@pytest.mark.parametrize(
    ("law", "distribution", "known"),
    [(EUCLIDEAN, exact_laws.laplace, 7), (MAXIMUM, exact_laws.laplace, 7), (NORMAL, exact_laws.normal, 10)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_laws_of_several_uniform_numbers_in_one_dimension(
    law: NoiseLaw, distribution: exact_laws.Distribution, known: int, ratio: Fraction
) -> None:
    """In one dimension every K-norm law is the Laplace law, by three uniform numbers in place of one."""
    masses = enumerate_fast(law, make_grid(ratio, FINE), (0,), known)
    assert masses.open_mass < Fraction(4, 5)
    assert contains(masses, distribution, ratio, 0)
    if law is not NORMAL:
        assert bound_epsilon(masses, masses.shift((1,))) <= 1 / ratio


def test_one_sided_noise_loses_the_claim_in_one_direction_and_everything_in_the_other() -> None:
    ratio = Fraction(3)
    larger, smaller = masses_at(EXPONENTIAL, ratio, 2**FINE), masses_at(EXPONENTIAL, ratio, 0)
    assert 0.9 / 3 < bound_one_way(larger, smaller) <= Fraction(1, 3)
    assert bound_one_way(smaller, larger) > 3  # an output that the larger total cannot have: the other side has undecided mass only
    assert bound_delta(larger, smaller, Fraction(1, 3))[0] == 0.0


PLANES = [(EUCLIDEAN, exact_laws.euclidean_plane, 6), (MAXIMUM, exact_laws.maximum_plane, 4)]


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", [Fraction(1, 4), Fraction(1, 2)], ids=str)
@pytest.mark.parametrize(("law", "density", "known"), PLANES[::-1], ids=["maximum", "euclidean"])
def test_vectors_in_the_plane(law: NoiseLaw, density: object, known: int, ratio: Fraction) -> None:
    masses = enumerate_fast(law, make_grid(ratio, FINE), (0, 0), known)
    assert masses.open_mass < Fraction(3, 4)
    for output in [key for key, _ in masses.certain.most_common(9)]:
        lower, upper = masses.bounds([output])
        assert lower <= exact_laws.plane_cell(density, ratio, output) + 1e-7
        assert exact_laws.plane_cell(density, ratio, output) <= upper + 1e-7
    assert bound_epsilon(masses, masses.shift((1, 0))) <= 1 / ratio


def loss_of_record(record: float, weight: float) -> tuple[float, Fraction]:
    """The certified loss of one more record, truncated and released on coarse grids (h_f = h, b = 3h), and what is claimed for it."""
    grid = make_grid(Fraction(3), 0)
    points, weights = np.array([[0.7], [-2.25], [record]]), np.array([1.0, 3.0, weight])
    totals = [int(total_units(points[:count], weights[:count], SumUnit.of(grid))[0]) for count in (2, 3)]
    smaller, larger = (enumerate_law(LAPLACE, grid, (total,), KNOWN) for total in totals)
    return bound_epsilon(larger, smaller), Fraction(record) * Fraction(weight) / 3


@pytest.mark.parametrize(("record", "weight"), [(0.6, 1.0), (0.9, 2.0), (0.75, 5.0), (1.5, 1.0)])
def test_truncated_records_stay_below_the_claim(record: float, weight: float) -> None:
    found, claim = loss_of_record(record, weight)
    assert found <= claim


# Mistakes, each by substituting one function. What catches each one is certified, not sampled.


def decide_by(rule: object) -> object:
    """The shipped decision with another rounding of s·F: ``rule`` gives an integer for a float array; open where bounds leave two."""

    def decide(values, errors, fraction, ratio, widen):
        moved, slack = values * ratio, errors * (ratio * 1.001)
        ends = rule(moved - slack), rule(moved + slack)
        decided = (ends[0] == ends[1]) & np.isfinite(slack)
        return np.where(decided, ends[0], 0).astype(np.int64) + np.floor(fraction).astype(np.int64), decided

    return decide


def away_from_zero(moved: np.ndarray) -> np.ndarray:
    return np.copysign(np.ceil(np.abs(moved)), moved)


def leave_open(totals: list[int], *_: object) -> list[int]:
    return [OPEN] * len(totals)


def losses(monkeypatch: pytest.MonkeyPatch, name: str, function: object, ratio: Fraction = Fraction(3)) -> tuple[float, Masses]:
    """The certified loss of one unit of the grid at ``ratio`` with the function of that name substituted."""
    monkeypatch.setattr(rounding, name, function)
    # the slow path rounds correctly, so that a mistake in the fast path has to be seen in what that decides
    monkeypatch.setattr(rounding, "_decide_row", leave_open)
    masses = enumerate_law(LAPLACE, make_grid(ratio, FINE), (0,), KNOWN, boxes=False)
    return bound_epsilon(masses, masses.shift((1,))), masses


def test_mutant_noise_is_truncated_toward_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 gets the mass of two cells: log((1 − e^(−1/3))·2/(e^(−1/3) − e^(−2/3))) = 1.026 where 1/3 is claimed."""
    found, _ = losses(monkeypatch, "_decide", decide_by(np.trunc))
    assert 0.97 <= found <= 1.0265


def test_mutant_noise_is_rounded_away_from_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 is never added: an output that is impossible on one side but for what 12 bits leave open."""
    found, masses = losses(monkeypatch, "_decide", decide_by(away_from_zero))
    assert (0,) not in masses.certain
    assert found > 2.5


def test_mutant_noise_is_rounded_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """⌈y⌉ is post-processing of y, and loses no more; but it is not the law that is stated, and it is biased by half a unit."""
    found, masses = losses(monkeypatch, "_decide", decide_by(np.ceil))
    assert found <= Fraction(1, 3)
    assert not contains(masses, exact_laws.laplace, Fraction(3), 0)


def test_mutant_no_slack_for_what_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word is decided by its middle, so that noise has a largest value, and the tail is an event that one side does not have."""
    shipped = rounding._decide
    found, masses = losses(monkeypatch, "_decide", lambda v, e, f, r, w: shipped(v, np.zeros_like(e), f, r, w))
    assert masses.open_mass == 0
    assert found == float("inf")
    assert not contains(masses, exact_laws.laplace, Fraction(3), 0)


def test_mutant_error_bounds_of_the_logarithm_are_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that forgets what the first bits leave open decides words whose further bits decide: the exact law is no longer enclosed."""
    monkeypatch.setattr(laws, "log_error", lambda v, found, known=52: found * 2.0**-51 + 2.0**-53)
    assert not contains(masses_at(LAPLACE, Fraction(3)), exact_laws.laplace, Fraction(3), 0)


@pytest.mark.thorough
def test_mutant_next_float_of_a_float_sum() -> None:
    """nextafter(g + b·F̂) in place of an integer on the grid: the float that is released tells g. All words, no statistics: ε = ∞."""
    words, b = list_words(LAPLACE, KNOWN, 1), 3.0
    with np.errstate(divide="ignore"):
        values, _ = LAPLACE.estimate(words, KNOWN, 1)
    both = [np.nextafter(total + b * values[:, 0], np.inf) for total in (0.0, 1.0)]
    masses = [Masses(Counter((code,) for code in found.view(np.int64).tolist()), Counter(), len(found)) for found in both]
    shared = set(masses[0].certain) & set(masses[1].certain)
    assert sum(masses[0].certain[key] for key in shared) < 0.01 * len(words)
    assert bound_epsilon(*masses) == float("inf")


@pytest.mark.thorough
def test_mutant_radius_of_one_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    """Radius −ln U in place of the sum of d of them: too much mass at the total, more than the exact law has there."""
    shipped, ratio = laws._estimate_sum, Fraction(1, 2)
    exact = exact_laws.plane_cell(exact_laws.euclidean_plane, ratio, (0, 0))
    assert enumerate_fast(EUCLIDEAN, make_grid(ratio, FINE), (0, 0), 5).bounds([(0, 0)])[0] <= exact
    monkeypatch.setattr(laws, "_estimate_sum", lambda words, known: shipped(words[:, :1], known))
    assert enumerate_fast(EUCLIDEAN, make_grid(ratio, FINE), (0, 0), 5).bounds([(0, 0)])[0] > 1.2 * exact


@pytest.mark.thorough
def test_mutant_one_term_too_few_in_the_size_of_the_cube(monkeypatch: pytest.MonkeyPatch) -> None:
    """One number −ln U too few in the cube's size: the law of d dimensions with the radius of d − 1."""
    shipped, ratio = laws._estimate_sum, Fraction(1, 2)
    exact = exact_laws.plane_cell(exact_laws.maximum_plane, ratio, (0, 0))
    assert enumerate_fast(MAXIMUM, make_grid(ratio, FINE), (0, 0), 4).bounds([(0, 0)])[0] <= exact
    monkeypatch.setattr(laws, "_estimate_sum", lambda words, known: shipped(words[:, :-1], known))
    assert enumerate_fast(MAXIMUM, make_grid(ratio, FINE), (0, 0), 4).bounds([(0, 0)])[0] > exact


def test_mutant_records_are_rounded_to_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.6 of the fine grid becomes 1 of it, and loses 1/3 where 0.6/3 is claimed: truncation costs nothing, rounding does."""

    def nearest(points, weights, unit, out=None):
        return np.rint(np.ldexp(points * weights[:, np.newaxis], -unit.exponent))

    monkeypatch.setattr(quantised, "quantise", nearest)
    found, claim = loss_of_record(0.6, 1.0)
    assert found > 1.5 * claim
