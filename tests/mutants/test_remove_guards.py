"""``make guards`` takes out what it says, one thing at a time, and notes which tests could notice."""

import ast
import builtins
from pathlib import Path

import pytest

from tests.mutants.remove_guards import FILES, SWITCH, switch

SOURCE = """
def check(a, b):
    require(0 <= a and b, "wrong")
    if a > 7 or not b:
        raise ValueError
    yield a
"""
FINE = {(1, True): [1]}
#: What is accepted without each of the guards, in their order.
EXPECTED = [
    FINE | {(-1, True): [-1]},  # the call of require
    FINE | {(-1, True): [-1]},  # 0 <= a
    FINE,  # b, which the next guard rejects
    FINE | {(8, True): [8]},  # the raise
    FINE | {(8, True): [8]},  # a > 7
    FINE,  # not b
    {(1, True): []},  # what is yielded
]


def require(holds, reason):
    if not holds:
        raise ValueError(reason)


@pytest.fixture
def judge(monkeypatch, tmp_path):
    """Which of a few calls are accepted without a guard, and with what they yield; and where it is noted what rejected."""
    monkeypatch.setattr(builtins, "guard_", None, raising=False)
    monkeypatch.setenv("GUARD_NOTES", str(tmp_path / "notes"))
    exec(SWITCH, {})
    text, found, stricter = switch(SOURCE, "module", first=10)
    names = {"require": require}
    exec(text, names)
    assert (len(found), stricter) == (len(EXPECTED), [])

    def run(out):
        monkeypatch.setenv("GUARD_OUT", str(out))
        accepted = {}
        for call in ((1, True), (-1, True), (1, False), (8, True)):
            try:
                accepted[call] = list(names["check"](*call))
            except ValueError:
                continue
        return accepted

    return run, tmp_path / "notes"


def test_each_guard_is_taken_out_by_itself(judge):
    run, notes = judge
    assert run(-1) == FINE
    noted = {tuple(line.split(" ")[:3]) for line in notes.read_text(encoding="utf-8").splitlines()}
    assert noted == {(first, many, fired) for first, many in (("10", "3"), ("13", "3")) for fired in "01"} | {("16", "1", "1")}
    assert [run(10 + place) for place in range(len(EXPECTED))] == EXPECTED


def test_what_makes_a_guard_stricter_is_told():
    text = 'def check(a, b):\n    require(a is None or b, "x")\n    if a and b:\n        raise ValueError\n'
    found, stricter = switch(text, "module", first=5)[1:]
    assert [found[place - 5].partition(": ")[2].partition(" [")[0] for place in stricter] == [
        "a is None -> False",
        "b -> False",
        "a -> True",
        "b -> True",
    ]


@pytest.mark.parametrize(
    ("chain", "rest"), [("0 < a <= b", "a <= b"), ("0 <= a < b", "a < b"), ("not 0 < a <= b", "not a <= b"), ("0 < a < b < 9", "a < b < 9")]
)
def test_the_first_half_of_a_chain_is_taken_out_and_the_rest_stays(chain, rest):
    (guard,) = ast.parse(switch(f"if {chain}:\n    raise ValueError\n", "module")[0]).body
    assert [ast.unparse(way.body) for way in guard.test.args[2:]] == [chain, "False", rest]


@pytest.mark.parametrize("name", FILES)
def test_a_module_with_switches_compiles(name):
    source = (Path(__file__).parents[2] / "proofs_check" / "kernel" / f"{name}.py").read_text(encoding="utf-8")
    text, found, _ = switch(source, name)
    compile(text, name, "exec")
    assert text.count("guard_(") <= len(found)
    assert found or name == "core/intervals"
