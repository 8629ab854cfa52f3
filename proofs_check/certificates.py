"""Certificates: assembling claims into the file of docs/certificates.md, putting them to the kernel, writing them atomically."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import Any

from profiles.errors import PDPError
from profiles.notions import ProfileNotion
from profiles.numbers import exact_text
from profiles.profile import Profile
from profiles.terms import Term, to_text
from profiles.variables import Parameter
from proofs_check.kernel import Report
from proofs_check.kernel.core.documents import Meter
from proofs_check.kernel.untrusted.formats import OWN
from proofs_check.kernel.untrusted.proofs import Session
from proofs_check.kernel.untrusted.upgrade import Examined, examine, write_choices
from proofs_check.results import Tree

FORMAT = OWN
#: A claim says in its ``choices`` how each side condition is shown. Version 1 left that to be found.
VERSION, FIRST = 2, 1


def point_json(point: Mapping[str, Fraction]) -> dict[str, str]:
    """Return an exact point as the format writes it."""
    return {name: exact_text(value) for name, value in point.items()}


def profile_json(profile: Profile) -> dict[str, Any]:
    """Return the part of a certificate that says which profile it is about."""
    return {
        "name": profile.name,
        **({} if profile.notion is ProfileNotion.PURE else {"notion": profile.notion.value}),
        profile.notion.number: to_text(profile.promise),
        "record": {s.name: [exact_text(s.lo), exact_text(s.hi)] for s in profile.record},
        "parameters": {p.name: _parameter_json(p) for p in profile.parameters},
    }


def _parameter_json(parameter: Parameter) -> Any:
    if parameter.bounds is not None:
        return [exact_text(end) for end in parameter.bounds]
    return "positive" if parameter.value is None else exact_text(parameter.value)


def assemble(
    profile: Mapping[str, Any], claims: Sequence[Tree], *, target: Fraction | None = None, q: Term | None = None
) -> dict[str, Any]:
    """Return a certificate of ``claims`` (the first of which must be ``well-defined``) as a JSON object: what they choose is open.

    ``profile``: as the format writes it (:func:`profile_json`).
    """
    made: dict[str, Any] = {"format": FORMAT, "version": FIRST, "profile": profile}
    if target is not None:
        made["target_epsilon"] = exact_text(target)
    if q is not None:
        made["sampling"] = {"q": to_text(q)}
    made["claims"] = list(claims)
    return made


def complete(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with all that its claims choose; one that the kernel would not accept, with none of it."""
    claims = [{key: value for key, value in claim.items() if key != "choices"} for claim in certificate["claims"]]
    text = json.dumps({**certificate, "version": FIRST, "claims": claims})
    choices = _examine_alone(text).choices
    made: dict[str, Any] = json.loads(text if choices is None else write_choices(text, choices))
    return made


def to_file_text(certificate: Mapping[str, Any]) -> str:
    """Return a certificate as it is written to a file: JSON in ASCII, with a line break at the end."""
    return json.dumps(certificate, indent=1, ensure_ascii=True) + "\n"


_meter: ContextVar[Meter | None] = ContextVar("the meter of the file that is being judged", default=None)


def check_text(text: str) -> Report:
    """Put a certificate text to the kernel; within :func:`judge_file` all of them together may take what one may take."""
    meter = _meter.get()
    return (_examine_alone(text) if meter is None else examine(text, Session(meter), Session(meter))).report


def check_claims(profile: Mapping[str, Any], claims: Sequence[Tree]) -> Report:
    """Put claims to the kernel about a profile that is already as the format writes it."""
    made = assemble(profile, claims)
    return check_text(json.dumps(made))


@lru_cache(maxsize=4096)
def _examine_alone(text: str) -> Examined:
    return examine(text, Session(), Session())


class Fault(Exception):
    """The step at which a file around certificates fails, and why."""


def require(condition: object, step: str, reason: str) -> None:
    """Raise :class:`Fault` unless the condition holds."""
    if not condition:
        raise Fault(step, reason)


def judge_file(step: str, find: Callable[[], Report]) -> Report:
    """Return what ``find`` reports on a file around certificates: rejected at its :class:`Fault`, malformed where it cannot be read.

    One meter counts the kernel's work on all certificates of the file.

    >>> judge_file("sample", lambda: {}["epsilon"]).reason
    "malformed (KeyError: 'epsilon')"
    """
    token = _meter.set(_meter.get() or Meter())
    try:
        return find()
    except Fault as problem:
        return Report(accepted=False, step=f"{step}.{problem.args[0]}", reason=str(problem.args[1]))
    except (PDPError, LookupError, TypeError, ValueError, AttributeError, RecursionError, ArithmeticError) as problem:
        return Report(accepted=False, step=step, reason=f"malformed ({type(problem).__name__}: {str(problem)[:100]})")
    finally:
        _meter.reset(token)
