"""Ghazi et al. 2024: Theorems 4.3 and 5.3 and what follows from their assumptions. Exponents are in units of lambda = eps0/Delta."""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, PaperClaim

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-theorem-4.3",
        source="Theorem 4.3, proof",
        statement="with monotone scores a round's ratio is at most exp(lambda (q(o; D) - q(o; D')))",
        goals=(Goals("exp(d)/(1 + s) <= exp(d)", "d in [0, oo); s in [0, oo)"),),
        reduction="Z(D)/Z(D') = 1 + s with s >= 0 by Assumption 4.1; rounds multiply (docs/one-sided.md, Theorem A)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.3-rounds",
        source="Theorem 5.3, both kinds of rounds",
        statement="above: the ratio is at most exp(lambda (h(D) - h(D'))); below: at most 1",
        goals=(
            Goals("exp(-v) <= exp(d)*exp(-(v + d))", "v in [0, oo); d in [0, oo)"),
            Goals("1 <= exp(u + s)*exp(-u)", "u in [0, oo); s in [0, oo)"),
            Goals("1 - exp(-v) <= 1 - exp(-(v + d))", "v in [0, oo); d in [0, oo)"),
        ),
        reduction="v = tau - h(D), d = h(D) - h(D'); in the second goal h(D) >= tau, u = tau - h(D') and d = u + s",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-4.3-other-direction",
        source="docs/one-sided.md, Theorem A' (Appendix C, '2 L eps-DP', strengthened)",
        statement="with monotone scores a round loses at most lambda max d when a record comes: L rounds at most L eps0, not 2 L eps0",
        goals=(Goals("t*exp(d + s) + (1 - t)*exp(d) <= exp(d + s)", "t in [0, 1]; d in [0, oo); s in [0, oo)"),),
        reduction="E exp(lambda d) <= exp(lambda max d), for two values; docs/one-sided.md, Theorem A'",
    ),
    PaperClaim(
        id="ghazi-2024-calibration-for-rounds",
        source="docs/one-sided.md, Theorem C (Corollary 3.2 for eps_minus = L eps0)",
        statement="for y = 1 + e^eps (1 - y^-L) and p = (e^eps - 1)/(y - 1) both directions are exactly eps; x/(1 - e^-x) increases",
        goals=(
            Goals("1 + h/((1 + h)*c)*((1 + h)*c) == 1 + h", "h in (0, oo); c in (0, 1]"),
            Goals("1 - h/((1 + h)*c)*c == 1/(1 + h)", "h in (0, oo); c in (0, 1]"),
            Goals("exp(x) >= 1 + x", "x in [0, oo)"),
        ),
        reduction="e^eps = 1 + h, c = 1 - y^-L, so y - 1 = (1 + h) c; the last goal, times e^-x, is the sign of the derivative",
    ),
)
