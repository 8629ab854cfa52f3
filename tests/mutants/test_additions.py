"""Statistics, closed terms as witnesses, exponents that are long fractions, and steps: what is true is accepted, every false mutant not.

Each family takes an accepted document and changes one number of it so that what it says, or what has to be shown, is false for certain.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction

import pytest

from proofs_check.kernel import check

M, Z, B = {"rule": "manifest"}, {"rule": "zero"}, {"rule": "boxes", "budget": 500}
Made = Iterator[tuple[bool, str]]  # whether it is true, and the document


def _document(epsilon: str, name: str, verdict: str, proof: object, ends: tuple[str, str] = ("0", "4"), target: str = "1") -> str:
    profile = {"name": "x", "epsilon": epsilon, "record": {"z": list(ends)}, "parameters": {}}
    first = {"claim": "well-defined", "verdict": "proved", "proof": {"nonnegative": B}}
    whole = {"format": "pdp-certificate", "version": 1, "profile": profile, "target_epsilon": target}
    return json.dumps(whole | {"claims": [first, {"claim": name, "verdict": verdict, "proof": proof}]})


def statistics() -> Made:
    """epsilon(1) = a + b (z - p)**2 + c with the statistic y = b (z - p)**2 + c in [low, high]."""
    for shift in range(8):
        for b in (1, 2, 3):
            top = b * max(shift, 4 - shift) ** 2 + 1 if shift <= 4 else b * shift**2 + 1
            least = 1 if shift <= 4 else b * (shift - 4) ** 2 + 1
            term, low, high = f"{b}*(z - {shift})**2 + 1", Fraction(least), Fraction(top)
            for down, up, room, factor in ((0, 0, 0, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (0, 0, 0, 2)):
                given = {"name": "y", "term": term, "low": str(low + Fraction(down, 1000)), "lower": B}
                given |= {"high": str(high - Fraction(up, 1000)), "upper": B, "epsilon": f"{factor}*y*w", "proof": {"bound": B}}
                proof = {"statistic": given}
                target = str(top + Fraction(1, 2) - room)
                # boxes show what is > 0, so that the true range is a little wider than the values
                if not (down or up or room or factor > 1):
                    given |= {"low": str(low - Fraction(1, 10)), "high": str(high + Fraction(1, 10))}
                yield not (down or up or room or factor > 1), _document(f"w*({term})", "assumption-8", "proved", proof, target=target)


def closed_terms() -> Made:
    """epsilon(1) = 2 at the record, against a target just below and at it; and records beyond the ends of the range."""
    for n in (2, 3, 5, 6, 7, 10, 37):
        for point, value in ((f"sqrt({n})", n**0.5), (f"log({n})", None), (f"{n}**(1/3)", n ** (1 / 3)), (f"-sqrt({n})", -(n**0.5))):
            proof = {"at": {"z": point}, "bound": B}
            for target, ends in (("199/100", ("0", "4")), ("2", ("0", "4")), ("201/100", ("0", "4")), ("199/100", ("0", "1/2"))):
                inside = not point.startswith("-") and (value is None or value < float(Fraction(ends[1])))
                if point.startswith("log"):
                    inside = ends[1] == "4"
                yield (
                    inside and target == "199/100",
                    _document(f"w*(2 + 0*z + (z - {point})**2)", "assumption-8", "refuted", proof, ends, target),
                )


def exponents() -> Made:
    """w**c grows at least like w if and only if c >= 1, for c a long fraction that is written out."""
    for k in range(1, 41):
        for sign in (1, -1):
            c = 1 + sign * Fraction(k, 10_000_019)
            yield c > 1, _document(f"w**({c.numerator}/{c.denominator})", "proposition-17", "proved", {"bound": M})
            at = {"at": {"z": "1", "w": "2"}, "bound": B}
            yield c < 1, _document(f"w**({c.numerator}/{c.denominator})", "proposition-17", "refuted", at)


def steps() -> Made:
    """A branch that is decided by a step: right at the weight n only, where epsilon jumps; or the same for all weights."""
    for n in range(1, 30):
        at = {"at": {"z": "1", "w": str(n)}, "bound": B}
        for step in (f"ceiling(w) < {2 * n + 1}/2", f"-floor(-w) < {2 * n + 1}/2", f"Abs(ceiling(w)) < {2 * n + 1}/2"):
            yield False, _document(f"Piecewise((1, {step}), (100*w, True))", "proposition-17", "refuted", at)
        yield True, _document(f"Piecewise((1, ceiling(w) > {1 - n}), (100*w, True))", "proposition-17", "refuted", at)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("family", [statistics, closed_terms, exponents, steps])
def test_what_is_true_is_accepted_and_no_false_mutant_is(family):
    counts = {True: 0, False: 0}
    for true, text in family():
        report = check(text)
        counts[true] += 1
        assert report.accepted <= true, text
        assert report.accepted or not true, (text, report)
        assert report.accepted or report.step.startswith("claims[1].proof"), report
    assert min(counts[True], counts[False]) >= 15, counts
