"""Binary64 as it is supposed to be: other rounding is refused at a draw and leaves no trace of an import; the C library rounds nothing."""

from __future__ import annotations

import ast
import ctypes
import math
import operator
import platform
import sys
import types
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from profiles.errors import PDPError
from profiles.randomness import rounded
from profiles.randomness.rounded import check_rounding, elementary, grid, ieee, laws, rounding
from profiles.randomness.rounded.ieee import float_of_bits, power_of_two

MODULES = [ieee, elementary, grid, laws, rounding]
#: Of NumPy: what moves and compares numbers, single operations of IEEE 754, sums of their rows, and the exact floor.
OF_NUMPY = {
    "abs", "array", "asarray", "bool_", "broadcast_to", "clip", "concatenate", "divide", "empty", "errstate", "flatnonzero", "float64",
    "floor", "inf", "int64", "ma", "multiply", "ndarray", "repeat", "sqrt", "subtract", "uint64", "zeros",
}  # fmt: skip
OF_MATH = {"inf"}


def nearest_root(x: Fraction) -> float:
    """The float nearest to √x: of 4^1200·x an integer root has hundreds of digits, and no root is half-way between two floats."""
    return float(Fraction(math.isqrt(int(x * 4**1200)), 2**1200))


def test_this_processor_rounds_to_nearest():
    check_rounding()


def test_expected_results_are_those_of_fractions_rounded_to_nearest():
    pairs = [(Fraction(x), Fraction(y)) for x, y in zip(ieee._LEFT.tolist(), ieee._RIGHT.tolist(), strict=True)]
    expected = [[float(act(x, y)) for x, y in pairs] for act in (operator.add, operator.mul, operator.truediv)]
    expected.append([nearest_root(abs(x)) for x, _ in pairs])
    assert [values.tolist() for values in ieee._RESULTS] == expected
    assert np.signbit(ieee._RESULTS[1]).tolist() == [x * y < 0 for x, y in pairs]  # also of −0, which is equal to 0
    tie = Fraction(1, 2**53)
    assert ieee._LEFT[:5].tolist() == [1.0, 1.0, -1.0, 2.0**-1022, 2.0**-1074]
    assert [Fraction(y) for y in ieee._RIGHT[:5].tolist()] == [tie + tie / 2**13, tie, -tie, Fraction(-1, 2**1023), Fraction(1, 2**1074)]


def test_powers_of_two():
    for exponent in (*range(-1074, -1015), -54, -53, -1, 0, 1, 52, 1022, 1023):
        assert Fraction(power_of_two(exponent)) == Fraction(2) ** exponent
    assert float_of_bits(0xBFF8_0000_0000_0000) == -1.5
    assert ieee.U == 2.0**-53


def set_state(bits: int):
    """Change the rounding of this thread; what it returns puts it back."""
    library = ctypes.CDLL("libm.so.6")
    saved = (ctypes.c_uint32 * 8)()  # fenv_t: the last word is MXCSR
    library.fegetenv(saved)
    changed = (ctypes.c_uint32 * 8)(*saved)
    changed[7] |= bits
    library.fesetenv(changed)
    return lambda: library.fesetenv(saved)


#: Bits of MXCSR; the last are those that a library sets which was linked with -ffast-math.
STATES = pytest.mark.parametrize(
    "bits", [0x2000, 0x4000, 0x6000, 0x8000, 0x0040, 0x8040], ids=["down", "up", "to zero", "flush", "denormals are zero", "both"]
)
ON_X86 = pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"), reason="sets a register of x86-64 through glibc"
)


@ON_X86
@STATES
def test_other_roundings_are_refused(bits):
    refused, restore = False, set_state(bits)
    try:
        check_rounding()
    except PDPError:
        refused = True
    finally:
        restore()
    assert refused
    check_rounding()


def compile_anew(module: types.ModuleType) -> tuple[types.ModuleType, types.CodeType]:
    """The module compiled and run once more, whatever it was compiled to before."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    code = compile(source, module.__file__, "exec")
    made = types.ModuleType(module.__name__)
    made.__package__ = module.__package__
    exec(code, made.__dict__)
    return made, code


def list_constants(code: types.CodeType) -> list[bytes]:
    """The bytes of the floats that the compiler put into code."""
    found = []
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += list_constants(constant)
        elif isinstance(constant, float):
            found.append(np.float64(constant).tobytes())
    return found


def list_globals(module: types.ModuleType) -> dict[str, bytes]:
    return {
        name: np.asarray(value).tobytes() for name, value in vars(module).items() if isinstance(value, (float, np.ndarray, bytes, tuple))
    }


@ON_X86
@STATES
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_import_where_other_rounding_is_set_changes_nothing(module, bits):
    """Constants are the same ones, so that a draw works as always when rounding is put back, and is refused before."""
    error, restore = None, set_state(bits)
    try:
        made, code = compile_anew(module)
    except Exception as raised:
        error = raised
    finally:
        restore()
    assert error is None
    usual, usual_code = compile_anew(module)
    assert list_constants(code) == list_constants(usual_code)
    assert list_globals(made) == list_globals(usual)
    if module is ieee:
        made.check_rounding()


def test_nothing_that_rounds_is_taken_from_the_c_library():
    """No power of a float, no exp, log, cos, ldexp, ...: of NumPy and math only what is listed above."""
    package = Path(rounded.__file__).parent
    assert {path.stem for path in package.glob("*.py")} == {module.__name__.rpartition(".")[2] for module in MODULES} | {"__init__"}
    for path in package.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"np", "math"}:
                assert node.attr in (OF_NUMPY if node.value.id == "np" else OF_MATH), f"{path.name}:{node.lineno}"
            if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Pow):
                assert ast.unparse(node.left) in {"Fraction(2)", "2"}, f"{path.name}:{node.lineno}"
                assert ast.unparse(node.left) != "2" or isinstance(node.right, (ast.Constant, ast.BinOp)), f"{path.name}:{node.lineno}"
            if isinstance(node, ast.ImportFrom):
                assert node.module not in {"math", "numpy", "cmath"}
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "pow"
