"""Profiles whose explanations are looked at, verified and explained once."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

import mpmath
import pytest

from profiles import declare
from profiles.grammar import is_name
from profiles.mechanisms.catalogue import catalogue
from profiles.notions import ProfileNotion
from proofs_check.explain import Explanation, Formula, explain_all, explaining
from proofs_check.verify import Verification, verify

#: name → (epsilon, record, parameters, target)
PROFILES = {
    "lloyd": ("T*w*(1/beta_count + z/beta_sum)", {"z": [0, 4]}, {"T": 10, "beta_count": "20.5", "beta_sum": 30}, "20"),
    "symbolic": ("T*w*(1/b + z/s)", {"z": [0, 4]}, {"T": "positive", "b": "positive", "s": "positive"}, "3"),
    "sum": ("w*z/b", {"z": [0, 2]}, {"b": 1}, "3"),
    "constant": ("z + 0*w", {"z": [1, 2]}, {}, "3"),
    "root": ("z*sqrt(w)", {"z": ["0.5", 2]}, {}, "3"),
    "log above": ("log(1 + z*w)", {"z": [2, 3]}, {}, "1"),
    "log below": ("log(1 + z*w)", {"z": ["0.5", 1]}, {}, "1"),
    "kink": ("Max(w, 2)", {}, {}, "3"),
    "jump": ("Piecewise((z*w, w <= 2), (2*z*w, True))", {"z": [1, 2]}, {}, "5"),
    "pieces": ("Piecewise((z*w**2, w <= 2), (4*z*w - 4*z, True))", {"z": [1, 2]}, {}, "5"),
    "no kink": ("Max(w, 1/2)", {}, {}, "3"),
    "w log w": ("w*log(w) + z", {"z": [1, 2]}, {}, "5"),
    "oscillation": ("3*w + sin(w)*z", {"z": [0, 1]}, {}, "5"),
    "power": ("z*w**(3/2)", {"z": ["0.5", 2]}, {}, "5"),
    "symbolic power": ("a*w**(5/4)", {}, {"a": "positive"}, "5"),
    "quotient": ("z*w**2/(w + 1)", {"z": [1, 2]}, {}, "5"),
    "parabola": ("w**2 - w/2 + z", {"z": ["0.3", 1]}, {}, "5"),
    "exponential": ("exp(w*z/4)", {"z": [1, 2]}, {}, "5"),
    "affine": ("w + 1", {}, {}, "3"),
    "split": ("Max(w*z, w)", {"z": [0, 2]}, {}, "5"),
    "split piecewise": ("Piecewise((w, z <= 1), (w**2, True))", {"z": [0, 2]}, {}, "5"),
    "branches": ("w*Max(z, 1)", {"z": [0, 2]}, {}, "5"),
    "abs": ("Abs(a*w - b)", {}, {"a": "positive", "b": "positive"}, "1"),
    "waves": ("w + sin(3*w)", {}, {}, "5"),
    "wave": ("3*w + z*sin(w) + Abs(z - 1)", {"z": [0, 2]}, {}, "5"),
    "limit": ("log(w + 1 + 1/w)", {}, {}, "5"),
}


CATALOGUE = {entry.name: entry.profile for entry in catalogue() if entry.profile.notion is ProfileNotion.PURE}


@dataclass(frozen=True)
class Shown:
    name: str
    verification: Verification
    explanations: dict[str, Explanation]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """On a busy machine explanations must not be cut short, for they are compared."""
    monkeypatch.setattr(explaining, "SECONDS", 100)


@lru_cache(maxsize=64)
def show(name: str) -> Shown:
    if name in CATALOGUE:
        profile, target = CATALOGUE[name], "3"
    else:
        epsilon, record, parameters, target = PROFILES[name]
        profile = declare(name, epsilon, record=record, parameters=parameters)
    verification = verify(profile, target)
    return Shown(name, verification, explain_all(verification))


@pytest.fixture(params=[*PROFILES, *CATALOGUE])
def shown(request):
    return show(request.param)


@pytest.fixture(scope="session")
def explained():
    return lambda name, condition: show(name).explanations[condition]


DIGITS, TOLERANCE = 1200, mpmath.mpf(10) ** -100
COMPARED = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}
FUNCTIONS = {
    "neg": lambda a: -a, "div": lambda a, b: a / b, "pow": lambda a, b: a**b, "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "abs": abs, "min": min, "max": max,
}  # fmt: skip


def value(term, point):
    """The value of a term by mpmath, which nothing in the package of explanations uses."""
    head, *parts = term
    if head == "num":
        return mpmath.mpf(parts[0].numerator) / parts[0].denominator
    if head == "sym":
        return mpmath.mpf(point[parts[0]].numerator) / point[parts[0]].denominator
    if head == "pi":
        return +mpmath.pi
    if head == "piecewise":
        return next(value(then, point) for then, when in parts if when[0] == "true" or holds(*(value(p, point) for p in when[1:]), when[0]))
    values = [value(part, point) for part in parts]
    if head in ("add", "mul"):
        return reduce(lambda a, b: a + b if head == "add" else a * b, values)
    return FUNCTIONS[head](*values)


def holds(a, b, sign):
    """Whether a relation holds: for one that allows equality, up to what rounding may do."""
    slack = TOLERANCE * max(1, abs(a), abs(b))
    if sign == "=":
        return abs(a - b) <= slack
    return COMPARED[sign](a, b) or ("=" in sign and abs(a - b) <= slack)


def points_of(box, rng):
    """Twelve points of a box, and its lowest corner."""

    def draw(variable):
        if variable.hi is None:
            start = variable.lo + (0 if variable.open_below else rng.choice([0, 1, 3, 25]))
            return start + Fraction(rng.randint(1, 999), 100)
        return variable.lo + (variable.hi - variable.lo) * Fraction(rng.randint(1 if variable.open_below else 0, 100), 100)

    yield from ({v.name: draw(v) for v in box} for _ in range(12))
    if not any(v.open_below for v in box):
        yield {v.name: v.lo for v in box}


def is_notation(term):
    """Whether a name of the theory, which is no identifier, occurs in a term."""
    return not is_name(term[1]) if term[0] == "sym" else any(isinstance(part, tuple) and is_notation(part) for part in term[1:])


def check_formula(formula, rng):
    """Evaluate one formula; a name of the theory is skipped, because what follows it defines it. Return how many relations were checked."""
    terms, signs = formula.parts[::2], formula.parts[1::2]
    checked = 0
    with mpmath.workdps(DIGITS):
        for point in points_of(formula.over, rng):
            values = [None if is_notation(term) else value(term, point) for term in terms]
            for left, sign, right in zip(values, signs, values[1:], strict=False):
                if left is not None and right is not None:
                    assert holds(left, right, sign), (formula, point)
                    checked += 1
            if formula.equals is not None:
                assert holds(values[0], value(formula.equals, point), "="), (formula, point)
                checked += 1
    return checked


def formulas_of(explanation):
    """All formulas of an explanation."""

    def steps_of(steps):
        for step in steps:
            yield step
            yield from steps_of(step.children)

    for prose in (explanation.statement, *(step.said for step in steps_of(explanation.steps))):
        yield from (piece for piece in prose if isinstance(piece, Formula))


@pytest.fixture
def check():
    return lambda formula: check_formula(formula, random.Random(repr(formula)))


@pytest.fixture
def check_all(check):
    """Check everything that an explanation asserts; return how many relations that are."""
    return lambda explanation: sum(check(formula) for formula in formulas_of(explanation) if formula.over is not None)
