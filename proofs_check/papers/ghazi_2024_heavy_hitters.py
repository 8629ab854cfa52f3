"""Ghazi et al. 2024: Section 5.1.1 (shifting heavy hitters) and Appendix B (its lower bound).

Notation: m = T|Y|/beta, t = tau*, e = epsilon, p = 1 - exp(-e). What holds instead: docs/heavy-hitters.md, Theorems 2 and 4.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_TRUE = "the theorem holds: 12 k log(2 T|Y|/beta)/eps suffices for tau* (docs/heavy-hitters.md, Theorem 2)"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-theorem-5.6-tau",
        source="Theorem 5.6 and its proof",
        statement="tau* = 1000 k log(T|Y|/beta)/eps gives tau* p >= 2000 k ln(T|Y|/beta)",
        goals=(Goals("(1 - exp(-e))*1000*u/e >= 2000*u", "e in (0, 1]; u in (0, oo)", first="e = 1, u = 1"),),
        reduction="u = k ln(T|Y|/beta)",
        consequence=Impact.GAP,
        effect=f"the constant of the theorem is not that of its proof; {_TRUE}",
        correction="4000, as in the text before Assumption 5.5, for this step of the proof",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-tau-corrected",
        source="Theorem 5.6, proof (corrected)",
        statement="tau* = 4000 k log(T|Y|/beta)/eps gives tau* p >= 2000 k ln(T|Y|/beta)",
        goals=(Goals("(1 - exp(-e))*4000*u >= 2000*u*e", "e in (0, 1]; u in (0, oo)"),),
        corrects=("ghazi-2024-theorem-5.6-tau",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-zeta",
        source="Theorem 5.6, proof, the choice of zeta",
        statement="100 ln(2T|Y|/beta) <= 0.1 p tau* for tau* = 1000 k log(T|Y|/beta)/eps",
        goals=(
            Goals(
                "100*log(2*m) <= (1 - exp(-e))*100*k*log(m)/e",
                "e in (0, 1]; k in [1, oo); m in [2, oo)",
                first="e = 1, k = 1, m = 20",
            ),
        ),
        reduction="m = T|Y|/beta",
        consequence=Impact.GAP,
        effect=f"(4) and (5) are not proved for k = 1; {_TRUE}",
        correction="it holds with 4000",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-zeta-corrected",
        source="Theorem 5.6, proof, the choice of zeta (corrected)",
        statement="100 ln(2T|Y|/beta) <= 0.1 p tau* for tau* = 4000 k log(T|Y|/beta)/eps, T|Y|/beta >= 2",
        goals=(
            Goals("(1 - exp(-e)) - e/2 >= 0", "e in [0, 1]"),
            Goals("200*k*(log(2) + s) >= 100*(2*log(2) + s)", "k in [1, oo); s in [0, oo)"),
        ),
        reduction="log(T|Y|/beta) = log 2 + s; 0.1 p tau* >= 0.05 eps tau* = 200 k log(T|Y|/beta)",
        corrects=("ghazi-2024-theorem-5.6-zeta",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-noise",
        source="Theorem 5.6, proof, Inequality (6), with log = ln as in '0.5 tau* eps = 2000 k ln(T|Y|/beta)'",
        statement="noise from Exp(ln(2)/k) exceeds k log(2T|Y|/beta) with probability at most beta/(2T|Y|)",
        goals=(Goals("exp(-log(2)*u) <= exp(-u)", "u in (0, oo)", first="u = 3"),),
        reduction="u = log(2T|Y|/beta)",
        consequence=Impact.GAP,
        effect=f"the union bound behind (6) fails; {_TRUE}",
        correction="the noise is at most k log(2T|Y|/beta)/ln 2",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-noise-corrected",
        source="Theorem 5.6, proof, Inequality (6) (corrected)",
        statement="noise from Exp(ln(2)/k) exceeds k log(2T|Y|/beta)/ln 2 with probability beta/(2T|Y|)",
        goals=(Goals("exp(-log(2)*(u/log(2))) == exp(-u)", "u in [0, oo)"),),
        corrects=("ghazi-2024-theorem-5.6-noise",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-reported",
        source="Theorem 5.6, proof, 'By (5) and (6)'",
        statement="with noise up to 0.01 tau* a reported element has more than tau* users",
        goals=(Goals("(1.5*p - 0.1*p - 0.01)/(1.1*p) > 1", "p in (0, 2/3]", first="p = 1/50"),),
        reduction="tau = 1.5 p tau* < w_s + noise <= 1.1 p w + 0.1 p tau* + noise, divided by tau*; the printed display drops the noise",
        consequence=Impact.GAP,
        effect=f"the step fails for p < 1/30; {_TRUE}",
        correction="the noise must be at most 0.01 p tau*",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-reported-corrected",
        source="Theorem 5.6, proof, 'By (5) and (6)' (corrected)",
        statement="with noise up to 0.01 p tau* a reported element has more than tau* users",
        goals=(Goals("(1.5*p - 0.1*p - 0.01*p)/(1.1*p) > 1", "p in (0, 1]"),),
        corrects=("ghazi-2024-theorem-5.6-reported",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-found",
        source="Theorem 5.6, proof, last display",
        statement="0.9 p * 2 tau* - 0.1 p tau* > tau = 1.5 p tau*",
        goals=(Goals("0.9*p*2*t - 0.1*p*t > 1.5*p*t", "p in (0, 1]; t in (0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-twelve",
        source="Theorem 5.6 with 12 k log(2T|Y|/beta)/eps (docs/heavy-hitters.md, Theorem 2, closed form)",
        statement="x s p - log(1 + p (e^s - 1)) >= -log(1 - p)/(12 k), x = 1/log 2, for k = 1, s = log x and for k = 2, s = log(2)/2",
        goals=(
            Goals("log(1/log(2))/log(2)*p - log(1 + (1/log(2) - 1)*p) + log(1 - p)/12 >= 0", "p in [0, 0.6322]"),
            Goals("p - 2*log(1 + (2**(1/2) - 1)*p) + log(1 - p)/12 >= 0", "p in [0, 0.6322]"),
        ),
        reduction="1 - 1/e < 0.6322; larger k follow from k = 2, because the norm of 2^B in L^(1/k) decreases in k",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-lemma",
        source="docs/heavy-hitters.md, Theorem 2 (lemma of the closed form)",
        statement="z^j - j z + j - 1 >= (j - 1)(z log z - z + 1) for j = 2, 3, 4",
        goals=(
            Goals("z**2 - 2*z + 1 >= z*log(z) - z + 1", "z in (0, oo)"),
            Goals("z**3 - 3*z + 2 >= 2*(z - 1)**2", "z in [0, oo)"),
            Goals("z**4 - 4*z + 3 >= 3*(z - 1)**2", "z in [0, oo)"),
        ),
        reduction="the coefficients of p^j in kl(z p, p) + log(1 - p) (z log z - z + 1); the page has all j",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-filler",
        source="Theorem B.1, proof, the data sets D_x",
        statement="r + 1 + ceil(3 (i - 1)/n) lies in Y = [r + 3] for i = 1, ..., n",
        against=(Goals("3*(n - 1)/n > 2", "n in [4, oo)"),),
        instance={"n": "4", "i": "4"},
        reduction="the ceiling is 3 for i = n >= 4, and r + 4 is no element of Y",
        consequence=Impact.TYPO,
        effect="the last users have no item at the filler times",
        correction="r + 1 + floor(3 (i - 1)/n)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-filler-corrected",
        source="Theorem B.1, proof, the data sets D_x (corrected)",
        statement="r + 1 + floor(3 (i - 1)/n) lies in Y = [r + 3] for i = 1, ..., n",
        goals=(Goals("3*(n - 1 - s)/n < 3", "n in [1, oo); s in [0, oo)"),),
        reduction="s = n - i >= 0: the floor is at most 2",
        corrects=("ghazi-2024-theorem-b.1-filler",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-tight",
        source="Appendix B and Section 1.1, 'essentially tight', 'the best possible for pure-DP'",
        statement="up to the constant 10^6 and logarithms, tau* of Theorem B.1 is at least that of Theorem 5.6, for every eps in (0, 1)",
        goals=(Goals("1000000*0.001*k*u >= 1000*k*u/e", "e in (0, 1); k in [1, oo); u in (0, oo)", first="e = 1/2, k = 1, u = 1"),),
        reduction="u stands for both logarithms",
        consequence=Impact.GAP,
        effect="the lower bound lacks 1/eps; the bound with 1/eps is true (docs/heavy-hitters.md, Theorem 4)",
        correction="E >= log((N - 1)(1 - beta)/beta)/eps with N = sum_{j <= k} C(T, j) r^j paths",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-tight-corrected",
        source="Theorem B.1 (corrected)",
        statement="for tau* = 0.001 k log(|Y|T/k)/eps and k >= 460 the proof's last inequality still holds",
        goals=(
            Goals("log(5/2) <= 1.33*(log(2) + s)", "s in [0, oo)"),
            Goals("0.01*k*(log(2) + s) > 0.002*k*2.33*(log(2) + s) + e + log(2)", "s in [0, oo); k in [460, oo); e in (0, 1]"),
        ),
        reduction="log(rT/k) = log 2 + s, log(|Y|T/k) <= log 2.5 + log(rT/k), eps n <= 2 eps tau* + eps",
        corrects=("ghazi-2024-theorem-b.1-tight",),
    ),
)
