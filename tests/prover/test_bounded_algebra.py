"""No call of SymPy's algebra is made without a bound: they stand in one module, and what they refuse would take minutes or gigabytes."""

import ast
import resource
import threading
import time
from pathlib import Path

import pytest
import sympy

import accountant
import profiles
import proofs_check
from profiles import declare
from profiles.errors import InvalidExpression
from proofs_check.prover import algebra
from proofs_check.verify import verify

DOOR = Path(algebra.__file__)
FUNCTIONS = {
    "Poly", "apart", "cancel", "collect", "degree", "diff", "div", "expand", "expand_func", "expand_log", "expand_mul",
    "expand_power_base", "expand_power_exp", "expand_trig", "factor", "factor_list", "factor_terms", "factorint", "factorrat", "gcd",
    "gcdex", "groebner", "integrate", "lcm", "limit", "logcombine", "minimal_polynomial", "nroots", "nsimplify", "powdenest", "powsimp",
    "radsimp", "ratsimp", "real_roots", "refine", "rem", "resultant", "roots", "series", "simplify", "solve", "solveset", "sqf_list",
    "sqrtdenest", "summation", "together", "trigsimp",
}  # fmt: skip
METHODS = {
    "apart", "as_numer_denom", "as_poly", "aseries", "cancel", "doit", "equals", "evalf", "factor_list", "ground_roots", "integrate",
    "limit", "nroots", "nseries", "nsimplify", "powsimp", "radsimp", "ratsimp", "real_roots", "series", "simplify", "subs",
    "together", "trigsimp",
}  # fmt: skip


def raw_calls(tree):
    """Yield the line and the name of each call of SymPy's algebra."""
    imported = {
        name.asname or name.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sympy")
        for name in node.names
    }  # fmt: skip
    uses = any(isinstance(node, ast.Import) and any(name.name.split(".")[0] == "sympy" for name in node.names) for node in ast.walk(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Attribute):
            of_sympy = isinstance(function.value, ast.Name) and function.value.id == "sympy"
            if (of_sympy and function.attr in FUNCTIONS) or (uses and not of_sympy and function.attr in METHODS):
                yield node.lineno, function.attr
        elif isinstance(function, ast.Name) and function.id in imported & FUNCTIONS:
            yield node.lineno, function.id


def test_the_survey_sees_calls():
    source = "import sympy\nfrom sympy import factor\nsympy.expand(x)\nfactor(x)\nx.subs(y, 1)\nexpand(x)\n"
    assert sorted(raw_calls(ast.parse(source))) == [(3, "expand"), (4, "factor"), (5, "subs")]


@pytest.mark.thorough
@pytest.mark.parametrize("package", [profiles, proofs_check, accountant], ids=lambda package: package.__name__)
def test_nobody_else_calls_the_algebra(package):
    found = []
    for path in sorted(Path(package.__file__).parent.rglob("*.py")):
        if path != DOOR:
            found += [f"{path.name}:{line} {name}" for line, name in raw_calls(ast.parse(path.read_text()))]
    assert not found


w, z = sympy.symbols("w z", positive=True)
LONG = sympy.Rational("1.4426950408889634")
AWKWARD = [
    2**-LONG * w + 2**LONG, w**LONG + w - 1, (1 + w**LONG) / (1 + 3**LONG), sympy.exp(LONG * w) - sympy.exp(w) / w,
    sympy.exp(LONG) * w - w**2,
    (1 + w**sympy.Rational(1, 10**6)) ** 20 / (w - w ** sympy.Rational(999_999, 10**6)), ((1 + w) ** 24 + (1 + z) ** 24) ** 24,
    sympy.Mul(*((1 + w + k * z) ** 3 for k in range(1, 9)), evaluate=False), sum(1 / (w + k * z) for k in range(1, 60)),
    (w + 10**29) ** 24 / (z + 10**29) ** 23, w ** (10**9), sympy.sqrt(sympy.sqrt(w + 1) + 1) ** LONG,
]  # fmt: skip
CALLS = [
    algebra.tidy, algebra.expand, algebra.factored, algebra.gather_powers, algebra.split_powers, algebra.over_one_denominator,
    algebra.cancelled, algebra.expand_plainly, algebra.vanishes, lambda e: list(algebra.quadratics(e)),
    lambda e: algebra.rational_roots(e, w),
    lambda e: algebra.derivative(e, w), lambda e: algebra.clearing_factor(e, [w]), lambda e: list(algebra.critical_centres(e, w, 6)),
]  # fmt: skip


@pytest.mark.thorough(quick=7)
@pytest.mark.parametrize("expression", AWKWARD, ids=lambda expression: str(expression)[:40])
def test_every_call_ends_soon_and_takes_little(expression):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    for call in CALLS:
        call(expression)
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000


@pytest.mark.parametrize(
    "expression", [w**2 - z**2, (w**LONG + 1) * (w - 1) / z, sympy.exp(2 * w) - 1, w ** sympy.Rational(3, 2) - w, 2**-LONG * w]
)
def test_what_the_calls_return_is_equal(expression):
    values = {w: sympy.Float("1.7", 40), z: sympy.Float("2.3", 40)}
    for call in (algebra.tidy, algebra.expand, algebra.gather_powers, algebra.split_powers, algebra.over_one_denominator):
        assert abs(sympy.N((call(expression) - expression).subs(values), 30)) < 1e-20
    product = algebra.factored(expression)
    assert product is None or abs(sympy.N((product - expression).subs(values), 30)) < 1e-20


def test_numbers_are_put_in_unless_they_would_be_too_long():
    assert algebra.put_in(w**2 + z, {w: 3}) == 9 + z
    assert algebra.put_in(sympy.exp(-w), {w: 0}) == 1
    with pytest.raises(InvalidExpression):
        algebra.put_in(2**w, {w: 10**30})
    with pytest.raises(InvalidExpression):
        algebra.put_in(sympy.exp(w * sympy.log(2)), {w: 10**30})
    with pytest.raises(InvalidExpression):
        algebra.put_in(w**1000, {w: 10**100})


def verdicts(epsilon, target=1, record=None):
    return {name: found.verdict.value for name, found in verify(declare("p", epsilon, record=record), target).decisions.items()}


BITS = {
    "assumption-8": "proved",
    "assumption-9": "proved",
    "assumption-9-nonzero": "proved",
    "assumption-11": "proved",
    "proposition-16": "refuted",
    "proposition-17": "proved",
}


@pytest.mark.thorough
def test_bits_turned_into_nats_are_decided_in_every_thread():
    before, found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
    thread = threading.Thread(target=lambda: found.append(verdicts("w*log(2)*1.4426950408889634")))
    thread.start()
    thread.join()
    assert found == [BITS]
    assert verdicts("w*log(2)*1.4426950408889634") == BITS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("epsilon", ["z*w*0.6931471805599453", "z*w*log(2)/1.0000000000000002", "z*w*log(3)/log(2)*0.1234567890123456"])
def test_records_in_bits_are_decided(epsilon):
    found = verdicts(epsilon, 2, {"z": ["0.1", "1"]})
    assert found == BITS


def test_long_coefficients_are_not_factored_but_a_long_content_is():
    y, z = sympy.symbols("y z", positive=True)
    tiny = sympy.Rational(6777, 5 * 10**330)
    start = time.process_time()
    algebra.factored(-tiny + z**2 / (4 * y**2) - z**2 / (4 * y**3))
    assert time.process_time() - start < 2
    assert algebra.factored(tiny * z**2 - 2 * tiny * z + tiny) == tiny * (z - 1) ** 2
