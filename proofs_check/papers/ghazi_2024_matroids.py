"""Ghazi et al. 2024: Appendix D (matroid constraint). Notation: o = OPT, h = eta, d = OPT - theta."""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_MARKOV = "o in (0, oo); d in [0, oo); h in (0, 1]"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-algorithm-5-step",
        source="Algorithm 5, 'T <- ceil(1/eta)' and steps of size eta; 'to get y in P(M)'",
        statement="T steps of size eta stay in [0, 1]: T eta <= 1 for T = ceil(1/eta)",
        goals=(Goals("T/(T - f) <= 1", "T in [2, oo); f in [0, 1/2]", first="T = 3, f = 1/2"),),
        reduction="1/eta = T - f, f the distance to the next integer; at the witness eta = 2/5",
        consequence=Impact.WRONG,
        effect="an element that is chosen in each step gets y_u = 1.2 for eta = 0.4: y is outside the matroid polytope, where "
        "neither F^mult "
        "nor SwapRound is defined. It costs no privacy",
        correction="steps of size 1/T",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-5-step-corrected",
        source="Algorithm 5 (corrected)",
        statement="T steps of size 1/T stay in [0, 1], and 1/T <= eta",
        goals=(Goals("T*(1/T) <= 1", "T in [1, oo)"), Goals("1/T <= 1/(T - f)", "T in [2, oo); f in [0, 1/2]")),
        corrects=("ghazi-2024-algorithm-5-step",),
    ),
    PaperClaim(
        id="ghazi-2024-observation-d.3-telescopes",
        source="Observation D.3, second to last line",
        statement="the sum over t and i of g(y^(t,i)) - g(y^(t,i-1)) is g(y^(T,k)) - g(y^(1,0)), as y^(t+1,0) = y^(t,k)",
        goals=(Goals("((b - a) + (c - b)) + ((d - c) + (f - d)) == f - a", "a in R; b in R; c in R; d in R; f in R"),),
        reduction="T = k = 2; a step without candidates adds 0",
    ),
    PaperClaim(
        id="ghazi-2024-observation-d.3-range",
        source="Observation D.3, '<= 1', and 'it is simple to see that q is monotone'",
        statement="g_x^z is a mean of values of f_x, so g_x^z(y^(T,k)) - g_x^z(y^(1,0)) <= 1; it does not fall in y",
        goals=(
            Goals("(a + b)/2 - (c + d)/2 <= 1", "a in [0, 1]; b in [0, 1]; c in [0, 1]; d in [0, 1]"),
            Goals("((a + u) + (b + v))/2 - (a + b)/2 >= 0", "a in [0, 1]; b in [0, 1]; u in [0, 1]; v in [0, 1]"),
        ),
        reduction="s = 2 draws; {u: z_u < y_u} grows with y, f_x grows by u and v. This holds outside [0, 1]^m, too",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-expectation",
        source="Lemma D.6, proof, 'E[F_D(S)] = F^mult(y) = theta'",
        statement="the mean of F over SwapRound(y) is F^mult(y)",
        goals=(Goals("1 == 1 - (1 - y)*(1 - (1 - y))", "y in [0, 1]", first="y = 1/2"),),
        reduction="two elements, rank 1, y = (y, 1 - y), F(S) = 1 for S not empty: SwapRound returns one element, so the mean is 1",
        consequence=Impact.TYPO,
        effect="Definition D.5 has >=, and >= is all that is used",
        correction="E[F_D(S)] >= F^mult(y)",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-expectation-corrected",
        source="Lemma D.6, proof, second line of the display (corrected: Markov with E[F] >= theta)",
        statement="(OPT - E[F])/(OPT + eta OPT/2 - theta) <= (OPT - theta)/(OPT + eta OPT/2 - theta)",
        goals=(Goals("d/(d + t + h*o/2) <= (d + t)/(d + t + h*o/2)", _MARKOV + "; t in [0, oo)"),),
        reduction="E[F] = theta + t, OPT - E[F] = d",
        corrects=("ghazi-2024-lemma-d.6-expectation",),
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-positive",
        source="Lemma D.6, proof, second line of the display",
        statement="the denominator OPT + eta OPT/2 - theta is positive",
        goals=(Goals("d + h*o/2 > 0", "o in [0, oo); d in [0, oo); h in (0, 1]", first="o = 0, d = 0, h = 1"),),
        consequence=Impact.TYPO,
        effect="for OPT = 0 (for example an empty data set) Markov's inequality divides by zero; the lemma is trivial then",
        correction="assume OPT > 0",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-positive-corrected",
        source="Lemma D.6, proof (corrected)",
        statement="for OPT > 0 the denominator is positive",
        goals=(Goals("d + h*o/2 > 0", _MARKOV),),
        corrects=("ghazi-2024-lemma-d.6-positive",),
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-complement",
        source="Lemma D.6, proof, third line of the display",
        statement="1 - (OPT - theta)/(OPT + eta OPT/2 - theta) = (eta OPT/2)/(OPT + eta OPT/2 - theta)",
        goals=(Goals("1 - d/(d + h*o/2) == (h*o/2)/(d + h*o/2)", _MARKOV),),
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-quarter",
        source="Lemma D.6, proof, fourth line of the display",
        statement="(eta OPT/2)/(OPT + eta OPT/2 - theta) >= eta/4",
        goals=(Goals("(h*(d + t)/2)/(d + h*(d + t)/2) >= h/4", "t in [0, oo); d in (0, oo); h in (0, 1]"),),
        reduction="theta = t >= 0, OPT = d + t; for d = 0 the left side is 1",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-quarter-better",
        source="Lemma D.6, proof (strengthened)",
        statement="it is at least eta/(2 + eta), so h = ceil((1 + 2/eta) log(3/beta)) roundings are enough",
        goals=(
            Goals("(h*(d + t)/2)/(d + h*(d + t)/2) >= h/(2 + h)", "t in [0, oo); d in (0, oo); h in (0, 1]"),
            Goals("1 - h/(2 + h) <= exp(-h/(2 + h))", "h in (0, 1]"),
            Goals("h/(2 + h)*((1 + 2/h)*x) == x", "h in (0, 1]; x in [0, oo)"),
        ),
        reduction="x = log(3/beta): less than a third of the roundings",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-roundings",
        source="Lemma D.6, proof, 'by our choice of h', (8)",
        statement="(1 - eta/4)^h <= beta/3 for h = ceil(10 log(3/beta)/eta)",
        goals=(
            Goals("1 - h/4 <= exp(-h/4)", "h in [0, 1]"),
            Goals("(h/4)*(10*x/h + s) >= x", "h in (0, 1]; x in [0, oo); s in [0, 1]"),
        ),
        reduction="x = log(3/beta), the number of roundings is 10 x/eta + s",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-composition",
        source="Lemma D.6, proof, 'composition across the two add-DP mechanisms'; the same in Theorem G.2",
        statement="two (eps/2)-add-DP steps, the second depending on the first, are eps-add-DP",
        goals=(Goals("exp(e/2)*a*s*(exp(e/2)*b*t) <= exp(e)*a*b", "e in [0, oo); a in [0, 1]; b in [0, 1]; s in [0, 1]; t in [0, 1]"),),
        reduction="a = P_D'(first), b = P_D'(second | first); on D they are e^(eps/2) a s and e^(eps/2) b t; then sums over outcomes",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-d.6-final",
        source="Lemma D.6, proof, from (7), (8), (9) to the conclusion",
        statement="(1 - 1/e - eta/2) OPT - eta OPT/2 = (1 - 1/e - eta) OPT",
        goals=(Goals("(1 - exp(-1) - h/2)*o - h*o/2 == (1 - exp(-1) - h)*o", "h in (0, 1]; o in [0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.3-privacy",
        source="Appendix D, proof of Theorem 1.3, 'the privacy guarantee immediately follows from Theorem 4.3'",
        statement="Theorem 4.3 alone, with eps0 = ln 2, gives a loss of at most eps",
        goals=(Goals("log(2) <= e", "e in (0, 1)", first="e = 1/2"),),
        consequence=Impact.TYPO,
        effect="Theorem 4.3 bounds the loss before sampling, in one direction",
        correction="it follows from Corollary 3.2",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.3-range",
        source="Proofs of Theorems 1.3 and 1.5: Lemma D.6 and Theorem G.2 used with eps0 = ln 2",
        statement="ln 2 lies in the range (0, 1) of their epsilon",
        goals=(Goals("log(2) > 0", ""), Goals("log(2) < 1", "")),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.3-union",
        source="Appendix D, proof of Theorem 1.3, (11) and (12) with probability at least 1 - beta/2",
        statement="alpha = 0.1 eta, zeta = 100 k log(m/beta)/eta: (m + 1)^k (e^(-alpha zeta) + e^(-alpha zeta/3)) <= beta/2",
        goals=(
            Goals("0.1*h*(100*k*x/h) == 10*k*x", "h in (0, 1]; k in [1, oo); x in [0, oo)"),
            Goals("exp(-20/3*x) <= 0.1", "x in [0.69, oo)"),
            Goals("k*log(m + 1) + log(2*1.1) + b <= 10/3*k*(log(m) + b)", "m in [2, oo); k in [1, oo); b in [0, oo)"),
        ),
        reduction="e^(-10 k x) <= 0.1 e^(-10/3 k x), x = log(m/beta) >= log 2; then logarithms",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.3-chain-4",
        source="Appendix D, proof of Theorem 1.3, last display, last line",
        statement="(1 - alpha)/(1 + alpha) (1 - 1/e - eta/2) >= 1 - 1/e - eta for alpha = 0.1 eta",
        goals=(Goals("(1 - 0.1*h)/(1 + 0.1*h)*(1 - exp(-1) - h/2) >= 1 - exp(-1) - h", "h in [0, 1]"),),
    ),
)
