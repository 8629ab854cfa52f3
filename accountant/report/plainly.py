"""Open hypotheses in plain words: what each one means for the mechanism in use, and how somebody could look into it."""

from __future__ import annotations

from accountant.guarantees import DEFINED, EXACT_REALS, INDEPENDENT, PROBABILITY
from accountant.sampling.rules import IN_RANGE, PUBLIC_STATISTICS

_GLOSSES: dict[str, str] = {
    EXACT_REALS: "The proof is about real numbers. Noise in floating point can give away more than it says, above all in its last bits. "
    "Ask whether outputs are rounded or the noise is drawn exactly; an audit with --bits looks for such leaks.",
    DEFINED: "The loss must be a number that is not negative, at every record and weight. This derivation does not discharge it; the claim "
    "well-defined among the conditions below says whether the kernel has proved it.",
    PROBABILITY: "The rule must give a probability above 0 and at most 1 to every record. This derivation does not discharge it: a record "
    "whose weight may be infinite has probability 0, and is never in the sample.",
    INDEPENDENT: "Every record must be drawn by a coin of its own with exactly this probability, by whatever software draws the sample. "
    "pdp sample does so, and writes a certificate of it.",
    IN_RANGE: "A record outside the declared ranges is not covered by the bound. Clip or reject such records before anything else is done.",
    PUBLIC_STATISTICS: "The statistics of a record must not be computed from other private records, as they would be with a centre "
    "or a scale that was estimated from the data.",
    "assumption-8 holds": "It could be neither proved nor refuted. If it is false, some record breaks the target even with weight 1, and "
    "the bound is not one. A smaller range, a larger target or a less busy machine may decide it.",
    "every returned weight satisfies the constraint of Problem 7": "The weights in use must be feasible. Those of pdp weights and pdp "
    "sample are, in exact arithmetic.",
    "the data are centred by a public centre": "A centre that was computed from the private data is not covered by the bound.",
}


def explain_hypothesis(hypothesis: str) -> str:
    """Return what an open hypothesis means, "" for one that says so itself."""
    if hypothesis in _GLOSSES:
        return _GLOSSES[hypothesis]
    if hypothesis.startswith(f"{IN_RANGE}: "):
        return _GLOSSES[IN_RANGE]
    if hypothesis.endswith((" is public", " are public")) or " are public" in hypothesis:
        return "These constants must be fixed without looking at the private data, or published under a privacy guarantee of their own."
    if hypothesis.startswith("the mechanism ") and "declared for it" in hypothesis:
        return "Nobody has named a proof that the mechanism keeps this promise. Everything below rests on it; an audit can only refute it."
    return ""


_FEASIBLE = "by the definition of the rule: q(x) = 1/w*(x), and w*(x) satisfies ψ ≤ ε*; docs/rounding.md for the weights that are computed"
_EVIDENCE: dict[str, str] = {
    "feasibility holds": _FEASIBLE,
    "every returned weight satisfies the constraint of Problem 7": _FEASIBLE,
    "assumption-8 holds": "the proof of assumption-8 among the conditions below",
    "assumption-9 holds": "the proof of assumption-9 among the conditions below",
}


def explain_discharge(hypothesis: str, evidence: str) -> str:
    """Return what a hypothesis was discharged by, in words that say more than that it was proved."""
    return _EVIDENCE.get(hypothesis, evidence) if evidence == "proved" else evidence


#: What the verdicts are needed for, told beside each of them.
USES: dict[str, str] = {
    "assumption-8": "Needed for privacy-constrained sampling: without it some record breaks the target even with weight 1.",
    "assumption-9": "Needed for a largest feasible weight at every record: without it some record has feasible weights as large as "
    "you like.",
    "assumption-11": "Needed for the fast search of optimal weights (Algorithm 1 of the paper) and for its running time.",
    "proposition-16": "Informative: where it holds, sampling with a slightly larger weight than 1 lowers the loss of the record.",
    "proposition-17": "Informative: where it holds, the loss of a record after sampling is at least what it is without sampling: sampling "
    "saves work, not privacy.",
}
