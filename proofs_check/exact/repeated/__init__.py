"""Are the assumptions of the repeated mechanisms true? All data sets of a small universe, or a search for a counterexample."""

from proofs_check.exact.repeated.checking import AssumptionCheck, FiniteDomain, Violation, check_assumptions
from proofs_check.exact.repeated.losses import compare_laws, mix_laws
from proofs_check.exact.repeated.searching import search_violation

__all__ = ["AssumptionCheck", "FiniteDomain", "Violation", "check_assumptions", "compare_laws", "mix_laws", "search_violation"]
