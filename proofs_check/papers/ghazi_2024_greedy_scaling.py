"""Ghazi et al. 2024: Algorithm 4 and Appendices E and F, what ghazi_2024_setcover.py does not have.

Logarithms without a base are to the base 2, as tau_r = n~/2^r and "log(6m/beta_r) = log(m/beta) + (R - r + 3)" need it.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_ROUND = "q in [100, oo); t in (0, oo)"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-algorithm-4-sets",
        source="Algorithm 4, 'n_min <- 100 log m', 'R <- floor(log(n~/n_min))'",
        statement="n_min > 0 for every number of sets m >= 1",
        goals=(Goals("100*log(m) > 0", "m in [1, oo)", first="m = 1"),),
        consequence=Impact.TYPO,
        effect="division by zero for m = 1",
        correction="m >= 2; with one set there is nothing to choose",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-sets-corrected",
        source="Algorithm 4 (corrected)",
        statement="n_min > 0 for m >= 2",
        goals=(Goals("100*log(m) > 0", "m in [2, oo)"),),
        corrects=("ghazi-2024-algorithm-4-sets",),
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-sum",
        source="Appendix E, '0.5 eps + sum over r in N of eps_r <= eps'",
        statement="the sum of eps_r = eps/(4 * 2^(R - r)) over all r in N is at most eps/2",
        goals=(Goals("e/4 + e/2 + e <= e/2", "e in (0, oo)", first="e = 1"),),
        reduction="eps_R + eps_(R + 1) + eps_(R + 2): the terms beyond R grow",
        consequence=Impact.TYPO,
        effect="the sum over all of N is infinite; Algorithm 4 has R rounds",
        correction="the sum over r in [R]",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-sum-corrected",
        source="Appendix E (corrected)",
        statement="the sum of eps_r over r in [R] is (eps/2)(1 - 2^-R) <= eps/2",
        goals=(
            Goals("(e/2*(1 - s))/2 + e/4 == e/2*(1 - s/2)", "e in (0, oo); s in (0, 1]"),
            Goals("e/2*(1 - s) <= e/2", "e in (0, oo); s in (0, 1]"),
        ),
        reduction="s = 2^-R; from R to R + 1 all budgets are halved and eps/4 is added; R = 0 gives 0",
        corrects=("ghazi-2024-algorithm-4-sum",),
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-threshold",
        source="Algorithm 4, '> p_r tau_r' with tau_r = 1000 n~/2^r; Appendix E, tau_r = n~/2^r and '|D_s cap S_i| < tau_r'",
        statement="the threshold of Algorithm 4 is the one of its proof: p_r * 1000 n~/2^r = n~/2^r",
        goals=(Goals("p*(1000*n) == n", "p in (0, 1); n in (0, oo)", first="p = 1/2, n = 1"),),
        reduction="n stands for n~/2^r",
        consequence=Impact.GAP,
        effect="the proof is about another algorithm. With the printed one p_r tau_r < 500 eps n_min for every r, so for small "
        "eps sets pass by "
        "noise alone, where (19) is to exclude it",
        correction="the threshold tau_r = n~/2^r, with n_min raised; or fresh thresholds, docs/submodular.md, Theorem 18",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-threshold-corrected",
        source="Algorithm 4 (corrected: threshold tau_r = n~/2^r, n_min = 800 log2(m/beta)), Equations (19) and (20)",
        statement="log2(6m/beta_r) <= 0.005 tau_r and 10 ln(12 m^q/beta_r) <= 0.05 q tau_r, for all r and m >= 2",
        goals=(
            Goals("x + log(6)/log(2) + j <= 0.005*800*x*(1 + j)", "x in [1, oo); j in [0, oo)"),
            Goals(
                "10*(log(12) + q*log(2)*y + log(2)*b + log(2)*j) <= 0.05*q*800*(y + b)*(1 + j)",
                "q in [100, oo); y in [1, oo); b in [0, oo); j in [0, oo)",
            ),
        ),
        reduction="j = R - r, tau_r >= n_min 2^j >= n_min (1 + j), x = y + b = log2(m/beta) with y = log2 m >= 1",
        corrects=("ghazi-2024-algorithm-4-threshold", "ghazi-2024-equation-19", "ghazi-2024-equation-20"),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.4-small",
        source="Appendix E, 'any output will yield an approximation ratio at most n'",
        statement="a cost of at most n is at most n SetCov",
        goals=(Goals("n <= n*k", "n in [0, oo); k in [1, oo)"),),
        reduction="every element chooses one set; SetCov >= 1 if there is an element",
    ),
    PaperClaim(
        id="ghazi-2024-equation-13",
        source="Appendix E, Equation (13)",
        statement="Laplace noise in [-n/2, n] gives 0.5 n~ <= n <= 2 n~, also where n~ = n_min",
        goals=(
            Goals("0.5*(n + n*s) <= n", "n in [0, oo); s in [0, 1]"),
            Goals("n <= 2*(n - n/2*s)", "n in [0, oo); s in [0, 1]"),
            Goals("0.5*(100*l) <= 1000*(l + b)/e", "l in [0, oo); b in [0, oo); e in (0, 1)"),
        ),
        reduction="l = log m; the last goal: 0.5 n_min <= 1000 log(m/beta)/eps < n",
    ),
    PaperClaim(
        id="ghazi-2024-equation-13-probability",
        source="Appendix E, Equation (13), 'with probability 1 - beta/3', for the printed Lap(0.5/eps) and for Lap(2/eps)",
        statement="noise beyond n/2 has probability at most beta/3 for n > 1000 log(m/beta)/eps, m >= 2",
        goals=(
            Goals("exp(-2*e*(1000*x/e)/2) <= exp(-x)/3", "e in (0, 1); x in [0.69, oo)"),
            Goals("exp(-e/2*(1000*x/e)/2) <= exp(-x)/3", "e in (0, 1); x in [0.69, oo)"),
        ),
        reduction="x = log(m/beta) >= log 2, and e^-x <= beta",
    ),
    PaperClaim(
        id="ghazi-2024-equation-14-probability",
        source="Appendix E, Equation (14), with log to the base 2",
        statement="m noises Exp(ln 2) are below log2(6m/beta_r) with probability 1 - beta_r/6",
        goals=(Goals("m*exp(-log(2)*(log(6*m/b)/log(2))) == b/6", "m in [1, oo); b in (0, 1]"),),
    ),
    PaperClaim(
        id="ghazi-2024-equation-15-sets",
        source="Appendix E, (15) and (16), 'union bound over all sets T of at most q'",
        statement="there are at most m^q sets of at most q >= 2 of m >= 2 elements",
        goals=(
            Goals("1 + (2 + s) + (2 + s)*(1 + s)/2 <= (2 + s)**2", "s in [0, oo)"),
            Goals("(2 + s)/6 <= 1 + s", "s in [0, oo)"),
        ),
        reduction="m = 2 + s: first q = 2; then C(m, q + 1) <= m^q m/(q + 1)! <= m^q m/6 <= m^q (m - 1)",
    ),
    PaperClaim(
        id="ghazi-2024-equation-15-probability",
        source="Appendix E, (15) and (16), 'with probability at least 1 - beta_r/6'",
        statement="alpha = 0.3, zeta_r = 10 ln(12 m^q/beta_r): m^q (e^(-alpha zeta) + e^(-alpha zeta/3)) <= beta_r/6",
        goals=(
            Goals("0.3*(10*y) == 3*y", "y in [0, oo)"),
            Goals("u**3 + u <= 2*u", "u in [0, 1/12]"),
            Goals("M*(2*(b/(12*M))) == b/6", "M in [1, oo); b in (0, 1]"),
        ),
        reduction="u = beta_r/(12 m^q) is e^(-alpha zeta/3), and u^3 is e^(-alpha zeta); M = m^q",
    ),
    PaperClaim(
        id="ghazi-2024-appendix-e-union",
        source="Appendix E, '1 - beta/3 - sum of 2 beta_r/6 >= 1 - beta'",
        statement="the sum of beta_r = beta/2^(R - r) over r in [R] is 2 beta (1 - 2^-R), and 1 - beta/3 - (1/3) of it is >= 1 - beta",
        goals=(
            Goals("(2*b*(1 - s))/2 + b == 2*b*(1 - s/2)", "b in [0, 1]; s in (0, 1]"),
            Goals("1 - b/3 - 2/6*(2*b*(1 - s)) >= 1 - b", "b in [0, 1]; s in (0, 1]"),
        ),
        reduction="s = 2^-R",
    ),
    PaperClaim(
        id="ghazi-2024-equation-19-equality",
        source="Appendix E, Equation (19), 'log(6m/beta_r) = log(m/beta) + (R - r + 3)'",
        statement="log2 6 = 3",
        goals=(Goals("log(6)/log(2) + x == x + 3", "x in [0, oo)", first="x = 0"),),
        reduction="x = log2(m/beta) + R - r",
        consequence=Impact.TYPO,
        effect="none",
        correction="<=",
    ),
    PaperClaim(
        id="ghazi-2024-equation-19-equality-corrected",
        source="Appendix E, Equation (19) (corrected)",
        statement="log2(6m/beta_r) <= log2(m/beta) + R - r + 3",
        goals=(Goals("log(6)/log(2) + x <= x + 3", "x in [0, oo)"),),
        corrects=("ghazi-2024-equation-19-equality",),
    ),
    PaperClaim(
        id="ghazi-2024-equation-20-first",
        source="Appendix E, Equation (20), '10 ln(12 m^q/beta_r) <= 10 q ln(m/beta_r)'",
        statement="12 m^q/beta_r <= (m/beta_r)^q",
        goals=(Goals("log(12) + q*l + b <= q*(l + b)", "q in [100, oo); l in [0, oo); b in (0, oo)", first="q = 100, l = 1, b = 1/100"),),
        reduction="l = ln m, b = ln(1/beta_r); b = 1/100 is beta_r = 0.99, r = R",
        consequence=Impact.GAP,
        effect="it fails at r = R for beta > 0.976",
        correction="it holds for beta <= 0.97",
    ),
    PaperClaim(
        id="ghazi-2024-equation-20-first-corrected",
        source="Appendix E, Equation (20), first part (corrected)",
        statement="12 m^q/beta_r <= (m/beta_r)^q for beta_r <= e^-0.0252",
        goals=(Goals("log(12) + q*l + b <= q*(l + b)", "q in [100, oo); l in [0, oo); b in [0.0252, oo)"),),
        corrects=("ghazi-2024-equation-20-first",),
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-base",
        source="Claim E.1, base case, '(18) follows immediately from (13)'",
        statement="n <= 2 n~ <= 0.1 q tau_0/p_0",
        goals=(Goals("2*t <= 0.1*q*t/p", _ROUND + "; p in (0, 1]"),),
        reduction="t = tau_0 = n~",
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-rates",
        source="Claim E.1, 'p_r/p_(r-1) = (1 - e^-eps_r)/(1 - e^(-eps_r/2)) = 1 + e^(-eps_r/2) <= 2'",
        statement="the equality and the inequality",
        goals=(
            Goals("1 - exp(-x) == (1 + exp(-x/2))*(1 - exp(-x/2))", "x in [0, oo)"),
            Goals("1 + exp(-x/2) <= 2", "x in (0, oo)"),
        ),
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-sample",
        source="Claim E.1, '|D_s,r minus S| <= 0.52 q tau_r + 0.05 q tau_r'",
        statement="1.3 p_r 0.1 q tau_(r-1)/p_(r-1) + zeta_r <= 0.52 q tau_r + 0.05 q tau_r, as tau_(r-1) = 2 tau_r",
        goals=(Goals("1.3*0.1*q*(2*t)*(1 + exp(-x)) + 0.05*q*t*s <= 0.52*q*t + 0.05*q*t", _ROUND + "; x in [0, oo); s in [0, 1]"),),
        reduction="p_r/p_(r-1) = 1 + e^-x; zeta_r = 0.05 q tau_r s by (20)",
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-picks",
        source="Claim E.1, 'covers at least 0.995 tau_r' and '0.6 q tau_r/(0.995 tau_r) < q'",
        statement="a chosen set covers tau_r - theta >= 0.995 tau_r, and 0.6 q/0.995 < q",
        goals=(
            Goals("t - 0.005*t*s >= 0.995*t", "t in (0, oo); s in [0, 1]"),
            Goals("0.6*q*t/(0.995*t) < q", _ROUND),
        ),
        reduction="for the threshold tau_r of the proof, not that of Algorithm 4",
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-remaining",
        source="Claim E.1, 'the remaining sets must satisfy |D_s,r cap S_i| < tau_r'",
        statement="a set that is not chosen has few elements in the sample",
        against=(
            Goals("0*c + t/2*s <= t", "c in [0, oo); t in (0, oo); s in [0, 1]"),
            Goals("2*t >= t", "t in (0, oo)"),
        ),
        instance={"t": "1", "c": "2"},
        reduction="two equal sets of c = 2 tau_r sampled elements: the first is chosen, the second has no uncovered element and "
        "noise up to "
        "tau_r/2 (by (19) it is less), so it remains, with |D_s,r cap S_i| = 2 tau_r",
        consequence=Impact.TYPO,
        effect="only uncovered elements are counted by the algorithm, and only they are needed; likewise 'i not in I' and "
        "'|D_s,r cap S_pi|' must be 'i in I' and '|D_s,r minus S_pi|'",
        correction="|(D_s,r cap S_i) minus S_pi(<j_r)| < tau_r",
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-remaining-corrected",
        source="Claim E.1 (corrected), with 'the number of remaining elements is at most tau_r SetCov = 0.01 tau_r q'",
        statement="uncovered counts only fall after a refusal, and k sets of a cover have at most k tau_r uncovered elements",
        goals=(
            Goals("u - v + s <= u + s", "u in [0, oo); v in [0, oo); s in [0, oo)"),
            Goals("k*t*s <= 0.01*t*(100*k)", "k in [1, oo); t in (0, oo); s in [0, 1]"),
        ),
        reduction="u = count at the refusal, v = what is covered later",
        corrects=("ghazi-2024-claim-e.1-remaining",),
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-uncovered",
        source="Claim E.1, last display",
        statement="(0.01 tau_r q + 0.05 q tau_r)/(0.7 p_r) < 0.1 q tau_r/p_r",
        goals=(Goals("(0.01*t*q + 0.05*q*t)/(0.7*p) < 0.1*q*t/p", _ROUND + "; p in (0, 1]"),),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.4-number-of-sets",
        source="Appendix E, display after Claim E.1, first inequality, 'j_R <= R q' by (17)",
        statement="the value of j after R rounds that choose at most q sets each is at most R q",
        goals=(Goals("1 + R*q*s <= R*q", "R in [1, oo); q in [100, oo); s in [0, 1]", first="R = 1, q = 100, s = 1"),),
        reduction="R q s sets are chosen; Algorithm 4 starts with j = 1",
        consequence=Impact.TYPO,
        effect="none: j_R is one more than the number of sets that are chosen in the rounds",
        correction="(j_R - 1) + |D minus S| <= R q + 0.1 q tau_R/p_R",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.4-number-of-sets-corrected",
        source="Appendix E, display after Claim E.1, first inequality (corrected)",
        statement="j_R - 1 <= R q, and (18) at r = R",
        goals=(
            Goals(
                "(1 + R*q*s) - 1 + 0.1*q*t*u/p <= R*q + 0.1*q*t/p",
                "R in [1, oo); q in [100, oo); s in [0, 1]; t in (0, oo); u in [0, 1]; p in (0, 1]",
            ),
        ),
        reduction="|D minus S| = u times its bound (18)",
        corrects=("ghazi-2024-theorem-1.4-number-of-sets",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.4-last",
        source="Appendix E, display after Claim E.1, second inequality (the O made explicit)",
        statement="0.1 q tau_R/p_R <= 9100 SetCov log(m)/eps for tau_R < 2 n_min = 200 log m and p_R = 1 - e^(-eps/4)",
        goals=(Goals("0.1*100*(2*100)*e <= 9100*(1 - exp(-e/4))", "e in [0, 1]"),),
        reduction="times eps p_R, divided by SetCov log m. beta is missing because n_min has none; with n_min = 800 log2(m/beta) "
        "it is there, and 72800 instead of 9100",
    ),
    PaperClaim(
        id="ghazi-2024-equation-22",
        source="Appendix F, Equation (22)",
        statement="if each set has at most c of u uncovered elements, a cover has at least u/c sets",
        goals=(Goals("(k*c - s)/c <= k", "k in [1, oo); c in (0, oo); s in [0, oo)"),),
        reduction="u = k c - s",
    ),
    PaperClaim(
        id="ghazi-2024-equation-23-union",
        source="Appendix F, Equation (23), 'with probability at least 1 - beta/2'",
        statement="alpha = 0.1, zeta = 2000 r log(m/beta): (m + 1)^r e^(-alpha zeta) <= beta/2 for m >= 2",
        goals=(Goals("r*log(m + 1) + log(2) + b <= 0.1*(2000*r*(log(m) + b))", "m in [2, oo); r in [1, oo); b in [0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-appendix-f-chain-1",
        source="Appendix F, last display, first line",
        statement="(23) gives |D minus S| <= (zeta + |D_s minus S'|)/((1 - alpha) p)",
        goals=(Goals("n - s <= (z + (0.9*p*n - z))/(0.9*p)", "n in [0, oo); s in [0, oo); p in (0, 1]; z in [0, oo)"),),
        reduction="alpha = 0.1 and |D_s minus S'| at its least value of (23)",
    ),
    PaperClaim(
        id="ghazi-2024-appendix-f-chain-2",
        source="Appendix F, last display, second line, by (22)",
        statement="|D_s minus S'| <= log(m/beta) SetCov",
        goals=(Goals("c*l*k <= l*k", "c in [1, oo); l in (0, oo); k in [1, oo)", first="c = 2, l = 1, k = 1"),),
        reduction="c is the constant of the O of (21), hence of the Omega of (22)",
        consequence=Impact.TYPO,
        effect="a constant is lost; the next line has an O again",
        correction="O(log(m/beta) SetCov)",
    ),
    PaperClaim(
        id="ghazi-2024-appendix-f-chain-2-corrected",
        source="Appendix F, last display, second line (corrected)",
        statement="with the constant c of (21) in it, the second line is (zeta + c log(m/beta) SetCov)/((1 - alpha) p)",
        goals=(
            Goals(
                "(z + c*l*k*s)/(0.9*p) <= (z + c*l*k)/(0.9*p)",
                "c in [1, oo); l in (0, oo); k in [1, oo); s in [0, 1]; z in [0, oo); p in (0, 1]",
            ),
        ),
        corrects=("ghazi-2024-appendix-f-chain-2",),
    ),
    PaperClaim(
        id="ghazi-2024-appendix-f-error",
        source="Appendix F, last display, last line (the O made explicit)",
        statement="zeta/((1 - alpha) p) <= 3600 r log(m/beta)/eps for eps <= 1",
        goals=(Goals("2000*e <= 3600*0.9*(1 - exp(-e))", "e in [0, 1]"),),
        reduction="times eps p, divided by r log(m/beta)",
    ),
)
