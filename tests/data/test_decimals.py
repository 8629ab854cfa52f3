"""A decimal in a text file is the decimal that is written there; what other files hold is the binary64 number that they hold."""

from __future__ import annotations

import random
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from accountant import draw_sample
from accountant.columns.values import Columns, Decimals
from accountant.data import compute_weights_file, open_dataset, parse_statistic
from accountant.engines import arrow_weights
from accountant.rules import make_rule, rule_from_expression
from accountant.selection.select import prepare_selection
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast.compiled import CompiledTerm
from accountant.weights.fast.refine import Refiner
from profiles import InvalidData, declare, to_exact
from profiles.balls import ball, working_precision
from profiles.private import reveal
from profiles.terms import number, substitute
from proofs_check.enclosures import Enclosure

LONG = "1.50000000000000000000000000000000000001"


def _profile(low="0", high="0.1", epsilon="w*z/b", b="1/10"):
    return declare("sum", epsilon, record={"z": [low, high]}, parameters={"b": b})


def _csv(path: Path, values, header="z") -> Path:
    path.write_text("\n".join([header, *values]) + "\n")
    return path


def _weigh(profile, data, target="2", specs=(), out=None):
    read = [parse_statistic(text) for text in specs]
    return compute_weights_file(profile, data, out, convexity=prove_convexity(profile, target), target_epsilon=target, specs=read)


def _weights(profile, path, target="2", specs=()):
    out = path.with_suffix(".out.csv")
    _weigh(profile, str(path), target, specs, out)
    return pyarrow.csv.read_csv(out)["weight"].to_pylist()


def test_the_end_of_a_range_that_is_no_binary64_number_can_be_reached(tmp_path):
    profile = _profile()
    weights = _weights(profile, _csv(tmp_path / "a.csv", ["0.1", "0.05", "+0.1", "1e-1", " 0.10 ", "00.1", ".1"]), "1")
    assert weights[0] == weights[2] == weights[3] == weights[4] == weights[5] == weights[6]
    refiner = Refiner(prepare_term(profile), Fraction(1))
    for text, weight in zip(["0.1", "0.05"], weights, strict=False):
        assert refiner.decide(weight, {"z": to_exact(text)}) is True
        assert refiner.decide(weight * (1 + 1e-11), {"z": to_exact(text)}) is False


def prepare_term(profile):
    return substitute(profile.epsilon, {item.name: number(item.value) for item in profile.parameters})


@pytest.mark.parametrize("spec", ["z=x", "z=l2(x)", "z=l1", "z=linf"])
def test_a_decimal_just_above_the_end_is_refused(tmp_path, spec):
    profile = _profile(high="1.5")
    path = _csv(tmp_path / "a.csv", ["1.5", LONG], "x")
    with pytest.raises(InvalidData, match="row 1 is outside the declared range") as caught:
        _weigh(profile, str(path), "20", [spec])
    assert "above it (rows count from 0)" in str(caught.value)
    assert LONG not in str(caught.value)
    with pytest.raises(InvalidData, match="row 1 is outside"):
        draw_sample(profile, str(path), specs=[parse_statistic(spec)], target_epsilon="20")
    _weigh(profile, str(_csv(tmp_path / "b.csv", ["1.5", "1.49999999999999999999999999999999999999"], "x")), "20", [spec])


def test_below_the_end_by_less_than_binary64_can_tell(tmp_path):
    profile = _profile(low="0.1", high="0.3")
    _weigh(profile, str(_csv(tmp_path / "a.csv", ["0.1", "0.3"])), "30")
    for text in ("0.0999999999999999999999999999999999999", "0.3000000000000000000000000000000000001"):
        with pytest.raises(InvalidData, match="row 0 is outside"):
            _weigh(profile, str(_csv(tmp_path / "b.csv", [text])), "30")


@pytest.mark.parametrize("kind", ["parquet", "npy", "array"])
def test_a_binary_file_holds_binary64_numbers_and_the_refusal_says_so(tmp_path, kind):
    values = np.array([0.05, 0.1])
    pq.write_table(pa.table({"z": values}), tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", values)
    data = values if kind == "array" else str(tmp_path / f"a.{kind}")
    specs = ["z=0"] if kind != "parquet" else []
    with pytest.raises(InvalidData) as caught:
        _weigh(_profile(), data, "1", specs)
    message = str(caught.value)
    assert "row 1 is outside the declared range [0, 0.1] of 'z', above it by the rounding to binary64 alone" in message
    assert "hold binary64 numbers, and the one nearest to 0.1 is about 0.10000000000000000556, above it" in message
    _weigh(_profile(high="0.10000000000000000556"), data, "2", specs)  # what it says to do
    assert "row 1: 0.1" in reveal(caught.value)


def test_far_outside_nothing_is_said_of_rounding(tmp_path):
    with pytest.raises(InvalidData) as caught:
        _weigh(_profile(), np.array([7.0]), "1", ["z=0"])
    assert "above it (rows count from 0); clip" in str(caught.value)
    with pytest.raises(InvalidData) as caught:
        _weigh(_profile(), str(_csv(tmp_path / "a.csv", ["7"])), "1")
    assert "rounding" not in str(caught.value)


READ = {
    "1.5": "1.5",
    "+1.5": "1.5",
    "-1.5": "-1.5",
    "15e-1": "1.5",
    "0.15E+1": "1.5",
    "1.": "1",
    ".5": "0.5",
    "007.25": "7.25",
    " 2 ": "2",
    "-0": "0",
    "0e9999": "0",
    "0.1": "1/10",
    "1e-400": "1e-400",
    "-3e-320": "-3e-320",
    "1e300": "1e300",
    "1." + "0" * 398 + "1": None,
    "3" * 300: None,
}
REFUSED = [
    "1_000",
    "0x10",
    "inf",
    "-Infinity",
    "nan",
    "NaN",
    "",
    "  ",
    "3/4",
    "1,5",
    "abc",
    "1e",
    "1e400",
    "٣",
    "1 000",
    "0." + "1" * 1001,
    "1e-9999",
]


def test_every_way_to_write_a_number_is_read_as_on_the_command_line(tmp_path):
    path = _csv(tmp_path / "a.csv", [f'"{text}"' for text in READ], "x")
    column = next(iter(open_dataset(str(path)).batches([parse_statistic("z=x")]))).statistics["z"]
    assert isinstance(column, Decimals)
    for row, (text, meant) in enumerate(READ.items()):
        exact = to_exact(meant or text)
        assert column.exact(row) == exact == column.exact_many([row])[0]
        close = Fraction(float(column[row]))
        assert abs(close - exact) <= abs(close) * Fraction(1, 2**53) + Fraction(1, 2**1074)
        assert (close == 0) == (exact == 0)


@pytest.mark.thorough(quick=22)
@pytest.mark.parametrize("text", REFUSED)
@pytest.mark.parametrize("spec", ["z=x", "z=l2(x)"])
def test_what_is_no_decimal_is_refused_with_its_row_and_not_shown(tmp_path, text, spec):
    path = _csv(tmp_path / "a.csv", ["1", f'"{text}"'], "x")
    with pytest.raises(InvalidData) as caught:
        _weigh(_profile(low="-1e300", high="1e300", epsilon="w*Abs(z)/b", b="1e300"), str(path), "20", [spec])
    assert "row 1" in str(caught.value)
    assert not text.strip() or text.strip() not in str(caught.value).replace("NaN or infinity", "")
    if text == "1e400":
        assert "row 1 has one beyond the range of binary64" in str(caught.value)


def test_the_nearest_binary64_number_is_found_for_hard_decimals(tmp_path):
    """Half-way cases to hundreds of digits, where a reader that looks at 19 digits only goes wrong."""
    chosen, texts = random.Random(0), []
    for _ in range(300):
        value = chosen.uniform(0, 1) * 10 ** chosen.randint(-20, 20)
        above = float(np.nextafter(value, np.inf))
        half = (Fraction(value) + Fraction(above)) / 2
        digits = 400
        scaled = int(half * 10**digits)
        texts += [f"{scaled + shift}e-{digits}" for shift in (-1, 0, 1)]
    column = next(iter(open_dataset(str(_csv(tmp_path / "a.csv", texts))).batches([parse_statistic("z=z")]))).statistics["z"]
    assert column.values.tolist() == [float(to_exact(text)) for text in texts]


PROFILES = {
    "linear": (_profile(), "3"),
    "linear, tiny target": (_profile(b="1e4"), "1e-5"),
    "linear, small target": (_profile(b="50"), "0.004"),
    "linear, two parts": (_profile(epsilon="w*(1/40 + z/b)"), "1.5"),
    "not affine": (_profile(epsilon="w*z**2*10 + w*z/b"), "2"),
    "cancels": (_profile(epsilon="w*(1 - cos(z) + z/b)"), "2"),
    "general": (_profile(epsilon="(exp(w*z) - 1)/b"), "2"),
    "falls in z": (_profile(epsilon="w*(2 - z)/b/20"), "1.5"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_weights_are_feasible_and_close_for_the_decimals_themselves(tmp_path, name):
    profile, target = PROFILES[name]
    chosen = random.Random(1)
    texts = [
        "0.1",
        "0",
        "0.0",
        "1e-320",
        "1e-305",
        "0.09999999999999999999999999999999",
        *(f"{chosen.uniform(0, 0.1):.{chosen.randint(1, 30)}f}" for _ in range(150)),
    ]
    texts = [text for text in texts if to_exact(text) <= to_exact("0.1")]
    weights = _weights(profile, _csv(tmp_path / "a.csv", texts), target)
    refiner = Refiner(prepare_term(profile), to_exact(target))
    for text, weight in zip(texts, weights, strict=True):
        record = {"z": to_exact(text)}
        if weight == np.inf:
            assert record["z"] == 0
            continue
        assert refiner.decide(weight, record) is not False
        assert weight > 1e300 or refiner.decide(weight * (1 + 1.01e-12), record) is not True


@pytest.mark.parametrize("case", ["constrained", "coreset", "checked"])
def test_a_sampler_uses_numbers_for_the_decimals(tmp_path, case):
    profile = declare("sum", "sqrt(w)*z/b" if case == "checked" else "w*z/b", record={"z": ["0.05", "0.1"]}, parameters={"b": "1/10"})
    texts = [f"{0.05 + k / 2000:.4f}" for k in range(101)] + ["0.1"] * 3
    column = next(iter(open_dataset(str(_csv(tmp_path / "a.csv", texts))).batches([parse_statistic("z=z")]))).statistics["z"]
    if case == "constrained":
        rule, bound = make_rule("privacy-constrained", profile, target_epsilon=2), 2
        chosen = prepare_selection(profile, rule).select({"z": column})
    else:
        rule = rule_from_expression("10*z", profile)  # 1 at the end 0.1
        bound = Fraction(3)
        chosen = prepare_selection(profile, rule, bound=bound).select({"z": column})
        assert chosen.probabilities[-1] == chosen.weights[-1] == 1.0
    epsilon = Enclosure(prepare_term(profile))
    for text, q, weight in zip(texts, chosen.probabilities, chosen.weights, strict=True):
        with working_precision(400):
            z, w = ball(to_exact(text)), ball(Fraction(float(weight)))
            if case != "constrained":
                assert Fraction(float(q)) <= 10 * to_exact(text) <= 1 / Fraction(float(weight))
            loss = (ball(Fraction(float(q))) * epsilon.evaluate({"z": z, "w": w}).expm1()).log1p()
        assert not loss > ball(Fraction(bound))


def test_equal_decimals_have_equal_numbers_and_others_are_not_confused():
    texts = pa.array(["0.1", "0.10", "1e-1", "0.1000000000000000000000000000001", "0.25"])
    columns = Columns({"z": np.array([0.1, 0.1, 0.1, 0.1, 0.25])}, {"z": Decimals(np.array([0.1, 0.1, 0.1, 0.1, 0.25]), texts)})
    first, positions = columns.distinct(np.arange(5))
    assert first.size == 3
    assert positions.tolist().count(positions[0]) == 3
    part = columns.part(np.array([3, 0]))
    assert part.record(0)["z"] == to_exact("0.1000000000000000000000000000001")
    assert part.record(1)["z"] == Fraction(1, 10)
    assert columns.part(slice(3, 5)).record(1)["z"] == Fraction(1, 4)


def test_norms_at_the_end_of_a_range_are_decided_for_the_decimals(tmp_path):
    profile = _profile()
    inside = _csv(tmp_path / "a.csv", ["0.06,0.08", "-0.08,0.06", "0,0.1", "0,0"], "x,y")
    assert np.hypot(0.06, 0.08) >= 0.1 > Fraction(1, 10)
    weights = _weights(profile, inside, "1", ["z=l2"])
    assert weights[0] == weights[1] == weights[2] == 1.0 or min(weights[:3]) >= 1
    for norm, rows in {"l1": ["0.06,0.04", "-0.1,0"], "linf": ["0.1,0.1"], "l2^2": ["0.1,0.3"]}.items():
        _weights(profile, _csv(tmp_path / "b.csv", rows, "x,y"), "1", [f"z={norm}"])
    for norm, row in {
        "l1": "0.06,0.0400000000000000000001",
        "l2": "0.06,0.0800000000000000000001",
        "linf": "0,0.1000000000000000000001",
    }.items():
        with pytest.raises(InvalidData, match=r"row 1 is outside .* above it"):
            _weigh(profile, str(_csv(tmp_path / "c.csv", ["0,0", row], "x,y")), "1", [f"z={norm}"])
    low = _profile(low="0.1", high="0.2")
    _weights(low, _csv(tmp_path / "d.csv", ["0.06,0.08"], "x,y"), "3", ["z=l2"])
    with pytest.raises(InvalidData, match="below it"):
        _weigh(low, str(_csv(tmp_path / "e.csv", ["0.06,0.0799999999999999999999"], "x,y")), "3", ["z=l2"])


def test_svmlight_numbers_are_decimals_too(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0.1 1:0.06 2:0.08\n0.05 1:0.1\n0 2:0.05 # note\n")
    for spec in ("z=l2", "z=1", "z=label", "z=linf(1)"):
        _weigh(_profile(), str(path), "1", [spec])
    path.write_text("1 1:0.1\n1 1:0.1000000000000000000000001\n")
    for spec in ("z=l2", "z=1", "z=l1"):
        with pytest.raises(InvalidData, match="row 1 is outside"):
            _weigh(_profile(), str(path), "1", [spec])


def test_a_target_size_is_found_for_decimals(tmp_path):
    profile = _profile(low="0.01")
    path = _csv(tmp_path / "a.csv", [f"{0.01 + k * 0.0009:.4f}" for k in range(101)])
    summary = compute_weights_file(profile, str(path), None, convexity=prove_convexity(profile), target_size=20)
    assert 20 * (1 - 1e-9) <= summary.expected_size <= 20


def test_a_million_decimals_take_seconds(tmp_path):
    values = np.random.default_rng(0).uniform(0, 1.5, 200_000)
    path = tmp_path / "a.csv"
    path.write_text("z\n" + "\n".join(f"{value:.6f}" for value in values) + "\n")
    start = time.process_time()
    summary = _weigh(_profile(high="1.5", b="2"), str(path), "3")
    assert summary.refined_rows + summary.infinite_rows < 200
    assert time.process_time() - start < 10


def test_error_bounds_hold_for_the_decimals():
    texts = ["0.1", "0", "1e-320", "1e-400", "0.3333333333333333333333", "7e300", "-2.7"]
    values = np.array([0.1, 0.0, 1e-320, 5e-324, 1 / 3, 7e300, -2.7])
    columns = Columns({"z": values}, {"z": Decimals(values, pa.array(texts))})
    found, error = CompiledTerm(("sym", "z")).bounded(columns)
    for text, value, bound in zip(texts, found, error, strict=True):
        assert abs(Fraction(float(value)) - to_exact(text)) <= Fraction(float(bound))
    assert error[1] == 0.0
    product, product_error = CompiledTerm(("mul", ("sym", "z"), ("num", Fraction(1)))).bounded(columns.part(np.array([4])))
    assert abs(Fraction(float(product[0])) - to_exact(texts[4])) <= Fraction(float(product_error[0]))
    joined = CompiledTerm(("sym", "z")).bounded(columns.joined(w=np.ones(7)))
    assert joined[1].tolist() == error.tolist()
    assert columns.tiny().tolist() == [False, False, True, True, False, False, False]


def test_a_column_of_text_of_a_table_holds_decimals():
    """In memory, from Parquet, and in the maps for engines, where no batch knows the others."""
    profile = _profile()
    table = pa.table({"z": ["0.1", "0.05"]})
    summary = _weigh(profile, table, "1")
    assert summary.rows == 2
    mapped = arrow_weights(profile, "1")
    batch = table.to_batches()[0]
    assert mapped(batch).column("weight").to_pylist()[0] == summary.min_weight
    assert mapped(batch.slice(0, 0)).num_rows == 0
    assert mapped.schema(batch.schema).names == ["z", "weight", "q"]
    with pytest.raises(InvalidData, match="row 0 is outside"):
        mapped(pa.record_batch({"z": ["0.10000000000000000000000000000001"]}))
    with pytest.raises(InvalidData, match="above it by the rounding to binary64 alone"):
        mapped(pa.record_batch({"z": [0.1]}))
    norms = arrow_weights(profile, "1", ["z=l2(x,y)"])
    assert norms(pa.record_batch({"x": ["0.06"], "y": ["0.08"]})).num_rows == 1
