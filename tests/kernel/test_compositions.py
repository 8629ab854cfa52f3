"""Bounds on compositions: against closed forms and against sums over all outcomes, in mpmath; and certificates of what is false."""

import itertools
import json
import math
import random
from decimal import localcontext
from fractions import Fraction

import mpmath
import pytest

from proofs_check.kernel import check
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.core.terms import forget
from proofs_check.kernel.core.theorems import Proof
from proofs_check.kernel.theories.compositions import bounds as compositions
from proofs_check.kernel.theories.compositions import curves
from proofs_check.kernel.theories.compositions.bounds import Bound, Event, compose, computed, ended, read_events
from proofs_check.kernel.theories.compositions.lattices import Lattice, LossDistribution
from proofs_check.kernel.untrusted.proofs import Session

pytestmark = pytest.mark.usefixtures("sixty_digits")


@pytest.fixture
def sixty_digits():
    with mpmath.workdps(60):
        yield


def to_mp(x):
    return mpmath.mpf(x.numerator) / x.denominator


def gaussian_delta(mu, epsilon):
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def event(mechanism, count=1, q="1", **numbers):
    return {"mechanism": mechanism, **numbers, "sampling_probability": q, "count": count}


def entry(low, high, *, count=1, offset="0", steps=None, floors=None):
    floors = [0] * (count.bit_length() - 1) if floors is None else floors
    return {"offset": offset, "start": low, "steps": steps or [[0, high - low]], "floors": floors}


def random_steps(rng, low, high):
    """A first place at most low, and steps of random levels to at least high, each from a place of its level."""
    at = start = low - low % 8
    steps = []
    while at < high:
        level = rng.choice([k for k in range(4) if at % (1 << k) == 0])
        steps.append([level, rng.randint(1, 40) if level else rng.randint(1, 10) * 8])
        at += steps[-1][1] << level
        if level and at % 8:  # on to a place of all levels
            steps.append([0, 8 - at % 8])
            at += steps[-1][1]
    return start, steps


def grid(unit, *entries, digits=25, tails=("1e-12", "1e-20")):
    return {"digits": digits, "unit": unit, "tails": list(tails), "events": list(entries)}


def enclose(events, remove, grid, epsilon):
    """The enclosure of delta."""
    return [to_mp(delta_at(compose(events, grid, remove=remove, up=up), epsilon)) for up in (False, True)]


def delta_at(made, epsilon):
    lattice, laws = made
    return lattice.delta(laws, epsilon)


@pytest.mark.thorough(quick=15)
@pytest.mark.parametrize("seed", range(60))
def test_any_grid_encloses_the_closed_form_of_gaussians(seed):
    rng = random.Random(seed)
    m, count = Fraction(rng.choice(["4", "1", "1/9", "1e-4"])), rng.choice([1, 2, 3, 5, 7, 12, 33])
    mu = float(m) ** 0.5
    unit = Fraction(rng.choice([1, 2, 3, 7]), rng.choice([4, 10, 50])) * Fraction(f"{mu:.3g}")
    low, high = (int((float(m) / 2 + sign * rng.uniform(3, 9) * mu) / float(unit)) + sign for sign in (-1, 1))
    floors = [rng.choice([0, 0, 1, 2, 4]) for _ in range(count.bit_length() - 1)]
    offset = str(Fraction(rng.randint(-5, 5), 7) * unit)
    start, steps = random_steps(rng, low, high)
    part = entry(start, high, offset=offset, steps=steps, floors=floors)
    tails = [f"1e-{rng.choice([3, 6, 12])}" for _ in range(2)]
    events = [Event(*[lambda meter: curves.gaussian(m, meter)] * 2, Fraction(1), count)]  # not merged into one, as read_events does
    whole = grid(str(unit), part, digits=rng.choice([8, 12, 20, 35]), tails=tails)
    bounds = [compose(events, whole, remove=rng.random() < 0.5, up=up) for up in (False, True)]
    total = mpmath.sqrt(count * to_mp(m))
    for _ in range(5):
        epsilon = Fraction(rng.randint(0, 10**6), 10**6) * Fraction(str(float(total**2 + 3 * total)))
        lower, upper = (to_mp(delta_at(bound, epsilon)) for bound in bounds)
        assert lower <= gaussian_delta(total, to_mp(epsilon)) <= upper


@pytest.mark.thorough
def test_the_bounds_come_together():
    events = [Event(*[lambda meter: curves.gaussian(Fraction(1, 100), meter)] * 2, Fraction(1), 100)]
    gaps = []
    for k in (1, 2, 4, 8):
        part = entry(-50 * k, 60 * k, count=100)
        lower, upper = enclose(events, True, grid(f"1/{50 * k}", part), Fraction(4))
        assert lower <= gaussian_delta(1, 4) <= upper
        gaps.append(upper / lower - 1)
    assert all(after < before / 3 for before, after in itertools.pairwise(gaps))  # second order: a quarter
    assert gaps[-1] < 2e-3


def laws(base, q, remove):
    """The finite losses of one use and their masses, and the mass at infinity: base is a list of (mass under P, mass under Q)."""
    rows = [(q * p + (1 - q) * r, r) if remove else (r, q * p + (1 - q) * r) for p, r in base]
    return [(mpmath.log(a / b), a) for a, b in rows if a and b], mpmath.fsum(a for a, b in rows if not b)


def delta_of(uses, epsilon):
    """Delta of several uses by all their outcomes."""
    finite = mpmath.mpf(1)
    for _, beyond in uses:
        finite *= 1 - beyond
    total = 1 - finite
    for outcome in itertools.product(*(law for law, _ in uses)):
        loss, mass = mpmath.fsum(x for x, _ in outcome), mpmath.fprod(p for _, p in outcome)
        total += mass * max(0, -mpmath.expm1(epsilon - loss))
    return total


def approximate(epsilon, delta):
    e = mpmath.exp(to_mp(epsilon))
    d = to_mp(delta)
    return [(d, 0), (0, d), ((1 - d) * e / (1 + e), (1 - d) / (1 + e)), ((1 - d) / (1 + e), (1 - d) * e / (1 + e))]


@pytest.mark.thorough(quick=4)
@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("q", ["1", "1/3"])
@pytest.mark.parametrize(("loss", "delta", "count"), [("1/2", "0", 7), ("2", "1/100", 4), ("1/10", "1e-3", 6)])
def test_finite_mechanisms_by_all_their_outcomes(loss, delta, count, q, remove):
    uses = [laws(approximate(Fraction(loss), Fraction(delta)), to_mp(Fraction(q)), remove)] * count
    ends = sorted(x for x, _ in uses[0][0])
    step, offset = (ends[-1] - ends[0]) / 64, ends[0] - mpmath.mpf("1e-18")
    part = entry(0, 65, count=count, offset=mpmath.nstr(offset, 30))
    whole = grid(mpmath.nstr(step, 30), part, digits=30, tails=("0", "0"))
    events = read_events([event("approximate", count, q, epsilon=loss, delta=delta)])
    for epsilon in (Fraction(0), Fraction(1, 3), Fraction(loss), 2 * Fraction(loss), 20 * Fraction(loss)):
        truth = delta_of(uses, to_mp(epsilon))
        lower, upper = enclose(events, remove, whole, epsilon)
        assert lower <= truth <= upper
        if q == "1" or delta == "0":
            assert upper - lower < mpmath.mpf("1e-12")  # the atoms lie on the grid: nothing is lost


@pytest.mark.parametrize("remove", [True, False])
def test_finite_mechanisms_on_a_grid_that_does_not_fit(remove):
    base = approximate(Fraction(1), Fraction(0))
    uses = [laws(base, to_mp(Fraction(1, 5)), remove)] * 3
    events, epsilon = read_events([event("randomized-response", 3, "1/5", epsilon="1")]), Fraction("0.457" if remove else "0.4")
    gaps = []
    for k in (10, 40, 160):
        lower, upper = enclose(events, remove, grid(f"1/{k}", entry(-k, k, count=3)), epsilon)  # near the loss of an outcome
        assert lower <= delta_of(uses, to_mp(epsilon)) <= upper
        gaps.append(upper - lower)
    assert gaps[2] < gaps[1] < gaps[0] < 0.2


def test_different_mechanisms_compose():
    # a Gaussian, two of them, and randomised response: the Gaussians are one; the rest is a sum over the answers
    events = read_events([event("gaussian", 2, noise_multiplier="2"), event("randomized-response", 3, epsilon="1/2")])
    parts = [entry(-400, 480), entry(0, 64, count=3, offset="-0.500000000001")]
    answers, _ = laws(approximate(Fraction(1, 2), Fraction(0)), mpmath.mpf(1), True)
    mu = mpmath.sqrt(mpmath.mpf(2) / 4)
    for epsilon in (Fraction(0), Fraction(1), Fraction(3)):
        truth = mpmath.fsum(
            mpmath.fprod(p for _, p in outcome) * gaussian_delta(mu, to_mp(epsilon) - mpmath.fsum(x for x, _ in outcome))
            for outcome in itertools.product(answers, repeat=3)
        )
        lower, upper = enclose(events, True, grid("1/64", *parts), epsilon)
        assert lower <= truth <= upper
        assert upper - lower < 3e-4


def test_one_use_has_a_closed_form_and_the_grid_agrees():
    events = read_events([event("laplace", 1, "1/7", scale="3/2")])
    for remove in (True, False):
        lower, upper = (to_mp(compositions.closed_form(events[0], Fraction(1, 20), 30, remove=remove, up=up)) for up in (False, True))
        assert 0 < upper - lower < mpmath.mpf("1e-29")
        below, above = enclose(events, remove, grid("1/500", entry(-400, 400)), Fraction(1, 20))
        assert below <= lower <= upper <= above <= below + 1e-4


@pytest.mark.parametrize(("sigma", "epsilon", "false"), [("1/20", "199.9", "0.9"), ("1/20", "199.9", "0.0952"), ("1/10", "149.9", "1e-22")])
def test_discrete_gaussian_noise_of_a_small_scale(sigma, epsilon, false):
    """Nearly all losses are ±1/(2σ²), or next to nothing is beyond: what a table of weights leaves out counts e^ε-fold."""
    variance, e = to_mp(Fraction(sigma)) ** 2, to_mp(Fraction(epsilon))
    weights = {k: mpmath.exp(-mpmath.mpf(k * k) / (2 * variance)) for k in range(-9, 10)}
    total = mpmath.fsum(weights.values())
    truth = mpmath.fsum(max(weights[k - 1] - mpmath.exp(e) * weights[k], 0) for k in range(-8, 10)) / total
    listed = read_events([event("discrete-gaussian", noise_multiplier=sigma)])
    lower, upper = (to_mp(compositions.closed_form(listed[0], Fraction(epsilon), 45, remove=True, up=up)) for up in (False, True))
    assert lower <= truth <= upper <= lower + mpmath.mpf("1e-43")
    claim = {"claim": "delta-lower", "verdict": "proved", "direction": "remove", "epsilon": epsilon, "bound": false}
    composition = {"name": "x", "events": [event("discrete-gaussian", noise_multiplier=sigma)]}
    whole = {"format": "pdp-certificate", "version": 1, "composition": composition, "claims": [claim]}
    assert check(json.dumps(whole)).accepted is (to_mp(Fraction(false)) <= truth)


def random_laws(rng, bits, up):
    """A law with two levels; of the lower side, one under P and one under Q, in which some places have no mass at all."""

    def masses(number):
        return [rng.choice([0, rng.randrange(2**bits // 60)]) for _ in range(number)]

    lows, sizes = [rng.randint(-9, 9) for _ in range(2)], [rng.randint(1, 20) for _ in range(2)]
    first = LossDistribution({2 * k: (lows[k], masses(sizes[k])) for k in range(2)}, rng.choice([0, 5]), Fraction(1, 7))
    return (first,) if up else (first, LossDistribution({2 * k: (lows[k], masses(sizes[k])) for k in range(2)}, 0, Fraction(1, 7)))


def outcomes(laws, lattice):
    """The loss of each place with its masses under P and under Q, which is that of P on the upper side."""
    return [
        (to_mp(laws[0].shift + (low + i) * lattice.width(level)), p, q)
        for level, (low, cells) in laws[0].parts.items()
        for i, (p, q) in enumerate(zip(cells, laws[-1].parts[level][1], strict=True))
    ]


def curve_of(laws, lattice, epsilon):
    """The curve of laws, in units."""
    return laws[0].beyond + mpmath.fsum(max(p - mpmath.exp(epsilon - loss) * q, 0) for loss, p, q in outcomes(laws, lattice))


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("up", [True, False])
def test_each_operation_moves_the_curve_to_its_side(up):
    rng = random.Random(up)
    with localcontext(curves.context(60)):
        for _ in range(12):
            lattice = Lattice(up, 66, Fraction(rng.randint(1, 9), 10), (Fraction(1, 50), Fraction(1, 90)))
            laws = random_laws(rng, 66, up)
            for changed in (lattice.lift(laws, 1), lattice.lift(laws, 3), lattice.lift(laws, 7), lattice.trim(laws, Fraction(1))):
                for k in range(-15, 15):
                    epsilon = mpmath.mpf(k) / 2
                    before, after = curve_of(laws, lattice, epsilon), curve_of(changed, lattice, epsilon)
                    assert before <= after if up else after <= before
                    delta = to_mp(lattice.delta(changed, Fraction(k, 2))) * 2**66
                    assert 1 <= delta - after <= 5 if up else -5 <= delta - after <= -1 or delta == 0


@pytest.mark.parametrize("up", [True, False])
def test_a_sum_of_losses_is_rounded_to_its_side(up):
    rng, unit = random.Random(3), mpmath.mpf(2) ** 66
    with localcontext(curves.context(60)):
        for _ in range(6):
            lattice = Lattice(up, 66, Fraction(rng.randint(1, 9), 20))
            x, y = random_laws(rng, 66, up), random_laws(rng, 66, up)
            for one, other in ((x, y), (x, x)):
                found = lattice.multiply(one, other)
                pairs = list(itertools.product(outcomes(one, lattice), outcomes(other, lattice)))
                totals = [mpmath.fsum(p for _, p, _ in outcomes(laws, lattice)) for laws in (one, other)]
                beyond = (one[0].beyond * (totals[1] + other[0].beyond) + totals[0] * other[0].beyond) / unit
                for k in range(-6, 8, 2):
                    epsilon = mpmath.mpf(k) / 2
                    terms = (p * s - mpmath.exp(epsilon - x - z) * q * t for (x, p, q), (z, s, t) in pairs)
                    exact = beyond + mpmath.fsum(max(term, 0) for term in terms) / unit
                    assert curve_of(found, lattice, epsilon) >= exact if up else curve_of(found, lattice, epsilon) <= exact


def test_a_product_is_that_of_polynomials_rounded_up_or_down():
    rng, scale = random.Random(7), 2**66
    for _ in range(20):
        lattice = Lattice(False, 66, Fraction(1))
        lows, cells = [rng.randint(-9, 9) for _ in range(2)], [[rng.randrange(scale // 30) for _ in range(25)] for _ in range(4)]
        x, y = ((LossDistribution({0: (lows[n], cells[n])}, 5 - 5 * n), LossDistribution({0: (lows[n], cells[n + 2])})) for n in range(2))
        for side, (a, b, product) in enumerate(zip(x, y, lattice.multiply(x, y), strict=True)):
            sums = [0] * 49
            for (i, c), (j, d) in itertools.product(enumerate(a.parts[0][1]), enumerate(b.parts[0][1])):
                sums[i + j] += c * d
            exact = [Fraction(s, scale) for s in (*sums, a.beyond * sum(b.parts[0][1]))]
            close = zip((*product.parts[0][1], product.beyond), exact, strict=True)
            assert all(0 <= (c - e if side and e else e - c) < 1 for c, e in close)
            assert product.parts[0][0] == sum(lows)


BASES = {
    "response": ([event("randomized-response", 9, epsilon="1/2")], grid("1", entry(0, 1, count=9, offset="-0.500000000001")), "1"),
    "laplace": ([event("laplace", 20, "1/4", scale="2")], grid("1/100", entry(-60, 60, count=20)), "1/2"),
    "gaussian": ([event("gaussian", 6, "1/10", noise_multiplier="1")], grid("1/100", entry(-300, 300, count=6)), "1/10"),
    "closed": ([event("gaussian", 10**4, noise_multiplier="100")], None, "7.560"),
}


def certificate(name, **changes):
    """A certificate of the bound that holds at an epsilon, on either side, with changed fields of its claim."""
    listed, whole, epsilon = BASES[name]
    claim = {"claim": "delta-upper", "verdict": "proved", "direction": "remove", "epsilon": epsilon, **changes}
    if whole is not None:
        claim["grid"] = changes.get("grid", whole)
    if "bound" not in claim:
        up, remove, at = claim["claim"] == "delta-upper", claim["direction"] == "remove", Fraction(claim["epsilon"])
        events = read_events(listed)
        found = (
            delta_at(compose(events, whole, remove=remove, up=up), at)
            if whole
            else compositions.closed_form(events[0], at, 30, remove=remove, up=up)
        )
        claim["bound"] = str(found * (1 if whole else Fraction(10**20 + 2 * up - 1, 10**20)))
    return json.loads(
        json.dumps({"format": "pdp-certificate", "version": 1, "composition": {"name": "x", "events": listed}, "claims": [claim]})
    )


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_what_holds_is_accepted_and_the_next_smaller_bound_is_not(name, side, direction):
    value = certificate(name, claim=f"delta-{side}", direction=direction)
    report = check(json.dumps(value))
    assert report.accepted, report
    assert [claim[:5] for claim in report.claims] == [(f"delta-{side}", "proved", value["claims"][0]["bound"], ("computed",), ())]
    bound, sign = Fraction(value["claims"][0]["bound"]), -1 if side == "upper" else 1
    value["claims"][0]["bound"] = str(bound * (1 + Fraction(sign, 10**6)))
    report = check(json.dumps(value))
    assert (report.accepted, report.step) == (False, "claims[0]"), report


@pytest.mark.parametrize(
    ("name", "accepted"), [("x", True), ("", True), ("x" * 1000, True), ("x" * 1001, False), (5, False), (["x"], False)]
)
def test_a_composition_has_a_name_of_moderate_length(name, accepted):
    value = certificate("closed", epsilon="7.5601984631", bound="1e-13")
    value["composition"]["name"] = name
    assert check(json.dumps(value)).accepted is accepted


def test_the_numbers_of_the_issue():
    # at this delta one Gaussian with mu = 1 needs 7.5601984..., where a floating-point accountant says 7.438
    for epsilon, holds in (("7.5601984631", True), ("7.5601984630", False), ("7.438", False)):
        assert check(json.dumps(certificate("closed", epsilon=epsilon, bound="1e-13"))).accepted is holds


WORDS = [
    "",
    " 1",
    "1 ",
    "+-1",
    "0x1",
    "1_0",
    "nan",
    "inf",
    "Infinity",
    "1e",
    "1e99999999",
    "1/0",
    "1,5",
    "\u0661",
    "\u00bd",
    "--1",
    "1" * 5000,
]
PATHS = [("bound",), ("epsilon",), ("grid", "unit"), ("grid", "tails", 0), ("grid", "tails", 1), ("grid", "events", 0, "offset")]


@pytest.mark.parametrize("path", PATHS, ids=str)
@pytest.mark.parametrize("word", [*WORDS, 1, 0.5, True, None, [], {}], ids=lambda w: str(w)[:10])
def test_other_notations_are_rejected(path, word):
    value = certificate("laplace", bound="1")
    place = value["claims"][0]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = word
    assert not check(json.dumps(value)).accepted


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("digits",), [0, -1, 1001, "20", 20.5, True, None]),
        (("unit",), ["0", "-1/100", "1e-16", "1e7"]),
        (("tails",), [["0"], ["0", "0", "0"], ["-1/10", "0"], ["0", "2"], "0"]),
        (("events",), [[], [{}], [None]]),
        (("events", 0, "start"), [10**18 + 1, -(10**19), "0", 0.5, None]),
        (("events", 0, "steps"), [[], [[0]], [[0, 0]], [[0, -1]], [[61, 1]], [[-1, 5]], [[0, 1], [1, 9]], [[0, 10**9]], [[59, 99]], "0"]),
        (("events", 0, "floors"), [[], [0] * 3, [0] * 5, [0, 0, 0, -1], [0, 0, 0, 61], ["0"] * 4, [60] * 4]),
        (("events", 0, "offset"), ["1e7", "-1e7"]),
    ],
    ids=str,
)
def test_grids_out_of_range_are_rejected(path, words):
    for word in words:
        value = certificate("laplace", bound="1")
        place = value["claims"][0]["grid"]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = word
        assert not check(json.dumps(value)).accepted, word


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": "zcdp"},
        {"mechanism": "exponential"},
        {"mechanism": None},
        {"mechanism": ["laplace"]},
        {"count": 0},
        {"count": -1},
        {"count": "20"},
        {"count": 20.0},
        {"count": 10**9 + 1},
        {"count": True},
        {"sampling_probability": "0"},
        {"sampling_probability": "-1/4"},
        {"sampling_probability": "5/4"},
        {"scale": "0"},
        {"scale": "-2"},
        {"scale": None},
        {"noise_multiplier": "2"},
        {"sensitivity": "2"},
    ],
    ids=str,
)
def test_events_out_of_range_are_rejected(change):
    value = certificate("laplace", bound="1")
    value["composition"]["events"][0] |= change
    assert not check(json.dumps(value)).accepted


@pytest.mark.parametrize("delta", ["1", "2", "-1/10"])
def test_deltas_of_events_are_below_one(delta):
    value = certificate("response", bound="1")
    value["composition"]["events"] = [event("approximate", 9, epsilon="1/2", delta=delta)]
    assert not check(json.dumps(value)).accepted


def test_fields_that_are_missing_or_too_many_are_rejected():
    for where in ("", "composition", "claim", "grid", "entry", "event"):
        value = certificate("laplace", bound="1")
        claim = value["claims"][0]
        places = {
            "": value,
            "composition": value["composition"],
            "claim": claim,
            "grid": claim["grid"],
            "entry": claim["grid"]["events"][0],
        }
        place = (places | {"event": value["composition"]["events"][0]})[where]
        for key in list(place):
            if (where, key) == ("claim", "grid"):
                continue
            kept = place.pop(key)
            assert not check(json.dumps(value)).accepted, (where, key)
            place[key] = kept
        assert check(json.dumps(value)).accepted
        place["more"] = 1
        assert not check(json.dumps(value)).accepted, where
    for name in ("laplace", "response"):  # used more than once: there is no closed form
        value = certificate(name, bound="0.999")
        del value["claims"][0]["grid"]
        assert not check(json.dumps(value)).accepted


def test_there_are_claims_but_not_too_many():
    value = certificate("response", bound="1")
    for count, accepted in ((0, False), (1, True), (8, True), (9, False)):
        assert check(json.dumps(value | {"claims": value["claims"] * count})).accepted is accepted


def about(events, kind, direction, epsilon, bound="0", **more):
    """The report on one claim without a grid."""
    claim = {"claim": kind, "verdict": "proved", "direction": direction, "epsilon": str(epsilon), "bound": str(bound), **more}
    return check(json.dumps({"format": "pdp-certificate", "version": 1, "composition": {"name": "x", "events": events}, "claims": [claim]}))


def loss_on_a_sample(loss, q, remove):
    mixed = 1 - to_mp(q) + to_mp(q) * mpmath.exp(loss if remove else -loss)
    return mpmath.log(mixed) if remove else -mpmath.log(mixed)


TINY = Fraction(1, 10**40)


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("q", ["1", "1/7", "1e-15", "999/1000"])
@pytest.mark.parametrize(
    ("mechanism", "numbers", "loss"),
    [
        ("pure", {"epsilon": "1/2"}, "1/2"),
        ("randomized-response", {"epsilon": "7"}, "7"),
        ("laplace", {"scale": "3"}, "1/3"),
        ("discrete-laplace", {"scale": "1e-3"}, "1000"),
        ("approximate", {"epsilon": "1/10", "delta": "0"}, "1/10"),
        ("two-sided", {"epsilon_remove": "2", "delta_remove": "0", "epsilon_add": "2", "delta_add": "0"}, "2"),
    ],
)
def test_delta_is_zero_from_the_largest_loss_on_and_above_zero_before(mechanism, numbers, loss, q, direction):
    for count in (1, 3, 10**6):
        events = [event(mechanism, count, q, **numbers), event("pure", 2, epsilon="1/3")]
        one = Fraction(loss)
        if q != "1":
            one = Fraction(mpmath.nstr(loss_on_a_sample(to_mp(one), Fraction(q), direction == "remove"), 55))
        total = count * one + Fraction(2, 3)
        near = TINY if q != "1" else Fraction(0)
        assert about(events, "delta-upper", direction, total + near).accepted
        assert not about(events, "delta-upper", direction, total - TINY).accepted
        assert about(events, "delta-positive", direction, total - near).accepted
        assert not about(events, "delta-positive", direction, total + TINY).accepted


@pytest.mark.parametrize("mechanism", ["gaussian", "discrete-gaussian", "zcdp"])
def test_gaussian_events_have_no_largest_loss_but_on_a_sample_that_gains_a_record(mechanism):
    numbers = {"rho": "1/2"} if mechanism == "zcdp" else {"noise_multiplier": "2"}
    for q in ("1",) if mechanism == "zcdp" else ("1", "1/10"):
        events = [event(mechanism, 3, q, **numbers)]
        for direction in ("remove", "add"):
            bounded = q != "1" and direction == "add"
            assert about(events, "delta-positive", direction, 10**10).accepted is not bounded
            assert not about(events, "delta-upper", direction, "0.31608").accepted
            assert about(events, "delta-upper", direction, "0.31609").accepted is bounded  # 3 log(10/9) = 0.316081...
            assert about(events, "delta-positive", direction, "0.31608").accepted


def test_what_is_lost_wholly_is_counted():
    once, thrice = ([event("approximate", n, epsilon="1/2", delta="1e-3")] for n in (1, 3))
    sampled = [event("approximate", 1, "1/10", epsilon="1/2", delta="1e-3")]
    loss = mpmath.nstr(loss_on_a_sample(mpmath.mpf("0.5"), Fraction(1, 10), remove=True) + mpmath.mpf("1e-20"), 40)
    for events, epsilon, bound in ((once, "1/2", "1e-3"), (thrice, "3/2", "3e-3"), (sampled, loss, "1e-4")):
        assert about(events, "delta-upper", "remove", epsilon, bound).accepted
        assert not about(events, "delta-upper", "remove", epsilon, Fraction(bound) * (1 - TINY)).accepted
        assert not about(events, "delta-upper", "remove", Fraction(epsilon) - Fraction(1, 10**15), bound).accepted
        assert about(events, "delta-positive", "remove", 10**10).accepted
    assert about(sampled, "delta-upper", "add", "0.1053606", "0").accepted  # log(10/9): the other law is in the mixture
    assert not about(sampled, "delta-upper", "add", "0.1053605", "0").accepted
    assert about(sampled, "delta-positive", "add", "0.1053605").accepted


def test_two_directions_with_numbers_of_their_own():
    numbers = {"epsilon_remove": "1", "delta_remove": "0", "epsilon_add": "2", "delta_add": "1/100"}
    events = [event("two-sided", **numbers)]
    assert about(events, "delta-upper", "remove", 1).accepted
    assert not about(events, "delta-upper", "remove", "0.99999").accepted
    assert not about(events, "delta-upper", "add", 2).accepted
    assert about(events, "delta-upper", "add", 2, "1/100").accepted
    assert about(events, "delta-positive", "add", 10**6).accepted
    del numbers["epsilon_add"]
    for bound, accepted in (("0.633", True), ("0.632", False)):  # 1 - 1/e at infinity: what the other direction leaves open
        assert about([event("two-sided", **numbers)], "delta-upper", "add", 10**6, bound).accepted is accepted
    equal = [event("two-sided", epsilon_remove="1", delta_remove="1/10", epsilon_add="0", delta_add="0")]  # P = Q
    assert about(equal, "delta-upper", "remove", 0).accepted
    assert not about(equal, "delta-positive", "remove", "1e-9").accepted


@pytest.mark.parametrize(
    "change",
    [
        {"bound": "1e-100"},
        {"bound": "1"},
        {"grid": grid("1/100", entry(-60, 60))},
        {"order": "2"},
        {"verdict": "refuted"},
        {"epsilon": "-1"},
        {"direction": "both"},
        {"claim": "delta"},
    ],
    ids=str,
)
def test_a_claim_that_delta_is_positive_has_no_more(change):
    base = {"kind": "delta-positive", "direction": "remove", "epsilon": "1/10", "bound": "0"}
    assert about([event("laplace", scale="2")], **base).accepted
    given = base | {"kind" if key == "claim" else key: value for key, value in change.items()}
    assert not about([event("laplace", scale="2")], **given).accepted


def test_the_largest_loss_needs_no_grid_and_takes_no_order():
    events = [event("laplace", 5, scale="2")]
    assert about(events, "delta-upper", "remove", "5/2").accepted
    assert not about(events, "delta-upper", "remove", "5/2", order="2").accepted
    assert not about(events, "delta-lower", "remove", "5/2").accepted


def test_losses_beyond_all_measure_are_refused():
    for q, accepted in (("1/2", False), ("1", True)):
        report = about([event("randomized-response", 1, q, epsilon="1e13")], "delta-positive", "remove", 1)
        assert report.accepted is accepted, report


@pytest.mark.thorough
def test_zcdp_events_that_others_lie_between():
    # responses that choose by what came before which way they ask, all outputs added up; eps-differential privacy is eps^2/2-zCDP
    first, between, last = Fraction(1, 2), Fraction(1), Fraction(3, 4)
    events = [event("zcdp", rho=str(first**2 / 2)), event("randomized-response", epsilon="1"), event("zcdp", rho=str(last**2 / 2))]
    parts = [entry(0, 64, offset="-1.000000000001"), entry(-200, 320) | {"order": "6"}]
    mixed = compose(read_events(events), grid("1/32", *parts), remove=True, up=True)

    def answers(loss):
        e = mpmath.exp(to_mp(loss))
        return [(e / (1 + e), 1 / (1 + e)), (1 / (1 + e), e / (1 + e))]

    for rule in itertools.product((1, -1, 0), repeat=4):  # the last one is asked so, the other way round, or not at all
        rows = []
        for i, j, k in itertools.product(range(2), repeat=3):
            asked = answers(last * rule[2 * i + j])
            rows.append([mpmath.fprod(r[side] for r in (answers(first)[i], answers(between)[j], asked[k])) for side in (0, 1)])
        for epsilon in ("0", "1/2", "1", "2"):
            a = mpmath.exp(to_mp(Fraction(epsilon)))
            assert mpmath.fsum(max(p - a * q, 0) for p, q in rows) <= to_mp(mixed[0].delta(mixed[1], Fraction(epsilon)))


def test_no_delta_is_above_one():
    events = [event("gaussian", noise_multiplier="1/1000")]
    assert about(events, "delta-upper", "remove", "1", "1").accepted
    assert not about(events, "delta-upper", "remove", "1", "0.999999").accepted
    for mechanism in ("laplace", "gaussian"):  # rounded up, there is more than 1 of it
        name = {"laplace": "scale", "gaussian": "noise_multiplier"}[mechanism]
        listed = [event(mechanism, 4, "1/2", **{name: "1/20"})]
        value = certificate("laplace", bound="1", epsilon="0", grid=grid("1", entry(-90, 900, count=4), digits=5))
        value["composition"]["events"] = listed
        assert check(json.dumps(value)).accepted


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(("rate", "unit"), [("1e-3", "5.64e-5"), ("1e-4", "1e-3"), ("1", "1/3"), ("1/2", "7")])
def test_cells_of_the_lower_side_are_events(rate, unit, remove):
    # each cell, halfway from its neighbors, has at most the mass under P that it says, and at least that under Q times exp(loss)
    q, h, offset = to_mp(Fraction(rate)), to_mp(Fraction(unit)), Fraction(1, 10**6)
    places = [(-8, 2), (-4, 2), (0, 2), (1, 0), (2, 0), (4, 1), (6, 1), (8, 1)]
    ends = [mpmath.mpf(x) for x in ("-10", "-6", "-2", "0.5", "1.5", "3", "5", "7", "9")]

    def above(loss):  # of the events "the output is at least x" for the mixture and for N(0, 1)
        b = (mpmath.exp(loss) - 1 + q) / q if remove else (mpmath.exp(-loss) - 1 + q) / q
        if b <= 0:
            return (mpmath.mpf(1), mpmath.mpf(1)) if remove else (mpmath.mpf(0), mpmath.mpf(0))
        x = mpmath.log(b) + mpmath.mpf(1) / 2
        without, mixed = mpmath.ncdf(-x), (1 - q) * mpmath.ncdf(-x) + q * mpmath.ncdf(1 - x)
        return (mixed, without) if remove else (mpmath.ncdf(x), (1 - q) * mpmath.ncdf(x) + q * mpmath.ncdf(x - 1))

    with localcontext(curves.context(70)):
        curve = curves.sampled(curves.gaussian(Fraction(1), Meter()), Fraction(rate), remove=remove)
        laws = Lattice(False, 100, Fraction(unit)).discretise(curve, offset, places)
    tails = [above(to_mp(offset) + x * h) for x in ends]
    for (place, level), high, low in zip(places, tails[:-1], tails[1:], strict=True):
        found = [law.parts[level][1][(place >> level) - law.parts[level][0]] / mpmath.mpf(2) ** 100 for law in laws]
        exact = [high[0] - low[0], (high[1] - low[1]) * mpmath.exp(to_mp(offset) + place * h)]
        assert found[0] <= exact[0] <= found[0] + mpmath.mpf("1e-29")
        assert found[1] - mpmath.mpf("1e-27") <= exact[1] <= found[1]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 12, 21, 31])
def test_powers_of_a_finite_law(count):
    lattice = Lattice(True, 66, Fraction(1, 8))
    laws = (LossDistribution({0: (-1, [3 * 2**66 // 10 + 1, 0, 7 * 2**66 // 10 + 1])}),)
    (found,) = lattice.power(laws, count, [0] * (count.bit_length() - 1))
    p = Fraction(7, 10)
    exact = [math.comb(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
    assert (found.parts.keys(), found.parts[0][0], len(found.parts[0][1])) == ({0}, -count, 2 * count + 1)
    for k, mass in enumerate(exact):
        assert 0 <= Fraction(found.parts[0][1][2 * k], 2**66) - mass <= Fraction(10**5, 2**66)


def test_numbers_and_lists_are_of_moderate_size():
    for power, reason in ((192, None), (193, "a number has too many digits")):
        report = about([event("pure", epsilon=f"{10**power}/{10**power + 1}")], "delta-upper", "remove", 1)
        assert (report.reason or "").startswith(reason or "")
        assert report.accepted is (reason is None)
    for number, reason in ((64, None), (65, "there are no events, or too many"), (0, "there are no events, or too many")):
        report = about([event("pure", epsilon="1/64")] * number, "delta-upper", "remove", 1)
        assert (report.accepted, report.reason) == (reason is None, reason)


@pytest.mark.parametrize("tails", [("0", "1"), ("1", "0"), ("0", "1001/1000"), ("1001/1000", "0"), ("-1/1000", "0"), ("0", "-1/1000")])
def test_tails_are_probabilities(tails):
    value = certificate("laplace", bound="1")
    value["claims"][0]["grid"]["tails"] = list(tails)
    assert check(json.dumps(value)).accepted is (min(map(Fraction, tails)) >= 0 and max(map(Fraction, tails)) <= 1)


def test_reasons_say_what_is_missing_or_too_long():
    assert about([event("pure", epsilon="0")], "delta-lower", "remove", "0", "0").accepted  # a loss of 0 is in range
    assert about([event("laplace", scale="2")] * 2, "delta-upper", "remove", "1/10", "0.999").reason == "more than one event needs a grid"
    value = certificate("laplace", bound="1")
    value["claims"][0]["grid"]["events"][0]["steps"] = []
    assert check(json.dumps(value)).reason == "the grid has no cells"
    value["claims"][0]["grid"]["events"][0]["steps"] = [[0, 2**19]]
    assert check(json.dumps(value)).reason == "a place is not on its level, or there are too many"
    for places in (318, 321, 2000):  # it is computed to 340 places, whatever it is compared with
        report = about([event("laplace", scale="2")], "delta-upper", "remove", "1/10", f"1/{2 * 10 ** (places - 1) + 1}")
        assert report.reason == "delta is not shown to be on this side of the bound"
        assert about([event("laplace", scale="2")], "delta-lower", "remove", "1/10", f"1/{2 * 10 ** (places - 1) + 1}").accepted
    for count in (1, 2):
        report = about([event("laplace", count, scale="2")], "delta-lower", "remove", "1/10", "1e-330")
        assert report.reason == (None if count == 1 else "only one use has a closed form")


def test_what_is_known_of_zcdp_alone_is_bounded_by_its_order_alone():
    # one of these mechanisms is a Gaussian, whose delta at 3 is below 1e-3; others have more
    events, reason = [event("zcdp", rho="1/2")], "an upper bound for zcdp has an order, and nothing else has one"
    assert about(events, "delta-upper", "remove", 3, "1e-3").reason == reason
    assert about(events, "delta-upper", "remove", 3, "1e-3", order="4").reason == "delta is not shown to be on this side of the bound"
    assert about(events, "delta-upper", "remove", 3, "1/10", order="4").accepted
    assert about(events, "delta-lower", "remove", 3, "1e-4", order="4").reason == reason
    assert about([event("laplace", scale="2")], "delta-upper", "remove", 0, "1", order="4").reason == reason


@pytest.mark.parametrize(
    ("listed", "claim", "reason"),
    [
        (event("laplace", scale="0"), {}, "the noise must be positive"),
        (event("gaussian", noise_multiplier="0"), {}, "the noise must be positive"),
        (event("discrete-gaussian", noise_multiplier="0"), {}, "the noise must be positive"),
        (event("exponential", scale="1"), {}, "unknown mechanism"),
        (event("zcdp", q="1/2", rho="1"), {"order": "2"}, "zcdp says nothing about samples"),
        ({**event("laplace", scale="1"), "mechanism": []}, {}, "unknown mechanism"),
        (event("laplace", scale="1"), {"bound": "2"}, "a number of the claim is out of range"),
        (event("laplace", scale="1"), {"bound": "-1", "kind": "delta-lower"}, "a number of the claim is out of range"),
    ],
    ids=str,
)
def test_refusals_have_their_reason(listed, claim, reason):
    assert about([listed], **{"kind": "delta-upper", "direction": "remove", "epsilon": "1", "bound": "1", **claim}).reason == reason


@pytest.mark.parametrize(
    ("listed", "claim", "reason"),
    [
        (event("gaussian", noise_multiplier="1e16"), {}, "the noise of a Gaussian event is out of range"),
        (event("gaussian", noise_multiplier="1e-6"), {}, "the noise of a Gaussian event is out of range"),
        (event("laplace", scale="1e13"), {"epsilon": "0"}, "the noise of a Laplace event is out of range"),
        (event("laplace", scale="1e-6"), {}, "the noise of a Laplace event is out of range"),
        (event("discrete-gaussian", noise_multiplier="1e-5"), {}, "the noise of a discrete Gaussian event is out of range"),
        (event("discrete-gaussian", noise_multiplier="1e5"), {}, "the noise of a discrete Gaussian event is out of range"),
        (event("pure", epsilon="1e6"), {}, "the loss of an event is out of range"),
        (event("pure", epsilon="1e-13"), {"epsilon": "0"}, "the loss of an event is out of range"),
        (event("zcdp", rho="1e-13"), {"order": "2"}, "a rho is out of range"),
        (event("zcdp", rho="1"), {"order": "1.0001"}, "an order is out of range"),
        (event("zcdp", rho="1"), {"order": "1e6"}, "an order is out of range"),
        (event("zcdp", rho="1"), {"order": "2", "grid": {}}, "the order of an event belongs to its grid"),
        (event("laplace", 1, "1/2", scale="1"), {"grid": grid("1", entry(10**8, 10**8 + 9))}, "a number of the grid is out of range"),
        (event("laplace", 1, "1/2", scale="1"), {"grid": grid("1", entry(-(10**8), 9 - 10**8))}, "a number of the grid is out of range"),
    ],
    ids=str,
)
def test_ranges_have_their_reason(listed, claim, reason):
    given = {"kind": "delta-upper", "direction": "remove", "epsilon": "1", "bound": "0.999", **claim}
    assert about([listed], **given).reason == reason


def stepped(*steps, start, count=1, digits=25, unit="1e-6", events=None, offset="0"):
    """The reason of a report on a grid of steps of levels, whose numbers are as large as they may be or larger."""
    listed = events or [event("laplace", count, "1/2", scale="1")]
    floors = [0] * (count.bit_length() - 1)
    entries = [entry(0, 9) for _ in listed[:-1]] + [entry(start, 0, offset=offset, steps=[list(step) for step in steps], floors=floors)]
    value = about(listed, "delta-upper", "remove", "3", "1e-30", grid=grid(unit, *entries, digits=digits))
    return value.reason


def test_a_law_has_no_more_cells_than_the_proofs_suppose():
    """Cells between the ends of a level are counted, also those without mass."""
    far = "delta is not shown to be on this side of the bound"
    for level, reason in ((18, far), (20, "the grid is too large")):
        assert stepped((0, 1), (level, 1), (0, 1), start=(1 << level) - 1) == reason


def test_a_product_has_no_more_cells_than_the_proofs_suppose():
    for level, reason in ((17, "delta is not shown to be on this side of the bound"), (18, "the grid is too large")):
        assert stepped((0, 1), (level, 1), (0, 1), start=-1, count=2, digits=6, unit="2e-6", offset="-1/10") == reason


def test_a_product_has_no_more_bits_than_the_kernel_multiplies():
    """A short law by a long one takes little work, and much memory where numbers are long."""
    events = [event("laplace", 1, "1/2", scale="2"), event("laplace", 1, "1/2", scale="1")]
    for digits, reason in ((12, "delta is not shown to be on this side of the bound"), (300, "the grid is too large")):
        assert stepped((0, 1), (18, 1), (0, 1), start=-1, events=events, digits=digits, unit="2e-6", offset="-1/10") == reason


def test_parts_on_one_level_are_not_brought_together_from_too_far_away():
    steps, start = [(2, 1), (43, 1), (0, 1)], -4
    assert stepped(*steps, start=start, count=2, unit="1e-12") == "the grid is too large"


def test_exponentials_of_losses_are_numbers():
    listed, most = [event("gaussian", 1, "1/2", noise_multiplier="1")], 8 * 10**8
    assert about(listed, "delta-lower", "remove", most + 1, "1/2").reason == "a loss is out of range"
    assert "out of range" not in str(about(listed, "delta-lower", "remove", most, "1/2").reason)
    more = {"grid": grid("1", entry(-5, 5))}
    assert about(listed, "delta-lower", "remove", most + 1, "1/2", **more).reason == "the epsilon of the claim is out of range"
    assert "out of range" not in str(about(listed, "delta-lower", "remove", most, "1/2", **more).reason)


@pytest.mark.thorough
def test_losses_have_exponentials_that_are_numbers():
    # beyond, decimal raises an exception of its own where a number is too large, and says nothing where it is too small
    far, wide = "a loss is out of range", {"grid": grid("1/100", entry(-60, 60))}
    for epsilon, reason in (("8e8", None), ("800000001", far), ("1e10", far)):
        assert about([event("laplace", scale="2")], "delta-lower", "add", epsilon).reason == reason
    for epsilon, reason in (
        ("8e8", None),
        ("800000001", "the epsilon of the claim is out of range"),
        ("1e10", "the epsilon of the claim is out of range"),
    ):
        for side in ("delta-upper", "delta-lower"):
            bound = "1/2" if side == "delta-upper" else "0"
            assert about([event("gaussian", q="1/2", noise_multiplier="2")], side, "remove", epsilon, bound, **wide).reason == reason
    for direction in ("remove", "add"):
        assert about([event("pure", q="1/2", epsilon="8e8")], "delta-positive", direction, "1/10").accepted
        for loss in ("800000001", "1e30"):
            assert about([event("pure", q="1/2", epsilon=loss)], "delta-positive", direction, "1/10").reason == far


@pytest.mark.thorough
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_where_nothing_is_lost_no_delta_is_positive(direction):
    for events in ([event("zcdp", 3, rho="0")], [event("zcdp", rho="0"), event("pure", epsilon="0")]):
        assert about(events, "delta-upper", direction, "0", "0").accepted
        for epsilon in ("0", "1/10", "1e10"):
            positive = about(events, "delta-positive", direction, epsilon).accepted  # at every epsilon below: below 0 there is none
            assert positive is (epsilon == "0")


@pytest.mark.thorough
def test_that_delta_is_at_most_one_needs_no_grid():
    events = [event("approximate", 10**9, epsilon="10000", delta="1/2"), event("gaussian", 10**9, "1/2", noise_multiplier="1/1000")]
    for bound, accepted in (("1", True), ("0.999999999", False), ("1.000000001", False)):
        for direction in ("remove", "add"):
            assert about(events, "delta-upper", direction, "0", bound).accepted is accepted
            assert not about(events, "delta-lower", direction, "0", bound).accepted


def test_a_claim_is_said_with_its_direction_epsilon_and_delta():
    upper = about([event("laplace", scale="2")], "delta-upper", "add", "1/10", "1/2").claims[0]
    assert upper.line() == "delta-upper proved, add: delta(1/10) <= 1/2 [computed]"
    lower = about([event("laplace", scale="2")], "delta-lower", "remove", "0", "1e-9").claims[0]
    assert lower.line() == "delta-lower proved, remove: delta(0) >= 1e-9 [computed]"
    positive = about([event("laplace", scale="2")], "delta-positive", "remove", "1/2", "0").claims[0]
    assert positive.line() == "delta-positive proved, remove: delta(e) > 0 for all e < 1/2 [positive]"
    ended = about([event("laplace", scale="2")], "delta-upper", "add", "1/2", "0").claims[0]
    assert ended.line() == "delta-upper proved, add: delta(1/2) <= 0 [ended]"


RESPONSES = [
    event("randomized-response", 2, epsilon="1"),
    event("randomized-response", epsilon="1/2"),
    event("randomized-response", 3, "1/2", epsilon="2"),
]


def responses_delta(listed, epsilon, remove):
    """Delta of responses by all their outcomes: a response has the odds e^epsilon, or, on a sample, those of a mixture."""
    outcomes = [(mpmath.mpf(1), mpmath.mpf(1))]
    for one in listed:
        top = mpmath.exp(to_mp(Fraction(one["epsilon"])))
        q = to_mp(Fraction(one["sampling_probability"]))
        with_it, without = (top / (1 + top), 1 / (1 + top)), (1 / (1 + top), top / (1 + top))
        mixed = tuple(q * p + (1 - q) * r for p, r in zip(with_it, without, strict=True))
        both = list(zip(mixed, without, strict=True)) if remove else list(zip(without, mixed, strict=True))
        for _ in range(one["count"]):
            outcomes = [(p * a, r * b) for p, r in outcomes for a, b in both]
    return sum(max(p - mpmath.exp(to_mp(epsilon)) * r, 0) for p, r in outcomes)


def group(*places, epsilon, bound, **proof):
    return {"events": list(places), "epsilon": epsilon, "bound": bound, "proof": proof}


def alone(place, epsilon, bound):
    """A group of one event whose bound a grid shows."""
    count = RESPONSES[place]["count"]
    return group(place, epsilon=epsilon, bound=bound, grid=grid("1/100", entry(-300, 300, count=count)))


def above(delta):
    return str(Fraction(int(delta * 10**9) + 2 * 10**5, 10**9))


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_epsilons_and_deltas_of_groups_add_up(direction):
    """Theorem 11: every bound that is accepted is one, by a sum over all outcomes."""
    remove, epsilons = direction == "remove", ("1", "1/4", "2")
    deltas = [responses_delta([one], Fraction(e), remove) for one, e in zip(RESPONSES, epsilons, strict=True)]
    parts = [alone(k, e, above(d)) for k, (e, d) in enumerate(zip(epsilons, deltas, strict=True))]
    whole, bound = Fraction("3.25"), sum(Fraction(part["bound"]) for part in parts)
    report = about(RESPONSES, "delta-upper", direction, whole, bound, parts=parts)
    assert report.accepted, report
    assert report.claims[0].rules == ("computed", "joined")
    assert to_mp(bound) >= responses_delta(RESPONSES, whole, remove)
    for epsilon, less in ((whole - Fraction(1, 10**9), bound), (whole, bound - Fraction(1, 10**12))):
        reason = about(RESPONSES, "delta-upper", direction, epsilon, less, parts=parts).reason
        assert reason == "the epsilon or the delta of the groups add up to more"
    forged = [alone(0, "1", str(Fraction(parts[0]["bound"]) / 2)), *parts[1:]]
    assert about(RESPONSES, "delta-upper", direction, whole, bound, parts=forged).step == "claims[0].parts[0].proof"


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_all_events_lose_at_least_what_some_of_them_lose(direction):
    delta = responses_delta([RESPONSES[0]], Fraction(1), direction == "remove")
    below = str(Fraction(int(delta * 10**9) - 2 * 10**5, 10**9))
    for epsilon, bound, accepted in (("1", below, True), ("1/2", "0.01", True), ("1.001", below, False), ("1", "0.9", False)):
        report = about(RESPONSES, "delta-lower", direction, epsilon, bound, parts=[alone(0, "1", below)])
        assert report.accepted is accepted, report
    assert responses_delta(RESPONSES, Fraction(1), direction == "remove") > to_mp(Fraction(below))
    twice = [alone(0, "1", "0"), alone(1, "1", "0")]
    reason = about(RESPONSES, "delta-lower", direction, "1", "0", parts=twice).reason
    assert reason == "one group alone does not lose so much"


@pytest.mark.parametrize(
    ("places", "reason"),
    [
        ([[0], [1]], "an event is in no group"),
        ([[0], [1], [1]], "an event is in two groups, or is none"),
        ([[0, 0], [1], [2]], "an event is in two groups, or is none"),
        ([[0], [1], [3]], "an event is in two groups, or is none"),
        ([], "an event is in two groups, or is none"),
        ([[]], "an event is in two groups, or is none"),
        ([[0], [1], [-1]], "expected an integer from 0 to 1000000"),
        ([[0], [1], ["2"]], "expected an integer from 0 to 1000000"),
        ([[0], [1], [True]], "expected an integer from 0 to 1000000"),
    ],
    ids=str,
)
def test_each_event_is_in_one_group(places, reason):
    parts = [group(*each, epsilon="9", bound="0") for each in places]
    assert about(RESPONSES, "delta-upper", "remove", "100", "1/2", parts=parts).reason == reason


def test_a_prover_that_is_not_believed_can_not_count_from_the_end():
    """Place -1 would be the last event a second time."""
    bound = compositions.Bound(tuple(read_events(RESPONSES)), remove=True, name="delta-upper", epsilon=Fraction(9), delta=Fraction(1, 2))
    parts = [compositions.Group(events=[k], epsilon=Fraction(0), bound=Fraction(0), proof=Proof({})) for k in (0, 2, -1)]
    with pytest.raises(Rejected, match="in two groups, or is none"):
        compositions.joined(bound, None, parts=parts)


@pytest.mark.parametrize(("name", "rule"), [("delta-positive", "joined"), ("delta-positive", "computed"), ("delta-upper", "positive")])
def test_rules_are_about_their_own_claims(name, rule):
    bound = compositions.Bound(tuple(read_events(RESPONSES)), remove=True, name=name, epsilon=Fraction(0), delta=Fraction(0))
    parts = [compositions.Group(events=[0], epsilon=Fraction(0), bound=Fraction(0), proof=Proof({}))]
    with pytest.raises(Rejected):
        getattr(compositions, rule)(bound, None, **({"parts": parts} if rule == "joined" else {}))


def test_groups_may_be_grouped_and_have_nothing_beside_their_parts():
    inner = [group(0, epsilon="2", bound="0"), group(1, epsilon="1/2", bound="0")]
    last = "log(1/2 + exp(2)/2) * 3 is below 4.31"
    parts = [group(0, 1, epsilon="5/2", bound="0", parts=inner), group(2, epsilon="4.31", bound="0")]
    assert about(RESPONSES, "delta-upper", "remove", "6.81", "0", parts=parts).accepted, last
    assert about(RESPONSES, "delta-upper", "remove", "6.81", "0", parts=parts, grid={}).reason == "missing, unknown or null fields: grid"


@pytest.mark.thorough
def test_groups_of_random_responses_hold():
    rng = random.Random(11)
    for _ in range(40):
        listed = [
            event("randomized-response", rng.randint(1, 2), rng.choice(["1", "1/3"]), epsilon=str(rng.randint(1, 4))) for _ in range(3)
        ]
        remove = rng.random() < 0.5
        direction, parts, total, sizes = "remove" if remove else "add", [], Fraction(0), Fraction(0)
        for k, one in enumerate(listed):
            epsilon = Fraction(rng.randint(0, 12), 4)
            bound = min(Fraction(above(responses_delta([one], epsilon, remove))), Fraction(1))
            parts.append(group(k, epsilon=str(epsilon), bound=str(bound), grid=grid("1/50", entry(-250, 250, count=one["count"]))))
            total, sizes = total + epsilon, sizes + bound
        report = about(listed, "delta-upper", direction, total, min(sizes, Fraction(1)), parts=parts)
        assert report.accepted or sizes > 1, report
        assert to_mp(sizes) >= responses_delta(listed, total, remove)


def test_rules_about_bounds_refuse_the_statements_of_others():
    """No certificate gets so far, since it is the prover that chooses the rule; but the prover is not believed."""
    events = tuple(read_events([event("laplace", scale="2")]))
    forget(Meter())
    try:
        named = {name: Bound(events, True, name, Fraction(1), Fraction(0)) for name in ("delta-upper", "delta-lower", "delta-positive")}
        assert ended(named["delta-upper"], Session()).statement == named["delta-upper"]
        for name in ("delta-lower", "delta-positive"):
            with pytest.raises(Rejected, match="more may be lost"):
                ended(named[name], Session())
        with pytest.raises(Rejected, match="more may be lost"):
            ended(Bound(events, True, "delta-upper", Fraction(1, 4), Fraction(0)), Session())
        with pytest.raises(Rejected, match="this rule is about bounds"):
            computed(named["delta-positive"], Session())
    finally:
        forget()
