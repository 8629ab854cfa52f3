"""The weight of a record is a function of that record alone, to the last bit: a sampler's proof rests on it (docs/sampling.md)."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import profiles
from accountant.rules import make_rule, rule_from_expression
from accountant.selection.select import prepare_selection
from accountant.weights.fast import ProvedConvexity, prepare_solver

CASES = [
    ("w*z", "1"),
    ("w*z", "1e-6"),
    ("w*z*sqrt(z)", "1"),
    ("w*(z + exp(z)/10)", "2"),  # once had one error bound for a block: the largest of its records
    ("w*(y*sqrt(z) + exp(y*z)/10)", "2"),
    ("w**2*z/10 + w*z/20", "2"),
    ("w*z + log(1 + w*z)", "2"),
    ("exp(w*z/4) - 1", "1"),
]


@pytest.mark.parametrize(("text", "target"), CASES)
def test_weights_do_not_depend_on_the_other_records(text: str, target: str) -> None:
    profile = profiles.declare("p", text, record={"y": [0, 1], "z": [0, 1]})
    solver = prepare_solver(profile, target, convexity=ProvedConvexity(profile, Fraction(0), "by hand"))
    rng = np.random.default_rng(1)
    z = np.concatenate([rng.uniform(1e-3, 1, 3000), 10.0 ** rng.uniform(-12, 0, 50), [0.0], rng.uniform(1e-3, 1, 30_000)])
    columns = {"y": rng.random(z.size), "z": z * min(1.0, float(target))}
    expected = solver.solve(columns).weights
    order = rng.permutation(z.size)
    shuffled = solver.solve({name: column[order] for name, column in columns.items()}).weights
    assert np.array_equal(shuffled, expected[order])
    for start, stop in [(0, 1), (1, 4), (3, 11), (2999, 3101), (100, 33_000)]:
        part = solver.solve({name: column[start:stop] for name, column in columns.items()}).weights
        assert np.array_equal(part, expected[start:stop])


#: Every way to a weight: affine, small exponents in double-double, other linear ones, general ones, refined ones, infinite ones.
PATHS = [
    *CASES, ("w*z", "1e-12"), ("w*z", "50"), ("w*z", "800"), ("w*(1/3 + z/7)", "1"), ("w*z*exp(-z)", "1"), ("w*z + z/9", "45"),
    ("w**(3/2)*z", "1"), ("w**(4/3)*z", "1"), ("Max(w*z, w*y)", "1"), ("w*z + Abs(z - 1/2)/9", "2"), ("w*z*0 + w", "1"), ("w*cos(z)", "1"),
]  # fmt: skip


@functools.cache
def solved(text: str, target: str):
    """A solver, 700 records with every kind of magnitude, some twice, and their weights when solved together."""
    profile = profiles.declare("p", text, record={"y": [0, 1], "z": [0, 1]})
    solver = prepare_solver(profile, target, convexity=ProvedConvexity(profile, Fraction(0), "by hand"))
    rng = np.random.default_rng(2)
    z = np.concatenate([rng.uniform(1e-3, 1, 660), 10.0 ** rng.uniform(-320, 0, 30), [0.0, -0.0, 0.0, 1, 1, 0.5, 0.5, 2.0**-1074, 0, 1]])
    columns = {"y": np.round(rng.random(z.size), 2), "z": z * min(1.0, float(target))}
    return solver, columns, solver.solve(columns).weights


@pytest.mark.thorough
@settings(max_examples=80, deadline=None)
@given(st.sampled_from(PATHS), st.lists(st.integers(0, 699), min_size=1, max_size=60), st.lists(st.integers(1, 59), max_size=4))
def test_any_records_in_any_order_cut_anywhere(case: tuple[str, str], rows: list[int], cuts: list[int]) -> None:
    solver, columns, expected = solved(*case)
    for part in np.split(np.array(rows), sorted(cut for cut in set(cuts) if cut < len(rows))):
        found = solver.solve({name: column[part] for name, column in columns.items()}).weights
        assert found.tobytes() == expected[part].tobytes()


def numbers_of_the_selector() -> bytes:
    """What samplers use, for rules and profiles whose evaluation needs NumPy's functions."""
    z, found = np.random.default_rng(1).random(4_000), []
    for text, target in [("w*z", "1"), ("w*(z + exp(z)/10)", "2"), ("exp(w*z/4) - 1", "1")]:
        profile = profiles.declare("p", text, record={"z": [0, 1]})
        convexity = ProvedConvexity(profile, Fraction(0), "by hand")
        found.append(prepare_selection(profile, make_rule("privacy-constrained", profile, target_epsilon=target), convexity=convexity))
    falling = profiles.declare("p", "log(1 + w*z) + z/w", record={"z": [0, 1]})
    rules = [rule_from_expression(q, falling) for q in ("exp(-z)/3 + log(1 + z)/10", "1/30 + z**(4/3)/9")]
    found += [prepare_selection(falling, rule, bound="0.65") for rule in rules]
    chosen = [selector.select({"z": z}) for selector in found]
    assert chosen[-1].lowered
    return b"".join(item.probabilities.tobytes() + item.weights.tobytes() for item in chosen)


@pytest.mark.thorough
def test_numbers_of_a_sampler_do_not_depend_on_numpys_kernels() -> None:
    """Without AVX-512, AVX2 and FMA NumPy's exp and log give other last bits, and so do the solver's weights; not so the selector's."""
    code = "import sys; from test_record_by_record import numbers_of_the_selector as f; sys.stdout.buffer.write(f())"
    slow = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4 AVX2 FMA3 X86_V3"
    paths = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        check=True,
        capture_output=True,
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": slow, "PYTHONPATH": paths},
    )
    assert run.stdout == numbers_of_the_selector()
