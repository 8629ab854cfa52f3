"""Exact laws of the mechanisms of Ghazi et al. 2024, and what they are built from: adaptive sequences and Poisson samples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias, cast

from profiles.errors import InvalidArgument, Undecided
from profiles.numbers import ExactLike, to_exact, to_number
from proofs_check.exact.enclosed import Enclosed
from proofs_check.exact.exponentials import Exact, ExpRational, Log, Nats, raise_to, read_exact
from proofs_check.exact.probabilities import Law, add, mix, multiply, to_table
from proofs_check.exact.worst import Dataset, MechanismLaw

#: What the next step of a mechanism does, from the outputs before: its law, or None after the last step.
Step: TypeAlias = Callable[[tuple[Any, ...]], Law | None]

#: From the outputs before: the candidates and their scores as a function of (candidate, data set), or None after the last round.
ScoreSelector: TypeAlias = Callable[[tuple[Any, ...]], tuple[Iterable[Hashable], Callable[[Any, Dataset], ExactLike]] | None]

#: From the answers before: the query as a function of the data set and its threshold, or None after the last round.
QuerySelector: TypeAlias = Callable[[tuple[bool, ...]], tuple[Callable[[Dataset], ExactLike], ExactLike] | None]

#: The probability with which each record is kept: one for all, or a function of the record.
SamplingProbability: TypeAlias = ExactLike | ExpRational | Callable[[Any], ExactLike | ExpRational]

MAX_OUTPUTS = 200_000
_ONE = Fraction(1)


def exponential_law(scores: Mapping[Hashable, ExactLike], epsilon: Nats) -> dict[Hashable, Exact]:
    """Return the law of the exponential mechanism: P(c) = e^(ε·score(c)) / Σ e^(ε·score(c')), exactly.

    ``epsilon``: nats for one unit of score, ≥ 0; with a :class:`Log` the scores must be integers, up to exact roots. There is no
    factor 1/2.
    Source: McSherry and Talwar 2007, in the form of Ghazi et al. 2024, Section 2. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> from proofs_check.exact.exponentials import Log
    >>> exponential_law({"a": 2, "b": 0}, Log(2)), exponential_law({"a": 1, "b": 0}, 1)["b"]
    ({'a': Fraction(4, 5), 'b': Fraction(1, 5)}, 1/(e^1 + 1))
    """
    _check_epsilon(epsilon)
    return _exponential_law(scores, epsilon, _ONE)


def _exponential_law(scores: Mapping[Hashable, ExactLike], epsilon: Nats, sensitivity: Fraction) -> dict[Hashable, Exact]:
    if not scores:
        raise InvalidArgument("the exponential mechanism needs a candidate, but there is none; end the rounds with None before that")
    exact = {candidate: to_exact(score, "a score") for candidate, score in scores.items()}
    least = min(exact.values())
    weights = {candidate: raise_to(epsilon, (score - least) / sensitivity) for candidate, score in exact.items()}
    total = add(weights.values())
    return {candidate: weight / total for candidate, weight in weights.items()}


def sequence_law(step: Step, *, max_outputs: int = MAX_OUTPUTS) -> dict[Hashable, Exact | Enclosed]:
    """Return the law of the tuple of outputs of an adaptive sequence: P(y₁, ..., y_L) = Π P(y_i | y₁, ..., y_(i−1)).

    ``step(outputs)`` returns the law of the next output, or None after the last one; the length may depend on the outputs. Outputs of
    probability 0 are left out. Raises like :func:`~proofs_check.exact.tables.epsilon_of_tables`; :class:`Undecided` above ``max_outputs``.

    >>> sequence_law(lambda outputs: {"a": "1/3", "b": "2/3"} if "b" not in outputs and len(outputs) < 2 else None)
    {('b',): Fraction(2, 3), ('a', 'a'): Fraction(1, 9), ('a', 'b'): Fraction(2, 9)}
    """

    def checked(outputs: tuple[Any, ...]) -> Mapping[Hashable, Exact | Enclosed] | None:
        law = step(outputs)
        return None if law is None else to_table(law, f"the step after {outputs!r:.40}").values

    return _follow(checked, max_outputs)


def _follow(
    step: Callable[[tuple[Any, ...]], Mapping[Hashable, Exact | Enclosed] | None], max_outputs: int
) -> dict[Hashable, Exact | Enclosed]:
    finished: dict[Hashable, Exact | Enclosed] = {}
    open_ends: dict[tuple[Any, ...], Exact | Enclosed] = {(): _ONE}
    while open_ends:
        following: dict[tuple[Any, ...], Exact | Enclosed] = {}
        for outputs, probability in open_ends.items():
            law = step(outputs)
            if law is None:
                finished[outputs] = probability
                continue
            for output, value in law.items():
                if value != 0:
                    following[(*outputs, output)] = multiply(probability, value)
        if len(finished) + len(following) > max_outputs:
            raise Undecided(f"the sequence has more than {max_outputs} outputs; take fewer rounds or candidates, or raise max_outputs")
        open_ends = following
    return finished


def repeated_exponential_law(select: ScoreSelector, dataset: Dataset, epsilon0: Nats, sensitivity: ExactLike = 1) -> dict[Hashable, Exact]:
    """Return the law of REPEATED-EM: the exponential mechanism with exponent (ε₀/Δ)·score in each round.

    ``select(outputs)`` returns the candidates and ``score(candidate, dataset)``, or None after the last round. Neither the candidates nor
    the score function may depend on the data set. ``epsilon0``: nats. ``sensitivity``: Δ > 0, the bound on the realised sensitivity.
    Source: Ghazi et al. 2024, Algorithm 1. Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`Undecided`.

    >>> from proofs_check.exact.exponentials import Log
    >>> select = lambda outputs: ((c for c in "ab" if c not in outputs), lambda c, data: data.count(c)) if len(outputs) < 1 else None
    >>> repeated_exponential_law(select, ("a",), Log(3))
    {('a',): Fraction(3, 4), ('b',): Fraction(1, 4)}
    """
    _check_epsilon(epsilon0)
    scale = _read_sensitivity(sensitivity)

    def step(outputs: tuple[Any, ...]) -> dict[Hashable, Exact] | None:
        chosen = select(outputs)
        if chosen is None:
            return None
        candidates, score = chosen
        return _exponential_law({candidate: score(candidate, dataset) for candidate in candidates}, epsilon0, scale)

    return cast(dict[Hashable, Exact], _follow(step, MAX_OUTPUTS))


def repeated_above_threshold_law(
    select: QuerySelector, dataset: Dataset, epsilon0: Nats, sensitivity: ExactLike = 1
) -> dict[Hashable, Exact]:
    """Return the law of REPEATED-AT: in each round ⊤ (True) if h(D) + θ > τ with θ ~ Exp(ε₀/Δ), else ⊥ (False).

    Formula: P(⊤) = min(1, e^(−(ε₀/Δ)(τ − h(D)))). ``select(answers)`` returns (h, τ) from the answers before, or None after the last round.
    Source: Ghazi et al. 2024, Algorithm 2. Raises :class:`InvalidArgument`, :class:`InvalidNumber`, :class:`Undecided`.

    >>> from proofs_check.exact.exponentials import Log
    >>> repeated_above_threshold_law(lambda answers: None if answers else (len, 2), ("x",), Log(3))
    {(True,): Fraction(1, 3), (False,): Fraction(2, 3)}
    """
    _check_epsilon(epsilon0)
    scale = _read_sensitivity(sensitivity)

    def step(answers: tuple[Any, ...]) -> dict[Hashable, Exact] | None:
        chosen = select(answers)
        if chosen is None:
            return None
        query, threshold = chosen
        gap = to_exact(threshold, "a threshold") - to_exact(query(dataset), "a query's value")
        above = raise_to(epsilon0, -gap / scale) if gap > 0 else _ONE
        return {True: above, False: 1 - above}

    return cast(dict[Hashable, Exact], _follow(step, MAX_OUTPUTS))


def subsampled_law(law: MechanismLaw, dataset: Dataset, p: SamplingProbability) -> dict[Hashable, Exact | Enclosed]:
    """Return the law of the mechanism on a Poisson sample: Σ over samples D_s of P(D_s)·law(D_s), each record kept independently.

    ``p``: the probability of every record, or a function p(record); exact numbers in [0, 1], also like ``1 - exp("-1/2")``.
    Raises :class:`InvalidArgument`, :class:`InvalidNumber`.

    >>> subsampled_law(lambda data: {len(data): 1}, ("x", "y"), "1/3")
    {0: Fraction(4, 9), 1: Fraction(4, 9), 2: Fraction(1, 9)}
    """
    samples: dict[Dataset, Exact] = {(): _ONE}
    for record in dataset:
        keep = read_exact(p(record) if callable(p) else p, "a sampling probability")
        if keep < 0 or keep > 1:
            raise InvalidArgument(f"a sampling probability must lie in [0, 1], but {keep!s:.40} was found; give a probability")
        following: dict[Dataset, Exact] = {}
        for sample, weight in samples.items():
            for longer, factor in ((sample, 1 - keep), ((*sample, record), keep)):
                if factor != 0:
                    following[longer] = following.get(longer, Fraction(0)) + weight * factor
        samples = following
    tables = ((weight, to_table(law(sample), f"the law on {sample!r:.40}")) for sample, weight in samples.items())
    return mix((weight, table.values) for weight, table in tables)


def sample_first(law: MechanismLaw, p: SamplingProbability) -> MechanismLaw:
    """Return the law of the mechanism on a Poisson sample as a function of the data set; every law is computed once.

    >>> sample_first(lambda data: {len(data): 1}, "1/3")(("x",))
    {0: Fraction(2, 3), 1: Fraction(1, 3)}
    """
    known: dict[Dataset, Law] = {}

    def remembered(sample: Dataset) -> Law:
        if sample not in known:
            known[sample] = law(sample)
        return known[sample]

    return lambda dataset: subsampled_law(remembered, dataset, p)


def _check_epsilon(epsilon: Nats) -> None:
    if (epsilon.value < 1) if isinstance(epsilon, Log) else (read_exact(epsilon, "ε") < 0):
        raise InvalidArgument(f"ε must be at least 0, but {epsilon!s:.40} was found; give a number of nats")


def _read_sensitivity(value: ExactLike) -> Fraction:
    return to_number(value, "the sensitivity", "(0, inf)", "give the bound Δ of realised sensitivity")
