"""The weight of a record is a function of that record alone, to the last bit: a sampler's proof rests on it (docs/poisson-sampler.md)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import profiles
from accountant.weights.vectorised import ConvexityPremise, prepare_solver

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
    solver = prepare_solver(profile, target, premise=ConvexityPremise(profile, Fraction(0), "by hand"))
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
