"""Bounds: both sides against closed forms, against what other accountants miss, and against laws that hold for every curve."""

import json
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from accountant.compositions.bounds import bound_delta, bound_epsilon
from accountant.compositions.certificates import make_certificate, write_events
from accountant.compositions.events import Composition, Direction, make_event
from accountant.compositions.grids import count_points, plan
from accountant.compositions.shapes import Side, find_shape
from profiles import InvalidArgument, Undecided
from proofs_check.kernel import check
from proofs_check.kernel.theories.compositions import bounds as compositions

REMOVE, ADD = Direction.REMOVE, Direction.ADD


def composed(*events):
    return Composition("test", events)


def gaussian(sigma, count=1, q=1):
    return make_event("gaussian", {"noise_multiplier": sigma}, count=count, sampling_probability=q)


def to_mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


def gaussian_delta(mu, epsilon):
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def holds(bound, composition):
    report = check(json.dumps(make_certificate(composition, bound.claims)))
    assert report.accepted, report
    return [claim.claim for claim in report.claims]


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("sigma", "count", "delta", "digits"),
    [
        ("100", 10**4, "1e-13", "7.560"),
        ("100", 10**4, "3e-15", "8.025"),
        ("20", 1000, "1e-13", "12.4976"),
        ("200", 10**5, "1e-12", "11.992"),
        ("0.02", 10**6, "1e-15", None),
        ("1000", 1, "1e-5", None),
        ("1e6", 1, "1e-9", None),
    ],
)
def test_gaussian_sums_to_twelve_digits(sigma, count, delta, digits):
    whole = composed(gaussian(sigma, count))
    found = bound_epsilon(whole, Fraction(delta), REMOVE)
    with mpmath.workdps(80):
        mu = mpmath.sqrt(count) / to_mp(Fraction(sigma))
        if digits:
            assert mpmath.nstr(to_mp(found.upper), len(digits) - 1) == str(mpmath.mpf(digits))
        if found.upper:
            assert gaussian_delta(mu, to_mp(found.upper)) <= to_mp(Fraction(delta))
        if found.lower:
            assert gaussian_delta(mu, to_mp(found.lower)) >= to_mp(Fraction(delta))
    assert found.upper - found.lower <= Fraction(1, 10**12) * max(1, found.upper)
    holds(found, whole)
    at = bound_delta(whole, found.upper, ADD)
    assert at.lower <= Fraction(delta)
    assert at.upper - at.lower <= at.upper * Fraction(1, 10**6)


@pytest.mark.thorough
def test_the_sides_of_sampled_gaussians_come_together():
    # dp_accounting and a Fourier accountant in double precision agree here: 1.828 and 1.416
    whole = composed(gaussian(1, 1000, "1/100"))
    for direction, about in ((REMOVE, 1.8283), (ADD, 1.4166)):
        found = bound_epsilon(whole, Fraction("1e-5"), direction, gap=Fraction(1, 200))
        assert found.lower < Fraction(about) + Fraction(1, 10**4)
        assert found.upper > Fraction(about) - Fraction(1, 10**4)
        assert found.upper - found.lower <= Fraction(1, 200) * found.upper
        assert holds(found, whole) == ["delta-upper", "delta-lower"]


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize(
    "event",
    [
        make_event("laplace", {"scale": 3}, count=5),
        make_event("laplace", {"scale": 2}, count=30, sampling_probability="1/10"),
        make_event("discrete-gaussian", {"noise_multiplier": 10}, count=40),
        make_event("discrete-laplace", {"scale": 3}, count=9),
        make_event("randomized-response", {"epsilon": "1/2"}, count=12, sampling_probability="1/3"),
        make_event("pure", {"epsilon": "1/10"}, count=50),
        make_event("approximate", {"epsilon": "1/3", "delta": "1e-8"}, count=6),
        make_event("two-sided", {"epsilon_remove": "1/3", "delta_remove": "0", "epsilon_add": "1", "delta_add": "1e-9"}, count=4),
        make_event("pure", {"epsilon": 0}, count=3),
        gaussian(2, 20, "1/5"),
    ],
    ids=lambda event: event.describe(),
)
@pytest.mark.parametrize("direction", Direction)
def test_every_mechanism_has_two_sides_that_the_kernel_confirms(event, direction):
    whole, delta = composed(event), Fraction("1e-6")
    found = bound_epsilon(whole, delta, direction, gap=Fraction(1, 100))
    assert 0 <= found.lower <= found.upper <= found.lower + Fraction(1, 100) * max(1, found.upper)
    holds(found, whole)
    back = bound_delta(whole, found.upper, direction, gap=Fraction(1, 20))
    assert back.lower <= delta
    assert back.lower <= back.upper
    holds(back, whole)


@pytest.mark.thorough
def test_mechanisms_of_which_only_rho_is_known():
    whole = composed(make_event("zcdp", {"rho": "1/200"}, count=10))
    found = bound_epsilon(whole, Fraction("1e-9"), REMOVE)
    with mpmath.workdps(30):
        rho, target = mpmath.mpf(1) / 20, mpmath.log(10**9)
        orders = (k / mpmath.mpf(20) for k in range(1, 1000))
        best = min((1 + m) * rho + (target - mpmath.log(1 + m)) / m - mpmath.log(1 + 1 / m) for m in orders)
    assert abs(to_mp(found.upper) - best) < 1e-3
    same = bound_epsilon(composed(gaussian(1, 10, 1)), Fraction("1e-9"), REMOVE)  # which is 5-zCDP
    more = bound_epsilon(composed(make_event("zcdp", {"rho": 5})), Fraction("1e-9"), REMOVE)
    assert abs(more.lower - same.lower) < Fraction(1, 10**9)
    assert more.upper > same.upper
    holds(found, whole)
    both = composed(make_event("zcdp", {"rho": "1/10"}), make_event("pure", {"epsilon": "1/5"}))
    holds(bound_epsilon(both, Fraction("1e-5"), ADD), both)


def test_where_no_epsilon_is_enough():
    whole = composed(make_event("approximate", {"epsilon": "1/3", "delta": "1e-5"}, count=5))
    found = bound_epsilon(whole, Fraction("1e-5"), REMOVE)
    assert (found.lower, found.upper) == (None, None)
    assert holds(found, whole) == ["delta-lower"]


@pytest.mark.parametrize("direction", list(Direction))
def test_at_delta_zero_the_largest_losses_add_up(direction):
    plain = composed(make_event("laplace", {"scale": 3}, count=10**6), make_event("pure", {"epsilon": "1/7"}))
    found = bound_epsilon(plain, Fraction(0), direction)
    assert found.lower == found.upper == Fraction(10**6, 3) + Fraction(1, 7)
    assert holds(found, plain) == ["delta-upper", "delta-positive"]
    assert bound_delta(plain, found.upper, direction).upper == 0
    sampled = composed(make_event("pure", {"epsilon": "1/2"}, count=4, sampling_probability="1/3"))
    found, sign = bound_epsilon(sampled, Fraction(0), direction), 1 if direction is REMOVE else -1
    with mpmath.workdps(50):
        truth = 4 * sign * mpmath.log1p(mpmath.expm1(mpmath.mpf(sign) / 2) / 3)
        assert to_mp(found.lower) < truth < to_mp(found.upper) < truth + mpmath.mpf("1e-37")
    holds(found, sampled)


def test_at_delta_zero_gaussians_have_no_epsilon_but_on_a_sample_that_gains_a_record():
    for whole in (composed(gaussian(2)), composed(gaussian(2, 5, "1/2"), make_event("pure", {"epsilon": 1}))):
        found = bound_epsilon(whole, Fraction(0), REMOVE)
        assert (found.lower, found.upper) == (None, None)
        assert holds(found, whole) == ["delta-positive"]
    found = bound_epsilon(whole, Fraction(0), ADD)
    assert abs(float(found.upper) - (1 + 5 * 0.6931471805599453)) < 1e-12
    holds(found, whole)
    nothing = composed(make_event("pure", {"epsilon": 0}, count=5))
    found = bound_epsilon(nothing, Fraction(0), ADD)
    assert (found.lower, found.upper, holds(found, nothing)) == (0, 0, ["delta-upper"])


@pytest.mark.thorough
@pytest.mark.parametrize("whole", [composed(gaussian("1e-3")), composed(gaussian("1/2", 30, "9/10")), composed(gaussian("1/100", 10))])
def test_no_delta_is_above_one(whole):
    for direction in Direction:
        found = bound_delta(whole, Fraction(1), direction)
        assert Fraction(999, 1000) < found.lower <= found.upper <= 1
        holds(found, whole)


def test_at_the_mass_that_is_lost_wholly_the_end_is_exact():
    once = composed(make_event("approximate", {"epsilon": "1/3", "delta": "1e-5"}))
    found = bound_epsilon(once, Fraction("1e-5"), REMOVE)
    assert found.upper == Fraction(1, 3)
    assert found.upper - found.lower < Fraction(1, 10**9)
    holds(found, once)
    at = bound_delta(once, Fraction(1, 2), ADD)
    assert at.upper == Fraction("1e-5")
    holds(at, once)


@pytest.mark.parametrize(("delta", "epsilon"), [("1", "1"), ("-1/10", "-1/10"), ("2", "1e11")])
def test_what_is_out_of_range_is_refused(delta, epsilon):
    with pytest.raises(InvalidArgument, match="delta in"):
        bound_epsilon(composed(gaussian(1)), Fraction(delta), REMOVE)
    if not 0 <= Fraction(epsilon) <= 10**10:
        with pytest.raises(InvalidArgument, match="epsilon in"):
            bound_delta(composed(gaussian(1)), Fraction(epsilon), REMOVE)


def test_what_the_kernel_does_not_compute_is_refused():
    with pytest.raises(InvalidArgument, match="out of range"):
        bound_epsilon(composed(gaussian("1e-12")), Fraction("1e-5"), REMOVE)


@pytest.mark.hypothesis
@settings(max_examples=3, deadline=None)
@given(st.integers(2, 40), st.integers(1, 30), st.integers(1, 10), st.integers(3, 9), st.sampled_from(Direction))
def test_laws_of_curves(sigma, count, rate, places, direction):
    event, gap = gaussian(Fraction(sigma, 4), count, Fraction(1, rate)), Fraction(1, 100)
    delta = Fraction(1, 10**places)
    one = bound_epsilon(composed(event), delta, direction, gap=gap)
    more = bound_epsilon(composed(event, make_event("laplace", {"scale": 5})), delta, direction, gap=gap)
    assert more.upper >= one.lower  # another event never lowers the loss
    swapped = bound_epsilon(composed(make_event("laplace", {"scale": 5}), event), delta, direction, gap=gap)
    assert max(swapped.lower, more.lower) <= min(swapped.upper, more.upper)  # order does not matter
    assert bound_epsilon(composed(event), delta / 10, direction, gap=gap).upper >= one.lower  # the smaller delta, the larger epsilon
    whole = bound_epsilon(composed(gaussian(Fraction(sigma, 4), count)), delta, direction, gap=gap)
    assert whole.upper >= one.lower  # samples never raise it
    finer = bound_epsilon(composed(event), delta, direction, gap=gap / 8)
    assert max(finer.lower, one.lower) <= min(finer.upper, one.upper)


def sampled_delta(sigma, q, count, epsilon, direction, step):
    """delta of two or three sampled Gaussians: the curve of the last one, in closed form, averaged over the outputs of those before it.

    The integrands are smooth and fall like a normal density, so that the trapezoid rule converges faster than any power of the step.
    """
    edge = 13 * sigma
    x = np.arange(-edge, 1 + edge, step * sigma)
    without, mixed = (np.exp(-((x - shift) ** 2) / (2 * sigma**2)) for shift in (0, 1))
    mixed = (1 - q) * without + q * mixed
    first, loss = mixed if direction is REMOVE else without, np.log1p(q * np.expm1((2 * x - 1) / (2 * sigma**2)))
    weight, loss = first * step / np.sqrt(2 * np.pi), loss if direction is REMOVE else -loss

    def last(rest):  # H at exp(rest) of one use
        a = np.exp(rest)
        w, b = (q, a - (1 - q)) if direction is REMOVE else (1 - a * (1 - q), a * q)
        inside = (w > 0) & (b > 0)
        with np.errstate(all="ignore"):
            z = (np.log(b) - np.log(w)) * sigma - 1 / (2 * sigma)
            value = w * np.exp(log_ndtr(-z)) - b * np.exp(log_ndtr(-z - 1 / sigma))
        return np.where(inside, value, np.where(np.asarray(w) <= 0, 0.0, w - b))

    if count == 2:
        return float(weight @ last(epsilon - loss))
    return float(sum(p * (weight @ last(epsilon - one - loss)) for p, one in zip(weight, loss, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("sigma", "q"), [("1", "1/2"), ("1", "1/100"), ("1/2", "1/10"), ("3", "1/5"), ("10", "9/10")])
def test_sampled_gaussians_by_quadrature(sigma, q, count, direction):
    whole = composed(gaussian(sigma, count, q))
    for delta in (Fraction("1e-3"), Fraction("1e-6")):
        found = bound_epsilon(whole, delta, direction)
        for end, below in ((found.upper, True), (found.lower, False)):
            coarse, fine = (
                sampled_delta(float(Fraction(sigma)), float(Fraction(q)), count, float(end), direction, s) for s in (0.02, 0.01)
            )
            error = 10 * abs(coarse - fine) + 1e-9 * float(delta)  # of the rule, which the two steps show, and of binary64
            assert error <= 1e-3 * float(delta)
            assert fine <= delta + error if below else fine >= delta - error or not end
        assert found.upper - found.lower <= Fraction(1, 100) * max(found.upper, Fraction(1, 1000))


@pytest.mark.slow
@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize(
    ("sigma", "q", "count", "delta"),
    [
        ("1", "1e-3", 10**6, "1e-5"),
        ("1", "1e-4", 10**6, "1e-5"),
        ("0.7", "1e-3", 10**4, "1e-10"),
        ("2", "1e-3", 10**5, "1e-15"),
        ("100", "1e-2", 10**6, "1e-10"),
        ("1.1", "256/60000", 14_063, "1e-5"),
        ("4", "0.02", 2000, "1e-6"),
        ("50", "0.1", 100, "1e-6"),
        ("0.5", "1e-4", 10**6, "1e-15"),
        ("0.25", "1e-4", 10**6, "1e-5"),
        ("0.3", "1e-3", 100, "1e-10"),
        ("0.05", "0.1", 100, "1e-10"),
        ("0.02", "1e-4", 1000, "1e-10"),
    ],
)
def test_the_default_gap_is_one_in_a_thousand(sigma, q, count, delta, direction):
    found = bound_epsilon(composed(gaussian(sigma, count, q)), Fraction(delta), direction)
    assert 0 < found.lower <= found.upper <= found.lower * Fraction(1001, 1000) + Fraction(1, 10**6)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "event",
    [
        make_event("laplace", {"scale": 2}, count=64, sampling_probability="1/2"),
        make_event("laplace", {"scale": "0.02"}, count=3),
        make_event("laplace", {"scale": "0.1"}, count=1000, sampling_probability="1e-3"),
        gaussian("0.1", 100, "1e-3"),
        gaussian("0.02", 10, "1e-2"),
    ],
    ids=lambda event: event.describe(),
)
@pytest.mark.parametrize("direction", Direction)
def test_atoms_and_narrow_bulks_beside_long_tails(event, direction):
    whole = composed(event)
    found = bound_epsilon(whole, Fraction("1e-15"), direction)
    assert 0 < found.lower <= found.upper <= found.lower * Fraction(1002, 1000)
    holds(found, whole)


@pytest.mark.parametrize("direction", Direction)
def test_the_grid_of_a_narrow_law_ends_where_the_law_does(direction):
    """The edge of a sampled law, log(1 - q), may lie far from where its losses are: no points lead there."""
    whole = composed(gaussian(1000, 10**6, Fraction(1, 10)))
    events = compositions.read_events(write_events(whole))
    side = Side(direction, True, Fraction(1, 10**5), (Fraction(1, 10**5), Fraction(1, 10**10)))
    assert count_points(plan(find_shape(whole, events, side), side, gap=Fraction(1, 1000))) < 300


def test_floating_point_errors_that_a_user_wants_raised_do_not_stop_the_search():
    with np.errstate(all="raise"):
        found = bound_epsilon(composed(gaussian(1, 50, Fraction(1, 100))), Fraction(1, 10**6), REMOVE, gap=Fraction(1, 100))
    assert found.upper - found.lower <= found.upper / 100


@pytest.mark.slow
def test_where_a_grid_would_be_too_large_a_bound_is_wider():
    found = bound_epsilon(composed(gaussian("0.02", 10**6, "1e-4")), Fraction("1e-5"), REMOVE)
    assert 0 < found.lower <= found.upper <= found.lower * Fraction(102, 100)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("gap", ["1/2", "1e-3"])
def test_sampled_events_that_lose_everything_at_times(gap):
    # to add, each of them is the loss -log(1 - q), far above those of the others
    event = make_event("approximate", {"epsilon": "0.00129", "delta": "0.0000222"}, count=9840, sampling_probability="0.537")
    found = bound_epsilon(composed(event), Fraction("2.27e-8"), ADD, gap=Fraction(gap))
    assert Fraction("4.4371") >= found.lower >= found.upper * (1 - Fraction(gap))
    holds(found, composed(event))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("event", "epsilon", "direction"),
    [
        (make_event("discrete-gaussian", {"noise_multiplier": "11.2"}, sampling_probability="1/10", count=9), "0.2", REMOVE),
        (make_event("approximate", {"epsilon": "0.48", "delta": "1e-7"}, sampling_probability="1/2", count=9), "3.81", Direction.ADD),
    ],
)
def test_a_tiny_delta_is_found_from_both_sides(event, epsilon, direction):
    found = bound_delta(composed(event), Fraction(epsilon), direction, gap=Fraction(3, 100))
    assert 0 < found.upper - found.lower <= Fraction(3, 100) * found.upper < Fraction(1, 10**12)


def test_masses_beyond_what_a_double_holds_still_guide_the_search():
    """Masses under Q may be exp(loss) times those under P: a thousand losses of 38 are exp(38,000)."""
    b, uses = Fraction("0.0258"), 1000
    event = make_event("discrete-laplace", {"scale": b}, count=uses)
    found = bound_epsilon(composed(event), Fraction("8.25e-14"), ADD, gap=Fraction(1, 2))
    # a loss is 1/b except where the noise is on the far side, which one use in exp(1/b) does: then it is -1/b, or for a few in between
    assert 0.9 * float(uses / b) < found.lower <= found.upper <= uses / b
    holds(found, composed(event))


@pytest.mark.parametrize("more", ["1e-4", "1e-9", "1e-13"])
def test_a_delta_barely_above_the_mass_at_infinity_has_both_ends(more):
    """The excess of δ over 1 − (1 − d)^n is what finite losses may add: n randomized responses of those that do not fail (Kairouz, Oh)."""
    n, e, d = 10, Fraction(1, 2), Fraction(1, 10**6)
    lost = 1 - (1 - d) ** n
    delta = Fraction(str(float(lost * (1 + Fraction(more))))).limit_denominator(10**24)
    assert 0 < delta - lost < Fraction(more) * lost * 2
    whole = composed(make_event("approximate", {"epsilon": e, "delta": d}, count=n))
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-to_mp(e)))

        def excess(epsilon):
            """δ(ε) − δ."""
            losses = ((mpmath.binomial(n, k) * p**k * (1 - p) ** (n - k), (2 * k - n) * to_mp(e)) for k in range(n + 1))
            finite = mpmath.fsum(max(mass * -mpmath.expm1(to_mp(epsilon) - loss), 0) for mass, loss in losses)
            return to_mp(lost) + to_mp(1 - lost) * finite - to_mp(delta)

        for direction in Direction:
            found = bound_epsilon(whole, delta, direction)
            assert excess(found.upper) <= 0 < excess(found.lower)
            assert found.upper - found.lower <= found.upper / 1000
            holds(found, whole)


@pytest.mark.parametrize("direction", Direction)
def test_samples_that_hardly_ever_hold_a_record_lose_nothing_much(direction):
    bound = bound_epsilon(composed(gaussian(4, 10, "1e-15")), Fraction(1, 10**5), direction)
    assert bound.lower == bound.upper == 0


@pytest.mark.thorough
def test_delta_reaches_its_gap_where_epsilon_is_far_from_one():
    """10 / delta is far steeper than an epsilon of 10: the gap is one of delta."""
    for direction in Direction:
        bound = bound_delta(composed(gaussian(1, 19_000, "1e-2")), Fraction(10), direction, gap=Fraction(1, 100))
        assert 0 < bound.upper - bound.lower <= bound.upper / 100


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_a_zcdp_event_that_loses_nothing_has_an_epsilon_of_zero(direction):
    whole = composed(make_event("zcdp", {"rho": 0}, count=5))
    for delta in ("0", "1e-9"):
        found = bound_epsilon(whole, Fraction(delta), direction)
        assert found.lower == found.upper == 0
        holds(found, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_losses_beyond_what_is_proved_end_in_one_sentence(direction):
    whole = composed(make_event("pure", {"epsilon": 10_000}, count=10**9))
    with pytest.raises(Undecided, match="losses are about 1e\\+13 nats"):
        bound_epsilon(whole, Fraction(1, 10**5), direction)
    found = bound_delta(whole, Fraction(10_000), direction)
    assert (found.lower, found.upper) == (0, 1)
    holds(found, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_atoms_of_different_sizes_where_delta_falls_at_once(direction):
    # all losses are the largest ones with probability 0.13, so that the least epsilon at a tiny delta is next to their sum
    small = make_event("approximate", {"epsilon": "0.023", "delta": 0}, count=3)
    whole = composed(small, make_event("discrete-laplace", {"scale": "5/56"}, count=2))
    found = bound_epsilon(whole, Fraction(1, 10**18), direction)
    assert Fraction("22.46") < found.lower <= found.upper <= Fraction("22.469")
    assert found.upper - found.lower <= Fraction(1, 1000) * found.upper
    holds(found, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_where_no_grid_is_small_enough_the_largest_losses_add_up(direction):
    large = make_event("pure", {"epsilon": 10_000}, count=10**4)
    whole = composed(large, make_event("pure", {"epsilon": "1e-9"}, count=9 * 10**8))
    found = bound_epsilon(whole, Fraction(1, 10**5), direction)
    assert 0 <= found.lower < found.upper <= Fraction("100000000.9")
    holds(found, whole)
    lost = composed(*whole.events, make_event("approximate", {"epsilon": 1, "delta": "1e-6"}))
    found = bound_epsilon(lost, Fraction(1, 10**7), direction)
    assert found.upper is None  # what may be lost wholly is larger than this delta
    holds(found, lost)


@pytest.mark.thorough
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_losses_that_no_grid_is_made_for_end_in_one_sentence(direction):
    tiny = make_event("pure", {"epsilon": "8.1e-9"}, sampling_probability="3.3e-15")
    whole = composed(make_event("pure", {"epsilon": 811}, sampling_probability="1.42e-7"), tiny)
    found = bound_epsilon(whole, Fraction(1, 1000), direction)
    assert 0 == found.lower <= found.upper < Fraction("2e-7")  # who is sampled at all is sampled with a probability below delta
    holds(found, whole)
    less = bound_epsilon(whole, Fraction(1, 10**8), direction)  # the largest losses add up
    assert 0 <= less.lower < less.upper < 796
    holds(less, whole)
    huge = composed(gaussian("0.0831", count=10**6), make_event("pure", {"epsilon": 9930}))
    found = bound_epsilon(huge, Fraction(99, 100), direction)  # by groups of events
    assert found.lower < found.upper
    holds(found, huge)
    wide = bound_delta(huge, Fraction(10), direction)  # wide and true: there is nearly nothing left of delta = 1
    assert 0 <= wide.lower <= wide.upper <= 1


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("places", "exact"), [(250, 1e-9), (300, 1e-9), (318, 1e-9), (330, 0.03)])
@pytest.mark.parametrize("q", ["1", "1/2"])
def test_one_use_has_a_closed_form_at_the_least_deltas(places, exact, q):
    whole = composed(gaussian("1", q=q))
    found = bound_epsilon(whole, Fraction(1, 10**places), REMOVE)
    assert found.lower < found.upper <= found.lower * (1 + Fraction(exact))
    assert holds(found, whole) == ["delta-upper", "delta-lower"]
    with mpmath.workdps(400):
        at = [mpmath.log(1 + (mpmath.exp(to_mp(e)) - 1) / to_mp(Fraction(q))) for e in (found.upper, found.lower)]
        above, below = (gaussian_delta(mpmath.mpf(1), e) * to_mp(Fraction(q)) for e in at)
        assert above <= mpmath.mpf(10) ** -places <= below
    back = bound_delta(whole, found.upper, REMOVE)
    assert 0 < back.lower <= back.upper <= Fraction(2, 10 ** min(places, 318))
    holds(back, whole)


def test_cells_of_thousands_of_nats_have_a_true_bound():
    whole = composed(
        make_event("laplace", {"scale": "0.01"}), make_event("pure", {"epsilon": 10_000}, count=1000), make_event("zcdp", {"rho": 10_000})
    )
    found = bound_epsilon(whole, Fraction(1, 10**5), REMOVE)
    assert 10_010_000 < found.lower <= found.upper < 10_011_000
    holds(found, whole)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("epsilon", "most"),
    [("10000", "1.01e-4"), ("1e8", "1e-4"), ("600", "0.5")],
)
def test_mixed_events_have_a_wide_bound_at_a_large_epsilon(epsilon, most):
    whole = composed(make_event("approximate", {"epsilon": 5, "delta": "1e-6"}, count=100), make_event("pure", {"epsilon": 20}))
    found = bound_delta(whole, Fraction(epsilon), REMOVE)
    assert 0 <= found.lower <= found.upper <= Fraction(most)
    holds(found, whole)
    noisy = composed(*whole.events, make_event("discrete-gaussian", {"noise_multiplier": "1/5"}))
    found = bound_delta(noisy, Fraction(epsilon), ADD)
    assert 0 <= found.lower <= found.upper <= 1
    holds(found, noisy)
