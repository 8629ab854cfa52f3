"""Open hypotheses in plain words: what each one means for the mechanism in use, and how somebody could look into it."""

from __future__ import annotations

from profiles.hypotheses import CONDITION, FEASIBLE_WEIGHTS, Hypothesis

_FEASIBLE = "by the definition of the rule: q(x) = 1/w*(x), and w*(x) satisfies ψ ≤ ε*; docs/rounding.md for the weights that are computed"
_EVIDENCE: dict[Hypothesis, str] = {
    CONDITION.about(name="feasibility"): _FEASIBLE,
    FEASIBLE_WEIGHTS: _FEASIBLE,
    CONDITION.about(name="assumption-8"): "the proof of assumption-8 among the conditions below",
    CONDITION.about(name="assumption-9"): "the proof of assumption-9 among the conditions below",
    CONDITION.about(name="assumption-9-nonzero"): "the proof of assumption-9-nonzero among the conditions below",
}


def explain_discharge(hypothesis: Hypothesis, evidence: str) -> str:
    """Return what a hypothesis was discharged by, in words that say more than that it was proved."""
    return _EVIDENCE.get(hypothesis, evidence) if evidence == "proved" else evidence


#: What the verdicts are needed for, told beside each of them.
USES: dict[str, str] = {
    "assumption-8": "Needed for privacy-constrained sampling: without it some record breaks the target even with weight 1.",
    "assumption-9": "Informative, as published: it has no exception for records at which ε is 0. What is needed is the next one.",
    "assumption-9-nonzero": "Needed for a largest feasible weight at every record that loses anything: without it some such record has "
    "feasible weights as large as you like. A record at which ε is 0 for all weights is never selected, and loses nothing.",
    "assumption-11": "Needed for the fast search of optimal weights (Algorithm 1 of the paper) and for its running time.",
    "proposition-16": "Informative: where it holds, sampling with a slightly larger weight than 1 lowers the loss of the record.",
    "proposition-17": "Informative: where it holds, the loss of a record after sampling is at least what it is without sampling: sampling "
    "saves work, not privacy.",
}
