"""Certificates made by hand, for the rules, fields and claim forms that the prover seldom uses."""

from __future__ import annotations

from typing import Any

Json = Any
M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 2000}
C = {**B, "form": "centred", "precision": 100}
HUBER = "Piecewise((w**2/2, w < 2), (2*w - 2, True))"


def _claim(name: str, verdict: str, proof: Json, **own: Json) -> Json:
    return {"claim": name, "verdict": verdict, **own, "proof": proof}


def _rising(variable: str, slope: Json, end: Json, direction: str = "increasing") -> Json:
    return {"rule": "monotone", "variable": variable, "direction": direction, "slope": slope, "end": end}


def _document(name: str, epsilon: str, claims: list[Json], **others: Json) -> Json:
    first = {"nonnegative": others.get("nonnegative", B)}
    if "obligations" in others:
        first["obligations"] = others["obligations"]
    profile = {"name": name, "epsilon": epsilon, "record": others.get("record", {"z": ["0", "4"]})}
    profile["parameters"] = others.get("parameters", {})
    made = {"format": "pdp-certificate", "version": 1, "profile": profile}
    made |= {key: others[key] for key in ("target_epsilon", "sampling") if key in others}
    return made | {"claims": [_claim("well-defined", "proved", first), *claims]}


def _trees() -> list[Json]:
    tangent = {"rule": "exp-tangent", "exponent": "z", "coefficient": "1", "nonnegative": M, "rest": Z}
    logarithm = {"rule": "log-tangent", "argument": "1 + z", "coefficient": "1", "argument-positive": M, "nonnegative": M, "rest": Z}
    square = {"rule": "sum", "parts": ["(z - 2)**2", "1"], "proofs": [B, M], "strict": 1}
    general = {"rule": "generalise", "name": "y", "term": "exp(z)", "low": "1", "lower": B, "general": "y**2 - y + 1/3", "proof": M}
    capped = {"name": "y", "term": "exp(-z)", "high": "1", "upper": _rising("z", M, Z), "low": "0", "lower": M, "open": True}
    capped |= {"rule": "generalise", "general": "2 - y", "proof": B}
    cut = {"rule": "split", "variable": "z", "at": "2", "below": _rising("z", M, Z), "above": _rising("z", M, B)}
    return [
        _document(
            "tangents", "exp(z) - 1 - z + w", [], nonnegative={"rule": "sum", "parts": ["exp(z) - 1 - z", "w"], "proofs": [tangent, M]}
        ),
        _document("logarithms", "z - log(1 + z) + 0*w", [], nonnegative=logarithm),
        _document("inverse", "w/(z**2 - 4*z + 5)", [], obligations={"z**2-4*z+5": square}),
        _document("general", "w*(exp(2*z) - exp(z) + 1/3)", [], nonnegative={**general, "general": "w*(y**2 - y + 1/3)"}),
        _document("capped", "(2 - exp(-z)) + 0*w", [], nonnegative=capped),
        _document("halves", "Abs(z - 2) - 2 + z + 0*w", [], record={"z": ["1", "4"]}, nonnegative=cut),
        _document("centred", "z**2 - 4*z + 4.001 + 0*w", [], nonnegative=C),
        _document("scaled", "1/(1 + z) - 1/5 + 0*w", [], nonnegative={"rule": "scale", "factor": "5*(1 + z)", "positive": M, "product": B}),
        _document("point", "w*(z - 2)*(3 - z)", [], record={"z": ["2.5", "2.5"]}, nonnegative=M),
        _document("open", "a*w - 1 + exp(-a*w)", [], parameters={"a": "positive"}, nonnegative=_rising("a", _rising("a", M, Z), Z)),
        _document("tie", "Max(z, 4 - z, 2) - 2 + Abs(w - 1)", []),
    ]


def _claims() -> list[Json]:
    huber = {"floor": "1", "positive": M, "form": "log", "curvature": [M, M], "cuts": ["2"]}
    kinked = {"at": {"z": "2"}, "kink": ["1.9", "2.1"]}
    limit = {"at": {"z": "2"}, "weight": "n**2", "weight-proof": M, "flat": M}
    slope = {"threshold": "5", "threshold-proof": M, "start": B, "slope": M}
    direct = {"threshold": "4", "threshold-proof": M, "direct": _rising("s", B, B), "form": "log"}
    upper = {"q-positive": M, "q-at-most-one": B, "form": "log", "bound": C}
    wave = {"rule": "sum", "parts": ["w - 1/10", "(1 + sin(w))/10"], "proofs": [M, B]}
    refuted = {"at": {"z": "1"}, "threshold": "2", "form": "log", "tail": B}
    return [
        _document(
            "huber",
            HUBER,
            [
                _claim("assumption-11", "proved", huber),
                _claim("strong-convexity", "proved", huber),
                _claim("proposition-17", "proved", {"cuts": ["2"], "bound": [M, M]}),
            ],
        ),
        _document(
            "bend",
            "Max(w**2/8, w - 3/2, z)",
            [_claim("assumption-11", "refuted", {"at": {"z": "1"}, "kink": ["5.9", "6.1"]})],
        ),
        _document("corner", "Abs(w - z) + w", [_claim(name, "refuted", kinked) for name in ("assumption-11", "proposition-17")]),
        _document(
            "moving",
            "w + Max(w - 1 - z, 0)**(3/2)",
            [_claim("assumption-11", "proved", {**huber, "cuts": ["1 + z"], "floor": "9/10"})],
            nonnegative=M,
        ),
        _document(
            "restated",
            "w + Abs(w - 2) - Abs(2 - w) + sqrt((w - z)**2)",
            [
                _claim("proposition-17", "refuted", {**kinked, "restated": {"term": "w + Abs(w - z)", "roots": ["w - z"]}}),
                _claim("assumption-11", "refuted", {**kinked, "restated": {"term": "w + Abs(w - 2)", "roots": ["w - z"]}}),
            ],
        ),
        _document("jump", "Piecewise((1, w < 2), (w, True))", [_claim("proposition-17", "refuted", kinked)]),
        _document("scaled-sum", "w*(z + 1/3)", [_claim("homogeneous", "proved", {})]),
        _document("not-scaled", "w*z + 1", [_claim("homogeneous", "refuted", {"at": {"z": "1", "w": "2"}, "bound": B})]),
        _document("flattening", "3*log(w)/2", [_claim("assumption-11", "refuted", limit)]),
        _document("growth", "3*log(w)", [_claim("assumption-9", "proved", slope)], target_epsilon="1"),
        _document("steep", "w*z", [_claim("assumption-9", "proved", direct)], record={"z": ["1", "2"]}, target_epsilon="1"),
        _document("bounded", "z/(1 + w) + 1/9", [_claim("assumption-9", "refuted", refuted)], target_epsilon="1"),
        _document(
            "concave",
            "log(1 + log(w))",
            [
                _claim("assumption-11", "refuted", {"at": {"w": "2", "z": "0"}, "curvature": B}),
                _claim("proposition-17", "refuted", {"at": {"w": "9", "z": "0"}, "bound": B}),
            ],
        ),
        _document(
            "swinging",
            "w + sin(w)/10",
            [
                _claim("assumption-11", "proved", {"floor": "1/10", "positive": M, "form": "log", "curvature": B}),
                _claim("proposition-16", "refuted", {"at": {"z": "1"}, "bound": B}),
            ],
            nonnegative=wave,
        ),
        _document(
            "sampled",
            "T*w*(1/b + z/s)",
            [
                _claim("epsilon-upper", "proved", {**upper, "bound": B, "form": "exp"}, bound="9.5"),
                _claim("epsilon-upper", "proved", upper, bound="9.2532"),
                _claim("epsilon-lower", "proved", {"bound": B}, bound="9.2531", at={"z": "0.7546"}),
            ],
            parameters={"T": "10", "b": "20.5", "s": "30"},
            sampling={"q": "1/20 + z**2/50"},
        ),
        _document(
            "whole",
            "w*z/9",
            [_claim("epsilon-upper", "proved", {**upper, "bound": _rising("z", M, M, "decreasing")}, bound="4/9")],
            sampling={"q": "1"},
        ),
    ]


def documents() -> list[Json]:
    """Return all of them."""
    return _trees() + _claims()
