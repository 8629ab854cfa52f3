"""Fay et al. 2024: Section 4 (weighted DP-Lloyd, Equations (3) to (5)) and Appendix D.4.

Notation: bc = beta_count, bs = beta_sum, z = ||x||, lam = lambda, xbar = the mean squared norm, c = m r^2/(n xbar), rho = xbar/r^2.
"""

from __future__ import annotations

from proofs_check.prover.trees import MANIFEST, boxes, tangent
from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_RATE = "(1/bc + z/bs)"
_SCALES = "T in (0, oo); bc in (0, oo); bs in (0, oo); z in [0, oo)"
_GRID_PSI = "log(1 + (exp((1/40000 + z/500)/(1/40000 + z**2/10000)) - 1)*(1/40000 + z**2/10000))"


def _unbounded(ratio: str) -> Goals:
    """State that e^psi − 1 at lambda = 0 exceeds a² y²/(4 s), with y such that q = s/y²."""
    half = f"({ratio})/2"
    return Goals(
        f"(exp({ratio}) - 1)*s/y**2 > a**2*y**2/(4*s)",
        "a in (0, oo); t in (0, oo); s in (0, oo); y in (0, oo)",
        hint=tangent(half, f"(exp({half}) + 1 + {half})*s/y**2", MANIFEST),
    )


CLAIMS = (
    PaperClaim(
        id="fay-2024-section-4-lloyd-epsilon",
        source="Section 4, DP-Lloyd",
        statement="with ||x||_p <= r, DP-Lloyd's epsilon is (r/beta_sum + 1/beta_count) T: the profile at w = 1 is at most that",
        goals=(Goals("((z + v)/bs + 1/bc)*T >= (z/bs + 1/bc)*T", _SCALES + "; v in [0, oo)"),),
        reduction="r = z + v",
    ),
    PaperClaim(
        id="fay-2024-proposition-13-composition",
        source="Proposition 13",
        statement="T sums w ||x||/beta_sum and T counts w/beta_count compose to (3)",
        goals=(Goals(f"T*(w*z/bs) + T*(w/bc) == {_RATE}*T*w", _SCALES + "; w in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-equation-4",
        source="Section 4, Equation (4)",
        statement="d^2/dw^2 exp(T a w) >= T^2 a exp(a T) =: mu for w >= 1, with a = 1/beta_count + ||x||_p/beta_sum",
        goals=(
            Goals(
                "exp(T*a*w) >= T**2*a*exp(a*T)",
                "T in (0, oo); a in (0, oo); w in [1, oo)",
                derive=("w", "w"),
                first="T = 1, a = 1/2, w = 1",
            ),
        ),
        consequence=Impact.WRONG,
        effect="for a < 1 the constant is too large by the factor 1/a, and even the corrected bracket may exclude the root: for T = 1, "
        "a = 1/10, eps* = 1/5 it is [1, 4.01], while 14.24 is optimal (the weights stay feasible); for a > 1 it is valid but "
        "not the best one. Both versions of the paper print it so",
        correction="mu = (T a)^2 exp(a T)",
    ),
    PaperClaim(
        id="fay-2024-equation-4-corrected",
        source="Section 4, Equation (4) (corrected)",
        statement="d^2/dw^2 exp(eps_Lloyd) >= (T a)^2 exp(a T), for all positive T, beta_count, beta_sum and all norms",
        goals=(Goals(f"exp({_RATE}*T*w) >= (T*{_RATE})**2*exp({_RATE}*T)", _SCALES + "; w in [1, oo)", derive=("w", "w")),),
        corrects=("fay-2024-equation-4",),
    ),
    PaperClaim(
        id="fay-2024-section-4-expected-size",
        source="Section 4, coreset-based sampling distribution",
        statement="m is the expected sample size: n (lam m/n) + (1 - lam) m (n xbar)/(n xbar) = m",
        goals=(Goals("n*(lam*m/n) + (1 - lam)*m*(n*xbar)/(n*xbar) == m", "n in [1, oo); m in (0, oo); lam in [0, 1]; xbar in (0, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-section-4-proper-probabilities-sufficient",
        source="Section 4, 'to ensure proper probabilities'",
        statement="m <= n xbar/r^2 ensures q(x) <= 1",
        goals=(Goals("1 >= c*(lam*rho + (1 - lam)*y)", "c in [0, 1]; lam in [0, 1]; rho in [0, 1]; y in [0, 1]"),),
        reduction="m/n = c rho with rho = xbar/r^2 <= 1, y = ||x||^2/r^2: q = c (lam rho + (1 - lam) y)",
    ),
    PaperClaim(
        id="fay-2024-section-4-proper-probabilities-necessary",
        source="Section 4, 'it is necessary to constrain the subsampling size'",
        statement="q(x) <= 1 for all x implies m <= n xbar/r^2",
        goals=(
            Goals("1 >= (1 - h)/(lam*rho + 1 - lam)", "lam in [0, 1]; rho in (0, 1]; h in [0, 1]", first="lam = 1/2, rho = 1/2, h = 1/10"),
        ),
        reduction="q(r) = c (lam rho + 1 - lam) = 1 - h with c = m r^2/(n xbar); the statement is c <= 1",
        consequence=Impact.TYPO,
        effect="with lam = 1/2, xbar = r^2/2 and m/n = 0.6 the largest q is 0.6 (1/2 + 1) = 0.9, although m > n xbar/r^2 = 0.5 n",
        correction="the condition is sufficient; necessary and sufficient is (m/n)(lam + (1 - lam) r^2/xbar) <= 1",
    ),
    PaperClaim(
        id="fay-2024-section-4-proper-probabilities-necessary-corrected",
        source="Section 4 (corrected)",
        statement="(m/n)(lam + (1 - lam) r^2/xbar) <= 1 implies q(x) <= 1",
        goals=(Goals("lam*k + (1 - lam)*k*(y + v) >= lam*k + (1 - lam)*k*y", "k in [0, oo); lam in [0, 1]; y in [0, oo); v in [0, oo)"),),
        reduction="k = m/n, y = ||x||^2/xbar, y + v = r^2/xbar: q(x) <= q at the border, which is the bound",
        corrects=("fay-2024-section-4-proper-probabilities-necessary",),
    ),
    PaperClaim(
        id="fay-2024-equation-5-form",
        source="Section 4, Equation (5)",
        statement="with a = T/bc, t = T/bs and q = b + s z^2, the exponent eps(1/q) is (a + t z)/(b + s z^2)",
        goals=(Goals(f"{_RATE}*T*(1/(b + s*z**2)) == (T/bc + T/bs*z)/(b + s*z**2)", _SCALES + "; b in (0, oo); s in (0, oo)"),),
        reduction="this is Theorem 6 (the text says Theorem 10) applied to Proposition 13",
    ),
    PaperClaim(
        id="fay-2024-equation-5-positive-constants",
        source="Section 4, below Equation (5)",
        statement="for lam in [0, 1] the constants b = lam m/n and s = (1 - lam) m/(n xbar) are strictly positive",
        goals=(
            Goals("lam*k > 0", "lam in [0, 1]; k in (0, 1]", first="lam = 0, k = 1"),
            Goals("(1 - lam)*k/xbar > 0", "lam in [0, 1]; k in (0, 1]; xbar in (0, oo)", first="lam = 1, k = 1, xbar = 1"),
        ),
        reduction="k = m/n",
        consequence=Impact.WRONG,
        effect="lam = 0 is allowed by (iii) and gives b = 0; then psi is unbounded (fay-2024-equation-5-bounded), so there is no epsilon. "
        "lam = 1 gives s = 0, which is harmless",
        correction="lam in (0, 1]",
    ),
    PaperClaim(
        id="fay-2024-equation-5-positive-constants-corrected",
        source="Section 4 (corrected)",
        statement="b > 0 for lam in (0, 1]",
        goals=(Goals("lam*k > 0", "lam in (0, 1]; k in (0, 1]"),),
        corrects=("fay-2024-equation-5-positive-constants",),
    ),
    PaperClaim(
        id="fay-2024-equation-5-bounded",
        source="Section 4, 'The maximum always exists'",
        statement="for every lam in [0, 1] psi is bounded on ||x||_2 <= r",
        against=(_unbounded("(a*y**2 + t*y)/s"),),
        instance={"lam": "0"},
        reduction="lam = 0, z = 1/y: e^psi - 1 = (exp((a y^2 + t y)/s) - 1) s/y^2 > a^2 y^2/(4 s), which has no upper bound",
        consequence=Impact.WRONG,
        effect="records near the origin have q near 0 and weights near infinity: no epsilon-DP at all",
        correction="lam in (0, 1]: then q >= b > 0 and psi is continuous on a closed interval",
    ),
    PaperClaim(
        id="fay-2024-equation-5-bounded-corrected",
        source="Section 4 (corrected)",
        statement="for lam > 0, (a + t z)/(b + s z^2) <= (a + t r)/b for z <= r, so psi is bounded",
        goals=(
            Goals(
                "(a + t*(z + v))/b >= (a + t*z)/(b + s*z**2)",
                "a in (0, oo); t in (0, oo); b in (0, oo); s in [0, oo); z in [0, oo); v in [0, oo)",
            ),
        ),
        reduction="r = z + v",
        corrects=("fay-2024-equation-5-bounded",),
    ),
    PaperClaim(
        id="fay-2024-equation-5-grid-search",
        source="Section 4, 'maximizing it over ||x||_2 in [0, r] via grid search'",
        statement="the largest psi on a grid of 100 points bounds psi on [0, r]",
        against=(
            Goals(f"{_GRID_PSI} < 8", "z in [0, 0]"),
            Goals(f"{_GRID_PSI} < 8", "z in [1, 99]", hint=boxes(4000)),
            Goals(f"{_GRID_PSI} > 10", "z in [1/2, 1/2]"),
            Goals("1/40000 + z**2/10000 <= 1", "z in [0, 99]"),
        ),
        instance={"a": "1/40000", "b": "1/40000", "t": "1/500", "s": "1/10000", "r": "99", "z": "1/2"},
        reduction="the grid points of [0, 99] are 0, 1, ..., 99: psi < 8 at all of them, and psi > 10 at z = 1/2 (q <= 1 everywhere)",
        consequence=Impact.WRONG,
        effect="the printed epsilon is too small: a grid maximum is a lower bound of the supremum, never an upper one",
        correction="a certified upper bound, by interval branch and bound (pdp epsilon)",
    ),
    PaperClaim(
        id="fay-2024-equation-5-grid-search-corrected",
        source="Section 4 (corrected)",
        statement="psi <= 11 on all of [0, 99] for these constants, by subdivision into intervals",
        goals=(Goals(f"{_GRID_PSI} <= 11", "z in [0, 99]", hint=boxes(8000)),),
        corrects=("fay-2024-equation-5-grid-search",),
    ),
    PaperClaim(
        id="fay-2024-proposition-13-metric",
        source="Appendix D.4, '||y - y'||_p for some p > 0'",
        statement="d(y, y') = ||y - y'||_p is a metric for every p > 0: ||(s, 0) + (0, t)||_p <= s + t",
        goals=(Goals("s + t >= (s**p + t**p)**(1/p)", "s in (0, oo); t in (0, oo); p in (0, oo)", first="s = 1, t = 1, p = 1/2"),),
        consequence=Impact.WRONG,
        effect="for p < 1 the triangle inequality fails (4 <= 2 at the witness), and with it the second step of the chain: the loss of the "
        "sum mechanism is unbounded in dimension 2 (fay-2024-proposition-13-below-1)",
        correction="p >= 1 (Minkowski)",
    ),
    PaperClaim(
        id="fay-2024-proposition-13-metric-corrected",
        source="Appendix D.4 (corrected)",
        statement="for p = 1 + k >= 1, 1 + r^p <= (1 + r)^p (the same instance, t/s = r)",
        goals=(
            Goals("(1 + r)**k >= 1", "r in (0, oo); k in [0, oo)", hint=tangent("k*log(1 + r)", "1", MANIFEST)),
            Goals("(1 + 1/r)**k >= 1", "r in (0, oo); k in [0, oo)", hint=tangent("k*log(1 + 1/r)", "1", MANIFEST)),
            Goals("(A + r*r**k*B) - (1 + r*r**k) == (A - 1) + r*r**k*(B - 1)", "r in (0, oo); k in [0, oo); A in [1, oo); B in [1, oo)"),
        ),
        reduction="(1 + r)^{1+k} = A + r r^k B with A = (1 + r)^k >= 1 and B = (1 + 1/r)^k >= 1; in general this is Minkowski's inequality",
        corrects=("fay-2024-proposition-13-metric",),
    ),
    PaperClaim(
        id="fay-2024-proposition-13-below-1",
        source="Proposition 13 and Appendix D.4, sum mechanism, with p = 1/2 and d = 2",
        statement="beta |log f(y)/f'(y)| = ||(u, v)||_p - ||(u, 0)||_p <= v",
        goals=(Goals("v >= (sqrt(u) + sqrt(v))**2 - u", "u in [0, oo); v in [0, oo)", first="u = 1, v = 1"),),
        reduction="the record adds (0, v) and y - g(D') = (u, 0); the loss is v + 2 sqrt(u v), which grows without bound in u",
        consequence=Impact.WRONG,
        effect="no epsilon for the sum mechanism with p < 1 and d >= 2 (the density exists; the privacy does not)",
        correction="p >= 1",
    ),
    PaperClaim(
        id="fay-2024-proposition-13-below-1-corrected",
        source="Proposition 13 (corrected)",
        statement="for p = 1 and p = 2 the loss of the same instance is at most v",
        goals=(
            Goals("v >= (u + v) - u", "u in [0, oo); v in [0, oo)"),
            Goals("(u + v)**2 >= u**2 + v**2", "u in [0, oo); v in [0, oo)"),
        ),
        reduction="for p = 2: sqrt(u^2 + v^2) <= u + v, squared",
        corrects=("fay-2024-proposition-13-below-1",),
    ),
    PaperClaim(
        id="fay-2024-proposition-13-positive-sensitivity",
        source="Appendix D.4, 'a function Delta: X -> R_{>0}', with Delta(x) = ||x||_p",
        statement="Delta(x) > 0 for all x",
        goals=(Goals("z > 0", "z in [0, oo)", first="z = 0"),),
        consequence=Impact.TYPO,
        effect="the sensitivity of the sum at x = 0 is 0, which does no harm",
        correction="Delta: X -> R_{>=0}",
    ),
    PaperClaim(
        id="fay-2024-proposition-13-positive-sensitivity-corrected",
        source="Appendix D.4 (corrected)",
        statement="Delta(x) >= 0, and the chain k d <= k w Delta(x) does not need more",
        goals=(Goals("k*(w*z) >= k*(w*z - h)", "k in (0, oo); w in [1, oo); z in [0, oo); h in [0, oo)"),),
        reduction="(11) says d = w Delta(x) - h with h >= 0",
        corrects=("fay-2024-proposition-13-positive-sensitivity",),
    ),
    PaperClaim(
        id="fay-2024-proposition-13-homogeneous",
        source="Appendix D.4, sensitivity of the sum",
        statement="||w x||_p = w ||x||_p, here in two dimensions",
        goals=(Goals("((w*u)**p + (w*v)**p)**(1/p) == w*(u**p + v**p)**(1/p)", "w in [1, oo); u in (0, oo); v in (0, oo); p in (0, oo)"),),
    ),
)
