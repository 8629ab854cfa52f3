"""Guarantees to JSON: the format ``pdp-guarantee``, version 2."""

from __future__ import annotations

from accountant.guarantees import premises_json
from accountant.guarantees.theorem import AnyGuarantee, Step, require_guarantee
from accountant.interop.reading import FORMAT, VERSION, ReadGuarantee, Statement, read_guarantee
from accountant.interop.values import (
    Evidence,
    write_bound,
    write_derivation,
    write_discharged,
    write_evidence,
    write_notion,
    write_step,
    write_unit,
)
from profiles import InvalidArgument, UnreadableFile
from profiles.strict_json import write_document


def write_guarantee(guarantee: AnyGuarantee | ReadGuarantee) -> str:
    """Return the text of a JSON file with all that a guarantee states, exactly, and the calls of the rules that made it.

    :func:`accountant.interop.read_guarantee` reads it back, which is tried before it is returned.
    Raises :class:`InvalidArgument` for what is no guarantee, and for one that no file can hold (too many steps, text of several lines),
    :class:`InvalidNumber` for a number that is too long.

    >>> from accountant import derive_epsilon
    >>> from accountant.interop import read_guarantee
    >>> from profiles import declare
    >>> made = derive_epsilon(declare("sum", "w*z", record={"z": [0, 1]}), rule="uniform", constants={"rate": "1/2"}).guarantee
    >>> read_guarantee(write_guarantee(made)).stated.bound == made.bound
    True
    """
    if isinstance(guarantee, ReadGuarantee):
        stated, step = guarantee.stated, guarantee.step
    else:
        require_guarantee(guarantee)
        stated, step = Statement.of(guarantee), guarantee.step
    try:
        text = _write(stated, step)
        read_guarantee(text)
    except RecursionError:
        said = "it was derived in too many steps"
    except UnreadableFile as error:
        said = str(error)
    else:
        return text
    raise InvalidArgument(f"the guarantee of {str(stated.subject)[:60]!r} was to be written to a file, but none can hold it: {said}")


def _write(stated: Statement, step: Step | None) -> str:
    evidence = Evidence()
    made = {
        "subject": stated.subject,
        "notion": write_notion(stated.notion),
        "bound": write_bound(stated.bound, evidence),
        "unit": write_unit(stated.unit),
        "hypotheses": premises_json(stated.hypotheses),
        "discharged": [write_discharged(item) for item in stated.discharged],
        "derivation": write_derivation(stated.derivation),
        "calls": write_step(step, evidence),
    }
    return write_document(FORMAT, VERSION, {**made, "proofs": [write_evidence(item) for item in evidence.items]})
