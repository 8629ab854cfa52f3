"""Ghazi et al. 2024: Section 3 (one-sided privacy and subsampling). a = P0(S), b = P1(S), the laws without and with the record."""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, PaperClaim

_LAWS = "a in [0, 1]; p in [0, 1]"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-lemma-3.1-remove",
        source="Lemma 3.1, proof, first half",
        statement="Pr[M^S(D) = o] >= (1 - p) Pr[M^S(D') = o]",
        goals=(Goals("(1 - p)*a + p*b >= (1 - p)*a", _LAWS + "; b in [0, 1]"),),
        reduction="the law on D is (1 - p) P0 + p P1, the law on D' is P0",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-3.1-add",
        source="Lemma 3.1, proof, second half",
        statement="Pr[M^S(D) = o] <= (1 + p (e^eps0 - 1)) Pr[M^S(D') = o]",
        goals=(Goals("(1 - p)*a + p*(exp(e)*a - s) <= (1 + p*(exp(e) - 1))*a", _LAWS + "; e in [0, oo); s in [0, oo)"),),
        reduction="P1 <= e^eps0 P0 is written P1 = e^eps0 P0 - s with s >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-corollary-3.2",
        source="Corollary 3.2",
        statement="with eps0 = ln 2 and p = 1 - e^-eps, max{1/(1 - p), 1 + p (e^eps0 - 1)} = e^eps",
        goals=(
            Goals("1/(1 - (1 - exp(-e))) == exp(e)", "e in [0, oo)"),
            Goals("1 + (1 - exp(-e))*(exp(log(2)) - 1) <= exp(e)", "e in [0, oo)"),
        ),
        corrects=("ghazi-2024-theorem-1.3-privacy",),
    ),
    PaperClaim(
        id="ghazi-2024-corollary-3.2-largest",
        source="Corollary 3.2 (strengthened)",
        statement="at p = 1 - e^-eps, 1 + p (e^eps0 - 1) = e^eps exactly for eps0 = log(1 + e^eps)",
        goals=(
            Goals("1 + (1 - exp(-e))*(exp(log(1 + exp(e))) - 1) == exp(e)", "e in [0, oo)"),
            Goals("1 + (1 - exp(-e))*((1 + exp(e) + h) - 1) > exp(e)", "e in (0, oo); h in (0, oo)"),
        ),
        reduction="the second goal: any larger e^eps0 = 1 + e^eps + h breaks it",
    ),
    PaperClaim(
        id="ghazi-2024-corollary-3.2-best-rate",
        source="Corollary 3.2 (strengthened)",
        statement="p log(1 + c/p) increases in p: no pair (p, eps0) on the border has a larger p eps0 than p = 1 - e^-eps",
        goals=(Goals("log(1 + u) - u/(1 + u) >= 0", "u in [0, oo)"),),
        reduction="the derivative in p, with u = c/p",
    ),
    PaperClaim(
        id="ghazi-2024-section-3-theta",
        source="Section 3, 'p = Theta(eps) for eps <= 1'",
        statement="(1 - 1/e) eps <= 1 - e^-eps <= eps for eps in [0, 1]",
        goals=(
            Goals("1 - exp(-e) <= e", "e in [0, 1]"),
            Goals("1 - exp(-e) >= (1 - exp(-1))*e", "e in [0, 1]"),
        ),
    ),
    PaperClaim(
        id="ghazi-2024-two-sided-plus",
        source="docs/one-sided.md, Theorem 1 (contains Lemma 3.1, second half, and Fay et al. 2024, Theorem 6)",
        statement="P1 <= e^plus P0 + delta gives (1 - q) P0 + q P1 <= (1 + q (e^plus - 1)) P0 + q delta",
        goals=(
            Goals(
                "(1 - q)*a + q*(exp(e)*a + d - s) <= (1 + q*(exp(e) - 1))*a + q*d",
                "a in [0, 1]; q in [0, 1]; e in [0, oo); d in [0, 1]; s in [0, oo)",
            ),
        ),
        reduction="P1 = e^plus P0 + delta - s with s >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-two-sided-minus",
        source="docs/one-sided.md, Theorem 1 (contains Lemma 3.1, first half)",
        statement="P0 <= e^minus P1 + delta gives P0 (1 - q (1 - e^-minus)) <= (1 - q) P0 + q P1 + q e^-minus delta",
        goals=(
            Goals(
                "(1 - q*(1 - exp(-e)))*a <= (1 - q)*a + q*(exp(-e)*(a - d) + s) + q*exp(-e)*d",
                "a in [0, 1]; q in [0, 1]; e in [0, oo); d in [0, 1]; s in [0, oo)",
            ),
        ),
        reduction="P1 = e^-minus (P0 - delta) + s with s >= 0; minus = oo is P1 >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-two-sided-symmetric",
        source="docs/one-sided.md, Theorem 1, 'contains Theorem 6 of Fay et al.'",
        statement="for equal losses psi_plus >= psi_minus",
        goals=(Goals("(1 + q*(exp(e) - 1))*(1 - q*(1 - exp(-e))) >= 1", "q in [0, 1]; e in [0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-two-sided-attained",
        source="docs/one-sided.md, Theorem 1, 'attained'",
        statement="t e^plus + (1 - t) e^-minus = 1 for t = (1 - e^-minus)/(e^plus - e^-minus)",
        goals=(
            Goals(
                "(1 - v)/(1 + h - v)*(1 + h) + (1 - (1 - v)/(1 + h - v))*v == 1",
                "h in (0, oo); v in [0, 1]",
            ),
        ),
        reduction="e^plus = 1 + h, e^-minus = v; P0(A) = t and P1 = (e^plus P0(A), e^-minus P0(B)) is then a law",
    ),
    PaperClaim(
        id="ghazi-2024-section-3-extensions",
        source="Section 3, 'can be extended to approximate-DP or Renyi-DP by replacing the second half'",
        statement="the approximate version costs p delta0 in the direction of Lemma 3.1's second half alone",
        goals=(
            Goals(
                "(1 - p)*a + p*(exp(e)*a + d - s) <= (1 + p*(exp(e) - 1))*a + p*d",
                "a in [0, 1]; p in [0, 1]; e in [0, oo); d in [0, 1]; s in [0, oo)",
            ),
            Goals("(1 - p)*a + p*b >= (1 - p)*a", "a in [0, 1]; p in [0, 1]; b in [0, 1]"),
        ),
        reduction="the Renyi version is in docs/audit.md",
    ),
)
