"""The rules that combine guarantees or change whom they protect: one composition, one sampling, groups and neighbors, for every measure.

Each docstring is the statement that it applies; proofs: docs/one-sided.md, docs/composition-bounds.md and docs/concepts.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from accountant.amplification import to_probability
from accountant.compositions.events import Composition
from accountant.guarantees.calls import Signature
from accountant.guarantees.curves import curve_of_guarantee, shorten_subject
from accountant.guarantees.measures import (
    CurveBound,
    Losses,
    compose_losses,
    describe_events,
    describe_losses,
    describe_measure,
    describe_rate,
    group_composition,
    group_losses,
    replace_losses,
    require_no_batches,
    sample_composition,
    sample_losses,
)
from accountant.guarantees.statements import SAID_BY_FILE, USED_ONCE
from accountant.guarantees.stored import COUNT, NEIGHBORS, RATE, TEXT
from accountant.guarantees.theorem import Guarantee, Inference, conclude, require_guarantee
from profiles import InvalidArgument
from profiles.hypotheses import AT_MOST_RECORDS, FRESH_SAMPLES, NULL_RECORD, ONE_ANALYSIS, ONE_RECORD_EACH, ONE_USER, Hypothesis
from profiles.numbers import to_integer
from profiles.protection import Neighbors, Protection, Unit, read_protection
from profiles.variables import MAX_NAME

_NO_SECOND = "no two parts have a sample that outlives its run"
_MOST_RECORDS = 10**6


def compose(*guarantees: Guarantee, subject: str | None = None) -> Guarantee:
    """If several releases are made from the same data, each with a guarantee that was fixed in advance, and each may see the earlier
    outputs, all of them together have the composed measure: the sum of losses and of deltas in each direction, or, where a part has a
    privacy curve, the product of the pairs of laws that dominate the parts.

    This is the cost of three fits in a row, of a grid search, or of this year's and last year's release. All hypotheses of all parts stay;
    two samples must be two draws (:data:`profiles.hypotheses.FRESH_SAMPLES`): mechanisms on **one** sample are composed first and amplified
    once (:func:`accountant.amplify_once`), which costs more. A direction that is unbounded in one part is unbounded in all.

    Source: docs/one-sided.md, Theorem 2 and section 8; Zhu, Dong, Wang 2022, Theorem 10. Formally: theorems ``chain_within``,
    ``approx_composition``, ``dominating_pairs_compose``. Raises :class:`InvalidArgument` for no guarantee, for one that is a profile (take
    its worst case first), for different units or neighbors, and for too many different events.

    >>> from accountant import derive_epsilon
    >>> from profiles import declare
    >>> made = derive_epsilon(declare("answer", "w*log(3)/2"), q="1/2").guarantee
    >>> both = compose(made, made)
    >>> round(float(both.bound.epsilon), 6), [item.id for item in both.hypotheses if item.id == "fresh-samples"]  # log 4
    (1.386294, ['fresh-samples'])
    """
    require_guarantee(*guarantees)
    names = " and ".join(dict.fromkeys(item.subject for item in guarantees))
    short = names if len(guarantees) <= 2 and len(names) <= MAX_NAME else f"{len(guarantees)} releases"
    return compose_parts(subject or short, guarantees)


_COMPOSED = Signature("compose", {"subject": TEXT}, premises=None, earlier=("compose_directions", "compose_curves"))


@_COMPOSED.of
def compose_parts(subject: str, parts: Sequence[Guarantee]) -> Guarantee:
    """Do the same for a sequence of parts: what a file records and replays.

    Source: docs/one-sided.md, Theorem 2; docs/composition-bounds.md, Theorem 2. Formally: theorems ``chain_within``,
    ``approx_composition``, ``dominating_pairs_compose``.
    """
    require_guarantee(*parts)
    if not parts:
        raise InvalidArgument("a composition needs at least one part, but none was given; give the guarantees of the parts")
    losses = [part.bound for part in parts if isinstance(part.bound, Losses)]
    if len(losses) == len(parts):
        total = compose_losses(losses)
        bound: Losses | CurveBound = total
        rule, source, conclusion = "adaptive composition in each direction", "docs/one-sided.md, Theorem 2", describe_losses(total)
    else:
        parts = [curve_of_guarantee(part) for part in parts]
        events = [event for part in parts if isinstance(part.bound, CurveBound) for event in part.bound.composition.events]
        whole = Composition(shorten_subject(subject), tuple(events))
        bound = CurveBound(whole)
        rule = "adaptive composition of privacy curves"
        source, conclusion = "Zhu, Dong, Wang 2022, Theorem 10; docs/composition-bounds.md", describe_events(whole)
    return conclude(
        Inference(rule, subject, source=source, conclusion=conclusion, call=_COMPOSED.record(subject=subject)),
        bound,
        parents=parts,
        supposes=(FRESH_SAMPLES,),
        discharges={} if _share_samples(parts) else {FRESH_SAMPLES: _NO_SECOND},
    )


def _share_samples(parts: Sequence[Guarantee]) -> bool:
    """Whether two parts may have used one sample, or a part is itself a composition in which that is open.

    That a sample had one analysis says so of all parts only where a step of code drew and dropped it: words are about one part alone.
    """
    alone = sum(is_on_sample(part) for part in parts)
    return alone > 1 or any(FRESH_SAMPLES in part.hypotheses for part in parts)


def is_on_sample(part: Guarantee) -> bool:
    """Whether a guarantee is about a sample that others may use as well: nothing but words says that it had one analysis."""
    said = (item.evidence.removeprefix(SAID_BY_FILE) for item in part.discharged if item.hypothesis == ONE_ANALYSIS)
    return ONE_ANALYSIS in part.hypotheses or not all(words in USED_ONCE for words in said)


_SUBSAMPLED = Signature("subsample", {"p": RATE}, earlier=("subsample_curve",))


@_SUBSAMPLED.of
def subsample(guarantee: Guarantee, p: object) -> Guarantee:
    """If M has a guarantee, M on a fresh Poisson sample (each unit with probability p, independently) has the amplified one.

    Losses become ψ⁺ = log(1 + p (e^remove − 1)) and ψ⁻ = −log(1 − p (1 − e^−add)), where add = ∞ (one-sided) gives −log(1 − p); deltas
    p·δ⁺, and p·δ⁻/((1 − p) e^add + p), which is at most p·δ⁻. A privacy curve of (P, Q) becomes that of (p P + (1 − p) Q, Q), which is an
    event of this project for one use of a mechanism, and for unsampled Gaussians whose joint noise is rational; others are refused. ``p``
    is exact, in [0, 1] for losses and (0, 1] for curves; losses are rounded up. The sampler's draws and the single use of the sample are
    hypotheses, about the guarantee's own unit; ``realise_draws`` closes the first.

    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1; for curves Zhu, Dong, Wang 2022, Theorem 11. Formally: theorems
    ``amplification_plus``, ``amplification_minus``, ``approx_amplification_plus``, ``approx_amplification_minus``,
    ``dominates_sampled_plus``, ``dominates_sampled_minus``. Raises :class:`InvalidArgument`, :class:`profiles.InvalidNumber`.
    """
    bound, rate = _require_measure(guarantee), to_probability(p)
    if isinstance(bound, Losses):
        sampled: Losses | CurveBound = sample_losses(bound, rate)
        rule, source = "Poisson sampling in each direction", "docs/one-sided.md, Theorem 1"
    else:
        sampled = CurveBound(sample_composition(bound.composition, rate))
        rule, source = "Poisson sampling of a privacy curve", "Zhu, Dong, Wang 2022, Theorem 11; docs/composition-bounds.md"
    return conclude(
        Inference(
            rule,
            f"{guarantee.subject} on a Poisson sample",
            source=source,
            conclusion=describe_rate(rate, sampled),
            call=_SUBSAMPLED.record(p=rate),
        ),
        sampled,
        parents=(guarantee,),
    )


_GROUPED = Signature("group", {"size": COUNT})


@_GROUPED.of
def group(guarantee: Guarantee, size: object) -> Guarantee:
    """If M has a guarantee for one record, it has one for a user of whom there are at most k = ``size`` records: losses k·ε and
    δ (1 + e^ε + … + e^((k−1)ε)) in each direction; a curve of Gaussian noise that of k times the sensitivity.

    The hypothesis that nobody has more than one record is replaced by the hypothesis that nobody has more than k. If records are replaced,
    their number stays the same, and nothing follows for users with different numbers of records: such a guarantee is refused. Source:
    docs/concepts.md, Theorem 1; Dwork and Roth 2014, Theorem 2.2; Dong, Roth, Su 2022, Theorem 2.14. Raises :class:`InvalidArgument` if the
    guarantee is not one for records, and for curves for which no group bound is known.

    >>> from accountant.guarantees import declare_directions
    >>> group(declare_directions("count", "0.1", "0.1", source="Laplace noise"), 4).bound.epsilon
    Fraction(2, 5)
    """
    bound, count = _require_measure(guarantee), to_integer(size, "the number of records", 1, _MOST_RECORDS)
    if guarantee.unit is not Unit.RECORD:
        raise InvalidArgument(
            f"groups of records were asked for, but the guarantee of {guarantee.subject[:60]!r} protects {guarantee.unit.value}; start "
            "with one for records"
        )
    grouped = group_losses(bound, count) if isinstance(bound, Losses) else CurveBound(group_composition(bound.composition, count))
    return conclude(
        Inference(
            "group privacy",
            guarantee.subject,
            source="docs/concepts.md, Theorem 1",
            conclusion=f"k = {count}: {describe_measure(grouped)}",
            call=_GROUPED.record(size=count),
            protection=Protection(Unit.USER, guarantee.protection.neighbors),
        ),
        grouped,
        parents=(guarantee,),
        supposes=(AT_MOST_RECORDS.about(most=count), ONE_USER),
        closes={
            item: f"group privacy: the bound is for all records of a user, of whom there are at most {count}"
            for item in guarantee.hypotheses
            if item == ONE_RECORD_EACH
        },
    )


_CHANGED = Signature("change_neighbors", {"neighbors": NEIGHBORS})


@_CHANGED.of
def change_neighbors(guarantee: Guarantee, neighbors: Neighbors | str) -> Guarantee:
    """If M has a guarantee for one kind of neighbors, it has one for another kind, by these theorems of docs/concepts.md:

    * *in place of another*, from *more or less* and from *in place of an empty one*: one unit goes and another comes, losses
      remove + add (Theorem 2);
    * *more or less*, from *in place of another* or *in place of an empty one*, and *in place of an empty one* from both: the same losses,
      under the hypothesis that there is an empty record, which changes no law of an output (Theorem 3).

    Raises :class:`InvalidArgument`, also for an unbounded direction and for curves for which no theorem is known.

    >>> from accountant.guarantees import declare_directions
    >>> found = change_neighbors(declare_directions("count", "0.1", "0.2", source="me"), "replace-one")
    >>> found.bound.epsilon, found.protection.describe()
    (Fraction(3, 10), 'one record is replaced by another')
    """
    bound, before = _require_measure(guarantee), guarantee.protection
    after = read_protection(before.unit, neighbors, "the protection")
    if after == before:
        return guarantee
    supposes: tuple[Hypothesis, ...] = (NULL_RECORD.about(unit=before.unit.word),)
    made: Losses | CurveBound = bound
    if isinstance(bound, CurveBound):
        require_no_batches(bound.composition, f"a curve for {after.neighbors.value} neighbors")
    if after.neighbors is Neighbors.REPLACE_ONE:
        made = replace_losses(bound, before.neighbors) if isinstance(bound, Losses) else CurveBound(group_composition(bound.composition, 2))
        rule, theorem, supposes = "one record in place of another", 2, ()
    else:
        theorem = 3
        rule = "one record more or less" if after.neighbors is Neighbors.ADD_REMOVE else "one record in place of an empty one"
    return conclude(
        Inference(
            rule,
            guarantee.subject,
            source=f"docs/concepts.md, Theorem {theorem}",
            conclusion=f"{after.describe()}: {describe_measure(made)}",
            call=_CHANGED.record(neighbors=after.neighbors),
            protection=after,
        ),
        made,
        parents=(guarantee,),
        supposes=supposes,
    )


def _require_measure(guarantee: Guarantee) -> Losses | CurveBound:
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, (Losses, CurveBound)):
        raise InvalidArgument(
            f"losses or a privacy curve are needed, but the guarantee of {guarantee.subject!r} has a profile; take its worst case first"
        )
    return guarantee.bound


__all__ = ["change_neighbors", "compose", "compose_parts", "group", "subsample"]
