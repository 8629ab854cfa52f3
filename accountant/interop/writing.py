"""Guarantees to JSON: the format ``pdp-guarantee``, version 1."""

from __future__ import annotations

from accountant.guarantees.theorem import AnyGuarantee, require_guarantee
from accountant.interop.reading import FORMAT, VERSION, ReadGuarantee, Statement
from accountant.interop.values import (
    Evidence,
    write_bound,
    write_derivation,
    write_discharged,
    write_evidence,
    write_notion,
    write_step,
)
from profiles.strict_json import write_document


def write_guarantee(guarantee: AnyGuarantee | ReadGuarantee) -> str:
    """Return the text of a JSON file with all that a guarantee states, exactly, and the calls of the rules that made it.

    :func:`accountant.interop.read_guarantee` reads it back. Raises :class:`InvalidArgument` for what is no guarantee.

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
    evidence = Evidence()
    made = {
        "subject": stated.subject,
        "notion": write_notion(stated.notion),
        "bound": write_bound(stated.bound, evidence),
        "hypotheses": list(stated.hypotheses),
        "discharged": [write_discharged(item) for item in stated.discharged],
        "derivation": write_derivation(stated.derivation),
        "calls": write_step(step, evidence),
    }
    return write_document(FORMAT, VERSION, {**made, "proofs": [write_evidence(item) for item in evidence.items]})
