"""Bounds on compositions: against closed forms and against sums over all outcomes, in mpmath; and certificates of what is false."""

import itertools
import json
import random
from decimal import localcontext
from fractions import Fraction

import mpmath
import pytest

from proofs_check.kernel import check, compositions, curves
from proofs_check.kernel.compositions import Event, Lattice, Law, compose, read_events

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


def entry(low, high, *, count=1, offset="0", level=0, near=50, doublings=None):
    doublings = [0] * (count.bit_length() - 1) if doublings is None else doublings
    return {
        "offset": offset,
        "level": level,
        "low": low,
        "high": high,
        "centre": min(max(low, 0), high),
        "near": near,
        "doublings": doublings,
    }


def grid(unit, *entries, digits=25, tails=("1e-12", "1e-20")):
    return {"digits": digits, "unit": unit, "tails": list(tails), "events": list(entries)}


def enclose(events, remove, grid, epsilon):
    """The enclosure of delta."""
    return [to_mp(compose(events, grid, remove=remove, up=up).delta(epsilon)) for up in (False, True)]


@pytest.mark.parametrize("seed", range(60))
def test_any_grid_encloses_the_closed_form_of_gaussians(seed):
    rng = random.Random(seed)
    m, count = Fraction(rng.choice(["4", "1", "1/9", "1e-4"])), rng.choice([1, 2, 3, 5, 7, 12, 33])
    mu = float(m) ** 0.5
    unit = Fraction(rng.choice([1, 2, 3, 7]), rng.choice([4, 10, 50])) * Fraction(f"{mu:.3g}")
    low, high = (int((float(m) / 2 + sign * rng.uniform(3, 9) * mu) / float(unit)) + sign for sign in (-1, 1))
    doublings = [rng.choice([0, 0, 1, 2]) for _ in range(count.bit_length() - 1)]
    offset = str(Fraction(rng.randint(-5, 5), 7) * unit)
    part = entry(low, high, offset=offset, level=rng.choice([0, 0, 1]), near=rng.choice([1, 5, 100]), doublings=doublings)
    tails = [f"1e-{rng.choice([3, 6, 12])}" for _ in range(2)]
    events = [Event(lambda: curves.gaussian(m), lambda: curves.gaussian(m), Fraction(1), count)]  # not merged into one, as read_events does
    whole = grid(str(unit), part, digits=rng.choice([8, 12, 20, 35]), tails=tails)
    bounds = [compose(events, whole, remove=rng.random() < 0.5, up=up) for up in (False, True)]
    total = mpmath.sqrt(count * to_mp(m))
    for _ in range(5):
        epsilon = Fraction(rng.randint(0, 10**6), 10**6) * Fraction(str(float(total**2 + 3 * total)))
        lower, upper = (to_mp(bound.delta(epsilon)) for bound in bounds)
        assert lower <= gaussian_delta(total, to_mp(epsilon)) <= upper


def test_the_bounds_come_together():
    events = [Event(lambda: curves.gaussian(Fraction(1, 100)), lambda: curves.gaussian(Fraction(1, 100)), Fraction(1), 100)]
    gaps = []
    for k in (1, 2, 4, 8):
        part = entry(-50 * k, 60 * k, count=100, near=10**5)
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


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("q", ["1", "1/3"])
@pytest.mark.parametrize(("loss", "delta", "count"), [("1/2", "0", 7), ("2", "1/100", 4), ("1/10", "1e-3", 6)])
def test_finite_mechanisms_by_all_their_outcomes(loss, delta, count, q, remove):
    uses = [laws(approximate(Fraction(loss), Fraction(delta)), to_mp(Fraction(q)), remove)] * count
    ends = sorted(x for x, _ in uses[0][0])
    step, offset = (ends[-1] - ends[0]) / 64, ends[0] - mpmath.mpf("1e-18")
    part = entry(0, 65, count=count, offset=mpmath.nstr(offset, 30), near=1000)
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
    events = read_events([event("randomized-response", 3, "1/5", epsilon="1")])
    gaps = []
    for k in (10, 40, 160):
        lower, upper = enclose(events, remove, grid(f"1/{k}", entry(-k, k, count=3)), Fraction(1, 5))
        assert lower <= delta_of(uses, mpmath.mpf(1) / 5) <= upper
        gaps.append(upper - lower)
    assert gaps[2] < gaps[1] < gaps[0] < 0.2


def test_different_mechanisms_compose():
    # a Gaussian, two of them, and randomised response: the Gaussians are one; the rest is a sum over the answers
    events = read_events([event("gaussian", 2, noise_multiplier="2"), event("randomized-response", 3, epsilon="1/2")])
    parts = [entry(-400, 480, near=10**5), entry(0, 64, count=3, offset="-0.500000000001")]
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


def random_law(rng, digits):
    cells = [rng.randrange(10**digits // 30) for _ in range(rng.randint(1, 25))]
    return Law(0, rng.randint(-9, 9), cells, rng.choice([0, 5]))


@pytest.mark.parametrize("up", [True, False])
def test_each_operation_moves_the_curve_to_its_side(up):
    rng = random.Random(up)
    with localcontext(curves.context(60)):
        for _ in range(12):
            lattice = Lattice(up, 20, Fraction(rng.randint(1, 9), 10), (Fraction(1, 50), Fraction(1, 90)))
            law = random_law(rng, 20)
            for changed in (
                lattice.lift(law, 1),
                lattice.lift(law, 3),
                lattice.trim(Law(0, law.low, list(law.cells), law.beyond), Fraction(1)),
            ):
                for k in range(-15, 15):
                    epsilon = mpmath.mpf(k) / 2
                    before, after = curve_of(law, lattice.unit, epsilon), curve_of(changed, lattice.width(changed.level), epsilon)
                    assert before <= after if up else after <= before


def curve_of(law, width, epsilon):
    """The curve of a law, in units."""
    losses = ((mass, (law.low + i) * to_mp(width)) for i, mass in enumerate(law.cells))
    return law.beyond + mpmath.fsum(mass * -mpmath.expm1(epsilon - loss) for mass, loss in losses if mass and loss > epsilon)


@pytest.mark.parametrize("up", [True, False])
def test_a_product_is_that_of_polynomials_rounded_to_its_side(up):
    rng, scale = random.Random(7), 10**20
    for _ in range(20):
        lattice, x, y = Lattice(up, 20, Fraction(1)), random_law(rng, 20), random_law(rng, 20)
        product, sums = lattice.multiply(x, y), [0] * (len(x.cells) + len(y.cells) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(x.cells), enumerate(y.cells)):
            sums[i + j] += a * b
        beyond = x.beyond * (sum(y.cells) + y.beyond) + sum(x.cells) * y.beyond
        exact = [Fraction(s, scale) for s in (*sums, beyond)]
        assert all(0 <= (c - e if up else e - c) < 1 for c, e in zip((*product.cells, product.beyond), exact, strict=True))
        assert product.low == x.low + y.low


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
            compose(events, whole, remove=remove, up=up).delta(at)
            if whole
            else compositions.closed_form(events[0], at, 30, remove=remove, up=up)
        )
        claim["bound"] = str(found * (1 if whole else Fraction(10**20 + 2 * up - 1, 10**20)))
    return json.loads(
        json.dumps({"format": "pdp-certificate", "version": 1, "composition": {"name": "x", "events": listed}, "claims": [claim]})
    )


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_what_holds_is_accepted_and_the_next_smaller_bound_is_not(name, side, direction):
    value = certificate(name, claim=f"delta-{side}", direction=direction)
    report = check(json.dumps(value))
    assert report.accepted, report
    assert report.claims == ((f"delta-{side}", "proved", value["claims"][0]["bound"], (), ()),)
    bound, sign = Fraction(value["claims"][0]["bound"]), -1 if side == "upper" else 1
    value["claims"][0]["bound"] = str(bound * (1 + Fraction(sign, 10**6)))
    report = check(json.dumps(value))
    assert (report.accepted, report.step) == (False, "claims[0]"), report


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
        (("events", 0, "level"), [-1, 61, "0", 1.5]),
        (("events", 0, "low"), [60, 61, -(10**9), "0"]),
        (("events", 0, "high"), [-61, 10**9, "1"]),
        (("events", 0, "centre"), [-61, 61, "0", 0.5, None]),
        (("events", 0, "near"), [0, -5, 10**9, "1"]),
        (("events", 0, "doublings"), [[], [0] * 3, [0] * 5, [0, 0, 0, -1], [0, 0, 0, 11], ["0"] * 4, [60] * 4]),
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
        value = certificate(name, bound="1")
        del value["claims"][0]["grid"]
        assert not check(json.dumps(value)).accepted


def test_there_are_claims_but_not_too_many():
    value = certificate("response", bound="1")
    for count, accepted in ((0, False), (1, True), (8, True), (9, False)):
        assert check(json.dumps(value | {"claims": value["claims"] * count})).accepted is accepted


def forge(rng, name):
    """A certificate of a false claim, on a grid that is changed at random, or about events that lose more."""
    side = rng.choice(["upper", "lower"])
    value = certificate(name, claim=f"delta-{side}", direction=rng.choice(["remove", "add"]))
    claim, events = value["claims"][0], value["composition"]["events"]
    other = certificate(name, claim="delta-lower" if side == "upper" else "delta-upper", direction=claim["direction"])
    far = Fraction(other["claims"][0]["bound"])  # the truth lies between the two
    sign = -1 if side == "upper" else 1
    kind = rng.choice(["bound", "epsilon", "events"] if side == "upper" else ["bound", "epsilon"])
    if kind == "bound":
        claim["bound"] = str(far * (1 + sign * Fraction(rng.choice([1, 10, 10**3, 10**5]), 10**6)))
    elif kind == "epsilon":
        claim["bound"] = str(far)
        claim["epsilon"] = str(max(Fraction(claim["epsilon"]) * (1 + sign * Fraction(1, rng.choice([2, 20, 1000]))), Fraction(0)))
    else:
        claim["bound"] = str(far)
        events[0]["count"] *= rng.choice([2, 3])
        if "grid" in claim:
            claim["grid"]["events"][0]["doublings"] = [0] * (events[0]["count"].bit_length() - 1)
    if "grid" in claim:
        whole, part = claim["grid"], claim["grid"]["events"][0]
        for _ in range(rng.randint(0, 3)):
            change = rng.choice(["digits", "unit", "tails", "level", "low", "high", "near", "doublings", "offset"])
            if change == "digits":
                whole["digits"] = rng.choice([1, 3, 10, 40])
            elif change == "unit":
                whole["unit"] = str(Fraction(whole["unit"]) * Fraction(rng.randint(1, 40), 20))
            elif change == "tails":
                whole["tails"] = [f"1e-{rng.randint(0, 30)}" for _ in range(2)]
            elif change == "offset":
                part["offset"] = str(Fraction(part["offset"]) + Fraction(rng.randint(-20, 20), 40))
            elif change == "doublings":
                part["doublings"] = [rng.choice([0, 0, 1, 2]) for _ in part["doublings"]]
            elif change == "near":
                part["near"], part["centre"] = rng.choice([1, 2, 7, 500]), rng.randint(part["low"], max(part["high"], part["low"]))
            elif change == "level":
                part["level"] = rng.randint(0, 4)
            else:
                part[change] += rng.choice([-50, -3, -1, 1, 3, 50])
    return value


def attack(seeds):
    for seed in seeds:
        rng = random.Random(seed)
        value = forge(rng, rng.choice(sorted(BASES)))
        report = check(json.dumps(value))
        assert not report.accepted, (seed, value)
        assert report.reason


def test_forged_certificates_are_rejected():
    attack(range(60))


@pytest.mark.slow
def test_five_thousand_forged_certificates_are_rejected():
    attack(range(1000, 6000))
