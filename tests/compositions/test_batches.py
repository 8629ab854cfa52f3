"""Batches as they are drawn: enclosures against values that share nothing with the kernel, what is refused, and files."""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, comb, exp, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from accountant.checking import check_document
from accountant.cli.main import invoke
from accountant.compositions.allocations import plan_allocation
from accountant.compositions.batches import Batches, Sampling, draw_batches, read_batches
from accountant.compositions.bounds import DeltaEnds, EpsilonEnds, bound_delta, bound_epsilon
from accountant.compositions.certificates import make_certificate
from accountant.compositions.events import Composition, Direction, Event, make_event
from accountant.compositions.json_format import composition_from_object, composition_object, event_object
from accountant.curves import account, curve_of, read_composition, write_composition
from accountant.interop.files import read_guarantee, write_guarantee
from profiles import InvalidArgument, Undecided, UnreadableFile
from profiles.hypotheses import BATCHES_DRAWN, INDEPENDENT, RECORD_NORM, SENSITIVITY_ONE
from profiles.protection import Neighbors
from proofs_check.certificates import check_text
from proofs_check.kernel.core.documents import Meter, Rejected
from proofs_check.kernel.theories.compositions import allocations, batches, bounds, curves
from proofs_check.kernel.theories.compositions.lattices import LossDistribution
from tests.soundness.batches_sweep import of_allocation

TRUTHS = json.loads((Path(__file__).parent / "truths_of_batches.json").read_text(encoding="utf-8"))
REMOVE, ADD = Direction.REMOVE, Direction.ADD


def gaussian(noise: object, how: str, neighbors: str, count: int = 1, rate: object = 1, **sizes: int) -> Event:
    made = draw_batches(how, neighbors, **sizes)
    return make_event("gaussian", {"noise_multiplier": noise}, sampling_probability=rate, count=count, batches=made)


def enclose(event: Event, delta: object, direction: Direction = REMOVE, gap: Fraction = Fraction(1, 1000)) -> EpsilonEnds:
    return bound_epsilon(Composition("batches", (event,)), Fraction(str(delta)), direction, gap=gap)


def event_of(row: dict[str, object]) -> Event:
    numbers = {"noise_multiplier": row["sigma"]}
    drawn = draw_batches(row["sampling"], row["neighbors"], **row["sizes"])  # type: ignore[arg-type]
    return make_event("gaussian", numbers, sampling_probability=row.get("rate", 1), count=row["uses"], batches=drawn)


def name_row(row: dict[str, object]) -> str:
    return f"{row['sampling']} {row['neighbors']} {row['direction']} {row['sigma']} {row['sizes']} {row['uses']} {row['delta']}"


#: Rows that take less than a second: one use of what is no sum of likelihood ratios.
_QUICK = [row for row in TRUTHS if row["uses"] == 1 and row["sampling"] != "random-allocation"]
#: The others take up to 15 seconds each: a third of them is thorough, the others are slow.
_OTHERS = [
    pytest.param(row, id=name_row(row), marks=pytest.mark.slow if number % 3 else ())
    for number, row in enumerate(row for row in TRUTHS if row not in _QUICK)
]


@pytest.mark.parametrize("row", _QUICK, ids=name_row)
def test_one_use_is_enclosed_by_another_method(row: dict[str, object]) -> None:
    enclosed_alike(row)


@pytest.mark.thorough
@pytest.mark.parametrize("row", _OTHERS)
def test_the_enclosures_of_another_method_meet_those_of_the_kernel(row: dict[str, object]) -> None:
    enclosed_alike(row)


def enclosed_alike(row: dict[str, object]) -> None:
    composition = Composition("batches", (event_of(row),))
    ends = bound_epsilon(composition, Fraction(str(row["delta"])), Direction(row["direction"]))
    low, high = Fraction(str(row["low"])), Fraction(str(row["high"]))
    assert ends.lower is not None
    assert ends.upper is not None
    assert ends.lower <= high
    assert ends.upper >= low
    within = Fraction(str(row.get("within", "0.01")))  # of their ends, which are themselves so far apart
    assert ends.upper <= high * (1 + within)
    assert ends.lower >= low * (1 - within)
    assert check_text(json.dumps(make_certificate(composition, ends.claims))).accepted


@pytest.mark.thorough
def test_a_certificate_of_other_batches_is_rejected() -> None:
    event = gaussian(1, "random-allocation", "add-remove", steps_per_epoch=20)
    composition = Composition("batches", (event,))
    ends = enclose(event, "1e-3", gap=Fraction(1, 100))
    certificate = make_certificate(composition, ends.claims)
    assert check_text(json.dumps(certificate)).accepted
    about = certificate["composition"]
    assert isinstance(about, dict)
    (said,) = about["events"]
    for changed in (
        {"steps_per_epoch": 19},
        {"epochs": 2},
        {"noise_multiplier": "0.99"},
        {"sampling": "shuffle"},
        {"neighbors": "replace-one"},
    ):
        other = {**certificate, "composition": {**about, "events": [{**said, **changed}]}}
        assert not check_text(json.dumps(other)).accepted, changed
    for claim in ends.claims:
        up = claim["claim"] == "delta-upper"
        forged = {**claim, "epsilon": str(float(str(claim["epsilon"])) * (0.999 if up else 1.001))}
        assert not check_text(json.dumps({**certificate, "claims": [forged]})).accepted or up is None
        for changed in ({"cells": 3}, {"levels": 2}, {"unit": "4"}, {"tails": ["1", "1"]}, {"digits": 2}, {"floors": [9, 9, 9, 9]}):
            coarse = {**claim, "linear": {**claim["linear"], **changed}}  # type: ignore[dict-item]
            report = check_text(json.dumps({**certificate, "claims": [{**coarse, "epsilon": forged["epsilon"]}]}))
            assert not report.accepted, changed
        assert not check_text(
            json.dumps({**certificate, "claims": [{key: item for key, item in claim.items() if key != "linear"}]})
        ).accepted


#: An event of each scheme in the words of a certificate, without its neighbors.
SCHEMES: dict[str, dict[str, object]] = {
    "none": {"count": 1},
    "poisson": {"sampling_probability": "1/50", "group_size": 3, "count": 1},
    "fixed-size": {"records": 100, "batch_size": 3, "count": 1},
    "with-replacement": {"records": 100, "batch_size": 3, "count": 1},
    "truncated-poisson": {"records": 100, "batch_size": 3, "limit": 6, "count": 1},
    "random-allocation": {"steps_per_epoch": 9, "epochs": 1},
    "shuffle": {"steps_per_epoch": 9, "epochs": 1},
}


def written(how: str, neighbors: str = "add-remove", **changes: object) -> dict[str, object]:
    return {"mechanism": "gaussian", "noise_multiplier": "1", "sampling": how, "neighbors": neighbors, **SCHEMES[how], **changes}


def claimed(events: list[dict[str, object]], claim: str, direction: str, epsilon: str, bound: str, **proof: object) -> str:
    stated = {"claim": claim, "verdict": "proved", "direction": direction, "epsilon": epsilon, "bound": bound, **proof}
    about = {"name": "x", "events": events}
    return json.dumps({"format": "pdp-certificate", "version": 1, "composition": about, "claims": [stated]})


@pytest.mark.parametrize("neighbors", ["add-remove", "zero-out", "replace-one"])
@pytest.mark.parametrize("how", SCHEMES)
def test_that_a_record_may_lose_any_amount_is_proved_only_where_it_may(how: str, neighbors: str) -> None:
    """A record that comes into a Poisson sample, or a batch of a fixed size, loses at most -log(1 - q), where others may stay behind."""
    for direction in ("remove", "add"):
        report = check_text(claimed([written(how, neighbors)], "delta-positive", direction, "10", "0"))
        ends = neighbors != "replace-one" and direction == "add" and how not in ("none", "random-allocation", "shuffle")
        known = how != "with-replacement" or neighbors != "zero-out"
        assert report.accepted is (known and not ends), (how, neighbors, direction)
        # and what is lost has no end that would be known from above
        assert not check_text(claimed([written(how, neighbors)], "delta-upper", direction, "1000", "0")).accepted


def test_the_largest_loss_of_a_record_that_comes_into_a_fixed_size_is_finite() -> None:
    # all others at -1: N(0) against (1 - q) N(0) + q N(2), whose ratio is below 1/(1 - q) everywhere
    q, x = 0.03, np.linspace(-30, 30, 100_001)
    assert np.max(1 / ((1 - q) + q * np.exp(2 * x - 2))) <= 1 / (1 - q)


LAPLACE: dict[str, object] = {"mechanism": "laplace", "scale": "9", "sampling_probability": "1", "count": 1}


@pytest.mark.parametrize(
    ("how", "changes"),
    [
        ("fixed-size", {"batch_size": 100}),
        ("fixed-size", {"batch_size": 0}),
        ("fixed-size", {"records": 10**9 + 1}),
        ("with-replacement", {"batch_size": 100}),
        ("with-replacement", {"records": 10**6, "batch_size": 10**6 - 1, "neighbors": "zero-out"}),
        ("truncated-poisson", {"limit": 100}),
        ("truncated-poisson", {"records": 10**8, "limit": 10**6 + 1}),
        ("random-allocation", {"steps_per_epoch": 1}),
        ("random-allocation", {"epochs": 0}),
        ("random-allocation", {"neighbors": "replace"}),
        ("random-allocation", {"participations": 0}),
        ("random-allocation", {"participations": 10}),
        ("random-allocation", {"participations": 9, "epochs": 10**9 // 9 + 1}),
        ("shuffle", {"participations": 1}),
        ("random-allocation", {"count": 1}),
        ("random-allocation", {"steps_per_epoch": "9"}),
        ("shuffle", {"steps_per_epoch": 1}),
        ("shuffle", {"noise_multiplier": "0.0099"}),
        ("shuffle", {"noise_multiplier": "1000001"}),
        ("shuffle", {"noise_multiplier": f"{3 * 2**320 - 1}/{2**321}"}),
        ("poisson", {"sampling_probability": "1"}),
        ("poisson", {"sampling_probability": "1e-16"}),
        ("poisson", {"sampling_probability": f"{2**320 - 1}/{2**321}"}),
        ("poisson", {"group_size": 401}),
        ("poisson", {"group_size": 0}),
        ("none", {"noise_multiplier": "0"}),
        ("none", {"noise_multiplier": "-1"}),
        ("none", {"neighbors": "replace"}),
        ("none", {"mechanism": "laplace"}),
        ("none", {"sampling_probability": "1"}),
        ("none", {"sampling": "poison"}),
    ],
)
def test_numbers_at_and_beyond_the_borders_are_no_events_of_the_kernel(how: str, changes: dict[str, object]) -> None:
    assert check_text(claimed([written(how)], "delta-upper", "remove", "1", "1")).accepted
    report = check_text(claimed([{**written(how), **changes}], "delta-upper", "remove", "1", "1"))
    assert not report.accepted
    assert "while checking" not in str(report.reason), report.reason


def test_noise_on_all_records_may_be_less_than_noise_on_batches() -> None:
    assert check_text(claimed([written("none", noise_multiplier="1/1000")], "delta-upper", "remove", "1", "1")).accepted


def test_a_certificate_has_one_kind_of_neighbors() -> None:
    both = [written("none", "replace-one"), written("poisson", "add-remove")]
    assert check_text(claimed(both[:1] * 2, "delta-upper", "remove", "1", "1")).accepted
    assert "one kind of neighbors" in str(check_text(claimed(both, "delta-upper", "remove", "1", "1")).reason)


def test_a_lattice_is_named_by_epochs_and_by_nothing_else() -> None:
    linear = {"digits": 12, "unit": "1/16", "cells": 4, "levels": 6, "tails": ["1e-9", "1e-9"], "floors": [0, 0, 0]}
    whole, cells = written("random-allocation"), {"offset": "0", "start": -600, "steps": [[0, 1200]], "floors": []}
    grid = {"digits": 20, "unit": "1/100", "tails": ["0", "0"], "events": [{**cells, "linear": linear}]}
    for proof in ({"linear": linear}, {"grid": grid}):
        assert check_text(claimed([whole], "delta-upper", "remove", "1", "1/2", **proof)).accepted
    number = "a number of the lattice is out of range"
    for events, proof, words in (
        ([written("shuffle")], {"linear": linear}, "only random allocation has a lattice"),
        ([written("none")], {"linear": linear}, "Gaussian noise on all records needs neither"),
        ([written("none")], {"order": "2"}, "Gaussian noise on all records needs neither"),
        ([LAPLACE], {"linear": linear}, "only random allocation has a lattice"),
        ([whole], {"linear": {**linear, "floors": [0, 0]}}, "as many as the squarings"),
        ([whole], {"linear": {**linear, "floors": []}}, "as many as the squarings"),
        ([whole], {"linear": {**linear, "levels": 0}}, "expected an integer from"),
        ([whole], {"linear": {**linear, "cells": 11}}, "expected an integer from"),
        ([whole], {"linear": {**linear, "digits": 0}}, "expected an integer from"),
        ([whole], {"linear": {**linear, "unit": "0"}}, number),
        ([whole], {"linear": {**linear, "unit": "-1"}}, number),
        ([whole], {"linear": {**linear, "unit": str(2**400 + 1)}}, number),
        ([whole], {"linear": {**linear, "unit": f"{2**2048 + 1}/{2**2049}"}}, "out of range"),
        ([whole], {"linear": {**linear, "tails": ["-1", "0"]}}, number),
        ([whole], {"linear": {**linear, "tails": ["2", "0"]}}, number),
        ([whole], {"linear": {**linear, "tails": ["0", "-1"]}}, number),
        ([whole], {"linear": {**linear, "tails": ["0", "2"]}}, number),
        ([whole], {"linear": {**linear, "more": 1}}, "fields"),
        ([written("random-allocation", steps_per_epoch=10**6 + 1)], {"linear": {**linear, "floors": [0] * 19}}, "out of range"),
        ([whole], {"linear": linear, "order": "2"}, "batches have no order"),
        ([whole], {"linear": linear, "grid": grid}, "the lattice of an epoch belongs to its grid"),
    ):
        report = check_text(claimed(events, "delta-upper", "remove", "1", "1/2", **proof))
        assert not report.accepted, (events, proof)
        assert words in str(report.reason), report.reason
    with pytest.raises(Rejected, match="out of range"):
        allocations.allocation(Fraction(1), 0, linear, remove=True, up=True, meter=Meter())
    for floors in ([], [0, 0], [0, 0, 0, 0]):  # fewer squarings are those of other numbers of steps
        report = check_text(claimed([whole], "delta-lower", "remove", "1", "0", linear={**linear, "floors": floors}))
        assert "as many as the squarings" in str(report.reason)
    assert check_text(claimed([whole], "delta-lower", "remove", "1", "0", linear=linear)).accepted


def replaced_curve(mu: float, steps: int, epsilon: float) -> float:
    """δ of (1/t) Σ N(μ e_j) against (1/t) Σ N(−μ e_j), by sums of l − a l' on a line that are added up by a Fourier transform."""
    a, size = exp(epsilon), 1 << 19
    z = np.linspace(-9, 9 + mu, 400_001)
    mass = np.diff(ndtr(z))
    at = (z[1:] + z[:-1]) / 2
    x = np.exp(mu * at - mu * mu / 2) - a * np.exp(-mu * at - mu * mu / 2)
    least, most = -60 * a, exp(7 * mu)  # what is beyond adds less than one part in a million; no sum of terms goes round
    low, high = steps * least, steps * most
    h = (high - low) / size
    place = np.clip(x, least, most) / h
    floor = np.floor(place)
    cells = np.zeros(size)
    for places, share in ((floor, 1 - (place - floor)), (floor + 1, place - floor)):
        np.add.at(cells, places.astype(int) % size, mass * share)
    law = np.fft.irfft(np.fft.rfft(cells) ** steps, size)
    first = round(low / h)
    sums = (first + (np.arange(size) - first) % size) * h
    return float(np.sum(np.maximum(law, 0) * np.maximum(sums, 0)) / steps)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(("noise", "steps", "epsilon"), [("2", 10, 0.7), ("1", 3, 2.0), ("3", 7, 0.05)])
def test_a_replaced_record_is_enclosed_by_a_fourier_transform(noise: str, steps: int, epsilon: float) -> None:
    whole = Composition("replaced", (gaussian(noise, "random-allocation", "replace-one", steps_per_epoch=steps),))
    truth = replaced_curve(1 / float(noise), steps, epsilon)
    ends = [bound_delta(whole, Fraction(str(epsilon)), direction) for direction in (REMOVE, ADD)]
    assert ends[0].lower == ends[1].lower  # one curve for both directions
    assert ends[0].upper == ends[1].upper
    assert ends[0].lower <= truth * 1.002
    assert ends[0].upper >= truth * 0.998
    assert float(ends[0].upper - ends[0].lower) <= 0.01 * truth
    certificate = make_certificate(whole, ends[0].claims)
    assert check_text(json.dumps(certificate)).accepted
    for claim in ends[0].claims:
        sign = -1 if claim["claim"] == "delta-upper" else 1
        forged = {**claim, "bound": str(Fraction(str(claim["bound"])) * (1000 + sign) / 1000)}
        assert not check_text(json.dumps({**certificate, "claims": [forged]})).accepted


def test_the_lattice_of_replaced_records_has_slopes_that_rise_from_1() -> None:
    linear = {"digits": 12, "unit": "1/16", "cells": 4, "levels": 5, "below": 4, "tails": ["1e-9", "1e-9"], "floors": [0, 0, 0]}
    whole = written("random-allocation", "replace-one")
    for claim, bound in (("delta-upper", "9/10"), ("delta-lower", "1/100")):
        for slopes in (["1"], ["1", "2"], ["2", "3"]):
            report = check_text(claimed([whole], claim, "remove", "1/2", bound, linear={**linear, "slopes": slopes}))
            assert report.accepted, (claim, slopes, report.reason)
    range_, order = "a slope is out of range", "the slopes do not rise"
    many = [f"{1 + k}" for k in range(65)]
    for slopes, words in (
        ([], range_), (["99/100"], range_), (["0"], range_), ([f"{10**100 + 1}"], range_), (many, range_),
        (["1", "1"], order), (["3", "2"], order), ([f"{2**321 + 1}/{2**321}"], order), ("1", "list"),
    ):  # fmt: skip
        report = check_text(claimed([whole], "delta-upper", "remove", "1", "1/2", linear={**linear, "slopes": slopes}))
        assert not report.accepted
        assert words in str(report.reason), (slopes, report.reason)
    for changes in ({"below": 0}, {"below": 81}, {"floors": []}, {"unit": "0"}):
        report = check_text(claimed([whole], "delta-upper", "remove", "1", "1/2", linear={**linear, "slopes": ["2"], **changes}))
        assert not report.accepted
    added = written("random-allocation")
    assert not check_text(claimed([added], "delta-upper", "remove", "1", "1/2", linear={**linear, "slopes": ["2"]})).accepted
    # slopes that are all but equal make chords whose values have few digits
    close = [f"{10**90 + k}/{10**90}" for k in range(2)]
    report = check_text(claimed([whole], "delta-upper", "remove", f"1/{10**91}", "999/1000", linear={**linear, "slopes": close}))
    assert report.accepted or "too large" in str(report.reason)


def test_between_slopes_there_are_chords_above_and_events_below() -> None:
    """Values of another curve that is its own mirror image, that of N(1) against N(-1), at two slopes."""

    def curve(a: float) -> tuple[float, float]:
        z = log(a) / 2
        return float(ndtr(1 - z)), float(ndtr(-1 - z))

    one = 1 << 40
    slopes = [1.5, 4.0]
    rows = [(Fraction(a), *(int(x * one) for x in curve(a))) for a in slopes]
    values = [(Fraction(a), ceil((curve(a)[0] - a * curve(a)[1]) * one), 0) for a in slopes]
    above, below = allocations._chords(values, one), allocations._events(rows, one)
    last = (2.0, 2.0)
    with curves.localcontext(curves.context(40)):
        for k in range(-40, 41):
            a = exp(k / 10)
            v, s = curve(a)
            (high, slope), (first, second) = above(curves.Decimal(a)), below(curves.Decimal(a))
            assert float(high) - a * float(slope) >= v - a * s - 1e-9
            assert float(first) - a * float(second) <= v - a * s + 1e-9
            assert (float(first), float(second)) <= last  # events that shrink as a rises
            last = float(first), float(second)
        for a in slopes:
            for mirrored in (a, 1 / a):
                v, s = curve(mirrored)
                (high, slope), (first, second) = above(curves.Decimal(mirrored)), below(curves.Decimal(mirrored))
                assert abs(float(high) - mirrored * float(slope) - (v - mirrored * s)) < 1e-9
                assert abs(float(first) - mirrored * float(second) - (v - mirrored * s)) < 1e-9
        steep = allocations._chords([(Fraction(1), one, 0), (1 + Fraction(1, 10**30), 0, 0)], one)
        with pytest.raises(Rejected, match="a mass is too large"):
            steep(1 + curves.Decimal("5e-31"))


@pytest.mark.thorough
def test_a_method_in_binary64_holds_heavy_sums_of_thirteen_epochs_as_the_kernel_does() -> None:
    """1.55549e-7 by long doubles on finer lattices; 1.15e-7, below the lower end, where masses are differences of numbers close to 1."""
    noise, steps, epochs, epsilon = "0.608", 1668, 13, 3
    whole = Composition("heavy", (gaussian(noise, "random-allocation", "add-remove", epochs, steps_per_epoch=steps),))
    ends = bound_delta(whole, Fraction(epsilon), REMOVE, gap=Fraction(1, 3))
    assert ends.lower < Fraction("1.5554e-7")
    assert ends.upper > Fraction("1.5556e-7")
    assert abs(of_allocation(1 / float(noise), steps, epsilon, epochs, remove=True) / 1.55549e-7 - 1) < 1e-3


def test_several_steps_of_a_record_are_more_epochs_of_fewer_steps() -> None:
    several = gaussian("2", "random-allocation", "add-remove", 2, steps_per_epoch=31, participations=3)
    assert several.sampling_probability == Fraction(3, 31)
    assert several.describe().endswith("random allocation to 3 of 31 steps per epoch (add-remove), 2 epochs")
    assert gaussian("2", "random-allocation", "add-remove", steps_per_epoch=31, participations=1) == gaussian(
        "2", "random-allocation", "add-remove", steps_per_epoch=31
    )
    apart = gaussian("2", "random-allocation", "add-remove", 6, steps_per_epoch=10)
    (own,), (other,) = (bounds.read_events([event_object(event, str)]) for event in (several, apart))
    assert (own.count, other.count) == (6, 6)
    linear = plan_allocation(other, 1e-3, remove=True, up=True, finer=-4)
    assert linear == plan_allocation(own, 1e-3, remove=True, up=True, finer=-4)
    assert plan_allocation(own, 1e-3, remove=True, up=False) is None
    with curves.localcontext(curves.context(40)):
        for a in ("0.9", "1", "1.2"):
            one, two = (event.curve(remove=True, up=True, linear=linear)(curves.Decimal(a)) for event in (own, other))
            assert one == two
        # below: the sum of all outputs of an epoch has the mean 3 mu where its deviation is sqrt(31)
        v, s = own.curve(remove=True, up=False)(curves.Decimal(1))
        shift = sqrt(3 / 31) / 2
        assert abs(float(v) - ndtr(shift / 2)) < 1e-12
        assert abs(float(s) - ndtr(-shift / 2)) < 1e-12
        with pytest.raises(Rejected, match="nothing is added up"):
            own.curve(remove=True, up=False, linear=linear)
    assert not draw_batches("random-allocation", "add-remove", steps_per_epoch=31, participations=3).is_tight(1)


def test_allocation_without_a_lattice_tells_the_step() -> None:
    for neighbors, moves in (("add-remove", 1), ("zero-out", 1), ("replace-one", 2)):
        (event,) = bounds.read_events([written("random-allocation", neighbors)])
        with curves.localcontext(curves.context(40)):
            for up, shift in ((True, moves), (False, moves / 3)):  # nine steps
                v, s = event.curve(remove=True, up=up)(curves.Decimal(1))
                assert abs(float(v - s) - (2 * ndtr(shift / 2) - 1)) < 1e-12


@pytest.mark.thorough
def test_next_to_no_noise_has_an_upper_end_without_a_lattice() -> None:
    loud = Composition("loud", (gaussian("1/10", "random-allocation", "add-remove", 2, steps_per_epoch=1000),))
    ends = bound_epsilon(loud, Fraction(1, 10**5), ADD, gap=Fraction(1, 10))
    assert ends.upper is not None
    assert ends.upper < 160  # N(sqrt(200)) against N(0): 159.47


def test_steps_of_allocated_batches_are_counted_in_steps() -> None:
    given = {"sampling": "random-allocation", "steps_per_epoch": 10}
    for steps, epochs in ((1, 1), (10, 1), (11, 2), (20, 2)):
        assert read_batches({**given, "steps": steps}, Neighbors.ADD_REMOVE, "it").count == epochs
    assert read_batches({"sampling_probability": "1/9", "steps": 7}, Neighbors.ADD_REMOVE, "it").count == 7
    for other in ("epochs", "count"):
        with pytest.raises(InvalidArgument, match=f"{other} and steps"):
            read_batches({**given, "steps": 7, other: 2}, Neighbors.ADD_REMOVE, "it")


def test_a_file_says_in_how_many_steps_a_record_takes_part() -> None:
    head = 'name = "x"\nneighbors = "replace-one"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 2\n'
    declared = read_composition(head + 'sampling = "random-allocation"\nsteps_per_epoch = 20\nparticipations = 3\nepochs = 4\n')
    (event,) = declared.composition.events
    assert event.batches is not None
    assert dict(event.batches.sizes) == {"steps_per_epoch": 20, "participations": 3}
    assert read_composition(write_composition(declared)).composition == declared.composition
    assert composition_from_object(composition_object(declared.composition)) == declared.composition
    with pytest.raises(InvalidArgument, match="participations"):
        read_composition(head + 'sampling = "shuffle"\nsteps_per_epoch = 20\nparticipations = 3\n')


def test_a_record_that_may_be_drawn_more_often_than_a_mixture_has_parts_is_refused() -> None:
    report = check_text(claimed([written("poisson", group_size=400, sampling_probability="9/10")], "delta-upper", "remove", "1", "1/2"))
    assert "drawn too often" in str(report.reason)


def test_groups_whose_losses_are_beyond_all_numbers_are_refused_in_one_sentence() -> None:
    event = gaussian("1/100", "poisson", "replace-one", 1, "3/10", group_size=400)
    with pytest.raises(Undecided, match="the losses of a group are out of range; account for other numbers"):
        enclose(event, "1e-5")
    upper = bound_delta(Composition("batches", (event,)), Fraction(10**8), REMOVE)
    assert upper.upper == 1 or upper.upper >= upper.lower > 0


def test_what_only_numbers_gone_wrong_would_meet_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    with curves.localcontext(curves.context(60)):
        lattice = allocations.Linear(False, 60, Fraction(1, 16), (Fraction(0), Fraction(0)), Meter(), terms=4, remove=True)
        one, other = (tuple(LossDistribution({0: (1, [5, 5])}) for _ in range(3)) for _ in range(2))
        assert len(lattice.join(one, 1, other, 1)) == 3
        for part in ((0, [5, 5]), (1, [5, 5, 5])):  # at another place, and longer than the others
            with pytest.raises(Rejected, match="laws of the same outcomes"):
                lattice.join((LossDistribution({0: part}), *one[1:]), 1, other, 1)
        monkeypatch.setattr(batches, "_TURNS", 3)
        with pytest.raises(Rejected, match="the root of a mixture"):
            batches._mixed(curves.Decimal(2), batches._binomial(3, Fraction(1, 7), Meter()), Meter(), remove=True)(curves.Decimal(2))


@pytest.mark.thorough
def test_a_law_whose_masses_were_rounded_to_far_more_than_one_is_not_read() -> None:
    # a digit for thousands of cells, of which thousands of terms are added up: roundings of V - a S are below those of V times 10^-28
    event = written("random-allocation", steps_per_epoch=1 << 14)
    coarse = {"digits": 1, "unit": "1/64", "cells": 8, "levels": 30, "tails": ["0", "0"], "floors": list(range(14))}
    report = check_text(claimed([event], "delta-upper", "remove", "0", "99/100", linear=coarse))
    assert "a mass is too large" in str(report.reason), report.reason


@pytest.mark.thorough
@pytest.mark.parametrize("changed", [{"cells": 3}, {"unit": "1/4"}, {"tails": ["1/100", "1/100"]}, {"digits": 6}, {"floors": [3, 3, 3]}])
@pytest.mark.parametrize("direction", [REMOVE, ADD])
def test_no_lattice_makes_a_bound_of_one_epoch_wrong(changed: dict[str, object], direction: Direction) -> None:

    event = gaussian("0.8", "random-allocation", "add-remove", steps_per_epoch=9)
    (read,) = bounds.read_events([composition_object(Composition("x", (event,)))["events"][0]])
    fine = bound_delta(Composition("x", (event,)), Fraction(1), direction)
    remove = direction is REMOVE
    for up in (False, True):
        plan = plan_allocation(read, 1e-3, remove=remove, up=up)
        found = bounds.closed_form(read, Fraction(1), 25, remove=remove, up=up, linear={**(plan or {}), **changed}, meter=Meter())
        assert found >= fine.lower if up else found <= fine.upper


@pytest.mark.thorough
def test_two_steps_of_an_allocation_are_those_of_a_sum_of_all_outcomes() -> None:
    # D(a) = E (f - a)^+ with f = (l_1 + l_2)/2, by the trapezoidal rule in both numbers, which is very accurate for smooth decaying terms

    mu, a = 1 / 1.5, exp(0.75)

    def above(y: float) -> float:  # E (l - y)^+, for the second step
        if y <= 0:
            return 1 - y
        z = log(y) / mu - mu / 2
        return float(ndtr(-z) - y * ndtr(-z - mu))

    h = 1 / 256
    places = [k * h for k in range(-9 * 256, 9 * 256 + 1)]
    total = sum(exp(-z * z / 2) * above(2 * a - exp(mu * z - mu * mu / 2)) for z in places) * h / sqrt(2 * pi) / 2
    ends = bound_delta(Composition("two", (gaussian("1.5", "random-allocation", "zero-out", steps_per_epoch=2),)), Fraction(3, 4), REMOVE)
    assert float(ends.lower) <= total * (1 + 1e-6)
    assert total * (1 - 1e-6) <= float(ends.upper)
    assert float(ends.upper - ends.lower) < 1e-3 * total


def test_fixed_batches_of_data_that_are_all_the_same_lose_at_most_what_is_printed() -> None:
    # all others at -1, the record at 1: mixtures of two normal laws, whose divergence at e^eps is integrated

    q, sigma, epsilon = 0.2, 1.3, 0.4
    x = np.linspace(-25, 25, 400_001)

    def normal(mean: float) -> np.ndarray:
        return np.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * sqrt(2 * np.pi))

    first, second = (1 - q) * normal(-1) + q * normal(1), normal(-1)
    delta = float(np.sum(np.maximum(first - exp(epsilon) * second, 0)) * (x[1] - x[0]))
    for neighbors in ("add-remove", "replace-one"):
        event = gaussian("1.3", "fixed-size", neighbors, records=50, batch_size=10)
        ends = bound_delta(Composition("fixed", (event,)), Fraction(2, 5), REMOVE)
        assert abs(float(ends.upper) - delta) < 1e-9
        assert abs(float(ends.lower) - delta) < 1e-9


def test_a_truncated_batch_mixes_two_laws() -> None:
    n, limit, q = 40, 6, Fraction(1, 10)
    full = sum(comb(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(limit, n))
    event = gaussian(2, "truncated-poisson", "add-remove", records=n, batch_size=4, limit=limit)
    plain = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability=q)
    over = sum(comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(limit + 1, n + 1))
    other = make_event("gaussian", {"noise_multiplier": 1}, sampling_probability=over * limit / n / full)

    def delta(one: Event) -> DeltaEnds:
        return bound_delta(Composition("x", (one,)), Fraction(1, 2), REMOVE)

    mixed = (1 - full) * delta(plain).upper + full * delta(other).upper
    assert abs(delta(event).upper - mixed) < Fraction(1, 10**12)


@pytest.mark.thorough
def test_a_group_of_one_is_a_record_and_a_larger_one_loses_more() -> None:
    one = make_event("gaussian", {"noise_multiplier": 2}, sampling_probability="1/50", count=50)
    same = gaussian(2, "poisson", "add-remove", 50, "1/50", group_size=1)
    more = gaussian(2, "poisson", "add-remove", 50, "1/50", group_size=3)
    ends = [enclose(event, "1e-5").upper for event in (one, same, more)]
    assert None not in ends
    assert abs(ends[0] - ends[1]) < ends[0] / 500 < ends[2] - ends[1]  # type: ignore[operator]


def test_a_replaced_record_in_a_group_of_one_is_the_pair_of_two_mixtures() -> None:
    # the same curve by the root of a quadratic equation, and by that of a mixture

    with curves.localcontext(curves.context(50)):
        mu, q = curves.Decimal(2), Fraction(1, 7)
        exact = batches._poisson(Fraction(4), q, "replace-one", remove=True, meter=Meter())
        mixed = batches._mixed(mu, batches._binomial(1, q, Meter()), Meter(), remove=True, replaced=True)
        for a in ("0.2", "0.9", "1", "1.3", "8"):
            one, other = exact(curves.Decimal(a)), mixed(curves.Decimal(a))
            assert max(abs(x - y) for x, y in zip(one, other, strict=True)) < curves.Decimal("1e-30"), a


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: draw_batches("random-allocation", "replace-one", steps_per_epoch=10, participations=10), "without sampling"),
        (lambda: draw_batches("shuffle", "replace-one", steps_per_epoch=10, participations=2), "they take steps_per_epoch"),
        (lambda: draw_batches("with-replacement", "zero-out", records=10, batch_size=2), "none is proved"),
        (lambda: draw_batches("fixed-size", "replace-one", records=10, batch_size=10), "without sampling"),
        (lambda: draw_batches("truncated-poisson", "add-remove", records=10, batch_size=2, limit=10), "without sampling"),
        (lambda: draw_batches("shuffle", "zero-out", steps_per_epoch=1), "from 2"),
        (lambda: draw_batches("shufle", "zero-out", steps_per_epoch=2), "did you mean"),
        (lambda: draw_batches("shuffle", "zero-out", steps=2), "steps_per_epoch"),
        (lambda: draw_batches("fixed-size", "add-remove", records=10), "need batch_size"),
        (lambda: draw_batches("fixed-size", "add-remove", records="2.5", batch_size=2), "records"),
        (lambda: Batches(Sampling.SHUFFLE, Neighbors.ZERO_OUT, (("records", 3),)), "steps_per_epoch"),
        (lambda: make_event("laplace", {"scale": 1}, batches=draw_batches("shuffle", "zero-out", steps_per_epoch=2)), "gaussian noise"),
        (lambda: gaussian("1e-3", "shuffle", "zero-out", steps_per_epoch=2), "from 0.01"),
        (lambda: gaussian(1, "shuffle", "zero-out", 1, "1/3", steps_per_epoch=2), "follows from the batches"),
    ],
)
def test_what_is_not_known_is_refused_in_one_sentence(make: object, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        make()  # type: ignore[operator]


def test_a_file_says_how_batches_are_drawn_and_comes_back() -> None:
    text = """
    name = "60 epochs"
    neighbors = "add-remove"
    [[event]]
    mechanism = "gaussian"
    noise_multiplier = "1.1"
    sampling = "random-allocation"
    steps_per_epoch = 235
    epochs = 60
    [[event]]
    mechanism = "gaussian"
    noise_multiplier = 2
    sampling = "truncated-poisson"
    records = 1000
    batch_size = 10
    limit = 20
    epochs = "1/2"
    """
    declared = read_composition(text)
    allocated, truncated = declared.composition.events
    assert (allocated.count, allocated.sampling_probability) == (60, Fraction(1, 235))
    assert (truncated.count, truncated.sampling_probability) == (50, Fraction(1, 100))
    assert read_composition(write_composition(declared)).composition == declared.composition
    assert composition_from_object(composition_object(declared.composition)) == declared.composition


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('sampling = "shuffle"\nsteps_per_epoch = 5', "add neighbors"),
        ('sampling = "shuffle"\nlimit = 5', "leave it out"),
        ("records = 10", "give both"),
        ("epochs = 3", "add records"),
        ("records = 10\nbatch_size = 2\nsampling_probability = 0.2", "follows from the other"),
        ("records = 10\nbatch_size = 2\nepochs = 1\ncount = 5", "follows from the other"),
        ("group_size = 3", "takes all records"),
    ],
)
def test_a_file_that_says_too_little_or_too_much_is_refused(lines: str, words: str) -> None:
    with pytest.raises((InvalidArgument, UnreadableFile), match=words):
        read_composition(f'name = "x"\n[[event]]\nmechanism = "gaussian"\nnoise_multiplier = 1\n{lines}\n')


def test_neighbors_of_several_kinds_are_refused() -> None:
    both = Composition(
        "both", (gaussian(1, "shuffle", "zero-out", steps_per_epoch=9), gaussian(1, "shuffle", "add-remove", steps_per_epoch=9))
    )
    with pytest.raises(InvalidArgument, match="one kind of neighbors"):
        curve_of(both)
    with pytest.raises(InvalidArgument, match="one kind of neighbors"):
        curve_of(both.events[0], neighbors="replace-one")
    with pytest.raises(InvalidArgument, match='unit = "user"'):
        curve_of(gaussian(1, "poisson", "add-remove", 1, "1/9", group_size=3))
    assert curve_of(gaussian(1, "poisson", "add-remove", 1, "1/9", group_size=3), unit="user").hypotheses


@pytest.mark.parametrize("said", [{}, {"protection": {"unit": "user-period", "neighbors": "add-remove"}}])
def test_the_certificate_of_groups_is_one_about_users(said: dict[str, object]) -> None:
    curve = curve_of(gaussian(4, "poisson", "add-remove", 1, "1/9", group_size=3), unit="user")
    certificate = {**account(curve, delta="1e-3", gap="1/10").certificate(), **said}
    checked = check_document(json.dumps(certificate)).outcome
    assert checked.report.accepted, checked.report.reason
    sentences = " ".join(checked.about["hypotheses"])
    assert "3 records" in sentences
    assert ("user" if not said else "user-period") in sentences


def test_what_batches_suppose_is_said_and_kept() -> None:
    event = gaussian(1, "fixed-size", "replace-one", 10, records=100, batch_size=5)
    curve = curve_of(event)
    said = {item.id for item in curve.hypotheses}
    assert {"batches-drawn", "batches-secret", "public-divisor", "record-norm", "records-known", "fresh-samples"} <= said
    assert not {INDEPENDENT.id, SENSITIVITY_ONE.id} & said
    point = curve.at_delta("1e-3", gap="1/10")
    assert curve.guarantee.protection.neighbors is Neighbors.REPLACE_ONE
    again = read_guarantee(write_guarantee(point))
    assert set(point.hypotheses) <= set(again.hypotheses)
    assert "attained by a pair" in account(curve, delta="1e-3", gap="1/10").render()
    assert RECORD_NORM.id in said
    assert BATCHES_DRAWN.id in said


@pytest.mark.thorough
def test_the_command_line_says_what_to_do_for_less(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["account", "--gaussian", "1.1", "--records", "600", "--batch-size", "60", "--epochs", "2", "--delta", "1e-4", "--gap", "1/50"]
    assert invoke([*run, "--batches", "shuffle", "--neighbors", "replace-one", "--all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--batches random-allocation" in shown
    assert "attained by a pair" in shown
    assert invoke([*run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["composition"]["events"][0]["count"] == 20
    assert invoke([*run, "--batches", "with-replacement", "--neighbors", "zero-out"]) == 2
    assert "none is proved" in " ".join(capsys.readouterr().err.split())
    assert invoke([*run, "--steps", "5"]) == 2


@pytest.mark.parametrize("how", ["fixed-size", "with-replacement", "truncated-poisson", "random-allocation", "shuffle", "poisson"])
def test_batches_of_users_suppose_that_users_are_drawn_whole(how: str) -> None:
    """A user with 10 of 100 records is in two of three batches of 10 records: its loss is twenty times that of a record in a tenth."""
    said: dict[str, object] = {**SCHEMES[how]}
    count, rate = said.pop("count", said.pop("epochs", 1)), said.pop("sampling_probability", 1)
    neighbors, alone = ("replace-one", {"group_size": 1}) if how == "poisson" else ("add-remove", {})
    batches = draw_batches(how, neighbors, **{**said, **alone})  # type: ignore[arg-type]
    event = make_event("gaussian", {"noise_multiplier": 1}, sampling_probability=rate, count=count, batches=batches)
    of_records, of_users = ([item.sentence for item in curve_of(event, unit=unit).hypotheses] for unit in ("record", "user"))
    whole = "each record that is drawn, or not, is a whole user with all of its records"
    assert sum(whole in sentence for sentence in of_users) == 1
    assert not any("a whole " in sentence for sentence in of_records)
    if "records" in said:
        assert any("the data have 100 users" in sentence for sentence in of_users)
        assert any("the data have 100 records" in sentence for sentence in of_records)
    curve = curve_of(event, unit="user")
    assert curve_of(read_composition(write_composition(curve.declared))).hypotheses == curve.hypotheses


def test_groups_of_records_suppose_the_norm_of_a_record() -> None:
    """Each of k records adds its own vector: a user with k of them may move a step by k."""
    event = make_event(
        "gaussian",
        {"noise_multiplier": 1},
        sampling_probability="1/10",
        batches=draw_batches("poisson", "add-remove", group_size=3),
    )
    sentences = [item.sentence for item in curve_of(event, unit="user").hypotheses]
    assert any(sentence.startswith("each record adds to the sum of a step a vector of norm at most 1") for sentence in sentences)
    assert not any("a whole user" in sentence for sentence in sentences)
