"""Batches as they are drawn, with so little noise that tails are below all digits: no false lower end, whatever a certificate names."""

from __future__ import annotations

import json

import mpmath
import pytest

from proofs_check.kernel import check

_POISSON = {"sampling": "poisson", "sampling_probability": "9/10"}
SCHEMES = [
    {**_POISSON, "group_size": 1, "count": 1},
    {**_POISSON, "group_size": 3, "count": 1},
    {"sampling": "fixed-size", "records": 10, "batch_size": 9, "count": 1},
    {"sampling": "with-replacement", "records": 10, "batch_size": 9, "count": 1},
    {"sampling": "truncated-poisson", "records": 10, "batch_size": 5, "limit": 4, "count": 1},
    {"sampling": "shuffle", "steps_per_epoch": 2, "epochs": 1},
    {"sampling": "shuffle", "steps_per_epoch": 1000, "epochs": 1},
]
GRIDS = [(-10, [[0, 20]]), (-10240, [[9, 40]]), (0, [[9, 70]])]


def judge(event, direction, epsilon, bound, grid=None, claim="delta-lower"):
    """Whether the kernel accepts a claim about one use."""
    stated = {"claim": claim, "verdict": "proved", "direction": direction, "epsilon": epsilon, "bound": bound}
    whole = {"format": "pdp-certificate", "version": 2, "composition": {"name": "x", "events": [event]}}
    return check(json.dumps({**whole, "claims": [stated | ({} if grid is None else {"grid": grid})]}))


@pytest.mark.parametrize("neighbors", ["add-remove", "replace-one", "zero-out"])
@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: "-".join(map(str, scheme.values())).replace("/", "-"))
def test_no_outcome_of_gaussian_noise_is_lost_wholly(scheme, neighbors):
    # a loss of 8e8 takes an outcome that is 2e4 deviations away from all means, so that delta there is below 10^-10^7
    event = {"mechanism": "gaussian", "noise_multiplier": "1/100", "neighbors": neighbors, **scheme}
    for direction in ("remove", "add"):
        for start, steps in GRIDS:
            entry = {"offset": "0", "start": start, "steps": steps, "floors": []}
            grid = {"digits": 10, "unit": "1", "tails": ["0", "0"], "events": [entry]}
            assert not judge(event, direction, "800000000", "0.000001", grid).accepted, (direction, start)


def test_tails_below_all_digits_count_where_a_slope_multiplies_them():
    # (1-q) N(0) + q N(mu) against (1-q) N(0) + q N(-mu): the ratio is e^eps at x, where q e^(mu x - mu^2/2) = (1-q) e^eps but for 10^-2000
    event = {"mechanism": "gaussian", "noise_multiplier": "1/100", "neighbors": "replace-one", **SCHEMES[0]}
    with mpmath.workdps(60):
        q, mu, eps = mpmath.mpf(9) / 10, mpmath.mpf(100), mpmath.mpf(5000)
        x = (eps + mpmath.log((1 - q) / q)) / mu + mu / 2
        above, tail = mpmath.erfc((x - mu) / mpmath.sqrt(2)) / 2, mpmath.erfc(x / mpmath.sqrt(2)) / 2
        delta = q * above - mpmath.exp(eps) * (1 - q) * tail
        assert mpmath.exp(eps) * (1 - q) * tail > mpmath.mpf("0.003")
        less, more = (mpmath.nstr(delta + sign * mpmath.mpf(10) ** -15, 30) for sign in (-1, 1))
    for direction in ("remove", "add"):
        assert judge(event, direction, "5000", less).accepted
        assert not judge(event, direction, "5000", more).accepted
        assert judge(event, direction, "5000", more, claim="delta-upper").accepted
        assert not judge(event, direction, "5000", less, claim="delta-upper").accepted


REPLACED = {"mechanism": "gaussian", "noise_multiplier": "100", "sampling": "none", "neighbors": "replace-one", "count": 1}
LAPLACE = {"mechanism": "laplace", "scale": "2", "sampling_probability": "1", "count": 1}


def _compose(*events, **beside):
    claim = {"claim": "delta-lower", "verdict": "proved", "direction": "remove", "epsilon": "1", "bound": "0"}
    grid = {"offset": "0", "start": 0, "steps": [[0, 1]], "floors": []}
    found = {"digits": 20, "unit": "1", "tails": ["0", "0"], "events": [grid] * len(events)}
    whole = {"format": "pdp-certificate", "version": 2, "composition": {"name": "x", "events": list(events)}, **beside}
    return check(json.dumps({**whole, "claims": [{**claim, "grid": found}]}))


@pytest.mark.parametrize(
    "other",
    [
        {**LAPLACE, "sampling_probability": "1/2"},
        {"mechanism": "gaussian", "noise_multiplier": "1", "sampling_probability": "1/2", "count": 1},
        {"mechanism": "gaussian", "noise_multiplier": "1", "sampling_probability": "1", "count": 1},
    ],
    ids=["sampled-laplace", "sampled-gaussian", "gaussian"],
)
def test_what_holds_for_add_remove_neighbors_is_not_composed_with_replaced_records(other):
    # the pair of a sample without a name is that of a record that goes or comes, and loses too little for one that is replaced
    assert _compose(other, {**REPLACED, "neighbors": "add-remove"}).accepted is ("scale" in other or other["sampling_probability"] != "1")
    report = _compose(other, REPLACED)
    assert (report.accepted, report.step) == (False, "composition")
    assert _compose(LAPLACE, REPLACED).accepted


@pytest.mark.parametrize("neighbors", ["add-remove", "replace-one", "zero-out"])
def test_a_certificate_protects_by_the_neighbors_of_its_events(neighbors):
    said = {"protection": {"unit": "record", "neighbors": neighbors}}
    assert _compose(LAPLACE, **said).accepted
    report = _compose(LAPLACE, REPLACED, **said)
    assert report.accepted is (neighbors == "replace-one")
    assert report.accepted or "neighbors" in report.reason


@pytest.mark.parametrize("q", ["0", "-1/2", "3/2"])
def test_a_probability_is_above_0_and_at_most_1(q):
    assert judge(LAPLACE, "remove", "1", "1", claim="delta-upper").accepted
    report = judge({**LAPLACE, "sampling_probability": q}, "remove", "1", "1", claim="delta-upper")
    assert (report.accepted, report.reason) == (False, "a number is out of range")


def test_a_group_of_no_events_is_none():
    part = {"events": [], "epsilon": "1", "bound": "0", "proof": {}}
    claim = {"claim": "delta-lower", "verdict": "proved", "direction": "remove", "epsilon": "1", "bound": "0", "parts": [part]}
    whole = {"format": "pdp-certificate", "version": 2, "composition": {"name": "x", "events": [LAPLACE]}, "claims": [claim]}
    assert check(json.dumps(whole)).reason == "an event is in two groups, or is none"


@pytest.mark.parametrize(
    ("q", "k", "mu"), [("1e-6", 2, 20), ("1e-6", 7, 20), ("1e-9", 3, 5), ("1e-9", 40, 20), ("1e-12", 2, 5), ("1e-15", 5, 100)]
)
@pytest.mark.parametrize("epsilon", ["0", "1/1000000", "1", "12"])
def test_groups_that_are_hardly_ever_drawn_have_bounds(q, k, mu, epsilon):
    # where the loss is so flat that its last digits change less than those of the place, no two places have different signs
    event = {"mechanism": "gaussian", "noise_multiplier": f"1/{mu}", "neighbors": "replace-one"}
    event |= {"sampling": "poisson", "sampling_probability": q, "group_size": k, "count": 1}
    with mpmath.workdps(60):
        rate, a = mpmath.mpf(q), mpmath.exp(mpmath.mpf(epsilon.split("/")[0]) / mpmath.mpf((*epsilon.split("/"), 1)[1]))
        weights = [mpmath.binomial(k, j) * rate**j * (1 - rate) ** (k - j) for j in range(k + 1)]

        def density(x, sign):
            return sum(w * mpmath.exp(sign * j * mu * x - mpmath.mpf(j * mu) ** 2 / 2) for j, w in enumerate(weights))

        low, high = mpmath.mpf(0), mpmath.mpf(k * mu + 40)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if density(middle, 1) > a * density(middle, -1) else (middle, high)
        tails = [sum(w * mpmath.erfc((low - sign * j * mu) / mpmath.sqrt(2)) / 2 for j, w in enumerate(weights)) for sign in (1, -1)]
        delta = tails[0] - a * tails[1]
        assert delta > rate / 10**12
        less, more = (mpmath.nstr(delta * (1 + sign * mpmath.mpf(10) ** -12), 30) for sign in (-1, 1))
    for direction in ("remove", "add"):
        for claim, bound, other in (("delta-upper", more, less), ("delta-lower", less, more)):
            assert judge(event, direction, epsilon, bound, claim=claim).accepted
            assert not judge(event, direction, epsilon, other, claim=claim).accepted
