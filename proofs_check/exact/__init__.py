"""Exact ε and δ: of mechanisms with finitely many outputs over a small universe, and of continuous ones between certified bounds.

See docs/exact-epsilon.md; audits are judged by these truths.
"""

from proofs_check.exact.densities import (
    Density,
    LogQuadratic,
    Piece,
    clamp,
    expectation,
    expectation_over_laplace,
    exponential,
    gaussian,
    laplace,
    probability,
)
from proofs_check.exact.density_suprema import epsilon_of_densities
from proofs_check.exact.enclosed import Bounds, Enclosed, log_ratio
from proofs_check.exact.exponentials import ExpRational, Log, exp
from proofs_check.exact.extremal import extremal_law, extremal_pair, renyi_divergence, sampled_renyi_bound
from proofs_check.exact.finite import Choices, enumerate_outputs
from proofs_check.exact.laws import (
    exponential_law,
    repeated_above_threshold_law,
    repeated_exponential_law,
    sample_first,
    sequence_law,
    subsampled_law,
)
from proofs_check.exact.lines import (
    Line,
    exponential_cdf,
    exponential_pdf,
    exponential_sf,
    gaussian_cdf,
    gaussian_pdf,
    gaussian_sf,
    laplace_cdf,
    laplace_pdf,
    laplace_sf,
)
from proofs_check.exact.quadrature import integrate
from proofs_check.exact.sampling import program_mechanism, sample_table
from proofs_check.exact.tables import Direction, ExactEpsilon, delta_of_tables, epsilon_of_tables
from proofs_check.exact.worst import WorstCase, WorstDelta, WorstPair, exact_delta, exact_epsilon

__all__ = [
    "Bounds",
    "Choices",
    "Density",
    "Direction",
    "Enclosed",
    "ExactEpsilon",
    "ExpRational",
    "Line",
    "Log",
    "LogQuadratic",
    "Piece",
    "WorstCase",
    "WorstDelta",
    "WorstPair",
    "clamp",
    "delta_of_tables",
    "enumerate_outputs",
    "epsilon_of_densities",
    "epsilon_of_tables",
    "exact_delta",
    "exact_epsilon",
    "exp",
    "expectation",
    "expectation_over_laplace",
    "exponential",
    "exponential_cdf",
    "exponential_law",
    "exponential_pdf",
    "exponential_sf",
    "extremal_law",
    "extremal_pair",
    "gaussian",
    "gaussian_cdf",
    "gaussian_pdf",
    "gaussian_sf",
    "integrate",
    "laplace",
    "laplace_cdf",
    "laplace_pdf",
    "laplace_sf",
    "log_ratio",
    "probability",
    "program_mechanism",
    "renyi_divergence",
    "repeated_above_threshold_law",
    "repeated_exponential_law",
    "sample_first",
    "sample_table",
    "sampled_renyi_bound",
    "sequence_law",
    "subsampled_law",
]
