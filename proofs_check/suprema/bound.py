"""The certified supremum of the sampled profile ψ over all records: an upper and a lower bound with a proof of each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from profiles import InvalidArgument, InvalidSampling, Profile, Undecided, decimal_text
from profiles.balls import ball, lower_fraction, upper_fraction, working_precision
from profiles.evaluation import exact_value
from profiles.hypotheses import DEFINED, Hypothesis
from profiles.numbers import decimal_above, decimal_below, to_number
from profiles.terms import Term, free_symbols
from proofs_check.branch_and_bound import Box, Point, SearchedTerm, SearchOutcome, prove_at_most
from proofs_check.enclosures import Enclosure
from proofs_check.suprema.certify import (
    MANIFEST,
    ZERO,
    BoundClaim,
    Checked,
    ProofTrees,
    Subgoal,
    bound_trees,
    boxes,
    certify,
    probability_trees,
    well_defined_tree,
)
from proofs_check.suprema.feasibility import domains, refuse_improper, show_record
from proofs_check.suprema.search import guess_maximiser, improve
from proofs_check.suprema.terms import odds_term, sampled_term, weighted_epsilon

if TYPE_CHECKING:
    from proofs_check.suprema.largest import Largest

DEFAULT_GAP = Fraction(1, 10**9)
DEFAULT_BUDGET = 50_000
_BY_BALLS, _BY_LARGEST = "branch and bound in ball arithmetic", "a proved upper bound of the weighted epsilon"
_MOST_BITS = 1_000
_ROUNDS = 30
_FIRST_TRY = 1_000
#: Where the kernel does not check a bound, how much wider the gap is made, one after the other.
_WIDENINGS = (2, 8)


@dataclass(frozen=True, slots=True)
class EpsilonBound:
    """lower ≤ sup over records of ψ ≤ upper, in nats.

    ``at``: a record at which ψ ≥ lower. ``proved_by_balls``: ball arithmetic proved the upper bound and 0 < q ≤ 1;
    ``checked_by_kernel``: the kernel accepted ``certificate``, else ``kernel_reason`` says why not. ``reached``: upper − lower is at
    most the gap that was asked for, relatively.
    ``hypotheses``: what the numbers still rest on. ``boxes``: size of the subdivision in ball arithmetic.
    """

    lower: Fraction
    upper: Fraction
    at: Mapping[str, Fraction]
    method: str
    reached: bool
    proved_by_balls: bool
    checked_by_kernel: bool
    kernel_reason: str = ""
    boxes: int = 0
    hypotheses: tuple[Hypothesis, ...] = ()
    certificate: Mapping[str, Any] | None = field(default=None, repr=False)

    @property
    def relative_gap(self) -> Fraction:
        """(upper − lower) / upper, 0 where both are 0."""
        return (self.upper - self.lower) / self.upper if self.upper else Fraction(0)

    def lower_text(self, digits: int = 12) -> str:
        """Return the lower bound, rounded down to ``digits`` digits."""
        return decimal_text(self.lower, digits, round_up=False)

    def upper_text(self, digits: int = 12) -> str:
        """Return the upper bound, rounded up to ``digits`` digits."""
        return decimal_text(self.upper, digits, round_up=True)


def bound_sampled(
    profile: Profile,
    q: Term,
    relative_gap: object = DEFAULT_GAP,
    *,
    budget: int = DEFAULT_BUDGET,
    accept_wider: bool = True,
    well_defined_claim: Mapping[str, Any] | None = None,
) -> EpsilonBound:
    """Return certified bounds of sup over records of ψ(x) = log(1 + q(x) (e^ε(1/q(x), x) − 1)) with 0 < q ≤ 1 proved on the whole domain.

    A heuristic proposes the worst record x0; ψ(x0) rounded down is the lower bound L (proved at that record), and ψ ≤ U on all
    records is proved by branch and bound in ball arithmetic for U just above L, then again by the kernel on the certificate. Any
    record that branch and bound finds above U takes the place of x0.

    ``q``: a term in the record statistics. ``relative_gap``: (U − L) ≤ gap·U. ``budget``: most boxes. Where the gap is not reached within
    it, the bounds that are proved by then are returned, with ``reached`` False; unless ``accept_wider`` is False.
    ``well_defined_claim``: the kernel's well_defined_tree, by default from the prover.

    Source: Fay et al. 2024, Theorem 6.
    Raises :class:`InvalidSampling` (q > 1 or q ≤ 0 at a record that it names, or a parameter of ψ without a finite range),
    :class:`Undecided` (no finite upper bound or 0 < q ≤ 1 not reached within the budget; the gap, where no wider one is accepted),
    :class:`InvalidArgument`.

    >>> from profiles import declare, parse_expression
    >>> found = bound_sampled(declare("sum", "w*z/3", record={"z": ["1/2", 2]}), parse_expression("1/10"))
    >>> found.upper_text(), dict(found.at), found.checked_by_kernel
    ('4.37547018475', {'z': Fraction(2, 1)}, True)
    """
    gap = to_relative_gap(relative_gap, budget)
    return _Search(profile, q, gap, budget).run(accept_wider=accept_wider, well_defined=well_defined_tree(profile, well_defined_claim))


def to_relative_gap(relative_gap: object, budget: int) -> Fraction:
    """Return the relative gap of a search as an exact number. Raises :class:`InvalidArgument` for one, or a budget, that is no such."""
    gap = to_number(relative_gap, "the relative gap", "[1e-40, 1)", "give for example 1e-9")
    if budget < 1:
        raise InvalidArgument(f"the budget must be at least 1 box, but {budget} was found; raise it")
    return gap


class _Search:
    """One computation of a bound: the terms, the box they range over, and the precision they are evaluated with."""

    __slots__ = ("bits", "box", "budget", "fixed", "gap", "largest", "log", "names", "odds", "profile", "q", "weighted", "worst")

    def __init__(self, profile: Profile, q: Term, gap: Fraction, budget: int) -> None:
        self.profile, self.gap, self.budget = profile, gap, budget
        self.bits = 128
        self.worst: Point = {}
        self.largest: tuple[Fraction, Largest] | None = None
        psi = sampled_term(profile, q)
        self.box, self.fixed = _ranges(profile, free_symbols(psi))
        self.names = tuple(self.box)
        self.q, self.log = SearchedTerm(q, self.names), SearchedTerm(psi, self.names)
        self.odds, self.weighted = SearchedTerm(odds_term(profile, q), self.names), SearchedTerm(weighted_epsilon(profile, q), self.names)

    def run(self, *, accept_wider: bool, well_defined: Mapping[str, Any]) -> EpsilonBound:
        with working_precision(128):
            self.worst = guess_maximiser(self.q, self.box)
            least = guess_maximiser(SearchedTerm(("neg", self.q.term), self.names), self.box)
            for point in (self.worst, least):
                refuse_improper(self.q.term, Enclosure(self.q.term), {**self.fixed, **point})
            at = guess_maximiser(self.log, self.box)
            self.bits = self._bits(at)
        with working_precision(self.bits):
            probability = self._prove_probability()
            lower, upper, at, outcome, order = self._enclose(at)
            claim, checked = self._claim(lower, upper, at), None
            if self.largest is not None:
                checked = self._certify(claim, outcome.boxes, order, well_defined)
                if not checked.accepted:  # what rests on an expression of SymPy's only is not said
                    self.largest, checked = None, None
                    lower, upper, at, outcome, order = self._enclose(at, by_largest=False)
                    claim = self._claim(lower, upper, at)
            lower, upper = claim.lower, claim.upper
            reached = upper - lower <= self.gap * upper
            if not reached and not accept_wider:
                raise Undecided(self._failure(lower, upper))
            checked = checked or self._certify(claim, outcome.boxes, order, well_defined)
            for share in (
                () if reached or checked.accepted else _WIDENINGS
            ):  # what our own search barely proves is more than the kernel does
                wider = decimal_above(lower + (upper - lower) * share, self._digits)
                certified = self._certify(replace(claim, upper=wider), outcome.boxes, order, well_defined)
                if certified.accepted:
                    upper, checked = wider, certified
                    break
        if not (probability or checked.accepted):
            raise Undecided(
                f"0 < q <= 1 was to be proved for all records of {self.profile.name!r}, but neither ball arithmetic nor the kernel decided "
                f"it ({checked.reason}); simplify q or keep it away from 0 and 1"
            )
        return EpsilonBound(
            lower, upper, {**at, **self.fixed}, _BY_BALLS if self.largest is None else _BY_LARGEST,
            reached=reached, proved_by_balls=probability,
            checked_by_kernel=checked.accepted, kernel_reason=checked.reason, boxes=outcome.boxes,
            hypotheses=() if checked.accepted else (DEFINED,), certificate=checked.certificate,
        )  # fmt: skip

    def _claim(self, lower: Fraction | None, upper: Fraction | None, at: Point) -> BoundClaim:
        if lower is None or upper is None:
            raise Undecided(self._failure(lower, None))
        return BoundClaim(lower, upper, {**at, **self.fixed})

    def _bits(self, at: Point) -> int:
        """Enough bits for the gap relative to ψ, although form ``log`` adds numbers of the size of e and of 1."""
        psi, e = self.odds.at(at).log1p(), self.weighted.at(at)
        if not (psi.is_finite() and e.is_finite()):
            raise Undecided(
                f"the sampled profile could not be evaluated at the record {show_record(at)}; "
                "keep q further from 0, or narrow the ranges and clip each record to them"
            )
        small = _magnitude(psi) if psi > 0 else 0
        needed = 64 + math.ceil(-math.log2(float(self.gap))) + max(0, -small) + max(0, _magnitude(e)) + 8
        return min(_MOST_BITS, max(128, needed))

    def _prove_probability(self) -> bool:
        """Prove 0 < q ≤ 1 on the box by ball arithmetic; refuse with a witness where it is false."""
        above = self._at_most_one(self.q.term)
        negative = SearchedTerm(("neg", self.q.term), self.names)
        below = prove_at_most(negative, self.box, arb(0), 2_000, exact=Fraction(0), strict=True)
        for outcome in (above, below):
            if outcome.counterexample is not None:
                refuse_improper(self.q.term, Enclosure(self.q.term), outcome.counterexample)
        return above.proved and below.proved and all(self._stays_inside(part, zero) for _, part, zero in domains(self.q.term))

    def _at_most_one(self, q: Term) -> SearchOutcome:
        """Decide q ≤ 1; a minimum is at most 1 if one of its arguments is, which enclosures that are rounded outward cannot see."""
        outcome = prove_at_most(SearchedTerm(q, self.names), self.box, arb(1), 2_000 if q[0] != "min" else 50, exact=Fraction(1))
        if q[0] == "min" and outcome.counterexample is None:
            for argument in q[1:]:
                proof = self._at_most_one(argument)
                if proof.proved:
                    return proof
        return outcome

    def _stays_inside(self, argument: Term, zero: bool) -> bool:  # noqa: FBT001 - one of the three fields of a domain
        """Prove that the argument of a root, logarithm or power in q is in its domain: an enclosure alone would clip it."""
        negative = SearchedTerm(("neg", argument), self.names)
        return prove_at_most(negative, self.box, arb(0), 2_000, exact=Fraction(0), strict=not zero).proved

    @property
    def _digits(self) -> int:
        return max(12, len(str(self.gap.denominator // self.gap.numerator)) + 4)

    def _enclose(
        self, at: Point, *, by_largest: bool = True
    ) -> tuple[Fraction | None, Fraction | None, Point, SearchOutcome, tuple[str, ...]]:
        """Return lower, upper, the record of lower, the outcome that proves upper, and the forms in the order in which they did best."""
        digits = self._digits
        objectives = {"log": self.log, "exp": self.odds}
        lower = self._lower(at, digits)
        order: tuple[str, ...] = ("log", "exp") if lower is not None and lower >= 1 else ("exp", "log")
        outcome = SearchOutcome(proved=False, bound=None, counterexample=None, boxes=0)
        best: Fraction | None = None
        for _ in range(_ROUNDS):
            if lower is None:
                break
            upper = decimal_above(lower * (1 + self.gap * Fraction(9, 10)), digits)
            shares = sorted({min(_FIRST_TRY, self.budget), self.budget})
            for share in shares:
                if by_largest and share != shares[0] and self._stays_below(at, lower, upper):
                    return lower, upper, at, SearchOutcome(proved=True, bound=None, counterexample=None, boxes=outcome.boxes), order
                for form in order:
                    outcome = prove_at_most(objectives[form], self.box, _target(form, upper), share)
                    if outcome.proved:
                        return lower, upper, at, outcome, (form, *(other for other in order if other != form))
                    if outcome.counterexample is not None:
                        break
                    best = _smaller(best, _psi_bound(form, outcome.bound, digits))
                if outcome.counterexample is not None:
                    break
            if outcome.counterexample is None:
                break
            at = improve(self.log, self.box, outcome.counterexample)
            lower = max(lower, self._lower(at, digits) or lower)
        return lower, best, at, outcome, order

    def _stays_below(self, at: Point, lower: Fraction, upper: Fraction) -> bool:
        """Prove ψ ≤ upper by the largest weighted ε, where q is a number; it is kept for the certificate."""
        rate, value = exact_value(self.q.term, {}) if not free_symbols(self.q.term) else None, lower_fraction(self.weighted.at(at))
        if rate is None or value is None or not 0 < rate <= 1 or not value > 0:
            return False
        from proofs_check.suprema.largest import bound_weighted_epsilon  # noqa: PLC0415 - the prover is slow to load

        bound = bound_weighted_epsilon(self.profile, rate, value, decimal_below(value + (upper - lower) / 2, 30))
        odds = None if bound is None else ball(rate) * ball(bound.value).expm1()
        if bound is None or odds is None or not odds <= ball(upper).expm1():
            return False
        self.largest = rate, bound
        return True

    def _lower(self, at: Point, digits: int) -> Fraction | None:
        """Return ψ(at) rounded down: a proven lower bound of the supremum; None if the value is not finite."""
        end = least_value(self.log, self.odds, at)
        return None if end is None else decimal_below(max(end, Fraction(0)), digits)

    def _certify(self, claim: BoundClaim, boxes_used: int, order: tuple[str, ...], well_defined: Mapping[str, Any]) -> Checked:
        precision, objectives = self.bits, {"log": self.log, "exp": self.odds}
        goals = [Subgoal(form, objectives[form], _target(form, claim.upper)) for form in order]
        trees = ProofTrees(
            probability_trees(self.q, self.box, slope=1, worst=self.worst),
            probability_trees(self.q, self.box, slope=-1, worst=self.worst),
            [*self._by_largest(claim.upper), *bound_trees(goals, self.box, precision=precision, estimate=boxes_used)],
            [boxes(1, min(1_024, precision + 64)), ZERO, MANIFEST],
        )
        return certify(self.profile, self.q.term, claim, trees, well_defined)

    def _by_largest(self, upper: Fraction) -> list[tuple[str, dict[str, Any]]]:
        if self.largest is None:
            return []
        rate, largest = self.largest
        return [("exp", largest.bound_tree(rate, upper, frozenset(self.names) | {p.name for p in self.profile.parameters}, self.bits))]

    def _failure(self, lower: Fraction | None, upper: Fraction | None) -> str:
        if lower is None or upper is None:
            return (
                f"the supremum of the sampled profile of {self.profile.name!r} was to be bounded, but no finite upper bound was found "
                f"within {self.budget} boxes; narrow the ranges and clip each record to them, or keep q further from 0"
            )
        return (
            f"a relative gap of {float(self.gap):.1g} was asked for, but after {self.budget} boxes only "
            f"{decimal_text(lower, 8, round_up=False)} <= sup <= {decimal_text(upper, 8, round_up=True)} is proved; "
            "raise the budget or accept a wider gap"
        )


def least_value(log: SearchedTerm, odds: SearchedTerm, at: Mapping[str, Fraction]) -> Fraction | None:
    """Return a number that ψ at a record is certainly not below, the larger one of what both forms give; None where neither is finite."""
    ends = [lower_fraction(value) for value in (odds.at(at).log1p(), log.at(at))]
    return max((end for end in ends if end is not None), default=None)


def _ranges(profile: Profile, used: frozenset[str]) -> tuple[Box, Point]:
    """Return the box of the variables of ψ, and any values for those that ψ does not contain."""
    box: Box = {}
    fixed: Point = {}
    for variable in profile.record_variables():
        if variable.name in used:
            if variable.hi is None:
                raise InvalidSampling(
                    f"the sampled profile depends on the parameter {variable.name!r}, which may be any positive number, so that its "
                    "supremum is not a number; give the parameter a value or a range"
                )
            box[variable.name] = (variable.lo, variable.hi)
        else:
            fixed[variable.name] = variable.lo if variable.hi is not None else Fraction(1)
    return box, fixed


def _magnitude(value: arb) -> int:
    end = upper_fraction(abs(value))
    if end is None or end == 0:
        return 0
    return end.numerator.bit_length() - end.denominator.bit_length() + 1


def _target(form: str, upper: Fraction) -> arb:
    """Return a ball for the target of a form; comparisons with a ball hold for all its numbers, so its radius is on the safe side."""
    return ball(upper) if form == "log" else ball(upper).expm1()


def _psi_bound(form: str, bound: arb | None, digits: int) -> Fraction | None:
    end = None if bound is None else upper_fraction(bound if form == "log" else bound.log1p())
    return None if end is None else decimal_above(max(end, Fraction(0)), digits)


def _smaller(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return right if left is None else left if right is None else min(left, right)
