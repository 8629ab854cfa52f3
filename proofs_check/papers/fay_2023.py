"""Fay et al. 2023, the first version: what it says differently, and Proposition 6, which the published version lacks.

Notation: a = T/beta_count, t = T/beta_sum, b = lam m/n, s = (1 - lam) m/(n xbar), theta(z) = (exp((a + t z)/(b + s z)) - 1)(b + s z).
"""

from __future__ import annotations

from proofs_check.prover.trees import MANIFEST, tangent
from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_THETA = "(exp((a + t*z)/(b + s*z)) - 1)*(b + s*z)"
_SECOND = "(a*s - b*t)**2*exp((a + t*z)/(b + s*z))/(b + s*z)**3"
_BOX = "a in (0, oo); t in (0, oo); b in (0, oo); s in [0, oo); z in [0, oo)"
_HALF = "(a*y + t)/(2*s)"

CLAIMS = (
    PaperClaim(
        id="fay-2023-theorem-2-total-probability",
        source="Appendix A.1, Equation (6)",
        statement="Pr[M^(D) in A] = (1 - q) E[P | x in S] + q E[P | x not in S]",
        goals=(Goals("q*A + (1 - q)*B == (1 - q)*A + q*B", "q in [0, 1]; A in [0, 1]; B in [0, 1]", first="q = 1, A = 1, B = 0"),),
        reduction="A = E[P | x in S], B = E[P | x not in S]; x is in S with probability q",
        consequence=Impact.TYPO,
        effect="q and 1 - q are exchanged; the display after it has them right, and so has the published version",
        correction="q E[P | x in S] + (1 - q) E[P | x not in S]",
    ),
    PaperClaim(
        id="fay-2023-theorem-2-total-probability-corrected",
        source="Appendix A.1, Equation (6) (corrected)",
        statement="with q A + (1 - q) B, P1 = A <= e^eps P0 and B = P0 give the next display",
        goals=(Goals("q*(exp(e)*P - h) + (1 - q)*P <= (1 - q)*P + q*exp(e)*P", "q in [0, 1]; P in [0, 1]; e in [0, oo); h in [0, oo)"),),
        corrects=("fay-2023-theorem-2-total-probability",),
    ),
    PaperClaim(
        id="fay-2023-theorem-3-simpler-condition",
        source="Section 3, below Assumption 2",
        statement="eps(w) > eps* + log w is a simpler (less tight) condition: w e^eps* >= 1 + w (e^eps* - 1) for w >= 1",
        goals=(Goals("w*exp(t) >= 1 + w*(exp(t) - 1)", "w in [1, oo); t in [0, oo)"),),
        reduction="both sides were exponentiated",
    ),
    PaperClaim(
        id="fay-2023-theorem-3-bounded",
        source="Appendix A.4, proof of Theorem 3",
        statement="Assumption 1 guarantees that the feasible region is bounded",
        against=(Goals("t >= 0*w", "t in (0, oo); w in [1, oo)"), Goals("t >= log(1 + (exp(0*w) - 1)/w)", "t in (0, oo); w in [1, oo)")),
        instance={"epsilon": "0"},
        reduction="the profile 0 satisfies Assumption 1, and every weight is feasible",
        consequence=Impact.TYPO,
        effect="the two assumptions are exchanged in the sentence; the published version has them right",
        correction="Assumption 1 makes the region non-empty, Assumption 2 makes it bounded",
    ),
    PaperClaim(
        id="fay-2023-theorem-3-bounded-corrected",
        source="Appendix A.4 (corrected)",
        statement="Assumption 2 says that every w >= v is infeasible: eps = log(1 + w E) + h, h > 0, has psi > eps*",
        goals=(
            Goals(
                "((1 + w*E)*exp(h) - 1)/w > E",
                "w in [1, oo); E in (0, oo); h in (0, oo)",
                hint=tangent("h", "(1 + w*E)/w", MANIFEST),
            ),
        ),
        reduction="psi > eps* is (e^eps - 1)/w > E with E = e^eps* - 1",
        corrects=("fay-2023-theorem-3-bounded",),
    ),
    PaperClaim(
        id="fay-2023-algorithm-2-noise-scale",
        source="Algorithm 2, 'each entry is sampled from Lap(0, beta_count)', and Proposition 5",
        statement="Algorithm 2 as printed (both noises of scale beta_count) has the profile (1/beta_count + ||x||_1/beta_sum) T w",
        goals=(
            Goals(
                "(1/bc + z/bs)*T*w >= (1/bc + z/bc)*T*w",
                "T in [1, oo); w in [1, oo); z in [0, oo); bc in (0, oo); bs in (0, oo)",
                first="T = 1, w = 1, z = 1, bc = 1, bs = 2",
            ),
        ),
        consequence=Impact.WRONG,
        effect="whoever implements Algorithm 2 as printed with beta_count < beta_sum adds too little noise: 2 nats instead of 1.5 at the "
        "witness. (The proof of Proposition 5 once writes beta_sum for the count's noise, too.)",
        correction="zeta_j has scale beta_sum, as the text above Algorithm 2 and the published version say",
    ),
    PaperClaim(
        id="fay-2023-algorithm-2-noise-scale-corrected",
        source="Algorithm 2 (corrected)",
        statement="with scale beta_sum the T sums and T counts compose to the profile",
        goals=(
            Goals("T*(w*z/bs) + T*(w/bc) == (1/bc + z/bs)*T*w", "T in [1, oo); w in [1, oo); z in [0, oo); bc in (0, oo); bs in (0, oo)"),
        ),
        corrects=("fay-2023-algorithm-2-noise-scale",),
    ),
    PaperClaim(
        id="fay-2023-section-2-noise-split",
        source="Section 2, 'Su et al. (2016) suggest', and Section 5 of both versions",
        statement="beta_count/beta_sum = (4 d rho^2)^(1/3) has the least error of a centre at a given cost, as Su et al. 2016 minimise it",
        goals=(
            Goals(
                "(d + k)**3 >= d*(d + 1/k)**2 + k**3*(k*d + 1)**2",
                "d in [1, oo); k in (0, oo)",
                first="d = 2, k = 2",
            ),
        ),
        reduction="k^3 = 4 d rho^2; to first order the error of a centre is 2 (d beta_sum^2 + k^3 beta_count^2)/N^2 for records in "
        "[-1, 1]^d and centres with mean square (2 rho)^2 in each coordinate; at cost d/beta_sum + 1/beta_count = 1 the right-hand side "
        "is that of the ratio k, the left-hand side that of 1/k",
        consequence=Impact.WRONG,
        effect="the factor is that of the budgets eps_count/eps_sum, hence of beta_sum/beta_count; used for the scales it gives the counts "
        "too much noise. It costs accuracy, not privacy",
        correction="beta_sum/beta_count = (4 d rho^2)^(1/3), for records in [-1, 1]^d; for other ranges beta_count/beta_sum is in units of "
        "1/r",
    ),
    PaperClaim(
        id="fay-2023-section-2-noise-split-corrected",
        source="Section 2 (corrected)",
        statement="among all ratios u/k of beta_count to beta_sum, u = 1 has the least error, (d + k)^3",
        goals=(
            Goals(
                "d*(d + k/u)**2 + k*(u*d + k)**2 - (d + k)**3 == d*k*(u - 1)**2*(d*(u + 2)/u + k*(2*u + 1)/u**2)",
                "d in [1, oo); k in (0, oo); u in (0, oo)",
            ),
            Goals(
                "d*k*Abs(u - 1)**2*(d*(u + 2)/u + k*(2*u + 1)/u**2) >= 0",
                "d in [1, oo); k in (0, oo); u in (0, oo)",
            ),
        ),
        reduction="beta_count = (u/k) beta_sum at cost 1: beta_sum = d + k/u, beta_count = u d/k + 1",
        corrects=("fay-2023-section-2-noise-split",),
    ),
    PaperClaim(
        id="fay-2023-proposition-6-expected-size",
        source="Proposition 6",
        statement="E|S_q(D)| = m, without centring",
        goals=(Goals("n*(lam*m/n) + (1 - lam)*m*(n*xbar)/(n*xbar) == m", "n in [1, oo); m in (0, oo); lam in [0, 1]; xbar in (0, oo)"),),
        reduction="the sum of the norms is n xbar",
    ),
    PaperClaim(
        id="fay-2023-proposition-6-probabilities",
        source="Proposition 6, 'A_2 = max q(x) <= 1'",
        statement="m <= n xbar/r implies A_2 = (m/n)(lam + (1 - lam) r/xbar) <= 1",
        goals=(Goals("1 >= c*rho*(lam + (1 - lam)/rho)", "c in [0, 1]; rho in (0, 1]; lam in [0, 1]"),),
        reduction="rho = xbar/r <= 1, m/n = c rho",
    ),
    PaperClaim(
        id="fay-2023-proposition-6-second-derivative",
        source="Appendix A.7, second derivative of theta",
        statement="theta'' = (a s - b t)^2 exp((a + t z)/(b + s z))/(b + s z)^3",
        goals=(Goals(f"{_THETA} == {_SECOND}", _BOX, derive=("z", "z")),),
    ),
    PaperClaim(
        id="fay-2023-proposition-6-convex",
        source="Appendix A.7, 'is non-negative'",
        statement="theta is convex on [0, oo) for b > 0",
        goals=(Goals("Abs(a*s - b*t)**2*exp((a + t*z)/(b + s*z))/(b + s*z)**3 >= 0", _BOX),),
        reduction="the second derivative of fay-2023-proposition-6-second-derivative, its square written as |a s - b t|^2",
    ),
    PaperClaim(
        id="fay-2023-proposition-6-end-points",
        source="Appendix A.7, last displays",
        statement="theta(0) = vartheta(a, b), theta(r) = vartheta(a + t r, b + s r), a + t r = A_1 and b + s r = A_2",
        goals=(
            Goals("(exp((a + t*0)/(b + s*0)) - 1)*(b + s*0) == (exp(a/b) - 1)*b", _BOX),
            Goals("T/bc + T/bs*r == (1/bc + r/bs)*T", "T in (0, oo); bc in (0, oo); bs in (0, oo); r in (0, oo)"),
            Goals(
                "lam*m/n + (1 - lam)*m/(n*xbar)*r == m/n*(lam + (1 - lam)*r/xbar)",
                "lam in [0, 1]; m in (0, oo); n in (0, oo); xbar in (0, oo); r in (0, oo)",
            ),
        ),
    ),
    PaperClaim(
        id="fay-2023-proposition-6-any-lambda",
        source="Proposition 6, 'for any lambda in [0, 1]'",
        statement="vartheta(A'_1, A'_2) = (exp(A'_1/A'_2) - 1) A'_2 is defined: A'_2 = lam m/n > 0",
        goals=(Goals("lam*k > 0", "lam in [0, 1]; k in (0, 1]", first="lam = 0, k = 1"),),
        reduction="k = m/n",
        consequence=Impact.WRONG,
        effect="at lam = 0 the formula divides by zero, and theta is not even defined at z = 0",
        correction="lam in (0, 1]",
    ),
    PaperClaim(
        id="fay-2023-proposition-6-any-lambda-corrected",
        source="Proposition 6 (corrected)",
        statement="A'_2 > 0 for lam in (0, 1]",
        goals=(Goals("lam*k > 0", "lam in (0, 1]; k in (0, 1]"),),
        corrects=("fay-2023-proposition-6-any-lambda",),
    ),
    PaperClaim(
        id="fay-2023-proposition-6-bounded",
        source="Proposition 6, 'satisfies eps-DP'",
        statement="for every lam in [0, 1] psi is bounded on ||x||_1 <= r",
        against=(
            Goals(
                "(exp((a*y + t)/s) - 1)*s/y > a**2*y/(4*s)",
                "a in (0, oo); t in (0, oo); s in (0, oo); y in (0, oo)",
                hint=tangent(_HALF, f"(exp({_HALF}) + 1 + {_HALF})*s/y", MANIFEST),
            ),
        ),
        instance={"lam": "0"},
        reduction="lam = 0, z = 1/y: theta = (exp((a y + t)/s) - 1) s/y > a^2 y/(4 s), which has no upper bound",
        consequence=Impact.WRONG,
        effect="no epsilon at lam = 0: records near the origin get weights without bound",
        correction="lam in (0, 1]: then theta is convex and finite on [0, r] and Proposition 6 holds",
    ),
    PaperClaim(
        id="fay-2023-proposition-6-bounded-corrected",
        source="Proposition 6 (corrected)",
        statement="for lam > 0, (a + t z)/(b + s z) <= (a + t r)/b for z <= r, so psi is bounded",
        goals=(Goals("(a + t*(z + v))/b >= (a + t*z)/(b + s*z)", _BOX + "; v in [0, oo)"),),
        reduction="r = z + v",
        corrects=("fay-2023-proposition-6-bounded",),
    ),
)
