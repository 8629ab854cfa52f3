"""Documents made to take the kernel too long, too much memory, or down: the worst that its limits seem to allow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Json = Any
M, Z = {"rule": "manifest"}, {"rule": "zero"}
FINE = {"rule": "boxes", "budget": 50_000, "precision": 1024}


def document(epsilon: str = "w*z", nonnegative: Json = M, *claims: Json, **others: Json) -> str:
    """Return the text of a certificate."""
    profile = {"name": "attack", "epsilon": epsilon, "record": others.pop("record", {"z": ["0", "4"]})}
    profile["parameters"] = others.pop("parameters", {})
    first = {"nonnegative": nonnegative} | ({"obligations": others.pop("obligations")} if "obligations" in others else {})
    whole = {"format": "pdp-certificate", "version": 1, "profile": profile, "target_epsilon": "3", **others}
    return json.dumps(whole | {"claims": [{"claim": "well-defined", "verdict": "proved", "proof": first}, *claims]})


def _claims(count: int, epsilon: str, tree: Json = M, **others: Json) -> str:
    claim = {"claim": "proposition-17", "verdict": "proved", "proof": {"bound": tree}}
    return document(epsilon, M, *[claim] * count, **others)


def _nested(open_: str, inner: str, close: str, times: int) -> str:
    return open_ * times + inner + close * times


def _deep_tree(depth: int) -> Json:
    tree: Json = M
    for _ in range(depth):
        tree = {"rule": "scale", "factor": "1", "positive": M, "product": tree}
    return tree


def _names(count: int) -> list[str]:
    return [f"v{i}" for i in range(count)]


def _many(names: list[str]) -> Json:
    return {name: ["0", "1"] for name in names}


def _parts(text: str, count: int) -> str:
    return document("w*z", {"rule": "sum", "parts": [text] * count, "proofs": [M] * count})


def _long_coefficients(count: int, start: int) -> str:
    return "+".join(f"({1000003 + 2 * (i + start)}/1048573)**476*z**{i + 1}" for i in range(count))


NARROW = "(z**2 - 4*z + 4 + 1/10**7)"  # many boxes are needed around z = 2
WIDE = {"rule": "boxes", "budget": 50_000}
SUM = "(1 + a + b + c + d + w)"
PRIMES = [p for p in range(2, 20_000) if all(p % d for d in range(2, int(p**0.5) + 1))]

TEXTS: dict[str, Callable[[], str]] = {
    "open lists": lambda: "[" * 5_000_000,
    "nested lists": lambda: _nested("[", "", "]", 2_400_000),
    "nested objects": lambda: _nested('{"a":', "1", "}", 800_000),
    "nested in a claim": lambda: document().replace('{"rule": "manifest"}', _nested('{"rule":"scale","product":', "1", "}", 150_000)),
    "a long list": lambda: "[" + "1," * 1_500_000 + "1]",
    "a long list of claims": lambda: document().replace('"claims": [', '"claims": [' + "0," * 1_000_000),
    "many keys": lambda: "{" + ",".join(f'"{i}":1' for i in range(350_000)) + "}",
    "too long a text": lambda: document() + " " * 1_000_001,
    "a long digit string": lambda: document(target_epsilon="1" * 100_000),
    "a long JSON number": lambda: document().replace('"version": 1', '"version": ' + "1" * 4_000_000),
    "a great exponent": lambda: document(target_epsilon="1e999999999"),
    "a great JSON exponent": lambda: document().replace('"version": 1', '"version": 1e999999999'),
    "a long number in a term": lambda: document("w*z + " + "9" * 19_000),
    "a great exponent in a term": lambda: document("w*z + 1e999999"),
    "greatest numbers": lambda: document("w*z", parameters={f"a{i}": "1e10000" for i in range(999)}),
    "escapes": lambda: '"' + "\\u0041" * 800_000 + '"',
    "surrogates": lambda: '"' + "\\ud800" * 800_000 + '"',
}

TERMS: dict[str, Callable[[], str]] = {
    "parentheses": lambda: document(_nested("(", "w", ")", 9_000)),
    "few parentheses": lambda: document(_nested("(", "w", ")", 190)),
    "signs": lambda: document("-" * 19_000 + "w"),
    "functions": lambda: document(_nested("exp(", "w", ")", 3_000)),
    "roots": lambda: document("w + " + _nested("sqrt(", "z", ")", 190)),
    "exponent tower": lambda: document("9**9**9**9**9*w"),
    "long tower": lambda: document("**".join(["2"] * 6_000)),
    "left tower": lambda: document("(" * 90 + "2" + "**9)" * 90 + "*w"),
    "tower of variables": lambda: document("**".join(["w"] * 150)),
    "greatest power": lambda: document("(w + 1)**1000000"),
    "small powers": lambda: document("*".join(f"(w + z)**(1/{p})" for p in PRIMES[-900:])),
    "iterated exponentials": lambda: document(_nested("exp(", "w", ")", 60)),
    "comparisons": lambda: document("<".join(["w"] * 6_000)),
    "a sum": lambda: document("+".join(["w"] * 9_000)),
    "a sum within limits": lambda: document("+".join(["w"] * 2_400), {"rule": "boxes", "budget": 50_000}),
    "a call with many arguments": lambda: document("Max(" + ",".join(["w"] * 9_000) + ")"),
    "branches": lambda: document("Piecewise(" + ",".join(f"(w, w < {i})" for i in range(600)) + ",(w, True))", FINE),
    "many small numbers": lambda: _parts("-".join(["(" + "-".join(["1"] * 1_000) + ")"] * 9), 240),
    "many large sums": lambda: _parts("-".join(["7**17000"] * 2_200), 240),
    "many large numbers": lambda: document(
        "w*z", {"rule": "sum", "parts": [f"{i}**7000" + "+1" * 2_400 for i in range(11, 91)], "proofs": [M] * 80}
    ),
    "fractions of large numbers": lambda: _parts("+".join(["(1/7**8000+1/3**14000)"] * 800), 240),
    "a sum of many large fractions": lambda: document("w + " + "+".join(f"z/{p}**3000" for p in PRIMES[:1_200])),
    "a sum of some large fractions": lambda: document("w + " + "+".join(f"z/{p}**9999" for p in PRIMES[:300])),
}

TREES: dict[str, Callable[[], str]] = {
    "a deep proof": lambda: document("w", _deep_tree(59)),
    "too deep a proof": lambda: document("w", _deep_tree(300)),
    "fine boxes": lambda: document(f"0*w + {NARROW}*({'+'.join(f'exp(-{i}*z)' for i in range(1, 99))})", FINE),
    "fine boxes of logarithms": lambda: document(f"0*w + {NARROW}*({'+'.join(f'log({i} + z)' for i in range(2, 99))})", FINE),
    "fine boxes of powers": lambda: document(f"0*w + {NARROW}*({'+'.join(f'({i} + z)**(1/7)' for i in range(2, 99))})", FINE),
    "fine boxes of whole powers": lambda: document(f"0*w + {NARROW}*({'+'.join(f'({i} + z)**999999' for i in range(2, 99))})", FINE),
    "boxes of exponentials": lambda: document(f"0*w + {NARROW}*({'+'.join(f'exp(-{i}*z)' for i in range(1, 99))})", WIDE),
    "boxes of powers": lambda: document(f"0*w + {NARROW}*({'+'.join(f'({i} + z)**(1/7)' for i in range(2, 99))})", WIDE),
    "many boxes": lambda: document(f"0*w + {NARROW}", WIDE),
    "fine boxes of waves": lambda: document("2 + sin(sin(sin(sin(9*z*w)))) - 3/2", FINE),
    "fine boxes of two variables": lambda: document("(z - y)**2*w - 0*w", FINE, record={"z": ["0", "4"], "y": ["0", "4"]}),
    "boxes of waves": lambda: document(
        "w*0 + 1/1000000 + (1 - cos(1000*z))*(1 + sin(999*z))", {"rule": "boxes", "budget": 50_000}, record={"z": ["0", "400"]}
    ),
    "boxes of many waves": lambda: document(f"0*w + {NARROW}*({'+'.join(f'(1 + sin({i}*z))' for i in range(1, 99))})", WIDE),
    "centred boxes": lambda: document("(z - 2)**2*exp(z)/(1 + z) + 0*w + 1/10**30", {**FINE, "form": "centred"}),
    "many fine boxes": lambda: _claims(999, "w**2*z", {**FINE, "budget": 2_000}),
    "small angle": lambda: document("w + cos(exp(-exp(30)))", {"rule": "boxes", "budget": 1}),
    "smaller angle": lambda: document("w + sin(exp(-exp(z + 16)))", {"rule": "boxes", "budget": 10}),
    "great angle": lambda: document("w + 1 + cos(10**19 + z)", {"rule": "boxes", "budget": 10}),
    "great exponentials": lambda: document("w + exp(exp(exp(exp(z))))", FINE),
    "least exponentials": lambda: document("w + exp(-exp(exp(exp(z))))", FINE),
    "powers of powers": lambda: document("((((w + z)**999999)**(1/999983))**999999)**(1/7)", FINE),
    "products": lambda: document("(1 + a + b + c + d + w)**12*(1 + a + b + c + d)**3", parameters=dict.fromkeys("abcd", "positive")),
    "nested powers": lambda: document("((((1 + a + b + w)**3)**3)**3)**3", parameters=dict.fromkeys("abcd", "positive")),
    "many products": lambda: _claims(300, "w*(1 + a + b + c + d)**11", parameters=dict.fromkeys("abcd", "positive")),
    "many middling products": lambda: _claims(999, "w*(1 + a + b)**10", parameters=dict.fromkeys("abcd", "positive")),
    "exponential of a product": lambda: document(f"w + exp({SUM}**12*{SUM})", parameters=dict.fromkeys("abcd", "positive")),
    "a product with long coefficients": lambda: document(f"w + ({_long_coefficients(45, 0)})*({_long_coefficients(45, 99)})"),
    "a large product with long coefficients": lambda: document(f"w + ({_long_coefficients(99, 0)})*({_long_coefficients(99, 99)})"),
    "long monomials": lambda: _claims(
        99, "w*" + "*".join(_names(800)) + "*(1 + a + b + c)**9", record=_many(_names(800)), parameters=dict.fromkeys("abc", "positive")
    ),
    "many variables": lambda: document("+".join(["w", *_names(990)]), record=_many(_names(990))),
    "many variables, boxes": lambda: document(
        "+".join(["w", *_names(990)]), {"rule": "boxes", "budget": 50_000}, record=_many(_names(990))
    ),
    "many variables, centred": lambda: document(
        "+".join(["w"] + [f"({v} - 1/3)**2" for v in _names(900)]),
        {"rule": "boxes", "budget": 50_000, "form": "centred"},
        record=_many(_names(900)),
    ),
    "many sets of variables": lambda: document(
        "w",
        {"rule": "sum", "parts": ["+".join(_names(990)[i:] + _names(990)[:i]) for i in range(0, 900, 8)], "proofs": [M] * 113},
        record=_many(_names(990)),
    ),
    "many obligations": lambda: document("w + " + "+".join(f"1/(z**2 - 4*z + 4 + 1/{i})" for i in range(1, 400)), M),
    "many opposed obligations": lambda: document("w + " + "+".join(f"0/(z - {i}/1000)" for i in range(1, 900)), M),
    "many branches to resolve": lambda: _claims(20, "w + " + "+".join(f"Max(w, 1 - z**2/{i})" for i in range(1, 300))),
    "repeated derivatives": lambda: document(
        "w*" + "*".join(f"(w + {i})" for i in range(1, 60)),
        M,
        *[{"claim": "assumption-11", "verdict": "proved", "proof": {"floor": "1/2", "positive": M, "form": "log", "curvature": WIDE}}]
        * 200,
    ),
    "roots of long numbers": lambda: document("w + " + "+".join(f"sqrt(1e{9999 - i})*z" for i in range(480)), M),
    "logarithms of long numbers": lambda: document("w + " + "+".join(f"log(1e{9999 - i})**2*z" for i in range(480)), M),
    "long numbers in many obligations": lambda: document(
        "w", obligations={f"({i}+" + "+".join(f"1e{9999 - i - j}" for j in range(600)) + ")*1": M for i in range(190)}
    ),
    "products of long numbers": lambda: _parts("+".join(["a*b"] * 1_200), 180).replace(
        '"parameters": {}', '"parameters": {"a": "1e9999/7", "b": "3e9998/11"}'
    ),
    "denominators": lambda: document("w + " + "+".join(f"z/(z + w + {i})" for i in range(1, 40)), M),
    "logarithms": lambda: document("w*(" + "+".join(f"log(1 + z*w + {i})" for i in range(1, 400)) + ")", M),
}


def _composed(events: Json, part: Json, *, digits: int, unit: str = "1e-3", gridded: bool = True, **others: Json) -> str:
    """Return the text of a certificate of a composition: claims that hold of every law, each on the same grid for all events."""
    entry = {"offset": "0", "start": -3000, "steps": [[0, 6000]], "floors": [], **part}
    grid = {"digits": digits, "unit": unit, "tails": ["0", "0"], "events": [entry] * len(events)}
    claim = {"claim": "delta-upper", "verdict": "proved", "direction": "remove", "epsilon": "1", "bound": "1", **others}
    claim |= {"grid": grid} if gridded else {}
    about = {"name": "attack", "events": events}
    return json.dumps({"format": "pdp-certificate", "version": 1, "composition": about, "claims": [claim] * 8})


def _event(mechanism: str, count: int = 1, q: str = "1/2", **numbers: str) -> Json:
    return {"mechanism": mechanism, **numbers, "sampling_probability": q, "count": count}


def _run(cells: int) -> Json:
    return {"start": -cells // 2, "steps": [[0, cells]]}


_RISING = [k // 2 for k in range(19)]
_PURE, _TABLE = _event("pure", 2**19, "1", epsilon="1"), _event("discrete-gaussian", q="1", noise_multiplier="9999")
_GAUSSIAN, _LOWER = _event("gaussian", noise_multiplier="1"), {"claim": "delta-lower", "bound": "0"}
COMPOSITIONS: dict[str, Callable[[], str]] = {
    "many uses of many mechanisms": lambda: _composed([_PURE] * 20, {"floors": _RISING}, digits=60),
    "many uses that do not grow": lambda: _composed([_PURE] * 64, {"floors": list(range(1, 20))}, digits=30),
    "many uses of few digits": lambda: _composed([_PURE] * 64, {**_run(120_000), "floors": _RISING}, digits=7),
    "many uses of many digits": lambda: _composed([_PURE] * 9, {**_run(4_000), "floors": _RISING}, digits=320),
    "many uses below": lambda: _composed([_PURE] * 9, {**_run(4_000), "floors": _RISING}, digits=40, **_LOWER),
    "tables": lambda: _composed([_TABLE], _run(200), digits=250, unit="1e-4"),
    "tables without a grid": lambda: _composed([_TABLE], {}, digits=1, gridded=False, epsilon="1e-6", bound="1e-300"),
    "points": lambda: _composed([_GAUSSIAN] * 64, _run(2**19 - 9), digits=1, unit="1e-5"),
    "points of many digits": lambda: _composed([_GAUSSIAN] * 64, {}, digits=320, unit="1e-15"),
    "points of a table": lambda: _composed([_TABLE] * 64, {}, digits=20),
    "cells to be lifted": lambda: _composed(
        [_event("laplace", 2, scale="1")] * 64, {**_run(200_000), "floors": [40]}, digits=9, unit="1e-9"
    ),
    "the lower side": lambda: _composed([_GAUSSIAN] * 64, _run(2**18), digits=1, unit="1e-5", **_LOWER),
    "the lower side far out": lambda: _composed([_event("gaussian", noise_multiplier="300")] * 9, {}, digits=300, unit="1e-4", **_LOWER),
    "far Gaussians": lambda: _composed([_event("gaussian", noise_multiplier="1e-4")], {}, digits=40, unit="1e3"),
    "an order": lambda: _composed([_event("zcdp", q="1", rho="1e4")], {"order": "900"}, digits=40, unit="1e3"),
    "long numbers": lambda: _composed(
        [_event("laplace", 3, f"1/{10**190 + i}", scale=f"{10**190 + i}/{10**189}") for i in range(64)],
        {**_run(1800), "floors": [0], "offset": f"1/{10**190}"},
        digits=40,
        unit=f"{10**190 + 1}/{10**192}",
        epsilon=f"1/{10**1999}",
    ),
    "a long epsilon": lambda: _composed([_event("laplace", scale="1")], {}, digits=40, epsilon=f"{10**1999}/{10**1999 + 1}e-9999"),
    "losses that add up": lambda: _composed(
        [_event("pure", 10**9, f"1/{10**190 + i}", epsilon=f"{10**190}/{10**189 + i}") for i in range(64)], {}, digits=40, gridded=False
    ),
}  # fmt: skip
ATTACKS = TEXTS | TERMS | TREES | COMPOSITIONS
