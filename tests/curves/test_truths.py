"""The evaluators of true privacy curves (tests/targets/losses) agree with each other, with mpmath, and with sums of fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from accountant.curves import make_event
from profiles.balls import ball, working_precision
from tests.targets.losses import closed, finite, inversion, moments, rounded, truth
from tests.targets.losses.moments import Atoms, Laplace, SampledGaussian, WholeGaussian

THIRD, TENTH = Fraction(1, 3), Fraction(1, 10)


@pytest.fixture(autouse=True)
def _precise():
    with mpmath.workdps(50), working_precision(truth.BITS):
        yield


def mp(x):
    return mpmath.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpmath.mpf(x.str(50, radius=False))


def sharp(found, digits):
    assert found.is_finite()
    assert float(found.rad()) <= 10.0**-digits * abs(float(found.mid()))
    return found


def meet(one, other):
    assert one.overlaps(other), (one, other)


# --- closed forms ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(
    ("sigma", "q", "epsilon"), [("0.8", "1/10", "0.3"), ("2", "9/10", "0.01"), ("3", "1", "0.5"), ("1", "1/2", "-0.2")]
)
@pytest.mark.thorough(quick=1)
def test_one_use_of_each_continuous_mechanism_by_integration(sigma, q, epsilon, remove):
    """δ is the integral of (first − e^ε second)⁺; mpmath, split where the sign changes."""
    s, rate, e = (mp(Fraction(x)) for x in (sigma, q, epsilon))
    normal, laplace = (lambda y: mpmath.npdf(y, 0, s)), (lambda y: mpmath.exp(-abs(y) / s) / (2 * s))
    for density, found in (
        (normal, closed.sampled_gaussian_once(Fraction(sigma), Fraction(q), ball(Fraction(epsilon)), remove=remove)),
        (laplace, closed.laplace_once(1 / Fraction(sigma), Fraction(q), ball(Fraction(epsilon)), remove=remove)),
    ):
        ratio = (mpmath.exp(e if remove else -e) - 1 + rate) / rate

        def excess(y, density=density):
            mixed = (1 - rate) * density(y) + rate * density(y - 1)
            first, second = (mixed, density(y)) if remove else (density(y), mixed)
            return max(first - mpmath.exp(e) * second, mpmath.mpf(0))

        places = [mpmath.mpf(0), mpmath.mpf(1)]
        if ratio > 0:
            places.append(s**2 * mpmath.log(ratio) + mpmath.mpf(1) / 2 if density is normal else (1 + s * mpmath.log(ratio)) / 2)
        ends = [-30 * s, *sorted(places), 40 * s]
        exact = mpmath.quad(excess, ends) if density is normal else mpmath.quad(excess, [-mpmath.inf, *sorted(places), mpmath.inf])
        assert abs(mp(found) - exact) < mpmath.mpf(10) ** -13


# --- finite laws -------------------------------------------------------------------------------------------------------------------------


def enumerate_fractions(pair, count, ratio):
    """δ at e^ε = ratio of ``count`` uses of a pair of finite laws, exactly."""
    total = Fraction(0)
    for outcome in itertools.product(range(len(pair[0])), repeat=count):
        first = second = Fraction(1)
        for place in outcome:
            first, second = first * pair[0][place], second * pair[1][place]
        total += max(first - ratio * second, Fraction(0))
    return total


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_finite_laws_hold_sums_of_fractions(count, remove):
    """Three outcomes with rational likelihood ratios, and one that only P has."""
    p, q, ratio = [Fraction(k, 20) for k in (9, 6, 4, 1)], [Fraction(k, 20) for k in (3, 6, 11, 0)], Fraction(3, 2)
    rows = tuple((ball(a / b), ball(b)) for a, b in zip(p, q, strict=True) if b)
    use = finite.Finite(rows, ball(p[3]), arb(0), arb(0))
    near = (Fraction(mpmath.nstr(mpmath.log(mp(ratio)) * (1 + sign * mpmath.mpf("1e-30")), 45)) for sign in (1, -1))
    found = [finite.all_outcomes([(use, count)], epsilon, remove=remove) for epsilon in near]
    exact = ball(enumerate_fractions((p, q) if remove else (q, p), count, ratio))
    assert found[0] <= exact <= found[1]
    assert abs(float(found[1] - found[0])) < 1e-25


@pytest.mark.parametrize(("r", "q"), [(THIRD, Fraction(1)), (Fraction(4, 5), TENTH)])
def test_discrete_laplace_noise_has_two_losses(r, q):
    """All integers from −400 to 400 by their weights, in fractions."""
    weight = {k: r ** abs(k) for k in range(-400, 402)}
    total = (1 + r) / (1 - r)
    by_loss = dict.fromkeys((1 - q + q / r, 1 - q + q * r), Fraction(0))
    for k in range(-400, 401):
        by_loss[1 - q + q * weight[k - 1 if k > -400 else 401] / weight[k]] += weight[k] / total if k > -400 else 0
    found = finite.discrete_laplace(Fraction(mpmath.nstr(-1 / mpmath.log(mp(r)), 40)), q)
    for (u, mass), (exact_u, exact_mass) in zip(found.rows, by_loss.items(), strict=True):
        assert abs(mp(u) - mp(exact_u)) < mpmath.mpf(10) ** -35
        assert abs(mp(mass) - mp(exact_mass)) < mpmath.mpf(10) ** -35


@pytest.mark.thorough
def test_sums_of_discrete_gaussian_noise_by_all_outcomes():
    sigma = Fraction(1, 2)
    use = finite.discrete_gaussian(sigma, Fraction(1), nats=60)
    found = finite.discrete_gaussian_sums(sigma, 3, Fraction(2), nats=60)
    total = mpmath.mpf(0)
    losses = [(mp(x), mp(p)) for x, p in use.losses(remove=True)[0]]
    for outcome in itertools.product(losses, repeat=3):
        loss = mpmath.fsum(x for x, _ in outcome)
        total += mpmath.fprod(p for _, p in outcome) * max(0, -mpmath.expm1(2 - loss))
    assert abs(mp(found) - total) < mpmath.mpf(10) ** -20


# --- inversion ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(("m", "epsilon"), [("1", "7.56"), ("1e-4", "0.05"), ("400", "500"), ("1", "0")])
def test_inversion_holds_the_closed_form_of_gaussians(m, epsilon, remove):
    exact = closed.gaussian_sums(Fraction(m), Fraction(epsilon))
    for parts in ([(WholeGaussian(Fraction(m)), 1)], [(WholeGaussian(Fraction(m) / 7), 7)]):
        found = inversion.invert(parts, Fraction(epsilon), remove=remove)
        meet(sharp(found, 8), exact)


TWICE = [("1", "1/2", "1"), ("1/2", "9/10", "4"), ("3", "3/10", "0.2"), ("1", "1/5", "0.3")]


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(("sigma", "q", "epsilon"), TWICE)
@pytest.mark.thorough
def test_two_sampled_gaussians_by_three_methods(sigma, q, epsilon, remove):
    event = make_event("gaussian", {"noise_multiplier": sigma}, sampling_probability=q, count=2)
    by_quadrature = sharp(closed.sampled_gaussian_twice(Fraction(sigma), Fraction(q), Fraction(epsilon), remove=remove), 9)
    low, high = rounded.bracket(
        [(rounded.sampled_gaussian_cells(float(Fraction(sigma)), float(Fraction(q)), remove=remove), 2)], float(Fraction(epsilon))
    )
    assert low <= float(by_quadrature) <= high <= low * 1.01
    try:
        inverted = inversion.invert(
            [(SampledGaussian(event["noise_multiplier"], event.sampling_probability), 2)], Fraction(epsilon), remove=remove
        )
    except inversion.NotInverted:
        assert not remove  # the losses of a record that comes end at −log(1 − q), and their transform decays slowly
    else:
        meet(sharp(inverted, 6), by_quadrature)


MANY = [
    ([("gaussian", {"noise_multiplier": 1}, "1/100", 60)], "0.3"),
    ([("gaussian", {"noise_multiplier": 1}, "1/2", 10)], "4"),
    ([("gaussian", {"noise_multiplier": 10}, "9/10", 100)], "3"),
    ([("laplace", {"scale": 10}, "1/2", 1000)], "2"),
    ([("laplace", {"scale": 3}, 1, 3), ("gaussian", {"noise_multiplier": 2}, 1, 1)], "1"),
    ([("approximate", {"epsilon": "1/2", "delta": "1e-6"}, "1/3", 6), ("gaussian", {"noise_multiplier": 2}, "1/3", 40)], "1"),
    ([("discrete-gaussian", {"noise_multiplier": 10}, 1, 40), ("gaussian", {"noise_multiplier": 20}, 1, 10)], "1"),
]


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(("rows", "epsilon"), MANY)
@pytest.mark.thorough
def test_inversion_lies_in_the_bracket_of_rounded_losses(rows, epsilon, remove):
    events = [make_event(kind, numbers, sampling_probability=q, count=count) for kind, numbers, q, count in rows]
    inverted, bracket = truth._inverted(events, Fraction(epsilon), remove), truth._rounded(events, Fraction(epsilon), remove)
    if inverted is None:  # the losses of a record that comes end at −log(1 − q): their transform decays slowly, unless there are many
        assert not remove
        assert sum(event.count for event in events) < 100
        return
    sharp(inverted, 6)
    assert ball(bracket.low) <= inverted <= ball(bracket.high)
    assert bracket.high <= bracket.low * Fraction(12, 10)


@pytest.mark.parametrize(
    ("law", "real"), [(SampledGaussian(Fraction(1), TENTH), 4), (SampledGaussian(Fraction(1, 2), THIRD), -3), (Laplace(THIRD, TENTH), 9)]
)
def test_bounds_of_moments_lie_above_them(law, real):
    for height in (1, 5, 40):
        bound = law.bound(arb(real), arb(height))
        for value in law.along(arb(real), arb(height), 4)[1:]:
            assert abs(value) <= bound
        assert bound <= law.along(arb(real), arb(1), 1)[0].real * (1 + arb(2) ** -40)


def test_moments_of_a_sampled_gaussian_by_the_binomial_theorem(monkeypatch):
    """A(n) = Σ C(n, k) (1 − q)^{n−k} q^k e^{(k² − k)/(2σ²)}; and the products of matrices agree with the balls."""
    q, variance = mp(TENTH), mpmath.mpf(4)
    law = SampledGaussian(Fraction(2), TENTH)
    for n in (1, 2, 7):
        exact = mpmath.fsum(
            mpmath.binomial(n, k) * (1 - q) ** (n - k) * q**k * mpmath.exp((k * k - k) / (2 * variance)) for k in range(n + 1)
        )
        (found,) = law.along(arb(n), arb(1), 1)
        assert abs(mp(found.real.mid()) - exact) < mpmath.mpf("1e-20")
        assert found.real.overlaps(ball(Fraction(mpmath.nstr(exact, 45))) + arb(0, 1e-40))
    precise = law.along(arb(3), arb(1) / 4, 40)
    monkeypatch.setattr(moments, "_MOST_PRODUCTS", 0)
    for one, other in zip(precise, law.along(arb(3), arb(1) / 4, 40), strict=True):
        assert one.real.overlaps(other.real)
        assert one.imag.overlaps(other.imag)
        assert float(other.real.rad()) < 1e-9


def test_moments_of_laplace_noise_by_integration():
    c, q, s = mp(THIRD), mp(TENTH), mpmath.mpc(3, 2)
    (_, found) = Laplace(THIRD, TENTH).along(arb(3), arb(2), 2)

    def u(y):
        return 1 - q + q * mpmath.exp(c * (abs(y) - abs(y - 1)))

    exact = mpmath.quad(lambda y: c / 2 * mpmath.exp(-c * abs(y)) * u(y) ** s, [-mpmath.inf, 0, 1, mpmath.inf])
    assert abs(mp(found.real.mid()) - exact.real) < mpmath.mpf(10) ** -15
    assert abs(mp(found.imag.mid()) - exact.imag) < mpmath.mpf(10) ** -15
    atoms = Atoms(((arb(2), arb(1) / 3), (arb(1) / 2, arb(2) / 3)))
    assert abs(float(atoms.along(arb(2), arb(1), 1)[0].real) - (4 / 3 + 1 / 6)) < 1e-12


# --- which method ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "numbers", "q", "count", "epsilon", "remove", "method"),
    [
        ("gaussian", {"noise_multiplier": 100}, 1, 10**4, "7.56", True, "closed"),
        ("gaussian", {"noise_multiplier": 1}, "1/10", 1, "0.5", False, "no larger loss"),
        ("gaussian", {"noise_multiplier": 1}, "1/10", 2, "0.1", False, "twice"),
        ("randomized-response", {"epsilon": "1/2"}, "1/3", 40, "1/2", True, "finite"),
        ("discrete-gaussian", {"noise_multiplier": 3}, 1, 40, "2", False, "polynomial"),
        ("gaussian", {"noise_multiplier": 1}, "1/100", 1000, "1.8283", True, "inverted"),
        ("gaussian", {"noise_multiplier": "1/10"}, "1/100", 10, "40", True, "rounded"),
    ],
)
@pytest.mark.thorough(quick=2)
def test_the_sharpest_method_is_taken(kind, numbers, q, count, epsilon, remove, method):
    event = make_event(kind, numbers, sampling_probability=q, count=count)
    found = truth.find_delta([event], Fraction(epsilon), remove=remove)
    assert (found.method, found.low <= found.high) == (method, True)


def test_what_is_not_known_is_said():
    assert truth.find_delta([make_event("zcdp", {"rho": 1})], Fraction(1), remove=True) is None
