"""Terms of a certificate changed: broken, undefined, no longer an identity, or of the other sign for certain; or else judged."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator

from mpmath import mpf

from tests.mutants.corpus import Json, Mutant, Place, changed, get, places, without, write
from tests.mutants.jets import Undecided, Undefined, evaluate

_TERMS = {"floor", "threshold", "factor", "term", "general", "exponent", "coefficient", "argument", "weight", "q", "epsilon"}
_POSITIVE = {"floor", "factor", "argument", "q"}
_BROKEN = (
    "({}", "({}))", "{};1", "lambda: {}", "({}) if 1 else 2", "__import__('os')", "({}) + 1j", "({}) + 'x'", "({})[0]", "({}).real",
    "({}) + é",
    "({}) + unknown_name", "({}) + True", "({}) and 1", "({}) < 2", "not ({})", "({})@2", "({})//2", "({})%2", "~({})", "({}, 1)",
    "exp({}, 1)",
    "exp(*[{}])", "Max({})", "log(x=({}))", "eval({})", "Piecewise(({}, 1 < 2))", "Piecewise({})", "Piecewise((1, {}), (1, True))",
    "{} {}",
    "({}) + 0x10", "({}) + 1_0", "({})\n", "\t({})", "({}) # 1", "({}) + 1e99999999", "({}) + inf", "({}) + nan", "", "({}) + 0*log(0-1)",
    "({}) + 0*(1/0)", "({}) + 0*sqrt(0 - 2)", "({}) + 0/0", "({})*0**(-1)", "({}) + 0*0**(-1/2)", "({}) + 0*tan(pi/2 - pi/2 + 0/0)",
)  # fmt: skip


def term_places(whole: Json) -> Iterator[tuple[Place, str]]:
    """Return the fields that are terms, with their values."""
    for path, value in places(whole):
        parent = path[-2] if len(path) > 1 else None
        if isinstance(value, str) and (path[-1] in _TERMS or parent == "parts") and parent not in ("parameters", "at", "record"):
            yield path, value


def broken_terms(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """Terms outside the grammar, with unknown names, or undefined."""
    for path, term in term_places(whole):
        if not (path[-1] == "threshold" and whole["claims"][path[1]]["verdict"] == "refuted"):
            for pattern in source.sample(_BROKEN, 6):
                yield Mutant(name, f"{pattern} at {path}", write(changed(whole, path, pattern.replace("{}", term))))
            if path[-1] in ("floor", "threshold", "q", "weight"):
                yield Mutant(name, f"with w at {path}", write(changed(whole, path, f"({term}) + 0*w")))


def untrue(name: str, whole: Json, source: random.Random) -> Iterator[Mutant]:
    """Positive terms negated; identities that hold no longer, by a summand left out, a part dropped, a sign, or by 1e-30."""
    for path, term in term_places(whole):
        if path[-1] in _POSITIVE:
            yield Mutant(name, f"negated at {path}", write(changed(whole, path, f"-({term})")))
            yield Mutant(name, f"zero at {path}", write(changed(whole, path, f"0*({term})")))
        is_part = path[-2] == "parts"
        if is_part or path[-1] == "general":
            if not is_zero(term, source):
                yield Mutant(name, f"negated at {path}", write(changed(whole, path, f"-({term})")))
            for change in ("({}) + 1e-30", "({}) - 1e-30", "({})*(1 + 1e-30) + 1e-300"):
                yield Mutant(name, f"{change} at {path}", write(changed(whole, path, change.replace("{}", term))))
            for left, lost in summands(term):
                if not is_zero(lost, source):
                    yield Mutant(name, f"without {lost} at {path}", write(changed(whole, path, left)))
        if is_part and not is_zero(term, source):
            fewer = without(whole, path)
            yield Mutant(name, f"without part {path}", write(without(fewer, (*path[:-2], "proofs", path[-1]))))
            parts = get(whole, path[:-1])
            yield Mutant(name, f"part twice {path}", write(changed(whole, path[:-1], [*parts, term])))


def altered(name: str, whole: Json, _: random.Random) -> Iterator[Mutant]:
    """Terms scaled, shifted, negated, and with summands left out: judged."""
    for path, term in term_places(whole):
        if path[-1] == "threshold" and whole["claims"][path[1]]["verdict"] == "refuted":
            continue
        for change in ("1000*({})", "({})/1000", "({}) + 1e-30", "({}) - 1e-30", "({})*(1 + 1e-15)", "-({})", "({}) + 1", "({}) - 1"):
            yield Mutant(name, f"{change} at {path}", write(changed(whole, path, change.replace("{}", term))), certain=False)
        for left, lost in summands(term):
            yield Mutant(name, f"without {lost} at {path}", write(changed(whole, path, left)), certain=False)


def summands(term: str) -> Iterator[tuple[str, str]]:
    """Return the term without one of its summands, and that summand, for each of them that is not the first."""
    node = ast.parse(term.strip(), mode="eval").body
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield (
            f"({ast.get_source_segment(term.strip(), node.left)}) {term.strip()[node.end_col_offset :]}",
            str(ast.get_source_segment(term.strip(), node.right)),
        )
        if node.left.col_offset != node.col_offset:
            return  # it is in parentheses
        node = node.left


def is_zero(term: str, source: random.Random) -> bool:
    """Whether a term may be zero everywhere, judged at a few points."""
    names = set(re.findall(r"[A-Za-z_]\w*", term))
    for _ in range(3):
        try:
            value = evaluate(term, {n: (mpf(source.randrange(1, 1000)) / 100, mpf(0), mpf(0)) for n in names})[0]
        except (Undecided, Undefined):
            continue
        if abs(value) > mpf(10) ** -9:
            return False
    return True


FAMILIES = {f.__name__: f for f in (broken_terms, untrue, altered)}
