"""Certificates that every interpreter has to judge alike: accepted ones, rejected ones, and those at the limits of interpreters.

``python -m tests.portable.suite FILE`` writes them, by name, as one JSON object; ``run.py`` checks them anywhere.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.attacks import ATTACKS, document
from tests.mutants.corpus import texts, write
from tests.mutants.families import compositions
from tests.mutants.test_mutants import CERTAIN, JUDGED, sample

#: Attacks that use up what the kernel allows, or are long, take about a second and more each: ``everything`` has them too.
LONG = {
    "boxes of exponentials",
    "boxes of many waves",
    "boxes of powers",
    "denominators",
    "exponential of a product",
    "far Gaussians",
    "a product with long coefficients",
    "fine boxes of logarithms",
    "fine boxes of powers",
    "fine boxes of waves",
    "fine boxes of whole powers",
    "fine boxes",
    "long monomials",
    "long numbers",
    "many boxes",
    "many branches to resolve",
    "many fine boxes",
    "many large numbers",
    "many middling products",
    "many obligations",
    "many products",
    "many uses below",
    "many uses of few digits",
    "many uses of many mechanisms",
    "many uses that do not grow",
    "many variables, boxes",
    "many variables, centred",
    "points of a table",
    "products",
    "repeated derivatives",
    "roots",
    "tables without a grid",
    "tables",
}
_LONGEST = 200_000
_EACH = 9  # of the mutants of a family
_CHARACTERS = {"accent": "\u00e9", "unassigned": "\u0378", "newer": "\U0001fae9", "surrogate": "\ud800", "zero": "\x00"}
_NESTED = {"rule": "manifest"}


def make_suite(*, everything: bool = False) -> dict[str, str]:
    """Return the texts by name, the same ones in every run."""
    made = {f"corpus {name}": text for name, text in texts().items()}
    for family in (*CERTAIN, *JUDGED):
        made |= {f"{family} {i}": mutant.text for i, mutant in enumerate(sample(family, 220)[:_EACH])}
    for name in compositions.BASES:
        for side in ("upper", "lower"):
            for direction in ("remove", "add"):
                made[f"composition {name} {side} {direction}"] = write(compositions.claimed(name, side, direction))
    for family, make in compositions.FAMILIES.items():
        for seed in range(_EACH):
            source = random.Random(f"{family} {seed}")
            made[f"{family} {seed}"] = make(source.choice(sorted(compositions.BASES)), source).text
    attacks = {f"attack {name}": attack() for name, attack in ATTACKS.items() if everything or name not in LONG}
    made |= {name: text for name, text in attacks.items() if everything or len(text) < _LONGEST}
    return made | dict(make_limits())


def make_limits() -> Iterator[tuple[str, str]]:
    """Yield what is just inside and just outside of limits, where interpreters differ: depth, digits, exponents, characters."""
    for depth in (57, 58, 59, 60, 61, 120, 199, 200, 201, 400):
        tree = '{"rule":"scale","factor":"1","positive":{"rule":"manifest"},"product":' * depth + '{"rule":"manifest"}' + "}" * depth
        yield f"depth of a proof {depth}", document("w").replace('"nonnegative": {"rule": "manifest"}', f'"nonnegative": {tree}')
        yield f"depth of JSON {depth}", "[" * depth + "]" * depth
        yield f"depth of roots {depth}", document("w + " + "sqrt(1 + " * (depth // 4) + "z" + ")" * (depth // 4))
        yield f"depth of logarithms {depth}", document("w + " + "log(2 + " * (depth // 2) + "z" + ")" * (depth // 2))
        yield f"depth of absolute values {depth}", document("w + " + "abs(z - " * depth + "z" + ")" * depth)
        yield f"depth of powers {depth}", document("w" + "**(1 + z" * depth + ")" * depth)
        yield f"nested maxima {depth}", document("w + " + "Max(z, 1 - " * depth + "z" + ")" * depth)
        yield f"many maxima {depth}", document("w + Max(" + ", ".join(f"z - {i}" for i in range(2 * depth)) + ", z)")
        yield f"a long sum {depth}", document("+".join(["w"] * (20 * depth)))
        claim = '{"claim":"proposition-17","verdict":"proved","proof":' + _cases(depth) + "}"
        yield f"cases in cases {depth}", document("w*z", _NESTED, 0).replace(", 0]", f", {claim}]")
        yield f"obligations of themselves {depth}", document("w*z + sqrt(z)", _circle(depth), obligations={"z": _circle(depth)})
    for power in (6, 8, 9, 10, 12, 15, 18, 20, 40):
        for name, term in (
            ("exp", "w + exp(1e{})"),
            ("exp of a range", "w + exp(z*1e{})"),
            ("small exp", "w + exp(-1e{})"),
            ("its inverse", "w + 1/(1 + exp(z*1e{}))"),
            ("tower", "w + exp(exp(z*{}))"),
            ("log", "w + log(1 + exp(z + 1e{}))"),
            ("power", "w + (1 + z)**1e{}"),
            ("wave", "w + 1 + cos(1e{})"),
            ("steps", "w + ceiling(1 + z*1e{})"),
        ):
            yield f"{name} {power}", document(term.format(power))
            yield f"{name} {power} by boxes", document(term.format(power), {"rule": "boxes", "budget": 30})
    for digits in (600, 639, 640, 641, 1999, 2000, 2001, 4299, 4300, 4301):
        yield f"digits of a number {digits}", document("w*z", target_epsilon="9" * digits)
        yield f"digits in a term {digits}", document(f"w*z + {'7' * digits}/{'9' * digits}")
        yield f"digits of an unknown name {digits}", document("w*z + " + "v" * digits)
    for name, character in _CHARACTERS.items():
        yield f"{name} in a number", document("w*z", target_epsilon="1" + character)
        yield f"{name} in a term", document("w*z + " + character)
        yield f"{name} in a name", document("w*z", record={"z" + character: ["0", "1"]})
        yield f"{name} in a key", document("w*z", **{character: "1"})
        yield f"{name} in a title", document("w*z").replace("attack", character)
        yield f"{name} before the text", character + document("w*z")
    for epsilon in ("5e8", "799999999", "800000001", "1e10", "2e10"):
        for noise in ("1e-5", "2e-5", "4e-5", "1"):
            yield f"Gaussian {noise} at {epsilon}", _composed(epsilon, "gaussian", noise_multiplier=noise)
        yield f"response at {epsilon}", _composed(epsilon, "randomized-response", "1/2", epsilon="900000000")
        yield f"zcdp at {epsilon}", _composed(epsilon, "zcdp", rho="3e8")


def _cases(depth: int) -> str:
    proof = '{"bound":{"rule":"zero"}}'
    opening = "".join(f'{{"cases":{{"variable":"z","at":"{4 * i + 1}/{i + 1}","above":{proof},"below":' for i in range(1, depth + 1)[::-1])
    return opening + proof + "}}" * depth


def _circle(depth: int) -> object:
    tree: object = _NESTED
    for _ in range(depth % 4 + 1):
        tree = {"rule": "scale", "factor": "sqrt(z)", "positive": tree, "product": tree}
    return tree


def _composed(at: str, mechanism: str, q: str = "1", **numbers: str) -> str:
    event = {"mechanism": mechanism, "sampling_probability": q, "count": 1, **numbers}
    claims = [
        {"claim": f"delta-{side}", "verdict": "proved", "direction": direction, "epsilon": at, "bound": bound}
        for side, bound in (("upper", "1"), ("lower", "0"))
        for direction in ("remove", "add")
    ]
    whole = {"format": "pdp-certificate", "version": 1, "composition": {"name": "far", "events": [event]}, "claims": claims}
    return json.dumps(whole)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(make_suite(everything="--everything" in sys.argv)), encoding="ascii")
