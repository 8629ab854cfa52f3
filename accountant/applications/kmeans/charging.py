"""A private fit that is charged to a ledger: what it promises before a row is read, and what it released, as it is stored.

Statement. Whatever a fit releases, its costs are within its budget (docs/private-kmeans.md, Theorem 1), so that its guarantee is known
before the run: the ε of the fit, or the curve of one Gaussian release of multiplier 1/μ, whose ρ is μ²/2. What its releases cost a row in
the end is less for a row near the center, but depends on what was released on the way: a charge is made before that, and is the worst case.

Only the rows that take part are seen. So nothing may be taken for public that is computed from them: not even their number, where that of
all rows is known to everybody (docs/ledger.md, section 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.applications.budget.protocols import Statistics
from accountant.applications.budget.spending import Payment, Purpose
from accountant.applications.charging import require_analysis, require_charged
from accountant.applications.kmeans.fitting import Fit, FitPlan, FitSettings, certify_fit, fit_rows, to_plain
from accountant.guarantees import Guarantee, Run
from profiles import InvalidArgument, exact_text, to_exact
from profiles.arrays import Booleans, Floats
from profiles.hypotheses import ARITHMETIC

if TYPE_CHECKING:
    from accountant.applications.budget.rows import SelectableRows
    from accountant.ledger import Analysis, Charged


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFit:
    """What a fit released, all of it public: see :class:`~accountant.applications.kmeans.fitting.Fit`.

    ``charges``: what it cost; ``sampled``: the releases about its sample, ``expected``: the expected size of that, None without one.
    """

    centres: Floats
    statistics: Statistics
    counts: Floats
    choices: Mapping[str, object]
    charges: tuple[Payment, ...]
    sampled: tuple[Payment, ...]
    expected: float | None
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, fit: Fit) -> ReleasedFit:
        """Return all that a fit released, and nothing else of it: what a ledger may store and give again."""
        sampled, expected = ((), None) if fit.sample is None else (fit.sample.charges, fit.sample.plan.expected)
        clustering = fit.clustering
        return cls(fit.centres, fit.statistics, clustering.counts, clustering.choices, fit.charges, sampled, expected, fit.warnings)

    def store(self) -> dict[str, Any]:
        """Return it as numbers, texts, arrays and lists."""
        statistics = self.statistics
        return {
            "centres": self.centres,
            "count": statistics.count,
            "mean": statistics.mean,
            "rms": statistics.rms,
            "radius": statistics.radius,
            "center": statistics.center,
            "counts": self.counts,
            "choices": to_plain(self.choices),
            "charges": [_store(item) for item in self.charges],
            "sampled": [_store(item) for item in self.sampled],
            "expected": self.expected,
            "warnings": list(self.warnings),
        }

    @classmethod
    def restore(cls, stored: Mapping[str, Any]) -> ReleasedFit:
        """Return the fit that :meth:`store` made numbers and texts of, the same to the last bit."""
        statistics = Statistics(*(stored[name] for name in ("count", "mean", "rms", "radius", "center")))
        charges, sampled = (tuple(_restore(item) for item in stored[name]) for name in ("charges", "sampled"))
        return cls(
            stored["centres"],
            statistics,
            stored["counts"],
            stored["choices"],
            charges,
            sampled,
            stored["expected"],
            tuple(stored["warnings"]),
        )


def _store(charge: Payment) -> list[str]:
    return [charge.part.value, exact_text(charge.cost), exact_text(charge.reach)]


def _restore(stored: list[str]) -> Payment:
    return Payment(Purpose(stored[0]), to_exact(stored[1]), to_exact(stored[2]))


def promise_fit(settings: FitSettings, run: Run) -> tuple[Guarantee, Guarantee | None]:
    """Return the guarantee of every fit with these arguments, whatever it releases, and under normal noise the curve that it is a point of.

    It is that of a fit which spends its whole budget in one release: the bound is the budget, and what it rests on is the same on all
    paths.
    """
    whole = Payment(Purpose.RECORDS, settings.law.budget, Fraction(1))
    certified = certify_fit((whole,), settings, dimension=1, run=run)
    return certified.guarantee, certified.curve


def charge_fit(
    rows: SelectableRows,
    plan: FitPlan,
    ledger: Analysis,
    *,
    arguments: tuple[object, ...],
    size: int | None,
    certify: Any = None,
) -> tuple[Mapping[str, Any], Charged]:
    """Charge a fit, run it on the rows that take part, and return what it released, as it is stored, with what was charged.

    ``arguments``: of the estimator; ``size``: of the rows, None where they are in the file of the analysis; ``certify``: from the fit to
    further texts that are stored beside it. Others as for :func:`fit_rows`. Raises what that and ``Analysis.release`` raise.
    """
    analysis = require_analysis(ledger)
    named = plan.settings.public.names
    if named and not analysis.everybody:
        raise InvalidArgument(
            f"public names {', '.join(sorted(named))}, but of the rows that take part in a release nothing is public, not "
            "even how many they are; leave public out, or keep a ledger in public mode, in which all rows take part"
        )
    guarantee, curve = promise_fit(plan.settings, plan.draws.run())

    def compute(active: Booleans) -> dict[str, Any]:
        fit = fit_rows(rows.keep(active), plan)
        require_charged(fit.certified.guarantee.hypotheses, (*guarantee.hypotheses, ARITHMETIC), "a fit")
        return {"fit": ReleasedFit.of(fit).store(), "texts": {} if certify is None else certify(fit)}

    return analysis.release(guarantee, size, compute, arguments=arguments, curve=curve, known=plan.draws.known)
