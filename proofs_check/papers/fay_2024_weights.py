"""Fay et al. 2024: Section 3.2, Theorem 10, Algorithm 1, Proposition 12 and their proofs (Appendices D.2 and D.3).

Notation: G = e^g(1), p = g'(1) e^g(1), mu the constant of strong convexity, E = e^eps* - 1, D = e^eps* - G >= 0 (Assumption 8).
"""

from __future__ import annotations

from proofs_check.prover.trees import MANIFEST, ZERO, monotone, scale, tangent
from proofs_check.statements.sentences import Goals, Impact, PaperClaim, Status

_LINEAR = "the profile is eps = a w with its exact mu = a^2 e^a, and eps* = a + d; "
_MU, _VBAR = "(a**2*exp(a))", "Min(exp(a) + a**2*exp(a)/2, a*exp(a) + 1)"
_B = f"(2*(exp(a + d) - {_VBAR})/{_MU} + 1)"
_B_AT_1 = f"(2*(exp(a) - {_VBAR})/{_MU} + 1)"
_W_1 = "(1 + 2*D/mu + h)"
_S = "((c + sqrt(c**2 + 2*mu*D))/mu + h)"
_REALS = "G in [1, oo); p in R; mu in (0, oo)"

CLAIMS = (
    PaperClaim(
        id="fay-2024-problem-7-strict-weights",
        source="Section 3.2, Equation (2c); Appendix D.2, proof of Theorem 10",
        statement="w_i > 1 for all i",
        aside=Status.DAMAGED,
        argument="the restatement of (2c) in Appendix D.2 and the first version both print w_i >= 1, and the text below Assumption 9 uses "
        "w = 1 as a feasible point; read w_i >= 1",
    ),
    PaperClaim(
        id="fay-2024-problem-7-weight-one-feasible",
        source="Section 3.2, below Assumption 9",
        statement="w = 1 satisfies (2b) under Assumption 8: log(1 + (e^eps(1) - 1)/1) = eps(1)",
        goals=(Goals("log(1 + (exp(e) - 1)/1) == e", "e in [0, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-problem-7-convex-for-linear-profiles",
        source="Section 3.2, below Problem 7",
        statement="for a linear profile the problem is convex: 1/w and e^{a w} - 1 - E w are convex in w",
        goals=(
            Goals("1/w >= 0", "w in [1, oo)", derive=("w", "w")),
            Goals("exp(a*w) - 1 - E*w >= 0", "a in [0, oo); E in (0, oo); w in [1, oo)", derive=("w", "w")),
        ),
        reduction="(2b) is e^{a w} - 1 - E w <= 0",
    ),
    PaperClaim(
        id="fay-2024-theorem-10-existence",
        source="Theorem 10 and Appendix D.2",
        statement="under Assumptions 8 and 9 (feasible set non-empty and bounded) a largest feasible weight exists",
        against=(
            Goals("log(2) >= log(1 + 1/2)", ""),
            Goals("log(1 + w**2) > log(1 + w)", "w in [2, oo)"),
            Goals("log(2) >= log(1 + (exp(log(1 + (2 - h)/2)) - 1)/(2 - h))", "h in (0, 1]"),
            Goals("log(1 + (exp(log(1 + w**2)) - 1)/w) > log(2)", "w in [2, oo)"),
        ),
        instance={"E": "1", "jump": "2"},
        reduction="profile log(1 + w/2) for w < 2 and log(1 + w^2) for w >= 2, eps* = log 2: the goals are Assumption 8, Assumption 9 with "
        "v = 2, psi <= eps* for all w = 2 - h in [1, 2), psi > eps* for all w >= 2; so the feasible set is [1, 2)",
        consequence=Impact.WRONG,
        effect="the supremum 2 is not feasible: no optimal weight exists, and an algorithm that returns it breaks eps*",
        correction="assume that eps is lower semicontinuous in w (continuous, for example): then the feasible set is closed as well",
    ),
    PaperClaim(
        id="fay-2024-theorem-10-existence-corrected",
        source="Theorem 10 (corrected)",
        statement="with the lower value at the jump (lower semicontinuous) the same profile has the largest feasible weight 2",
        goals=(
            Goals("log(2) >= log(1 + (exp(log(1 + 2/2)) - 1)/2)", ""),
            Goals("log(1 + (exp(log(1 + w**2)) - 1)/w) > log(2)", "w in (2, oo)"),
        ),
        reduction="in general: a non-empty, bounded and closed set of reals has a maximum",
        corrects=("fay-2024-theorem-10-existence",),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-strong-convexity-linear",
        source="Appendix D.3, first display, for eps = a w and mu = a^2 e^a",
        statement="e^{a w} >= e^a + a e^a (w - 1) + (mu/2)(w - 1)^2",
        goals=(
            Goals(
                "exp(a*w) >= exp(a) + a*exp(a)*(w - 1) + a**2*exp(a)/2*(w - 1)**2",
                "a in (0, oo); w in [1, oo)",
                hint=monotone("w", tangent("a*w - a", "a*exp(a)", ZERO), ZERO, increasing=True),
            ),
        ),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-expansion",
        source="Appendix D.3, second display",
        statement="(G + p (w - 1) + (mu/2)(w - 1)^2 - 1)/w = (mu/2) w + (G - p + mu/2 - 1)/w + p - mu",
        goals=(Goals("(G + p*(w - 1) + mu/2*(w - 1)**2 - 1)/w == mu/2*w + (G - p + mu/2 - 1)/w + p - mu", _REALS + "; w in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-1-bound",
        source="Appendix D.3, Case 1",
        statement="b_{-1} < 0 implies b_{-1}/w >= b_{-1} for w >= 1",
        goals=(Goals("-k/w >= -k", "k in (0, oo); w in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-1-step-1",
        source="Appendix D.3, Case 1, second to third line",
        statement="(e^eps* - 1 - b_0 - b_{-1})/b_1 = (e^eps* - G + mu/2)/(mu/2)",
        goals=(Goals("(t - 1 - (p - mu) - (G - p + mu/2 - 1))/(mu/2) == (t - G + mu/2)/(mu/2)", _REALS + "; t in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-1-step-2",
        source="Appendix D.3, Case 1, third to fourth line",
        statement="(e^eps* - G + mu/2)/(mu/2) = 2((e^eps* - G - mu/2)/mu + 1)",
        goals=(Goals("(t - G + mu/2)/(mu/2) == 2*((t - G - mu/2)/mu + 1)", "G in [1, oo); mu in (0, oo); t in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-2-step-1",
        source="Appendix D.3, Case 2, second to third line",
        statement="(e^eps* - 1 - b_0)/b_1 = (e^eps* - p + mu - 1)/(mu/2)",
        goals=(Goals("(t - 1 - (p - mu))/(mu/2) == (t - p + mu - 1)/(mu/2)", "p in R; mu in (0, oo); t in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-2-step-2",
        source="Appendix D.3, Case 2, third to fourth line",
        statement="(e^eps* - p + mu - 1)/(mu/2) = 2((e^eps* - p - 1)/mu + 1)",
        goals=(Goals("(t - p + mu - 1)/(mu/2) == 2*((t - p - 1)/mu + 1)", "p in R; mu in (0, oo); t in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-summary",
        source="Appendix D.3, definition of v_i",
        statement="the minimum in v-bar selects Case 1 exactly where b_{-1} < 0: b_{-1} = (G + mu/2) - (p + 1)",
        goals=(Goals("G - p + mu/2 - 1 == (G + mu/2) - (p + 1)", _REALS),),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-infeasible-from-v",
        source="Appendix D.3, 'all w_i >= v_i are infeasible', 'v_i is the desired constant for Assumption 9'",
        statement="w >= v_i implies psi > eps*",
        goals=(Goals("((1 + (E + h)**2) - 1)/(E + h) > E", "E in [1, oo); h in [0, oo)", first="E = 3, h = 0"),),
        reduction="profile log(1 + w^2), mu = 2, e^eps* = 1 + E: v-bar = 3, v = E, and w = v + h; psi > eps* is (e^eps - 1)/w > E",
        consequence=Impact.GAP,
        effect="at w = v_i psi may equal eps*: v_i = 3 is then itself the optimal weight; Assumption 9 holds with any larger constant",
        correction="w > v_i implies psi > eps*",
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-bracket",
        source="Algorithm 1, line 6: b = 2(e^eps* - v-bar)/mu + 1",
        statement="the bracket [1, b] contains the root: g(b) >= 0",
        goals=(Goals(f"exp(a*{_B}) - 1 >= {_B}*(exp(a + d) - 1)", "a in (0, oo); d in [0, oo)", first="a = 1, d = 1/2"),),
        reduction=_LINEAR + "g(b) >= 0 is e^{a b} - 1 >= b (e^eps* - 1)",
        consequence=Impact.WRONG,
        effect="g < 0 at both ends, so bisection fails or ends at b: at the witness 1.56, while 2.13 is optimal. The weight is feasible "
        "but not optimal, and Proposition 12 is false for the algorithm as printed (its own proof derives + 2)",
        correction="b = 2(e^eps* - v-bar)/mu + 2, as the proof says; or the tighter 1 + (c + sqrt(c^2 + 2 mu D))/mu with c = E - f'(1)",
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-bracket-corrected",
        source="Algorithm 1, line 6 (corrected)",
        statement="beyond v = 2(e^eps* - v-bar)/mu + 2 every weight is infeasible, in both cases; and v >= 1",
        goals=(
            Goals(
                f"mu/2*{_W_1} + (G - 1 + mu/2 + k) - mu - k/{_W_1} > G + D - 1",
                "G in [1, oo); D in [0, oo); mu in (0, oo); k in (0, oo); h in (0, oo)",
            ),
            Goals("mu/2*(v + h) + p - mu + k/(v + h) > mu/2*v + p - mu", "v in [1, oo); p in R; mu in (0, oo); k in [0, oo); h in (0, oo)"),
            Goals("2*(G + D - (G + mu/2 - k))/mu + 2 >= 1", "G in [1, oo); D in [0, oo); mu in (0, oo); k in [0, oo)"),
        ),
        reduction="Case 1: p = G - 1 + mu/2 + k, v = 1 + 2 D/mu, b_{-1} = -k < 0. Case 2: b_{-1} = k >= 0, E = (mu/2) v + b_0. w = v + h. "
        "v-bar = G + mu/2 - k with k >= 0 in both",
        corrects=(
            "fay-2024-algorithm-1-bracket",
            "fay-2024-algorithm-1-bracket-not-empty",
            "fay-2024-proposition-12-infeasible-from-v",
        ),
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-bracket-tight",
        source="Algorithm 1, line 6 (our bracket)",
        statement="every w > 1 + s+, s+ = (c + sqrt(c^2 + 2 mu D))/mu, c = E - f'(1), is infeasible; and s+ >= 0",
        goals=(
            Goals(f"mu/2*{_S}**2 - c*{_S} - D > 0", "c in R; D in [0, oo); mu in (0, oo); h in (0, oo)"),
            Goals(
                "(sqrt(c**2 + 2*mu*D) - c)/mu >= 0",
                "c in (0, oo); D in [0, oo); mu in (0, oo)",
                hint=scale("sqrt(c**2 + 2*mu*D) + c", MANIFEST),
            ),
        ),
        reduction="strong convexity gives f(1 + s) - 1 - E (1 + s) >= (mu/2) s^2 - c s - D; s = s+ + h. The second goal is c < 0 (with -c)",
        corrects=("fay-2024-algorithm-1-bracket",),
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-bracket-not-empty",
        source="Algorithm 1, lines 6 to 10",
        statement="[1, b] is an interval: b >= 1 also at eps* = eps(1, x)",
        goals=(Goals(f"{_B_AT_1} >= 1", "a in (0, oo)", first="a = 1"),),
        reduction=_LINEAR + "d = 0",
        consequence=Impact.WRONG,
        effect="at the witness b = 1 - 2/e = 0.26: bisection of [1, b] searches numbers below 1, which cannot be weights (q > 1)",
        correction="the corrected bracket has v >= 1 (last goal of fay-2024-algorithm-1-bracket-corrected)",
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-if-condition",
        source="Algorithm 1, line 7: eps(1) = eps* and eps'(1) < 0",
        statement="the if-condition implements Case 1: eps'(1) >= 0 excludes eps'(1) < 1 - e^-eps(1)",
        goals=(Goals("s >= 1 - exp(-g)", "g in (0, oo); s in [0, oo)", first="g = 1, s = 1/2"),),
        consequence=Impact.WRONG,
        effect="the algorithm then bisects [1, b] although g(1) = 0 there, and a bisection that looks at its end points returns 1: for "
        "eps = log(3 + w^2), eps* = log 4 it returns 1, while 2 is optimal (3 + w^2 = 1 + 3 w at w = 1 and 2)",
        correction="line 7: if eps(1) = eps* and eps'(1) < 1 - e^-eps(1)",
    ),
    PaperClaim(
        id="fay-2024-algorithm-1-if-condition-corrected",
        source="Algorithm 1, line 7 (corrected), and Appendix D.3, second Case 1",
        statement="g'(1) < 1 - e^-g(1) is f'(1) < E: with g'(1) = 1 - e^-g - h, E - f'(1) = h e^g > 0, so f < 1 + E w right of 1",
        goals=(
            Goals("exp(g) - 1 - (1 - exp(-g) - h)*exp(g) == h*exp(g)", "g in [0, oo); h in R"),
            Goals("exp(g) - 1 - (1 - exp(-g) - h)*exp(g) > 0", "g in [0, oo); h in (0, oo)"),
        ),
        corrects=("fay-2024-algorithm-1-if-condition", "fay-2024-proposition-12-case-1-neighbourhood"),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-root-equation",
        source="Appendix D.3, Equation (10)",
        statement="log(1 + (F - 1)/w) = eps* is F = w (e^eps* - 1) + 1",
        goals=(
            Goals("log(1 + (w*(exp(t) - 1) + 1 - 1)/w) == t", "w in [1, oo); t in (0, oo)"),
            Goals("log(1 + (F - 1)/w) > 0", "w in [1, oo); F in [1, oo)", derive=("F",)),
        ),
        reduction="the left-hand side is strictly increasing in F, so the solution F is the only one",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-1-neighbourhood",
        source="Appendix D.3, second Case 1",
        statement="there is a neighborhood around w = 1 in which e^g(w) < w (e^eps* - 1) + 1",
        goals=(Goals("1*(G - 1) + 1 > G", "G in (1, oo)", first="G = 2"),),
        reduction="every neighborhood contains w = 1 itself, where e^eps* = e^g(1) = G",
        consequence=Impact.TYPO,
        effect="equality at w = 1, as the next sentence of the proof says",
        correction="a right neighborhood (1, 1 + delta), see fay-2024-algorithm-1-if-condition-corrected",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-2-below",
        source="Appendix D.3, second Case 2, g(1) < eps*",
        statement="a convex F = f - 1 - E w with F(1) = -m < 0 and F(r) = 0 is positive beyond r, so there is one root",
        goals=(Goals("(1/(1 + j))*(-m) + (j/(1 + j))*(-n) < 0", "m in (0, oo); n in [0, oo); j in (0, oo)"),),
        reduction="r = (1 - th) 1 + th w with th = j/(1 + j); if F(w) = -n <= 0, convexity would give F(r) < 0",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-case-2-boundary",
        source="Appendix D.3, second Case 2, g(1) = eps* and g'(1) >= 1 - e^-g(1)",
        statement="w = 1 is the only solution in [1, v], also where g'(1) = 1 - e^-g(1)",
        goals=(Goals("(1 + E) + (E + k)*s + mu/2*s**2 > 1 + E*(1 + s)", "E in (0, oo); k in [0, oo); mu in (0, oo); s in (0, oo)"),),
        reduction="f(1 + s) >= G + p s + (mu/2) s^2 with G = 1 + E and p = E + k, k >= 0; k = 0 is the boundary",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-evaluations",
        source="Proposition 12",
        statement="log2 of ceil(X) evaluations, X = (e^eps* - v-bar)/(alpha mu), give accuracy alpha on the bracket of length 2 alpha X",
        goals=(Goals("alpha >= alpha*(m*(1 + u))/m", "alpha in (0, oo); m in [1, oo); u in [0, 1]", first="alpha = 1, m = 2, u = 1/2"),),
        reduction="X = m (1 + u) with m = 2^k, u < 1: at most log2(ceil X) means k halvings, whose midpoint is off by up to alpha X/m. The "
        "witness is X = 3: one halving of a bracket of length 6 alpha",
        consequence=Impact.WRONG,
        effect="the count is not an integer, is too small (by one) for the printed bracket, and by more for the bracket of the proof, "
        "which is longer by 1; it also counts no evaluation at w = 1",
        correction="ceil(log2((v - 1)/alpha)) evaluations with v - 1 = 2(e^eps* - v-bar)/mu + 1 make the last bracket at most alpha long; "
        "return its lower end, which is feasible. (A midpoint within alpha needs one fewer, but may break eps*.)",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-evaluations-corrected",
        source="Proposition 12 (corrected)",
        statement="K >= (v - 1)/alpha pieces (K = 2^evaluations) are at most alpha long, and (v - 1)/alpha = 2 X + 1/alpha",
        goals=(
            Goals("alpha >= L/(L/alpha*(1 + u))", "alpha in (0, oo); L in (0, oo); u in [0, oo)"),
            Goals("(2*(t - y)/mu + 1)/alpha == 2*(t - y)/(alpha*mu) + 1/alpha", "alpha in (0, oo); mu in (0, oo); t in R; y in R"),
        ),
        corrects=("fay-2024-proposition-12-evaluations", "fay-2024-proposition-12-evaluations-defined"),
    ),
    PaperClaim(
        id="fay-2024-proposition-12-evaluations-defined",
        source="Proposition 12",
        statement="the logarithm of the count exists: e^eps* > v-bar under Assumption 8",
        goals=(Goals(f"exp(a) > {_VBAR}", "a in (0, oo)", first="a = 1"),),
        reduction=_LINEAR + "d = 0",
        consequence=Impact.WRONG,
        effect="at eps* = eps(1, x) the count is the logarithm of a negative number: e - min(3 e/2, e + 1) = -1",
        correction="with the corrected bracket (v - 1)/alpha >= 2 D/(alpha mu) >= 0; no evaluation is needed where it is at most 1",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-feasible-output",
        source="Proposition 12, 'solves Problem 7 up to accuracy alpha', with Theorem 10",
        statement="a weight within alpha of the root satisfies (2b), so that the sampled mechanism is eps*-DP",
        goals=(Goals("E >= ((1 + (E + h)**2) - 1)/(E + h)", "E in [1, oo); h in [0, 1]", first="E = 3, h = 0.1"),),
        reduction="profile log(1 + w^2), eps* = log(1 + E): the root is E, the returned weight E + h, 0 <= h <= alpha",
        consequence=Impact.WRONG,
        effect="a bisection that returns its last midpoint breaks eps* whenever that lies above the root: psi(3.1) = log 4.1 > log 4",
        correction="return the lower end of the last bracket: psi <= eps* there",
    ),
    PaperClaim(
        id="fay-2024-proposition-12-feasible-output-corrected",
        source="Proposition 12 (corrected)",
        statement="every point between 1 and the root r is feasible: F convex, F(1) = -m <= 0 and F(r) = 0 give F <= 0 between",
        goals=(Goals("(1/(1 + j))*(-m) + (j/(1 + j))*0 <= 0", "m in [0, oo); j in [0, oo)"),),
        corrects=("fay-2024-proposition-12-feasible-output",),
    ),
)
