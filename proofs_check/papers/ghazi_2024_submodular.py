"""Ghazi et al. 2024: Section 4.1.1, the proof of Theorem 1.2 (cardinality constraint).

Notation: l + b = log(m/beta) with l = log m and b = log(1/beta); z = zeta, a = alpha, h = eta.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, PaperClaim

_SETS = "m in [2, oo); k in [1, oo); b in [0, oo)"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-section-4.1.1-assumptions",
        source="Section 4.1.1, 'the straightforward observation that ... satisfies Assumptions 4.1 and 4.2' (Delta = 1)",
        statement="one record's marginal gains are >= 0 and sum to f_x(T_k) - f_x({}) <= 1 along every sequence",
        goals=(
            Goals("((f + g) - f) + ((f + g + h) - (f + g)) <= f + g + h + s", "f in [0, 1]; g in [0, 1]; h in [0, 1]; s in [0, 1]"),
            Goals("(f + g) - f >= 0", "f in [0, 1]; g in [0, 1]"),
        ),
        reduction="two rounds; f_x({}) = f, f_x(T_1) = f + g, f_x(T_2) = f + g + h, 1 = f + g + h + s; every round adds one difference",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.2-union",
        source="Section 4.1.1, 'a union bound over all sets ... w.p. at least 1 - beta/2', (2) and (3)",
        statement="(m + 1)^k sets, alpha = 0.01 eta, zeta = 2000 k log(m/beta)/eta: (m + 1)^k (e^(-alpha zeta) + e^(-alpha "
        "zeta/3)) <= beta/2",
        goals=(
            Goals("0.01*h*(2000*k*(l + b)/h) == 20*k*(l + b)", "h in (0, 1]; k in [1, oo); l in [0, oo); b in [0, oo)"),
            Goals("k*log(m + 1) + log(4) + b <= 20/3*k*(log(m) + b)", _SETS),
        ),
        reduction="both tails are at most e^(-20/3 k log(m/beta)); the second goal is the logarithm. For m >= 2 (m = 1 leaves no choice)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.2-chain-1",
        source="Section 4.1.1, last display, first line, by (3); the same step by (12) in Appendix D",
        statement="F_D(T) >= F_Ds(T)/((1 + alpha) p) - zeta/p",
        goals=(
            Goals(
                "(s + t - z)/((1 + a)*p) >= s/((1 + a)*p) - z/p",
                "a in [0, 1]; p in (0, 1]; s in [0, oo); t in [0, oo); z in [0, oo)",
            ),
        ),
        reduction="(3) is F_Ds(T) + t = (1 + alpha) p F_D(T) + zeta with t >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.2-chain-3",
        source="Section 4.1.1, last display, third line, by (2)",
        statement="(1 - 1/e)/((1 + alpha) p) max F_Ds - zeta/p >= (1 - alpha)/(1 + alpha) (1 - 1/e) max F_D - 2 zeta/p",
        goals=(
            Goals(
                "(1 - exp(-1))/((1 + a)*p)*((1 - a)*p*M - z + t) - z/p >= (1 - a)/(1 + a)*(1 - exp(-1))*M - 2*z/p",
                "a in [0, 1]; p in (0, 1]; M in [0, oo); z in [0, oo); t in [0, oo)",
            ),
        ),
        reduction="(2) at the best set of D: max F_Ds = (1 - alpha) p M - zeta + t with t >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.2-chain-4",
        source="Section 4.1.1, last display, fourth line",
        statement="(1 - alpha)/(1 + alpha) (1 - 1/e) >= 1 - 1/e - eta for alpha = 0.01 eta",
        goals=(Goals("(1 - 0.01*h)/(1 + 0.01*h)*(1 - exp(-1)) >= 1 - exp(-1) - h", "h in [0, 1]"),),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.2-error",
        source="Section 4.1.1, last display, fourth line (the O made explicit)",
        statement="2 zeta/p <= 6400 k log(m/beta)/(eta eps), for zeta = 2000 k log(m/beta)/eta and eps <= 1",
        goals=(Goals("2*2000*e <= 6400*(1 - exp(-e))", "e in [0, 1]"),),
        reduction="times eps p, divided by k log(m/beta)/eta",
    ),
)
