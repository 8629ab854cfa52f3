"""Piecewise-linear tables: exact values, what is refused, and that certificates need no second file."""

import itertools
import json
import math
import random
import time
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from accountant import derive_epsilon, optimal_weight
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.solver import optimal_weights
from profiles import InvalidNumber, InvalidProfile, UnreadableFile, declare, parse_expression
from profiles.balls import ball, interval
from profiles.files import load
from profiles.stored import read_profile, write_profile
from profiles.tables import Table, make_table, spell_out_table
from proofs_check.admission import admit
from proofs_check.enclosures import Enclosure
from proofs_check.kernel import check
from proofs_check.prover.pointwise import value_at
from proofs_check.verify import verify

POINTS = [[0, 0], [1, "0.5"], ["1.5", "0.4"], [3, 2]]
F = make_table("f", POINTS)
Z = ("sym", "z")


def saturating(pieces, name="f"):
    return make_table(name, [[Fraction(3 * k, pieces), f"{1.2 * (1 - math.exp(-3 * k / pieces)):.6f}"] for k in range(pieces + 1)])


@pytest.mark.parametrize(
    ("x", "y"), [("0", "0"), ("1/2", "1/4"), ("1", "1/2"), ("5/4", "9/20"), ("3/2", "2/5"), ("9/4", "6/5"), ("3", "2")]
)
def test_values_between_the_points(x, y):
    assert F.value(Fraction(x)) == Fraction(y)
    spelled = spell_out_table(("table", F, Z))
    assert value_at(spelled, {"z": Fraction(x)}) == Fraction(y)
    assert value_at(("table", F, Z), {"z": Fraction(x)}) == Fraction(y)


@pytest.mark.parametrize("seed", range(40))
def test_balls_contain_the_values_and_the_difference_quotients(seed):
    source = random.Random(seed)
    table = saturating(source.choice([1, 2, 7, 60]))
    enclosure = Enclosure(("table", table, Z))
    lo, hi = sorted(Fraction(source.randrange(0, 3001), 1000) for _ in range(2))
    inside = [lo + (hi - lo) * Fraction(k, 7) for k in range(8)]
    value, slope = enclosure.evaluate_with_slope({"z": interval(lo, hi)}, "z")
    assert all(value.contains(arb(ball(table.value(x)).mid())) for x in inside)
    for x, y in itertools.pairwise(inside):
        if x < y:
            assert slope.overlaps(ball((table.value(y) - table.value(x)) / (y - x)))
    spelled = Enclosure(spell_out_table(("table", table, Z))).evaluate({"z": interval(lo, hi)})
    assert spelled.overlaps(value)


@pytest.mark.parametrize("pieces", [1, 3, 300])
def test_arrays_are_within_their_error_bounds(pieces):
    table = saturating(pieces)
    columns = np.concatenate([np.random.default_rng(pieces).uniform(0, 3, 400), np.array([float(x) for x, _ in table.points])])
    columns = np.clip(columns, 0, 3)
    values, errors = CompiledTerm(("table", table, ("mul", ("num", Fraction(1, 3)), Z))).bounded({"z": columns})
    for z, value, error in zip(columns, values, np.broadcast_to(errors, values.shape), strict=True):
        assert abs(table.value(Fraction(float(z)) / 3) - Fraction(float(value))) <= Fraction(float(error))
        assert error < 1e-12


@pytest.mark.parametrize(
    "points",
    [[[0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 1]], [[0, 0], [1]], "0,1", [[0, 0], [1, "x"]], [[0, 0], [1, float("nan")]], {}, None, [1, 2]],
)
def test_points_that_make_no_function_are_refused(points):
    with pytest.raises((InvalidProfile, InvalidNumber)) as caught:
        make_table("f", points)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize(
    ("epsilon", "record", "fits"),
    [
        ("w*f(z)", {"z": [0, 3]}, True),
        ("w*f(z)", {"z": [0, "3.01"]}, False),
        ("w*f(z)", {"z": ["-0.01", 1]}, False),
        ("w*f(z/2)", {"z": [0, 6]}, True),
        ("w*f(3*z/(1 + z))", {"z": [0, 1000]}, True),
        ("f(w) + w", {"z": [0, 3]}, False),
        ("f(Min(w, 3)) + w", {"z": [0, 3]}, True),
        ("f(1/w) + w*z", {"z": [0, 3]}, True),
    ],
)
def test_the_argument_must_stay_inside_the_table(epsilon, record, fits):
    profile = declare("p", epsilon, record=record, tables={"f": POINTS})
    if fits:
        assert admit(profile).profile is profile
    else:
        with pytest.raises(InvalidProfile, match="table f is used, must lie in its range from 0 to 3"):
            admit(profile)


def test_outer_lines_may_go_on():
    table = make_table("f", [[1, 1], [2, "2.5"], [3, 5]], outside="continue")
    found = verify(declare("p", "f(w)", tables={"f": table}), 2)
    assert found.proved("assumption-9")
    assert found.decisions["assumption-11"].verdict.value == "refuted"  # a kink
    assert table.value(Fraction(4)) == Fraction(15, 2)


@pytest.mark.thorough
def test_a_certificate_is_whole():
    profile = declare("p", "w*f(z)/2 + w/100", record={"z": [0, 3]}, tables={"f": POINTS})
    certificate = verify(profile, 2).certificate()
    assert parse_expression(certificate["profile"]["epsilon"])
    assert check(json.dumps(certificate)).accepted
    assert len(certificate["claims"]) >= 4


@pytest.mark.thorough
def test_hundreds_of_pieces_are_fast():
    profile = declare("p", "w*f(z)/2 + w/100", record={"z": [0, 3]}, tables={"f": saturating(300)})
    start = time.process_time()
    found = verify(profile, 2)
    assert found.proved("assumption-8")
    assert found.proved("assumption-9")
    assert found.proved("assumption-11")
    derived = derive_epsilon(profile, q="1/2")
    assert derived.bound.upper > 0
    assert time.process_time() - start < 30
    weights = optimal_weights(profile, 2, {"z": np.linspace(0, 3, 2001)}, convexity=prove_convexity(profile, 2))
    assert time.process_time() - start < 40
    one = optimal_weight(profile, 2, {"z": Fraction(3, 2)})
    assert one.lower * (1 - Fraction(1, 10**11)) <= Fraction(float(weights.weights[1000])) <= one.upper


def test_too_many_pieces_are_refused_in_one_sentence():
    with pytest.raises(InvalidProfile, match="use fewer points"):
        declare("p", "w*f(z)", record={"z": [0, 3]}, tables={"f": saturating(1500)})


def test_files(tmp_path):
    (tmp_path / "points.csv").write_text("spend,loss\n0,0\n1,0.5\n1.5,0.4\n3,2\n")
    head = 'name = "p"\nepsilon = "w*f(z)"\n[record]\nz = [0, 3]\n[table.f]\n'
    (tmp_path / "a.toml").write_text(head + 'file = "points.csv"\n')
    (tmp_path / "b.toml").write_text(head + 'points = [[0, 0], [1, 0.5], [1.5, "0.4"], [3, 2]]\n')
    a, b = (load(str(tmp_path / name)).profile for name in ("a.toml", "b.toml"))
    assert a == b == declare("p", "w*f(z)", record={"z": [0, 3]}, tables={"f": POINTS})
    assert read_profile(write_profile(a)) == a


@pytest.mark.parametrize(
    "lines",
    [
        'file = "nothing.csv"',
        "",
        'points = [[0, 0], [1, 1]]\nfile = "points.csv"',
        "points = 3",
        "file = 3",
        "pints = []",
        'points = [[0, 0], [1, 1]]\noutside = "zero"',
        'file = "bad.csv"',
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, lines):
    (tmp_path / "points.csv").write_text("0,0\n1,1\n")
    (tmp_path / "bad.csv").write_text("0,0\n1,1,2\n")
    (tmp_path / "p.toml").write_text(f'name = "p"\nepsilon = "w*f(z)"\n[record]\nz = [0, 1]\n[table.f]\n{lines}\n')
    with pytest.raises((InvalidProfile, UnreadableFile)) as caught:
        load(str(tmp_path / "p.toml"))
    assert "\n" not in str(caught.value)


def test_equal_tables_are_equal():
    assert make_table("f", POINTS) == F
    assert hash(make_table("f", POINTS)) == hash(F)
    assert make_table("g", POINTS) != F
    assert Table("f", F.points, continues=True) != F
