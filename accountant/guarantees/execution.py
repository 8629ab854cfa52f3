"""Rules for what really runs: a sampler in binary64 with exact draws, and one skeleton for all that draws, runs once and concludes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from accountant.guarantees.calls import Signature
from accountant.guarantees.measures import Losses
from accountant.guarantees.statements import USED_ONCE
from accountant.guarantees.theorem import Guarantee, Inference, conclude, require_guarantee, update_hypotheses
from profiles import InvalidArgument
from profiles.hypotheses import (
    DEFINED,
    FRESH_SAMPLES,
    INDEPENDENT,
    NOT_REDRAWN,
    ONE_ANALYSIS,
    PROBABILITY,
    RANDOMNESS,
    WEIGHT_AS_GIVEN,
    Head,
    Hypothesis,
    as_hypothesis,
)

_SOURCE = "docs/sampling.md, Theorems 7 and 8; docs/sampling.md, Theorem 2"
_EXACT_DRAWS = "exact Bernoulli draws of binary64 q (docs/sampling.md, Theorem 7)"
_ONE_CALL, _GIVEN_ONCE, _EVERY_RECORD = USED_ONCE
#: A sampler that ran is on record, but a file cannot run it again.
_REALISED = Signature("realise_sampling")
#: The worst cases under Gaussian noise (accountant/guarantees/gaussian.py), which are about weighted samples, too.
_GAUSSIAN = ("Gaussian importance sampling by a table of weights", "Gaussian importance sampling, worst case over records")


def realise_sampling(
    guarantee: Guarantee, *, pairs: str, claims: Sequence[str], bits: Hypothesis | str, defined: str | None = None
) -> Guarantee:
    """If every record is selected with probability exactly q(x), is given the weight w(x) ≥ 1, and log(1 + q(x)(e^ε(w(x), x) − 1)) ≤ ε, for
    binary64 functions q, w of the record alone, then one run of the mechanism on the sample is ε-differentially private. Under Gaussian
    noise, likewise, where the pair of (q(x), w(x)) is dominated by one with (ε, δ) after the steps that are named.

    ``pairs`` says why the inequality holds for exactly the numbers used, ``claims`` what was proved for it, ``bits`` is the hypothesis
    about the random bits of our sampler (:func:`realise_pairs` where somebody else draws), ``defined`` is evidence that ε is defined and
    not negative, where the certificate has that claim. Source: docs/sampling.md, Theorems 2, 7 and 8; Fay et al. 2024, Theorem 6, is the
    case w = 1/q. Raises :class:`InvalidArgument` where the guarantee is not the worst case of a sampled mechanism.
    """
    realised = realise_pairs(guarantee, pairs=pairs, claims=claims, defined=defined)
    return update_hypotheses(realised, {INDEPENDENT: _EXACT_DRAWS}, (as_hypothesis(bits, Head.MACHINE),))


def realise_pairs(guarantee: Guarantee, *, pairs: str, claims: Sequence[str], defined: str | None = None) -> Guarantee:
    """The same for given numbers (q, w): that the draws have exactly the probabilities q stays a hypothesis. Raises likewise.

    Source: docs/sampling.md, Theorem 8.
    """
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, Losses) or not (guarantee.bound.proofs or guarantee.derivation.rule in _GAUSSIAN):
        raise InvalidArgument(
            f"a sampler is realised for the worst case of a sampled mechanism, but the guarantee of {guarantee.subject!r} is about "
            "something else; amplify it and take the worst case first"
        )
    reasons = {PROBABILITY: "0 <= q <= 1 for the numbers used; a record with q = 0 is never selected"}
    if defined is not None:
        reasons[DEFINED] = defined
    return conclude(
        Inference(
            "Poisson sampling in binary64", guarantee.subject, source=_SOURCE, conclusion=pairs, claims=claims, call=_REALISED.record()
        ),
        guarantee.bound,
        parents=(guarantee,),
        closes={item: reason for item, reason in reasons.items() if item in guarantee.hypotheses},
    )


def realise_draws(guarantee: Guarantee, bits: Hypothesis | str) -> Guarantee:
    """Exact Bernoulli draws select every unit independently with probability exactly p, if the random bits are uniform and independent.

    ``bits`` is the hypothesis about the source of the bits (``hypothesis`` of a :class:`profiles.randomness.bits.BitSource`).
    Source: docs/sampling.md, Theorem 7. Raises :class:`InvalidArgument` where no sample is drawn.
    """
    require_guarantee(guarantee)
    draws = guarantee.protection.name_draws()
    if draws not in guarantee.hypotheses:
        raise InvalidArgument(f"{draws.sentence!r} is not an open hypothesis of {guarantee.subject!r}; subsample it first")
    return update_hypotheses(guarantee, {draws: _EXACT_DRAWS}, (as_hypothesis(bits, Head.MACHINE),))


@dataclass(frozen=True, slots=True)
class Run:
    """What one call of this package does: it draws a sample or takes every record, runs the mechanism on it once, and returns only the
    output.

    ``noise``: the hypothesis about the random numbers of the mechanism. ``draws``: that about the bits of our own exact draws; None if no
    sample is drawn, or if a ``selector`` of the user draws it, once. ``earlier``: the sample was drawn before the call, so that somebody
    may have chosen it among several. ``known``: the code that runs is that of this project, not a class of the user that may do anything
    with weights and random numbers. ``proved``: further hypotheses that hold by construction, each with the reason.
    """

    noise: Hypothesis | str
    draws: Hypothesis | str | None = None
    selector: bool = False
    earlier: bool = False
    known: bool = True
    proved: Mapping[Hypothesis, str] = field(default_factory=dict)

    def discharges(self) -> dict[Hypothesis, str]:
        """Return the hypotheses that such a call closes, each with the reason."""
        sampled = self.draws is not None or self.selector
        reason = _GIVEN_ONCE if self.earlier else _ONE_CALL if sampled else _EVERY_RECORD
        if not self.known:
            draws = {} if self.draws is None else {INDEPENDENT: _EXACT_DRAWS}
            return {ONE_ANALYSIS: reason, **draws} if self.earlier else {}
        reasons = {
            ONE_ANALYSIS: reason,
            WEIGHT_AS_GIVEN: "the run takes the weights from the sampler as they are" if sampled else _EVERY_RECORD,
            RANDOMNESS: f"they come from a source that has a hypothesis of its own ({as_hypothesis(self.noise, Head.MACHINE).id})",
        }
        if not self.earlier:
            reasons[NOT_REDRAWN] = reason
        if sampled:
            reasons[FRESH_SAMPLES] = "each sample is drawn by the run itself"
        if not self.selector:
            reasons[INDEPENDENT] = _EXACT_DRAWS if sampled else _EVERY_RECORD
        return {**reasons, **self.proved}

    def supposes(self) -> Iterable[Hypothesis]:
        """Return its hypotheses about the sources of random numbers."""
        return [as_hypothesis(item, Head.MACHINE) for item in (self.draws, self.noise) if item is not None]


def ships(*items: object) -> bool:
    """Tell whether objects are exactly of classes of this project: a subclass may run something else.

    >>> from profiles.mechanisms import LaplaceSum
    >>> Silent = type("Silent", (LaplaceSum,), {"__module__": "mine"})
    >>> ships(LaplaceSum(b=1, radius=1)), ships(Silent(b=1, radius=1))
    (True, False)
    """
    return all(type(item).__module__.partition(".")[0] in ("accountant", "profiles") for item in items)


def conclude_run(guarantee: Guarantee, run: Run) -> Guarantee:
    """If a mechanism has ``guarantee`` under hypotheses about its sample and its random numbers, a call that does what ``run`` says has the
    guarantee without them: it draws its own sample and uses it once, unchanged, and the random numbers have a named source.

    All code that draws, runs once and concludes gets the guarantee beside its output here: samples, estimators and applications. Source:
    docs/sampling.md, section 14.
    """
    discharges = {guarantee.protection.state(item): reason for item, reason in run.discharges().items()}
    return update_hypotheses(guarantee, discharges, run.supposes())
