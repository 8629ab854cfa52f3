"""Ghazi et al. 2024: Algorithm 4 and Appendix E (set cover), and the repaired proof of Theorem 1.4 (docs/submodular.md).

Notation: l = log m and b = log(1/beta), to one base in each line; e = epsilon; k = the size of an optimal cover.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_ANY = "x in [0, 1]"
_OURS = "docs/submodular.md, Theorem 18"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-algorithm-4-count",
        source="Algorithm 4 and Appendix E, 'the computation of n~ is 0.5 eps-DP'",
        statement="n + Lap(0.5/eps) is (0.5 eps)-DP: Laplace noise of scale b on a count costs 1/b <= 0.5 eps",
        goals=(Goals("1/(1/(2*e)) <= e/2", "e in (0, oo)", first="e = 1"),),
        consequence=Impact.WRONG,
        effect="it costs 2 eps. For 2 disjoint sets of 54800 and 150000 elements (logs to the base 2) the permutation alone has the "
        "log-ratio 2 eps, up to 1e-28, on an event of probability 1/2",
        correction="Lap(2/eps); or no count at all: a public guess of n, because a threshold that is too high costs nothing",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-count-corrected",
        source="Algorithm 4 (corrected)",
        statement="n + Lap(2/eps) is (0.5 eps)-DP",
        goals=(Goals("1/(2/e) <= e/2", "e in (0, oo)"),),
        corrects=("ghazi-2024-algorithm-4-count",),
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-epsilon",
        source="Appendix E, 'the entire algorithm is eps'-DP for eps' <= eps'",
        statement="the count and the rounds of Algorithm 4, as printed, spend at most eps",
        goals=(Goals("2*e + e/2*(1 - s) <= e", "e in (0, oo); s in (0, 1]", first="e = 1, s = 1"),),
        reduction="the count costs 2 eps, the rounds eps/2 (1 - s) with s = 2^-R; R = 0 is s = 1",
        consequence=Impact.WRONG,
        effect="composition bounds it by 2 eps + (eps/2)(1 - 2^-R) < 2.5 eps; at least 2 eps is attained",
        correction="with Lap(2/eps) the sum is at most eps",
    ),
    PaperClaim(
        id="ghazi-2024-algorithm-4-epsilon-corrected",
        source="Appendix E (corrected)",
        statement="with Lap(2/eps) the count and the rounds spend at most eps",
        goals=(Goals("e/2 + e/2*(1 - s) <= e", "e in (0, oo); s in (0, 1]"),),
        corrects=("ghazi-2024-algorithm-4-epsilon",),
    ),
    PaperClaim(
        id="ghazi-2024-equation-19",
        source="Appendix E, Equation (19) at r = R",
        statement="log(6 m/beta_R) <= 0.005 tau_R",
        goals=(Goals("log(6) + l + b <= u*l", "l in [1/2, oo); b in [0, oo); u in [1/2, 1)", first="l = 1, b = 0, u = 1/2"),),
        reduction="tau_R = n~/2^R = 200 u log m with u in [1/2, 1), because n_min = 100 log m and R = floor(log2(n~/n_min)); beta_R = beta",
        consequence=Impact.GAP,
        effect="it holds for no m, no beta and no n~; the printed threshold p_r tau_r with tau_r = 1000 n~/2^r is another one, and below "
        "the noise for small eps",
        correction="docs/submodular.md, Theorem 18: thresholds 8.25 log(6 m 2^s/beta)",
    ),
    PaperClaim(
        id="ghazi-2024-equation-19-never",
        source="Appendix E, Equation (19) at r = R (corrected)",
        statement="log(6 m/beta_R) > 0.005 tau_R, always",
        goals=(Goals("log(6) + l + b > u*l", "l in [0, oo); b in [0, oo); u in [1/2, 1]"),),
        corrects=("ghazi-2024-equation-19",),
    ),
    PaperClaim(
        id="ghazi-2024-equation-20",
        source="Appendix E, Equation (20) at r = R, n~ = 2^R n_min",
        statement="10 ln(12 m^q/beta_R) <= 0.05 q tau_R",
        goals=(
            Goals("10*(log(12) + b + q*l) <= 5*q*l/log(2)", "l in [1/2, oo); b in [0, oo); q in [100, oo)", first="l = 1, b = 0, q = 100"),
        ),
        reduction="tau_R = 100 log2 m; q = 100 SetCov >= 100",
        consequence=Impact.GAP,
        effect="n_min = 100 log m has no beta, and its constant is too small unless n~ >= 1.39 n_min 2^R",
        correction="docs/submodular.md, Theorem 18",
    ),
    PaperClaim(
        id="ghazi-2024-equation-20-never",
        source="Appendix E, Equation (20) at r = R, n~ = 2^R n_min (corrected)",
        statement="10 ln(12 m^q/beta_R) > 0.05 q tau_R, always",
        goals=(Goals("10*(log(12) + b + q*l) > 5*q*l/log(2)", "l in [0, oo); b in [0, oo); q in [1, oo)"),),
        corrects=("ghazi-2024-equation-20",),
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-sum",
        source="Appendix E, proof of Claim E.1",
        statement="0.52 q tau_r + 0.05 q tau_r <= 0.6 tau_r",
        goals=(Goals("52/100*q*t + 5/100*q*t <= 6/10*t", "q in [100, oo); t in (0, oo)", first="q = 100, t = 1"),),
        consequence=Impact.TYPO,
        effect="the next line has the q again",
        correction="<= 0.6 q tau_r",
    ),
    PaperClaim(
        id="ghazi-2024-claim-e.1-sum-corrected",
        source="Appendix E, proof of Claim E.1 (corrected)",
        statement="0.52 q tau_r + 0.05 q tau_r <= 0.6 q tau_r",
        goals=(Goals("52/100*q*t + 5/100*q*t <= 6/10*q*t", "q in [100, oo); t in (0, oo)"),),
        corrects=("ghazi-2024-claim-e.1-sum",),
    ),
    PaperClaim(
        id="ghazi-2024-cover-once-budget",
        source="docs/submodular.md, Theorem 16",
        statement="with e^eps0 = 1 + (e^eps - 1)/p a round on a sample of rate p costs exactly eps where a record goes",
        goals=(Goals("1 + p*((1 + (exp(e) - 1)/p) - 1) == exp(e)", "e in [0, oo); p in (0, 1]"),),
    ),
    PaperClaim(
        id="ghazi-2024-set-cover-rates",
        source=_OURS,
        statement="1 - e^-(lam x) <= lam (1 - e^-x): rates grow no faster than shares of epsilon",
        goals=(Goals("1 - exp(-l*x) <= l*(1 - exp(-x))", "l in [1, oo); x in [0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-set-cover-constants",
        source=_OURS,
        statement="the constants 8.25, 3.5, 10.2, 1.193, 0.45 satisfy what the proof needs",
        goals=(
            Goals("1 - 4/(33*log(2)) >= 33/40", _ANY),
            Goals("1193/1000*7/(1 - 4/(33*log(2))) <= 51/5", _ANY),
            Goals("33/4*(7/2 - 1 - log(7/2)) >= 51/5", _ANY),
            Goals("7*33/4*(1193/1000*log(1193/1000) - 193/1000) >= 1", _ANY),
            Goals("33/4*(33/40*log(33/40/(9/20)) - 33/40 + 9/20) >= 1", _ANY),
            Goals("(51/5*k - 1)*log(6) >= 51/5*k*log(2)", "k in [1, oo)"),
        ),
        reduction="in the order of the proof: what is not noise, picks, union over sets, large samples, idle rounds, log(m + 1) for log m",
    ),
    PaperClaim(
        id="ghazi-2024-set-cover-one-sample-slope",
        source="docs/submodular.md, Theorem 17",
        statement="x - 1 - log x >= 0.4 x for x >= 4",
        goals=(Goals("x - 1 - log(x) >= 4/10*x", "x in [4, oo)"),),
    ),
)
