"""False goals under every leaf rule and random trees: random ε, below zero somewhere by little or much, and conditions on random ε."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from proofs_check.kernel import check
from tests.mutants.corpus import certificate, is_tree, places, texts, write
from tests.mutants.truth import falsehood

ROUNDS = 8 * int(os.environ.get("MUTANTS", "1"))
RANGES = [["0", "1"], ["-1", "1"], ["1", "3"], ["-2", "-1/2"], ["2", "2"], ["0", "0"], ["-3", "0"], ["1/3", "1/3"]]
ATOMS = ["z", "y", "w", "1/w", "a", "z*y", "(z - 1)", "(w - 1)", "sqrt(w - 1)", "2", "1/3", "pi", "0", "(1 - w)", "b"]
UNARY = [
    "exp({})",
    "log(1 + ({})**2)",
    "sin({})",
    "cos({})",
    "Abs({})",
    "sqrt(Abs({}))",
    "({})**2",
    "({})**3",
    "({})**(2/3)",
    "sqrt(1 + ({})**2)",
    "-({})",
    "exp(-({}))",
    "Max({}, 0)",
    "Min({}, 1)",
    "1/(1 + ({})**2)",
    "log(exp({}))",
    "exp(2*log(1 + Abs({})))",
    "({})**4/(({})**2 + 1)",
    "(({})**2)**(1/2)",
    "(({})**3)**(1/3)",
    "tan(({})/(1 + ({})**2))",
    "({})**0",
    "(({})**2)**(3/2)",
    "log(({})**2 + exp(-({})))",
]
BINARY = [
    "({}) + ({})",
    "({}) - ({})",
    "({})*({})",
    "Max({}, {})",
    "Min({}, {})",
    "Piecewise(({0}, {0} < {1}), ({1}, True))",
    "Piecewise(({1}, {0} <= 1), ({0}, True))",
    "(1 + ({})**2)**({})",
    "({0})/(1 + Abs({1}))",
    "exp({0})*exp({1}) - exp({0} + {1})",
]
LEAVES = [{"rule": "zero"}, {"rule": "manifest"}, {"rule": "boxes", "budget": 60}, {"rule": "boxes", "budget": 40, "form": "centred"}]


def term(source: random.Random, depth: int) -> str:
    """Return a random term."""
    if depth == 0 or source.random() < 0.15:
        return source.choice(ATOMS)
    if source.random() < 0.5:
        pattern = source.choice(UNARY)
        return pattern.replace("{}", term(source, depth - 1))
    return source.choice(BINARY).format(term(source, depth - 1), term(source, depth - 1))


def tree(source: random.Random, names: list[str], depth: int) -> dict:
    """Return a random tree whose fields are right."""
    if depth == 0 or source.random() < 0.3:
        return source.choice(LEAVES)
    v, child = source.choice(names), lambda: tree(source, names, depth - 1)
    small = term(source, 1)
    match source.randrange(7):
        case 0:
            return {"rule": "split", "variable": v, "at": source.choice(["0", "1/2", "2", "-1"]), "below": child(), "above": child()}
        case 1 | 2:
            return {
                "rule": "monotone",
                "variable": v,
                "direction": source.choice(["increasing", "decreasing"]),
                "slope": child(),
                "end": child(),
            }
        case 3:
            return {"rule": "scale", "factor": source.choice(["exp(z)", "2", "w", "a", small]), "positive": child(), "product": child()}
        case 4:
            return {
                "rule": "exp-tangent",
                "exponent": small,
                "coefficient": source.choice(["1", "z**2", "0"]),
                "nonnegative": child(),
                "rest": child(),
            }
        case 5:
            tangent = {"rule": "log-tangent", "argument": source.choice(["w", "a", small]), "coefficient": source.choice(["1", "a"])}
            return {**tangent, "argument-positive": child(), "nonnegative": child(), "rest": child()}
    return {"rule": "sum", "parts": [small], "proofs": [child()]}


def attempts(seed: int) -> Iterator[str]:
    """Return certificates of one random profile under several proofs."""
    source = random.Random(seed)
    epsilon = term(source, source.choice([1, 2, 2, 3]))
    if source.random() < 0.5:
        epsilon = f"({epsilon}) - {source.choice(['1e-9', '1/10', '1', '1e-30', '3'])}"
    record = {"z": source.choice(RANGES), "y": source.choice(RANGES)}
    parameters = {"a": source.choice(["positive", ["1/2", "2"], "2"]), "b": source.choice(["1/7", ["1", "1"]])}
    whole = {
        "format": "pdp-certificate",
        "version": 1,
        "profile": {"name": "", "epsilon": epsilon, "record": record, "parameters": parameters},
    }
    names = ["z", "y", "w", "a"]
    for proof in [*LEAVES, *(tree(source, names, 2) for _ in range(5))]:
        yield write(whole | {"claims": [{"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": proof}}]})


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("part", range(4))
def test_no_proof_of_a_negative_profile_is_accepted(part):
    counts = Counter[str]()
    for seed in range(part * ROUNDS, (part + 1) * ROUNDS):
        for text in attempts(seed):
            accepted = check(text).accepted
            counts["accepted" if accepted else "rejected"] += 1
            if accepted:
                assert falsehood(text) is None, (text, falsehood(text))
            elif counts["false"] < ROUNDS:
                counts["false"] += falsehood(text) is not None
    print(part, dict(counts))  # noqa: T201
    assert counts["accepted"] > ROUNDS / 4
    assert counts["false"] >= ROUNDS / 2


_START, _SIGN = {"threshold": "3", "threshold-proof": LEAVES[1]}, {"floor": "1e-9", "positive": LEAVES[1]}
CONDITIONS = [
    {"claim": "proposition-17", "verdict": "proved", "proof": {"bound": None}},
    {"claim": "assumption-8", "verdict": "proved", "proof": {"bound": None}},
    {"claim": "proposition-16", "verdict": "proved", "proof": {"bound": None}},
    {"claim": "assumption-11", "verdict": "proved", "proof": {**_SIGN, "form": "log", "curvature": None}},
    {"claim": "assumption-11", "verdict": "proved", "proof": {**_SIGN, "form": "exp", "curvature": None}},
    {
        "claim": "assumption-9",
        "verdict": "proved",
        "proof": {**_START, "direct": None, "form": "log"},
    },
    {
        "claim": "assumption-9",
        "verdict": "proved",
        "proof": {**_START, "start": LEAVES[2], "slope": None},
    },
    {"claim": "assumption-9", "verdict": "refuted", "proof": {"at": 0, "threshold": "3", "form": "log", "tail": None}},
    {"claim": "assumption-9-nonzero", "verdict": "proved", "proof": {"vanishing": None}},
    {"claim": "assumption-9-nonzero", "verdict": "proved", "proof": {"sides": {"variable": "z", "at": "1", "on": 2, "above": 2}}},
    {
        "claim": "assumption-9-nonzero",
        "verdict": "refuted",
        "proof": {"at": 0, "weight": "2", "positive": LEAVES[2], "threshold": "3", "form": "log", "tail": None},
    },
    {"claim": "assumption-8", "verdict": "refuted", "proof": {"at": 0, "bound": None}},
    {"claim": "assumption-11", "verdict": "refuted", "proof": {"at": 1, "curvature": None}},
    {"claim": "proposition-16", "verdict": "refuted", "proof": {"at": 0, "bound": None}},
    {"claim": "proposition-17", "verdict": "refuted", "proof": {"at": 1, "bound": None}},
]


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_no_false_condition_is_accepted(part):
    trees = [value for name in texts() for _, value in places(certificate(name)) if is_tree(value)]
    counts = Counter[str]()
    for seed in range(part * ROUNDS, (part + 1) * ROUNDS):
        source = random.Random(seed)
        first = source.choice(["w", "1", "w*z", "w**2", "log(1 + w)", "sqrt(w)", "5"])
        epsilon = f"{first} + ({term(source, 2)})**2*{source.choice(['1', 'w', '1e-3'])}"
        record = {"z": source.choice([["0", "1"], ["1", "3"], ["2", "2"]]), "y": source.choice(RANGES)}
        profile = {"name": "", "epsilon": epsilon, "record": record, "parameters": {"a": "2", "b": "1/7"}}
        whole = {"format": "pdp-certificate", "version": 1, "profile": profile, "target_epsilon": source.choice(["1", "3", "1/10"])}
        base = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": LEAVES[2]}}
        if not check(write(whole | {"claims": [base]})).accepted:
            continue
        point = {name: source.choice(ends) for name, ends in record.items()}
        for claim in CONDITIONS:
            for leaf in (*LEAVES[:3], source.choice(trees), tree(source, ["z", "y", "w", "s"], 2)):
                proof = {key: leaf if value is None else value for key, value in claim["proof"].items()}
                if "sides" in proof:
                    proof = {"sides": {k: {**_START, "direct": leaf, "form": "log"} if v == 2 else v for k, v in proof["sides"].items()}}
                if "at" in proof:
                    proof["at"] = point | ({"w": source.choice(["1", "2", "3", "17/10"])} if proof["at"] else {})
                text = write(whole | {"claims": [base, {**claim, "proof": proof}]})
                accepted = check(text).accepted
                counts["accepted" if accepted else "rejected"] += 1
                if accepted:
                    assert falsehood(text) is None, (text, falsehood(text))
    print(part, dict(counts))  # noqa: T201
    assert counts["accepted"] > ROUNDS / 4
