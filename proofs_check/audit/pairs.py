"""Pairs of neighboring data sets: the classical patterns, extreme records of a declared domain, and a search among them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from profiles.arrays import Floats
from profiles.errors import InvalidArgument
from profiles.profile import Profile
from proofs_check.audit.api import audit
from proofs_check.audit.claims import Claim, claim_of_record
from proofs_check.audit.errors import ConstantOutputs, DifferentConstants
from proofs_check.audit.method import AuditKeywords, AuditMethod
from proofs_check.audit.neighbors import Relation
from proofs_check.audit.results import AuditResult, Finding
from proofs_check.audit.runs import AuditedMechanism, split

#: The share of the outputs that the search may use, and the confidence at which it compares pairs; neither matters for soundness.
_SEARCH_SHARE, _SEARCH_CONFIDENCE = 0.3, "0.5"
_LEAST_PILOT = 200


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two neighboring data sets, the claim about them, and their description. For a one-sided claim ``dataset`` is the larger one.

    ``neighboring`` names the neighbors of the claim, as for :func:`proofs_check.audit.audit`.
    """

    dataset: Any
    neighbor: Any
    claim: Claim
    name: str
    neighboring: Relation | str = Relation.ADD_REMOVE

    def audit(self, mechanism: AuditedMechanism, rng: np.random.Generator, method: AuditMethod) -> AuditResult:
        """Return the audit of the pair's claim, of its neighbors: see :func:`proofs_check.audit.audit`."""
        return audit(mechanism, self.dataset, self.neighbor, self.claim, rng=rng, method=replace(method, neighboring=self.neighboring))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The audits of the finalists on fresh outputs, the error divided among them, and what the search saw of every pair.

    ``pilots`` gives name and estimate (a bound at confidence 1/2, less the claim, in nats) of the last round in which each pair took part.
    """

    finalists: tuple[tuple[Pair, AuditResult], ...]
    pilots: tuple[tuple[str, float], ...]

    @property
    def finding(self) -> Finding:
        """Whether the claim of any finalist is refuted."""
        violated = any(result.finding is Finding.VIOLATED for _, result in self.finalists)
        return Finding.VIOLATED if violated else Finding.CONSISTENT

    @property
    def best(self) -> tuple[Pair, AuditResult]:
        """The finalist whose bound exceeds its claim most, or falls short of it least."""
        return max(self.finalists, key=lambda finalist: finalist[1].epsilon_lower - float(finalist[1].claim.epsilon))


def query_patterns(length: int, claim: Claim, *, all_differ: bool = True) -> list[Pair]:
    """Return the pairs of query answers that StatDP and DP-Sniper try: answers differ by at most 1, all of them or (else) one.

    Source: Ding et al. 2018, Section 5.2; Bichsel et al. 2021, Section 6. Raises :class:`InvalidArgument` for a length below 1.

    >>> [pair.name for pair in query_patterns(4, Claim(1), all_differ=False)]
    ['one above', 'one below']
    """
    if claim.one_sided:
        raise InvalidArgument(
            "patterns of query answers are neighbors in both directions, but a one-sided claim was given; give a two-sided one"
        )
    if length < 1:
        raise InvalidArgument(f"query answers must be at least 1 in number, but {length} was found; give the number of queries")
    ones, half = np.ones(length), length // 2
    first = np.zeros(length)
    first[0] = 1.0
    halves = np.concatenate((np.ones(half), np.zeros(length - half)))
    patterns: dict[str, tuple[Floats, Floats]] = {"one above": (ones, ones + first), "one below": (ones, ones - first)}
    if all_differ and length > 1:
        patterns |= {
            "one above, rest below": (ones, 2 * first),
            "one below, rest above": (ones, 2 * (ones - first)),
            "half half": (ones, 2 * halves),
            "all above": (ones, 2 * ones),
            "all below": (ones, 0 * ones),
            "X shape": (halves, 1 - halves),
        }
    return [Pair(dataset, neighbor, claim, name, Relation.STATED) for name, (dataset, neighbor) in patterns.items()]


def extreme_records(radius: float, dimension: int, p: float) -> list[Floats]:
    """Return records on and in the l_p ball where a profile in ‖x‖_p is largest and least: ±radius·e₁, the diagonal, and 0. Shape (d,)."""
    axis = np.zeros(dimension)
    axis[0] = radius
    ones = np.ones(dimension)
    diagonal = ones * radius / (1.0 if math.isinf(p) else dimension ** (1 / p))
    diagonal = diagonal * (1 - 4 * np.finfo(np.float64).eps * dimension)
    made = [axis, -axis] if dimension == 1 else [axis, -axis, diagonal]
    return [*made, 0 * ones]


def record_pairs(
    mechanism: Any, profile: Profile, bases: Sequence[Any], records: Sequence[Floats], weights: Sequence[float]
) -> Iterator[Pair]:
    """Yield the pairs in which a weighted record is added to a base data set, each with the claim ε(w, x) of that very record.

    ``bases`` are ``(data, weights)`` with data of shape (n, d); ``mechanism.statistic(data)`` gives the record's statistics.
    """
    for number, (data, base_weights) in enumerate(bases):
        for record in records:
            statistics = {name: float(values[0]) for name, values in mechanism.statistic(record[np.newaxis]).items()}
            for weight in map(float, weights):
                claim = claim_of_record(profile, statistics, weight)
                larger = (np.concatenate((data, record[np.newaxis])), np.append(base_weights, weight))
                shown = ", ".join(f"{entry:.4g}" for entry in record[:4]) + (", ..." if len(record) > 4 else "")
                yield Pair(larger, (data, base_weights), claim, f"base {number + 1} and ({shown}), w = {weight:g}")


def search_pairs(
    mechanism: AuditedMechanism,
    pairs: Sequence[Pair],
    *,
    rng: np.random.Generator,
    finalists: int = 1,
    method: AuditMethod = AuditMethod(),  # noqa: B008 - it is frozen
    **changes: Unpack[AuditKeywords],
) -> SearchResult:
    """Return audits of the most suspicious pairs: a search spends a part of the outputs where evidence grows, the rest is for finalists.

    Claim: with probability at least ``confidence`` no finalist's ``epsilon_lower`` exceeds its ε(D, D′). The search uses outputs of its own
    (successive halving: every round doubles the outputs of the better half of the pairs), so that only the finalists, whose bounds are
    computed, share the error. ``method`` and the keywords are those of :func:`audit`: ``samples`` is the number of outputs for each of
    the two data sets in all, and every pair says itself what its neighbors are.
    Raises :class:`InvalidArgument` and the errors of :func:`audit`.
    """
    if not pairs or not 1 <= finalists <= len(pairs):
        raise InvalidArgument(f"a search needs pairs and 1 to {len(pairs)} finalists, but {finalists} was found; give at least one pair")
    method = replace(method, **changes)
    searching, *streams = split(rng, 1 + finalists)
    alive = list(range(len(pairs)))
    seen: dict[int, float] = {}
    rounds = max(1, math.ceil(math.log2(len(pairs) / finalists))) if len(pairs) > finalists else 0
    for _ in range(rounds):
        pilot = max(_LEAST_PILOT, int(_SEARCH_SHARE * method.samples / rounds / len(alive)))
        for k, own in zip(alive, split(searching, len(alive)), strict=True):
            quick = replace(method, mode="fixed", effort="fast", tests=1, samples=pilot, confidence=_SEARCH_CONFIDENCE, check_memory=False)
            try:
                lower = pairs[k].audit(mechanism, own, quick).epsilon_lower
            except DifferentConstants:  # no noise at all: nothing is more suspicious
                lower = math.log(pilot)
            except ConstantOutputs:  # few outputs of a rare event: no evidence, but no reason to give up the other pairs
                lower = 0.0
            seen[k] = lower - float(pairs[k].claim.epsilon)
        alive = sorted(alive, key=lambda k: -seen[k])[: max(finalists, math.ceil(len(alive) / 2))]
    alive = alive[:finalists]
    left = max(_LEAST_PILOT, int(method.samples * (1 - _SEARCH_SHARE if rounds else 1) / finalists))
    last = replace(method, samples=left, tests=finalists * method.tests)
    audits = tuple((pairs[k], pairs[k].audit(mechanism, own, last)) for k, own in zip(alive, streams, strict=True))
    return SearchResult(audits, tuple((pairs[k].name, seen[k]) for k in sorted(seen, key=lambda k: -seen[k])))
