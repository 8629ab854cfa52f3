"""Ghazi et al. 2024: Sections 1, 2 and 4 up to the applications: definitions, Theorem 2.1 (Chernoff), Theorem 2.2.

Notation: Z is a sum of independent Z_i in [0, 1] with mean mu; s is the parameter of the exponential moment.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim, Status

_ALPHA = "a in [0, 1]"
_MARKOV = "Markov's inequality for e^(sZ) and E e^(sZ) <= exp(mu (e^s - 1))"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-footnote-1",
        source="Footnote 1, with Section 6 ('non-monotone submodular maximization')",
        statement="F(S + v) - F(S) >= F(T + v) - F(T) for all S in T and all v in [m] holds for the cut function of an edge of weight c",
        goals=(Goals("0 - c >= c - c", "c in (0, 1]", first="c = 1"),),
        reduction="S = {1}, T = {1, 2}, v = 2: F(S) = c, F(T) = 0 and F(S + v) = F(T), so the left side is -c and the right side 0",
        consequence=Impact.TYPO,
        effect="v = an element of T makes every submodular function monotone (T = S + v); nothing changes for the monotone "
        "functions of the paper",
        correction="for all v outside T",
    ),
    PaperClaim(
        id="ghazi-2024-footnote-1-corrected",
        source="Footnote 1 (corrected)",
        statement="with v outside T the cut function of an edge satisfies it; for monotone F both forms agree, as v in T gives 0 "
        "on the right",
        goals=(Goals("c - 0 >= 0 - c", "c in (0, 1]"), Goals("g >= 0", "g in [0, oo)")),
        reduction="S = {}, T = {1}, v = 2 is the only case that is no equality; g = F(S + v) - F(S) of a monotone F",
        corrects=("ghazi-2024-footnote-1",),
    ),
    PaperClaim(
        id="ghazi-2024-footnote-5",
        source="Section 1, Set Cover, and Footnote 5",
        statement="the coverage function is submodular: an element that S_v has and T does not cover is not covered by S, either",
        goals=(Goals("(1 - s)*v >= (1 - s)*(1 - t)*v", "s in [0, 1]; t in [0, 1]; v in [0, 1]"),),
        reduction="for one element: s, t, v are 1 if S, the rest of T, S_v contain it; sums over the elements",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-moment",
        source="Theorem 2.1, the exponential moments",
        statement="E e^(sZ) <= exp(mu (e^s - 1)) and E e^(-sZ) <= exp(-mu (1 - e^-s)) for s >= 0",
        goals=(
            Goals("exp(s*z) >= 0", "s in R; z in [0, 1]", derive=("z", "z")),
            Goals("1 + m*h <= exp(m*h)", "m in [0, 1]; h in [0, oo)"),
            Goals("1 - m*h <= exp(-m*h)", "m in [0, 1]; h in [0, 1]"),
        ),
        reduction="e^(sz) is convex in z, so at most 1 + z (e^s - 1) on [0, 1]; then one factor 1 + m h, with m = E Z_i and h = "
        "e^s - 1 (or 1 - e^-s); factors of "
        "independent Z_i multiply",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-lower",
        source="Theorem 2.1, first line",
        statement="Pr[Z < (1 - alpha) mu - zeta] <= exp(-alpha zeta)",
        goals=(Goals("a*(1 - a) <= 1 - exp(-a)", _ALPHA),),
        reduction=f"{_MARKOV}, s = -alpha: the bound is exp(-alpha zeta) times exp(mu (alpha (1 - alpha) - 1 + e^-alpha))",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-upper",
        source="Theorem 2.1, second line",
        statement="Pr[Z > (1 + alpha) mu + zeta] <= exp(-alpha zeta/3)",
        goals=(Goals("exp(a/3) - 1 <= a/3*(1 + a)", _ALPHA),),
        reduction=f"{_MARKOV}, s = alpha/3",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-lower-better",
        source="Theorem 2.1, first line (strengthened)",
        statement="Pr[Z < (1 - alpha) mu - zeta] <= exp(-2 alpha zeta)",
        goals=(Goals("2*a*(1 - a) <= 1 - exp(-2*a)", _ALPHA),),
        reduction="the same with s = -2 alpha",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-upper-better",
        source="Theorem 2.1, second line (strengthened)",
        statement="Pr[Z > (1 + alpha) mu + zeta] <= exp(-1.25 alpha zeta)",
        goals=(
            Goals("exp(1.25*a) - 1 <= 1.25*a*(1 + a)", "a in [0, 0.6]"),
            Goals("exp(1.25*a) - 1 <= 1.25*a*(1 + a)", "a in [0.6, 1]"),
        ),
        reduction="the same with s = 1.25 alpha; nearly four times the paper's exponent",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-identical",
        source="Theorem 2.1, 'i.i.d.', as applied in Sections 4.1.1 and 5.1.1 and in Appendices D, E, F and G",
        statement="the variables Z_x = f_x(T) 1[x in D_s] are identically distributed: equal means p f_x(T)",
        goals=(Goals("p*f == p*g", "p in (0, 1]; f in [0, 1]; g in [0, 1]", first="p = 1/2, f = 1, g = 1/2"),),
        consequence=Impact.GAP,
        effect="the theorem as stated does not apply; its proof does",
        correction="assume that the Z_i are independent",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.1-identical-corrected",
        source="Theorem 2.1 (corrected)",
        statement="independence is enough: factors with different means m and n have the product bound exp((m + n) h)",
        goals=(Goals("exp(m*h)*exp(n*h) == exp((m + n)*h)", "m in [0, 1]; n in [0, 1]; h in [0, oo)"),),
        reduction="h = e^s - 1; only the sum of the means is left",
        corrects=("ghazi-2024-theorem-2.1-identical",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.2-privacy",
        source="Theorem 2.2, 'the exponential mechanism is (2 eps Delta)-DP'",
        statement="P_D(c)/P_D'(c) <= e^(2 eps Delta)",
        goals=(Goals("exp(e*(1 - x))*exp(e*(1 - y)) <= exp(2*e)", "e in [0, oo); x in [0, 2]; y in [0, 2]"),),
        reduction="e = eps Delta; the score of c grows by Delta (1 - x), that of another candidate falls by Delta (1 - y); the "
        "weight of each "
        "candidate in Z(D') is at most e^(2e - e(1 - x)) times the one in Z(D)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.2-two-is-needed",
        source="Theorem 2.2 (the factor 2 without monotonicity)",
        statement="one candidate gains Delta and n lose it: the ratio is at least e^(2 eps Delta)(1 - (e^(2 eps Delta) - 1)/n)",
        goals=(Goals("(1 + h)*(1 + n)/(1 + h + n) >= (1 + h)*(1 - h/n)", "h in (0, oo); n in [1, oo)"),),
        reduction="e^(2 eps Delta) = 1 + h; P_D/P_D' = (e^e/(e^e + n e^-e)) (1 + n). Monotone scores cost eps Delta when a record comes: "
        "ghazi-2024-theorem-4.3",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-2.2-utility",
        source="Theorem 2.2, 'q(c*) >= max - O(log(|C|/beta)/eps)'",
        statement="the constant of the O is 1: |C| candidates below max - log(|C|/beta)/eps have together probability at most beta",
        goals=(Goals("c*exp(-e*(log(c/b)/e)) == b", "c in [1, oo); e in (0, oo); b in (0, 1]"),),
        reduction="each has at most e^(-eps gap) times the probability of the best one, which is at most 1",
    ),
    PaperClaim(
        id="ghazi-2024-assumption-4.2-positive",
        source="Assumptions 4.2 and 5.2; Algorithms 1 and 2, eps0/Delta",
        statement="the scale eps0/Delta is defined for every Delta of the assumptions: Delta > 0",
        goals=(Goals("d > 0", "d in [0, oo)", first="d = 0"),),
        consequence=Impact.TYPO,
        effect="for Delta = 0 (nothing that can be chosen depends on the data) the algorithms divide by zero",
        correction="Delta > 0; where Delta = 0 holds, so does every larger one",
    ),
    PaperClaim(
        id="ghazi-2024-assumption-4.2-positive-corrected",
        source="Assumptions 4.2 and 5.2 (corrected)",
        statement="a realised sensitivity of 0 is one of at most Delta, and costs nothing at any scale eps0/Delta, Delta > 0",
        goals=(Goals("exp(e/d*(0*d)) == 1", "d in (0, oo); e in (0, oo)"),),
        corrects=("ghazi-2024-assumption-4.2-positive",),
    ),
    PaperClaim(
        id="ghazi-2024-section-1.1-theorems",
        source="Section 1.1, Theorems 1.2 to 1.6",
        statement="approximation ratios and errors O(...) w.p. 1 - beta",
        aside=Status.OUT_OF_SCOPE,
        argument="the O has no constants. The constants that the proofs do have are claims of their own; the repaired theorems with all "
        "constants are in docs/submodular.md, docs/metric-clustering.md and, for the others, with their applications",
    ),
    PaperClaim(
        id="ghazi-2024-section-1.1-tightness",
        source="Sections 1 and 1.1, 'tight', 'matches', 'improves by a factor of O(log(1/delta))'",
        statement="the bounds are compared with those of Gupta et al. 2010, Jones et al. 2021, Chaturvedi et al. 2021, Kaplan et al. 2021",
        aside=Status.OUT_OF_SCOPE,
        argument="orders of growth of results of other papers",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-4.5",
        source="Theorem 4.5, Theorem D.2, Definition D.5, Theorem F.2",
        statement="utility of the algorithms of Gupta et al. 2010, Chaturvedi et al. 2021, Chekuri et al. 2010",
        aside=Status.OUT_OF_SCOPE,
        argument="cited without proof and, but for Definition D.5, without constants",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-3-threshold",
        source="Algorithm 3, 'w + theta > tau_i'",
        statement="the threshold of Algorithm 3 has the index of a user",
        aside=Status.OUT_OF_SCOPE,
        argument="there is one parameter tau, and no tau_i is set; read tau. It is not known whether the index is in the original",
    ),
)
