"""Selection probabilities and weights of many records, as binary64 numbers for which the guarantee holds (docs/sampling.md, section 4).

Every number returned is a function of the record's own statistics: the exact q(x), 1/q(x) or w*(x), rounded down to a fixed number of
bits. It does not depend on the other records of a batch, on the order, on NumPy's kernels or on the machine. Theorem 6 needs that: a
weight that moved by one unit with the position of the record would depend on the data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accountant.columns.domain import as_columns, require_range
from accountant.columns.values import Column, Columns
from accountant.rules.named import SamplingRule
from accountant.rules.variance import refuse_oracle
from accountant.selection.excess import ExcessCheck, make_check
from accountant.selection.explicit import round_rule
from accountant.selection.floors import CONSTRAINED_BITS, blocks, floor_bits
from accountant.selection.mu_lookup import ShiftReader, prepare_shifts
from accountant.weights.convexity import prove_convexity
from accountant.weights.fast import ProvedConvexity, WeightSolver, prepare_solver, probabilities
from accountant.weights.fast.refine import Refiner
from accountant.weights.fast.rounding import TOLERANCE, U
from accountant.weights.gaussian.proved import ProvedGaussian
from accountant.weights.gaussian.table import WeightTable
from profiles import InvalidData, InvalidSampling, Profile, Undecided, to_exact
from profiles.arrays import Floats
from proofs_check.admission import admit
from proofs_check.conditions.context import Context
from proofs_check.results import Verdict
from proofs_check.verify import decide_in_time

#: w·ε′ ≥ ε ≥ 0 for all records and all w ≥ 1, with ε continuously differentiable: then ε′ ≥ 0. Concave profiles are beyond it.
_MONOTONE = "proposition-17"
CERTIFIED, ROUNDED, CHECKED, TABULATED = "certified-weights", "directed-rounding", "checked", "tabulated-shifts"
DOMINATED = "dominated-pairs"
#: Why the bound of the exact rule holds for the numbers used, by method.
METHODS: Mapping[str, str] = {
    CERTIFIED: "w is the largest weight with psi_w(x) <= epsilon*, rounded down to 28 bits, and q is 1/w rounded down",
    ROUNDED: "q <= q(x) <= 1/w, both rounded down to 36 bits, and epsilon does not fall in w (w*epsilon' >= epsilon >= 0)",
    CHECKED: (
        "q <= q(x) <= 1/w, both rounded down to 36 bits, and log(1 + q*(exp(epsilon(w, x)) - 1)) <= epsilon is enforced for every record"
    ),
    TABULATED: (
        "q <= zeta/mu and w <= mu/zeta, both rounded down to 36 bits, or both 1, where zeta = mu(1, x) and mu is that of a row of the "
        "table that serves zeta: the pair of the row dominates that of the record"
    ),
    DOMINATED: (
        "q <= q(x) and w <= 1/q(x), both rounded down to 36 bits: the pair of q(x) and mu(1/q(x), x) dominates that of the record, because "
        "mu(w, x) = w*mu(1, x)"
    ),
}


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """What a sampler needs of n records: float64 arrays of shape (n,); select record i with probability exactly ``probabilities[i]``,
    independently, and give it the weight ``weights[i]``.

    0 < q̂ ≤ 1, 1 ≤ ŵ < ∞ and 1 − 2^-34 ≤ q̂·ŵ ≤ 1 exactly, but: q̂ = 0 and ŵ = ∞ for records whose ε is 0 for every w; q̂ = 0 and
    ŵ = 2^900 where an explicit q is below 2^-900; and q̂ may be smaller (0 if need be) where it was ``lowered`` to keep the bound.

    ``refined`` records were decided by exact or ball arithmetic, for ``lowered`` ones q̂ was lowered.
    """

    probabilities: Floats
    weights: Floats
    refined: int = 0
    lowered: int = 0


@dataclass(frozen=True, slots=True)
class Selector:
    """A rule prepared for batches of records of a profile; build it with :func:`prepare_selection`. It can be pickled.

    ``method`` (a key of ``METHODS``) says why a guarantee for ``rule`` holds for the numbers that :meth:`select` returns, ``evidence``
    what that rests on; ``claim`` is the kernel's claim that ε does not fall in w, where the method needs it.
    """

    profile: Profile
    rule: SamplingRule
    method: str
    evidence: str
    claim: Mapping[str, Any] | None = None
    solver: WeightSolver | None = None
    check: ExcessCheck | None = None
    shifts: ShiftReader | None = None

    def select(self, statistics: Mapping[str, ArrayLike | Column], *, first_row: int = 0) -> Selection:
        """Return probabilities and weights of a batch; ``first_row`` is added to row numbers in errors.

        ``statistics`` maps every record statistic of the profile to an array of shape (n,) of binary64 numbers, taken as exact, or to
        :class:`Decimals`; where it has none, any array of shape (n,) says how many records there are. n may be 0.
        Raises :class:`InvalidData` (values outside the declared ranges, NaN, a missing statistic),
        :class:`InvalidSampling` (q > 1 or q ≤ 0), :class:`Infeasible`.
        """
        given = as_columns(statistics, tuple(item.name for item in self.profile.record) or tuple(statistics))
        if not given:
            raise InvalidData("the number of records is not known without a statistic; give one, such as an array of zeros")
        given = require_range(self.profile, given, first_row)
        # −0 becomes 0: equal records have equal numbers
        columns = Columns({name: column + 0.0 for name, column in given.items()}, given.written)
        if self.solver is not None:
            return _select_constrained(self.solver, columns, first_row)
        if self.shifts is not None:
            return Selection(*self.shifts.read(columns)) if columns[next(iter(columns))].size else Selection(np.empty(0), np.empty(0))
        if self.rule.q is None:
            raise InvalidSampling(f"the rule {self.rule.name!r} was not prepared; use prepare_selection")
        chances, weights, refined = round_rule(self.rule.q, columns, first_row=first_row)
        if self.check is None:
            return Selection(chances, weights, refined)
        certain, doubtful, lowered = self.check.enforce(chances, weights, columns)
        return Selection(certain, weights, refined + doubtful, lowered)


def prepare_selection(
    profile: Profile, rule: SamplingRule, *, convexity: ProvedConvexity | None = None, bound: object | None = None
) -> Selector:
    """Return what computes q̂ and ŵ for batches of records, such that the guarantee of ``rule`` holds for these very numbers.

    Claim: if ψ ≤ U at every declared record for the exact rule, then log(1 + q̂ (e^ε(ŵ, x) − 1)) ≤ U for each record x and the
    q̂, ŵ that :meth:`Selector.select` returns for it, and these depend on x alone.

    An explicit rule needs an ε that does not fall as w rises, which the kernel has to accept, or the ``bound`` U of the exact rule (what
    ``derive_epsilon`` found, an exact number), which is then enforced for every record. ``privacy-constrained`` needs a ``convexity``
    (proved here where it is not given). Source: docs/sampling.md, Theorem 2.

    Raises :class:`Undecided`, :class:`Infeasible`, :class:`InvalidArgument`, :class:`InvalidProfile`, :class:`NotPrivate`.
    """
    refuse_oracle(rule)
    if rule.q is None:
        if rule.target_epsilon is None:
            raise InvalidSampling(f"the rule {rule.name!r} has neither a q nor a target epsilon; make it with make_rule")
        proof = convexity or prove_convexity(profile, rule.target_epsilon)
        solver = prepare_solver(profile, rule.target_epsilon, convexity=proof)
        return Selector(profile, rule, CERTIFIED, f"{METHODS[CERTIFIED]}; {proof.evidence}", solver=solver)
    claim = prove_monotone(profile)
    if claim is not None:
        return Selector(profile, rule, ROUNDED, f"{METHODS[ROUNDED]}; claim {claim['claim']}, checked by the kernel", claim=claim)
    if bound is None:
        raise Undecided(
            f"rounded weights need an epsilon that does not fall as w rises, but that could not be proved for {profile.name!r}; give the "
            "certified bound of epsilon as bound, which is then kept for every record"
        )
    check = make_check(profile, to_exact(bound, "the bound"))
    return Selector(profile, rule, CHECKED, METHODS[CHECKED], check=check)


def prepare_tabulated(proved: ProvedGaussian, table: WeightTable, rule: SamplingRule, scale: Fraction | None = None) -> Selector:
    """Return what computes q̂ and ŵ under Gaussian noise from a table of weights (docs/gaussian-weights.md, Theorem 9).

    Claim: for each record of the declared domain, the pair of (q̂, ŵ) is dominated by that of a row of the table; both depend on the record
    alone. ``scale``: see :func:`accountant.selection.mu_lookup.prepare_shifts`.
    """
    shifts = prepare_shifts(proved, table, scale)
    return Selector(proved.profile, rule, TABULATED, METHODS[TABULATED], shifts=shifts)


def prepare_dominated(profile: Profile, rule: SamplingRule) -> Selector:
    """Return what computes q̂ and ŵ under Gaussian noise for a rule with an explicit q (docs/gaussian-weights.md, Theorem 10).

    Claim: q̂ ≤ q(x) and ŵ ≤ 1/q(x), so that the pair of each record is dominated by that of (q(x), μ(1/q(x), x)), if μ is a multiple of w;
    both depend on the record alone. Raises :class:`InvalidSampling` for a rule without a q.
    """
    refuse_oracle(rule)
    if rule.q is None:
        raise InvalidSampling(f"the rule {rule.name!r} has no explicit q; under Gaussian noise its weights are those of a table")
    return Selector(profile, rule, DOMINATED, METHODS[DOMINATED])


def prove_monotone(profile: Profile) -> Mapping[str, Any] | None:
    """Does ε(w, x) not fall as w rises? Then rounding down keeps the guarantee of the exact rule (docs/sampling.md, section 4).

    Return a claim that the kernel accepts and from which ε(w, x) does not fall as w rises on [1, ∞), for every record; else None.

    None proves nothing: ε may be monotone all the same.
    """
    decision, _ = decide_in_time(Context(admit(profile), Fraction(1)), _MONOTONE)
    return decision.claim if decision.verdict is Verdict.PROVED and decision.checked else None


def _select_constrained(solver: WeightSolver, columns: Columns, first_row: int) -> Selection:
    """Return w*(x) rounded down to 28 bits, and 1/w rounded down to binary64.

    The solver's w has w ≤ w* ≤ w (1 + 1e-12), but which w that is may depend on NumPy's kernels. The rounded w* does not: where a step
    lies between the two ends, the constraint at the step decides (feasible weights are an interval, as exp∘ε is convex).
    """
    size = next(iter(columns.values())).size
    if size == 0:
        return Selection(np.empty(0), np.empty(0))
    solved = solver.solve(columns, first_row=first_row)
    chances, weights, above = np.empty(size), np.empty(size), np.empty(size)
    for block in blocks(size):
        solved_weights = solved.weights[block]
        with np.errstate(all="ignore"):
            weights[block] = np.where(np.isfinite(solved_weights), floor_bits(solved_weights, CONSTRAINED_BITS), solved_weights)
            above[block] = floor_bits(solved_weights * (1.0 + TOLERANCE) * (1.0 + 4 * U), CONSTRAINED_BITS)
    rows = np.flatnonzero((weights != above) & np.isfinite(above))
    if rows.size:
        first, positions = columns.distinct(rows)
        refiner = Refiner(solver.epsilon, solver.target.exact)
        kept = np.array([refiner.decide(float(above[row]), columns.record(int(row))) is True for row in first])
        weights[rows] = np.where(kept[positions], above[rows], weights[rows])
    for block in blocks(size):
        chances[block] = probabilities(weights[block])
    return Selection(chances, weights, solved.refined_rows + int(rows.size))
