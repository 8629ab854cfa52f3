"""Rules for what really runs: a sampler in binary64 with exact draws, and mechanisms that bring hypotheses of their own."""

from __future__ import annotations

from collections.abc import Sequence

from accountant.guarantees.rules import DEFINED, INDEPENDENT, PROBABILITY, discharge
from accountant.guarantees.theorem import AnyGuarantee, Derivation, EpsilonDP, Step, conclude, require_guarantee
from profiles import InvalidArgument

_SOURCE = "docs/poisson-sampler.md, Theorems 1 and 3; docs/sampling.md, Theorem 2"
ARITHMETIC = (
    "binary64 arithmetic is that of IEEE 754, NumPy's functions keep the accuracy of docs/rounding.md, and the value of an entry of an "
    "array does not depend on the other entries"
)
STATISTICS = "the statistics of a row, as computed in binary64, are those that the profile speaks of"
ONE_ANALYSIS = (
    "one mechanism with the declared profile is run on the sample, once, and nothing else that is computed from the sample, its weights "
    "or its size is released"
)


def realise_sampling(guarantee: AnyGuarantee, *, pairs: str, claims: Sequence[str], bits: str, defined: str | None = None) -> AnyGuarantee:
    """If every record is selected with probability exactly q(x), is given the weight w(x) ≥ 1, and log(1 + q(x)(e^ε(w(x), x) − 1)) ≤ ε, for
    binary64 functions q, w of the record alone, then one run of the mechanism on the sample is ε-differentially private.

    ``pairs`` says why the inequality holds for the very numbers used, ``claims`` what was proved for it, ``bits`` is the hypothesis
    about the random bits, ``defined`` is evidence that ε is defined and not negative, where the certificate has that claim.
    Source: docs/poisson-sampler.md, Theorems 1 and 3; docs/sampling.md, Theorem 2; Fay et al. 2024, Theorem 6, is the case w = 1/q.
    Raises :class:`InvalidArgument` where the guarantee is not the worst case of a sampled mechanism.
    """
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, EpsilonDP):
        raise InvalidArgument(
            f"a sampler is realised for the worst case of a sampled mechanism, but the guarantee of {guarantee.subject!r} is about "
            "something else; amplify it and take the worst case first"
        )
    found = {
        INDEPENDENT: "exact Bernoulli draws of binary64 q (Theorem 1)",
        PROBABILITY: "0 <= q <= 1 for the numbers used; a record with q = 0 is never selected",
        **({DEFINED: defined} if defined is not None else {}),
    }
    current = guarantee
    for hypothesis, evidence in found.items():
        if hypothesis in current.hypotheses:
            current = discharge(current, hypothesis, evidence)
    derivation = Derivation(
        "Poisson sampling in binary64",
        _SOURCE,
        pairs,
        tuple(claims),
        (guarantee.derivation,),
    )
    return conclude(
        guarantee.subject,
        guarantee.notion,
        guarantee.bound,
        derivation,
        hypotheses=(*current.hypotheses, STATISTICS, ARITHMETIC, bits, ONE_ANALYSIS),
        discharged=current.discharged,
        step=Step("realise_sampling", (), (guarantee.step,)),
    )


def assume(guarantee: AnyGuarantee, hypotheses: Sequence[str]) -> AnyGuarantee:
    """A guarantee holds under more hypotheses than it needs: return it with ``hypotheses`` added."""
    require_guarantee(guarantee)
    if isinstance(hypotheses, str):
        raise InvalidArgument(f"hypotheses to assume are a sequence of texts, but the text {hypotheses[:60]!r} was found; put it in a list")
    added = [item for item in hypotheses if item not in guarantee.hypotheses]
    if not added:
        return guarantee
    return conclude(
        guarantee.subject,
        guarantee.notion,
        guarantee.bound,
        guarantee.derivation,
        hypotheses=(*guarantee.hypotheses, *added),
        discharged=guarantee.discharged,
        step=Step("assume", (("hypotheses", tuple(hypotheses)),), (guarantee.step,)),
    )
