"""What runs in the browser around the kernel, on the standard library alone: it asks, and tells the page; it decides nothing."""
# The page puts checker.pyz on sys.path before it runs this text.

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

from kernel import check  # type: ignore[import-not-found]
from kernel.untrusted.formats import say_other  # type: ignore[import-not-found]
from kernel.untrusted.upgrade import upgrade  # type: ignore[import-not-found]

MOST = 1_000_000
TREES = (
    {"rule": "manifest"},
    {"rule": "zero"},
    {"rule": "boxes", "budget": 2000},
    {"rule": "boxes", "budget": 2000, "form": "centred"},
    {"rule": "boxes", "budget": 20000},
    {"rule": "boxes", "budget": 20000, "form": "centred"},
)


def judge(text: str) -> str:
    """Return what the kernel says of a text, as JSON, with what the certificate is about in its own words."""
    if len(text) > MOST:
        return json.dumps({"accepted": False, "step": "certificate", "reason": "the text is too long", "claims": [], "about": []})
    report = check(text)
    other = say_other(text) if report.step == "certificate" else None
    if other:
        return json.dumps({"accepted": False, "other": True, "step": "certificate", "reason": f"this {other}", "claims": [], "about": []})
    claims = [[claim.claim, claim.verdict, claim.bound] for claim in report.claims]
    about = describe(json.loads(text)) if report.accepted else []
    return json.dumps({"accepted": report.accepted, "step": report.step, "reason": report.reason, "claims": claims, "about": about})


def describe(whole: dict[str, Any]) -> list[str]:
    """Return lines that say what an accepted certificate is about."""
    if "composition" in whole:
        events = whole["composition"]["events"]
        lines = [", ".join(f"{key} = {value}" for key, value in event.items()) for event in events]
        sign = {"delta-upper": "<=", "delta-lower": ">=", "delta-positive": "> 0 below"}
        return lines + [f"{c['direction']}: delta({c['epsilon']}) {sign[c['claim']]} {c['bound']}" for c in whole["claims"]]
    profile = whole["profile"]
    number = next(name for name in ("epsilon", "mu", "rdp", "rho") if name in profile)
    lines = [f"{number}(w, x) = {profile[number]}"]
    lines += [f"{name} in [{low}, {high}]" for name, (low, high) in profile["record"].items()]
    lines += [f"{name} = {value}" for name, value in profile["parameters"].items()]
    lines += [f"target epsilon = {whole['target_epsilon']}"] if "target_epsilon" in whole else []
    return lines + ([f"q(x) = {whole['sampling']['q']}"] if "sampling" in whole else [])


def round_up(bound: str, like: str) -> str:
    """Return the accepted bound rounded up to as many decimal places as a number in the page has, and whether that is the number."""
    try:
        claimed = Decimal(like)
        places = -int(claimed.as_tuple().exponent)
        if not 0 <= places <= 400:
            raise ValueError
    except (ArithmeticError, ValueError, TypeError):
        return json.dumps({"same": False, "bound": bound})
    scale = Fraction(10) ** places
    number = -(-Fraction(bound) * scale // 1)
    digits = str(number).rjust(places + 1, "0")
    shown = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return json.dumps({"same": Fraction(like) == number / scale, "bound": shown})


def attempt(given: str) -> str:
    """Try to prove that epsilon after sampling is at most what is claimed, by the kernel's own rules; return its answer as JSON."""
    asked = json.loads(given)
    profile = {"name": "typed", "epsilon": asked["epsilon"], "record": asked["record"], "parameters": asked["parameters"]}
    base = {"format": "pdp-certificate", "version": 1, "profile": profile, "sampling": {"q": asked["q"]}}
    first: dict[str, Any] | None = None
    last = check("")
    for tree in TREES:
        claim = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": tree}}
        last = check(json.dumps(base | {"claims": [claim]}))
        if last.accepted:
            first = claim
            break
        if last.step in ("profile", "sampling", "certificate"):
            break
    for form in ("log", "exp") if first else ():
        for tree in TREES:
            steps = {"form": form, "bound": tree}
            steps |= {name: {"rule": "boxes", "budget": 5000} for name in ("q-positive", "q-at-most-one")}
            for simple in ({}, {"q-positive": {"rule": "manifest"}, "q-at-most-one": {"rule": "manifest"}}):
                claim = {"claim": "epsilon-upper", "verdict": "proved", "bound": asked["bound"], "proof": steps | simple}
                text = json.dumps(base | {"claims": [first, claim]}, indent=1)
                last = check(text)
                if last.accepted:
                    return json.dumps({"accepted": True, "certificate": upgrade(text)})
                if last.step in ("profile", "sampling"):
                    break
    return json.dumps({"accepted": False, "step": last.step, "reason": last.reason})
