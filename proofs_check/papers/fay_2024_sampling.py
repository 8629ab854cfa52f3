"""Fay et al. 2024: Sections 2 and 3.1, Theorem 6 and its proof (Appendix D.1)."""

from __future__ import annotations

from proofs_check.prover.trees import MANIFEST, ZERO, monotone, scale, tangent
from proofs_check.statements.sentences import Goals, Impact, PaperClaim, Status

_MIXTURE = (
    "with P0 = Pr[M^(D') in A] and P1 = E[P(S_q(D)) | x in S_q(D)], Equation (6) reads Pr[M^(D) in A] = (1 - q) P0 + q P1, and the profile "
    "gives e^-eps P0 <= P1 <= e^eps P0; the statement is what that algebra leaves to be shown"
)
_BOTH_VERSIONS = "both versions of the paper print e^{1/q(x)} in both displays, so the extraction is not at fault"

CLAIMS = (
    PaperClaim(
        id="fay-2024-section-2-importance-weights-unbiased",
        source="Section 2, Importance Sampling",
        statement="with weights w = 1/(m q), the estimate is unbiased: m q * (1/(m q)) * l = l",
        goals=(Goals("m*q*(1/(m*q))*l == l", "m in (0, oo); q in (0, 1]; l in [0, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-section-2-largest-probability",
        source="Section 2, below Proposition 3",
        statement="with heterogeneous probabilities the amplification scales with max p_i: log(1 + (e^eps - 1) p) is non-decreasing in p",
        goals=(Goals("log(1 + (exp(e) - 1)*p) >= 0", "e in [0, oo); p in [0, 1]", derive=("p",)),),
    ),
    PaperClaim(
        id="fay-2024-section-2-large-epsilon",
        source="Section 2, below Proposition 3",
        statement="for eps > 1 we only have eps' ~ eps - log(1/p)",
        aside=Status.OUT_OF_SCOPE,
        argument="'~' has no stated error; the precise form is fay-2024-section-2-large-epsilon-precise (the error vanishes where "
        "p e^eps is large, not where eps > 1: at eps = 2, p = 1/100 it is 2.67 nats)",
    ),
    PaperClaim(
        id="fay-2024-section-2-large-epsilon-precise",
        source="Section 2, below Proposition 3 (made precise)",
        statement="0 <= eps' - (eps - log k) <= (k - 1) e^-eps for p = 1/k, eps >= 0",
        goals=(
            Goals("1 + (exp(e) - 1)/k >= exp(e)/k", "e in [0, oo); k in [1, oo)"),
            Goals(
                "exp(e)/k*exp((k - 1)*exp(-e)) >= 1 + (exp(e) - 1)/k",
                "e in [0, oo); k in [1, oo)",
                hint=tangent("(k - 1)*exp(-e)", "exp(e)/k", ZERO),
            ),
        ),
        reduction="both sides were exponentiated: e^eps' = 1 + (e^eps - 1)/k",
        corrects=("fay-2024-section-2-large-epsilon",),
    ),
    PaperClaim(
        id="fay-2024-theorem-6-range-of-q",
        source="Definition 5 and Theorem 6",
        statement="q maps into [0, 1], and the weight w = 1/q(x) exists",
        goals=(Goals("q > 0", "q in [0, 1]", first="q = 0"),),
        consequence=Impact.TYPO,
        effect="w and eps(w, x) in Equation (1) do not exist for a record with q(x) = 0, which is simply never sampled",
        correction="q maps into (0, 1]; a record with q(x) = 0 is never sampled and has psi(x) = 0",
    ),
    PaperClaim(
        id="fay-2024-theorem-6-range-of-q-corrected",
        source="Definition 5 and Theorem 6 (corrected)",
        statement="for q in (0, 1] the weight exists and 1/q >= 1",
        goals=(Goals("1/q >= 1", "q in (0, 1]"),),
        corrects=("fay-2024-theorem-6-range-of-q",),
    ),
    PaperClaim(
        id="fay-2024-theorem-6-upper-inequality",
        source="Appendix D.1, last display but one, first step",
        statement="Pr[M^(D) in A] <= (1 - q) P0 + q e^eps P0 (from P1 <= e^eps P0)",
        goals=(
            Goals("(1 - q)*P0 + q*exp(e)*P0 >= (1 - q)*P0 + q*(exp(e)*P0 - h)", "q in (0, 1]; e in [0, oo); P0 in [0, 1]; h in [0, oo)"),
        ),
        reduction=_MIXTURE + "; P1 = e^eps P0 - h with h >= 0",
    ),
    PaperClaim(
        id="fay-2024-theorem-6-upper-display",
        source="Appendix D.1, last display but one, second step",
        statement="(1 - q) P0 + q e^eps P0 = (1 + q (e^{1/q} - 1)) P0",
        goals=(
            Goals(
                "(1 - q)*P0 + q*exp(e)*P0 == (1 + q*(exp(1/q) - 1))*P0",
                "q in (0, 1]; e in [0, oo); P0 in [0, 1]",
                first="q = 1, e = 2, P0 = 1",
            ),
        ),
        reduction=_MIXTURE,
        consequence=Impact.TYPO,
        effect="the bound as printed is violated at the witness (7.39 <= 2.72); the theorem itself has the right exponent. "
        + _BOTH_VERSIONS,
        correction="e^{eps(1/q(x), x)} belongs where e^{1/q(x)} stands: (1 - q) P0 + q e^eps P0 = (1 + q (e^eps - 1)) P0",
    ),
    PaperClaim(
        id="fay-2024-theorem-6-upper-display-corrected",
        source="Appendix D.1, last display but one (corrected)",
        statement="(1 - q) P0 + q e^eps P0 = (1 + q (e^eps - 1)) P0",
        goals=(Goals("(1 - q)*P0 + q*exp(e)*P0 == (1 + q*(exp(e) - 1))*P0", "q in (0, 1]; e in [0, oo); P0 in [0, 1]"),),
        reduction=_MIXTURE,
        corrects=("fay-2024-theorem-6-upper-display",),
    ),
    PaperClaim(
        id="fay-2024-theorem-6-lower-display",
        source="Appendix D.1, last display",
        statement="Pr[M^(D) in A] >= P0 / (1 + q (e^{1/q} - 1))",
        goals=(Goals("1 - 1/w + exp(-e)/w >= 1/(1 + (exp(w) - 1)/w)", "w in [1, oo); e in [0, oo)", first="w = 1, e = 2"),),
        reduction=_MIXTURE + "; with w = 1/q, P1 >= e^-eps P0 and P0 = 1",
        consequence=Impact.TYPO,
        effect="at the witness the printed bound is 1/e = 0.368, while the probability may be e^-2 = 0.135. " + _BOTH_VERSIONS,
        correction="e^{eps(1/q(x), x)} belongs where e^{1/q(x)} stands; the argument is not identical but needs e^eps + e^-eps >= 2",
    ),
    PaperClaim(
        id="fay-2024-theorem-6-lower-display-corrected",
        source="Appendix D.1, last display (corrected)",
        statement="1 - q + q e^-eps >= 1 / (1 + q (e^eps - 1)), with q = 1/w",
        goals=(
            Goals(
                "1 - 1/w + exp(-e)/w >= 1/(1 + (exp(e) - 1)/w)",
                "w in [1, oo); e in [0, oo)",
                hint=scale("w*(w - 1 + exp(e))", tangent("e", "w - 1", tangent("-e", "w - 1", ZERO))),
            ),
        ),
        reduction=_MIXTURE,
        corrects=("fay-2024-theorem-6-lower-display",),
    ),
    PaperClaim(
        id="fay-2024-section-3-1-linear-decreasing",
        source="Section 3.1, below Theorem 6",
        statement="for a profile eps = a w the sampled profile psi is decreasing in q (non-increasing; constant only for a = 0)",
        goals=(
            Goals("(exp(a*w) - 1)/w >= 0", "a in [0, oo); w in [1, oo)", derive=("w",)),
            Goals(
                "a*w*exp(a*w) - exp(a*w) + 1 >= (a*w)**2/2",
                "a in [0, oo); w in [1, oo)",
                hint=monotone(
                    "w",
                    tangent("a*w", "a**2*w", MANIFEST),
                    monotone("a", tangent("a", "a", MANIFEST), ZERO, increasing=True),
                    increasing=True,
                ),
            ),
        ),
        reduction="e^psi - 1 = (e^{a w} - 1)/w with w = 1/q; its derivative in w is (a w e^{a w} - e^{a w} + 1)/w^2 >= a^2/2, so psi is "
        "strictly decreasing in q for a > 0",
    ),
    PaperClaim(
        id="fay-2024-section-3-3-variance",
        source="Section 3.3, variance of the Laplace sum",
        statement="a record's contribution to the variance is w^2 q (1 - q) x^2 = (1/q - 1) x^2",
        goals=(Goals("(1/q)**2*q*(1 - q)*x**2 == (1/q - 1)*x**2", "q in (0, 1]; x in R"),),
    ),
    PaperClaim(
        id="fay-2024-section-3-3-assumption-9",
        source="Section 3.3, q_priv 'according to Theorem 10'",
        statement="eps = w ||x||_1 satisfies Assumption 9 for all x in R^d",
        against=(Goals("log(1 + w*E) > 0*w", "w in [1, oo); E in (0, oo)"),),
        instance={"norm": "0"},
        reduction="at x = 0 the profile is 0 and no weight violates the constraint, for every target",
        consequence=Impact.GAP,
        effect="Theorem 10 maps into [1, oo) and does not cover x = 0, whose optimal weight is infinite (the record may be dropped)",
        correction="assume x != 0, or let the map take the value infinity (q = 0)",
    ),
    PaperClaim(
        id="fay-2024-section-3-3-assumption-9-corrected",
        source="Section 3.3 (corrected)",
        statement="for z = ||x||_1 > 0, e^{z w} > 1 + E w for all w >= 4 E/z^2",
        goals=(
            Goals(
                "exp(z*(4*E/z**2 + h)) > 1 + E*(4*E/z**2 + h)",
                "z in (0, oo); E in (0, oo); h in [0, oo)",
                hint=tangent("z*(4*E/z**2 + h)/2", "exp(z*(4*E/z**2 + h)/2) + 1 + z*(4*E/z**2 + h)/2", MANIFEST),
            ),
        ),
        corrects=("fay-2024-section-3-3-assumption-9",),
    ),
)
