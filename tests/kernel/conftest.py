"""Hand-made certificates: a profile, claims, and the kernel's report on them."""

import copy
import json

import pytest

from proofs_check.kernel import check, checker
from proofs_check.kernel.untrusted.proofs import Session

LLOYD = {
    "epsilon": "T*w*(1/beta_count + z/beta_sum)",
    "record": {"z": ["0", "4"]},
    "parameters": {"T": "10", "beta_count": "20.5", "beta_sum": "30"},
}
MANIFEST = {"rule": "manifest"}


def check_alone(text, session=None, choices=()):
    """The report of the kernel alone, of a text of version 1 with what its claims choose."""
    session = session or Session()
    session.given = iter(choices)
    return checker.check(text, session)


def document(*claims, nonnegative=MANIFEST, obligations=None, target="20", q=None, **profile):
    """The certificate as a JSON value: well-defined first, then the claims."""
    base = {"name": "x", **LLOYD} if "epsilon" not in profile else {"name": "x", "record": {"z": ["0", "4"]}, "parameters": {}}
    first = {"nonnegative": nonnegative} | ({"obligations": obligations} if obligations else {})
    value = {"format": "pdp-certificate", "version": 1, "profile": {**base, **profile}}
    value["claims"] = [{"claim": "well-defined", "verdict": "proved", "proof": first}, *claims]
    value |= ({"target_epsilon": target} if target else {}) | ({"sampling": {"q": q}} if q else {})
    return copy.deepcopy(value)


@pytest.fixture
def make():
    """A certificate as a JSON value."""
    return document


@pytest.fixture
def run():
    """The kernel's report on a certificate made from its parts."""
    return lambda *claims, **parts: check(json.dumps(document(*claims, **parts)))


@pytest.fixture
def prove(run):
    """The report on the goal E >= 0 (strictly: E > 0) over z in [0, 4], put to the kernel as claims about the profile z and its like."""

    def prove_goal(goal, proof, *, strict=False, z=("0", "4"), parameters=None, obligations=None):
        # assumption-9's threshold-proof is the goal threshold - 1 >= 0, floor's positive the goal floor > 0, for any term over records
        field = {"floor": goal, "positive": proof, "form": "log", "curvature": {"rule": "zero"}}
        if not strict:
            field = {"threshold": f"1 + ({goal})", "threshold-proof": proof, "start": {"rule": "zero"}, "slope": {"rule": "zero"}}
        if obligations:
            field["obligations"] = obligations
        claim = {"claim": "assumption-11" if strict else "assumption-9", "verdict": "proved", "proof": field}
        report = run(claim, epsilon="w*2", record={"z": list(z)}, parameters=parameters or {})
        # the rest of these claims is left unproved on purpose: the goal holds if and only if the step after it is reached
        return report.step in ("claims[1].proof.start", "claims[1].proof.curvature"), report

    return prove_goal
