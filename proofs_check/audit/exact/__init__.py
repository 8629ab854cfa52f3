"""The truth that audits are judged by: ε of finite mechanisms exactly, and of continuous ones between certified bounds."""

from proofs_check.audit.exact.densities import (
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
from proofs_check.audit.exact.lines import (
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
from proofs_check.audit.exact.quadrature import integrate
from proofs_check.audit.exact.sampling import program_mechanism, sample_table
from proofs_check.audit.exact.suprema import epsilon_of_densities
from proofs_check.exact.enclosed import Bounds, Enclosed, log_ratio
from proofs_check.exact.finite import Choices, enumerate_outputs
from proofs_check.exact.tables import Direction, ExactEpsilon, epsilon_of_tables

__all__ = [
    "Bounds",
    "Choices",
    "Density",
    "Direction",
    "Enclosed",
    "ExactEpsilon",
    "Line",
    "LogQuadratic",
    "Piece",
    "clamp",
    "enumerate_outputs",
    "epsilon_of_densities",
    "epsilon_of_tables",
    "expectation",
    "expectation_over_laplace",
    "exponential",
    "exponential_cdf",
    "exponential_pdf",
    "exponential_sf",
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
    "sample_table",
]
