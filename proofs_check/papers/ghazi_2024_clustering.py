"""Ghazi et al. 2024: Appendix G (metric k-means and k-median). What is repaired and proved: docs/metric-clustering.md.

Notation: r = a record's cost before a choice, in [0, 1] (1 while nothing is chosen); L = the number of rounds.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim, Status

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-theorem-g.1-assumptions",
        source="Theorem G.1, proof, 'it is simple to see that Assumption 4.1 and Assumption 4.2 are satisfied' (Delta = 1)",
        statement="one record's reductions r - min(r, d) are >= 0 and add up to at most 1",
        goals=(
            Goals("r - Min(r, d) >= 0", "r in [0, 1]; d in [0, 1]"),
            Goals("((d + u + v) - (d + u)) + ((d + u) - d) <= d + u + v + s", "d in [0, 1]; u in [0, 1]; v in [0, 1]; s in [0, 1]"),
        ),
        reduction="costs d + u + v, d + u, d after two rounds, 1 = d + u + v + s; distances above 1 would make the first one negative",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-rounds",
        source="Theorem G.1, proof, 'L = ceil(2 k ln n)' rounds, 'thus the algorithm is eps-add-DP'",
        statement="the algorithm with L = ceil(2 k ln n) rounds, n the number of records, is eps-add-DP for a finite eps",
        against=(
            Goals("2*log(2) > 1", ""),
            Goals("2*log(2) <= 2", ""),
            Goals("2*log(3) > 2", ""),
            Goals("2*log(3) <= 3", ""),
            Goals("2*log(3) < 5", ""),
        ),
        instance={"k": "1", "m": "5", "n": "3"},
        reduction="k = 1, m = 5: three records give L = 3 candidates, two records give L = 2; the supports are disjoint, so no "
        "eps is enough",
        consequence=Impact.WRONG,
        effect="the number of rounds publishes the number of records. Assumptions 4.1 and 4.2 are about a fixed L",
        correction="a public bound N of n, or a private one: L = ceil(k ln N) (docs/metric-clustering.md, Theorems 3 to 5)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-rounds-corrected",
        source="Theorem G.1 (corrected)",
        statement="L = ceil(k ln N) rounds for a public N >= n do: (1 - 1/k)^L n <= 1",
        goals=(
            Goals("1 - x <= exp(-x)", "x in [0, 1]"),
            Goals("(k*(log(n) + s) + t)/k >= log(n)", "k in [1, oo); n in [1, oo); s in [0, oo); t in [0, 1]"),
        ),
        reduction="x = 1/k; log N = log n + s, L = k log N + t: half as many rounds, none of them a function of the data",
        corrects=("ghazi-2024-theorem-g.1-rounds", "ghazi-2024-theorem-1.5-privacy"),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.5-privacy",
        source="Appendix G.2, 'Theorem 4.4 immediately implies that this algorithm is eps-DP', with the rounds of Theorem G.1",
        statement="Pr[three candidates selected from 3 records] <= e^eps Pr[... from 2 records], after Poisson sampling with p = "
        "1 - e^-eps",
        goals=(Goals("(1 - exp(-e))**3 <= exp(e)*0", "e in (0, oo)", first="e = 1"),),
        reduction="k = 1, m = 5: three candidates need three records in the sample, which has probability p^3, or 0 if there are two",
        consequence=Impact.WRONG,
        effect="sampling does not help: what was impossible stays impossible. The k final centres show it, too: the loss grows like ln m "
        "(docs/metric-clustering.md, section 3)",
        correction="the theorem is true for rounds that are public, or private themselves",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-no-round",
        source="Theorem G.1, L = ceil(2 k ln n)",
        statement="there is at least one round: 2 k ln n > 0",
        goals=(Goals("2*k*log(n) > 0", "k in [1, oo); n in [1, oo)", first="k = 1, n = 1"),),
        consequence=Impact.TYPO,
        effect="for n = 1 no candidate is chosen, and the histogram of Theorem G.2 has no cell; for n = 0 there is no logarithm",
        correction="at least k rounds",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-no-round-corrected",
        source="Theorem G.1 (corrected)",
        statement="for n >= 2 there is a round",
        goals=(Goals("2*k*log(n) > 0", "k in [1, oo); n in [2, oo)"),),
        corrects=("ghazi-2024-theorem-g.1-no-round",),
    ),
    PaperClaim(
        id="ghazi-2024-equation-24",
        source="Theorem G.1, proof, Equation (24), 'together with a union bound'",
        statement="L <= m rounds: log(m L/beta) <= 2 log(m/beta), so a constant kappa covers the union",
        goals=(Goals("2*l - s + b <= 2*(l + b)", "l in [0, oo); s in [0, oo); b in [0, oo)"),),
        reduction="l = log m, L = m e^-s, b = log(1/beta); with ghazi-2024-theorem-2.2-utility kappa = 2",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-optimal-set",
        source="Theorem G.1, proof, 'it is simple to see that the sum over c in S* ... >= Psi_i'",
        statement="for one record: (r - min(r, a)) + (r - min(r, b)) >= r - min(a, b)",
        goals=(
            Goals("(r - Min(r, a)) + (r - Min(r, a + u)) >= r - a", "r in [0, 1]; a in [0, 1]; u in [0, 1]"),
            Goals("(r - Min(r, a)) + 0 >= r - a", "r in [0, 1]; a in [0, 1]"),
        ),
        reduction="k = 2, distances a <= a + u to the optimal centres; other centres add terms >= 0, and a centre already chosen "
        "adds 0 to both",
    ),
    PaperClaim(
        id="ghazi-2024-equation-25",
        source="Theorem G.1, proof, Equation (25)",
        statement="Psi - (Psi/k - kappa log(m/beta)/eps) <= (1 - 1/(2k)) Psi where Psi >= 2 k kappa log(m/beta)/eps",
        goals=(Goals("P - (P/k - (P/(2*k) - s)) <= (1 - 1/(2*k))*P", "P in [0, oo); k in [1, oo); s in [0, oo)"),),
        reduction="kappa log(m/beta)/eps = P/(2k) - s with s >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.1-decay",
        source="Theorem G.1, proof, last display",
        statement="(1 - 1/(2k))^L Psi_0 <= e^(-0.5 L/k) n <= 1 for L = ceil(2 k ln n)",
        goals=(
            Goals("1 - 1/(2*k) <= exp(-1/(2*k))", "k in [1, oo)"),
            Goals("exp(-0.5*(2*k*log(n) + s)/k)*n <= 1", "k in [1, oo); n in [1, oo); s in [0, 1]"),
        ),
        reduction="L = 2 k log n + s",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-histogram",
        source="Theorem G.2, proof, 'an application of the exponential-noise mechanism, it satisfies (eps/2)-add-DP'",
        statement="densities: (eps/2) e^(-eps/2 (v - h - 1)) <= e^(eps/2) (eps/2) e^(-eps/2 (v - h)) for v >= h + 1",
        goals=(Goals("e/2*exp(-e/2*v) <= exp(e/2)*(e/2*exp(-e/2*(v + 1)))", "e in (0, 1]; v in [0, oo)"),),
        reduction="one cell differs, by 1; below h + 1 the density with the record is 0",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-copies",
        source="Theorem G.2, proof, 'D~ contains h~_t copies of t'",
        statement="h + theta is a number of copies for theta from Exp(eps/2)",
        against=(Goals("h + t > h", "h in [0, oo); t in [0.01, 0.99]"), Goals("h + t < h + 1", "h in [0, oo); t in [0.01, 0.99]")),
        instance={"h": "1", "t": "1/2"},
        reduction="between h and h + 1 there is no integer, and theta is an integer with probability 0",
        consequence=Impact.TYPO,
        effect="an implementation that rounds them down keeps the guarantee (post-processing) and loses up to 1 a cell",
        correction="weights h~_t; or geometric noise, which costs the same and is whole (docs/metric-clustering.md, Theorem 2)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-copies-corrected",
        source="Theorem G.2, proof (corrected)",
        statement="geometric noise P[theta >= j] = e^(-eps j/2) on a count costs eps/2 as well, when a record comes",
        goals=(Goals("exp(-e/2*j)*(1 - exp(-e/2)) <= exp(e/2)*(exp(-e/2*(j + 1))*(1 - exp(-e/2)))", "e in (0, 1]; j in [0, oo)"),),
        corrects=("ghazi-2024-theorem-g.2-copies",),
    ),
    PaperClaim(
        id="ghazi-2024-equation-27",
        source="Theorem G.2, proof, Equation (27) (the O made explicit)",
        statement="L noises Exp(eps/2) add up to at most (4/eps)(L ln 2 + ln(2/beta)) with probability 1 - beta/2",
        goals=(
            Goals("(e/2)/(e/2 - e/4) == 2", "e in (0, oo)"),
            Goals("exp(L*log(2) - e/4*(4/e*(L*log(2) + log(2/b)))) == b/2", "L in [0, oo); e in (0, oo); b in (0, 1]"),
        ),
        reduction="Markov's inequality for e^(eps sum/4), whose mean is 2^L",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-power-triangle",
        source="Theorem G.2, proof, (club): d(u, v)^q <= 2^q (d(u, w)^q + d(w, v)^q)",
        statement="(a + b)^q <= 2^q (a^q + b^q)",
        goals=(Goals("(1 + r)**q <= 2**q*(1 + s)", "r in [0, 1]; q in [0, oo); s in [0, 1]"),),
        reduction="divided by the larger one's q-th power, r = b/a <= 1 and s = r^q",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-power-triangle-best",
        source="Theorem G.2, proof, (club) (strengthened)",
        statement="2^(q-1) is enough, and the best constant, for k-median (q = 1) and k-means (q = 2)",
        goals=(
            Goals("(a + b)**2 <= 2*(a**2 + b**2)", "a in [0, oo); b in [0, oo)"),
            Goals("(a + a)**2 == 2*(a**2 + a**2)", "a in [0, oo)"),
            Goals("a + b == 1*(a + b)", "a in [0, oo); b in [0, oo)"),
        ),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-noise",
        source="Theorem G.2, proof, display (28), third line, by (27)",
        statement="cost(S*; D~) <= cost(S*; D^) + the sum of the noise: distances are at most 1",
        goals=(Goals("(h + t)*d <= h*d + t", "h in [0, oo); t in [0, oo); d in [0, 1]"),),
        reduction="for one cell with count h, noise t, cost d",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-missing-optimum",
        source="Theorem G.2, proof, second line after (spade): 'cost(S; D) <= O(1)(cost(S; D~) + k log(mn/beta)/eps)', by (27), (26)",
        statement="a constant c bounds cost(S; D) = n/2 by c log n in the instance",
        against=(Goals("16*c**2/2 > c*log(16*c**2)", "c in [1, oo)"),),
        instance={"c": "1", "n": "16"},
        reduction="n records at n candidates at distance 1 from each other and 1/2 from S = {c}: cost(S; D) = n/2, and D~ has all "
        "weight at c "
        "but for L - 1 single records, so the right side is O(log n). For every constant c, n = 16 c^2 is too large",
        consequence=Impact.TYPO,
        effect="(26) bounds cost(T; D) by OPT + error, not by the error; the next line has OPT again",
        correction="O(1)(cost(S; D~) + OPT + k log(mn/beta)/eps)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-missing-optimum-corrected",
        source="Theorem G.2, proof (corrected)",
        statement="C(cost(S; D^) + cost(T; D)) <= C(cost(S; D~) + OPT + error)",
        goals=(
            Goals(
                "C*(s + (o + f - u)) <= C*((s + t) + o + f)",
                "C in [1, oo); s in [0, oo); t in [0, oo); o in [0, oo); f in [0, oo); u in [0, oo)",
            ),
        ),
        reduction="cost(S; D~) = s + t as noise is not negative; cost(T; D) = OPT + error - u by (26)",
        corrects=("ghazi-2024-theorem-g.2-missing-optimum",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.5-union",
        source="Appendix G.2, (30) and (31) with probability at least 1 - beta/2",
        statement="alpha = 0.1, zeta = 20000 k log(m/beta): (m + 1)^k (e^(-alpha zeta) + e^(-alpha zeta/3)) <= beta/2 for m >= 2",
        goals=(Goals("k*log(m + 1) + log(4) + b <= 0.1*20000/3*k*(log(m) + b)", "m in [2, oo); k in [1, oo); b in [0, oo)"),),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.5-chain",
        source="Appendix G.2, last display, third line, by (31)",
        statement="OPT(D_s)/((1 - alpha) p) <= (1 + alpha)/(1 - alpha) OPT(D) + zeta/((1 - alpha) p)",
        goals=(
            Goals(
                "((2 - c)*p*o + z - s)/(c*p) <= (2 - c)/c*o + z/(c*p)",
                "c in [1/2, 1]; p in (0, 1]; o in [0, oo); z in [0, oo); s in [0, oo)",
            ),
        ),
        reduction="c = 1 - alpha; (31) at the best set of D: OPT(D_s) = (1 + alpha) p OPT(D) + zeta - s",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-1.5-constants",
        source="Appendix G.2, last display, last line (the O made explicit)",
        statement="(1 + alpha)/(1 - alpha) <= 1.23 and zeta/((1 - alpha) p) <= 35200 k log(m/beta)/eps for alpha = 0.1, eps <= 1",
        goals=(
            Goals("(1 + 0.1)/(1 - 0.1) <= 1.23", ""),
            Goals("20000*e <= 35200*0.9*(1 - exp(-e))", "e in [0, 1]"),
        ),
        reduction="the second goal times eps p, divided by k log(m/beta)",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-g.2-kanungo",
        source="Theorem G.2, proof, 'Kanungo et al. 2004 for k-means'",
        statement="there is an O(1)-approximation for k-means in every metric space",
        aside=Status.OUT_OF_SCOPE,
        argument="a result of another paper, which is about Euclidean space with free centres; that single exchanges give 81 in metric "
        "spaces is proved in docs/metric-clustering.md, Theorem 6",
    ),
)
