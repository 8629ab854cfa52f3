"""Ghazi et al. 2024: Section 5.1.1 and Appendix B, what ghazi_2024_heavy_hitters.py does not have.

The paper writes log and ln. In Section 5.1.1 "0.5 tau* eps = 2000 k ln(...)" makes them equal; Appendix E needs the base 2. Where it
matters both readings are here.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-theorem-5.6-noise-base-2",
        source="Theorem 5.6, proof, Inequality (6), with log to the base 2",
        statement="noise from Exp(ln(2)/k) exceeds k log2(2T|Y|/beta) with probability exactly beta/(2T|Y|)",
        goals=(Goals("exp(-(log(2)/k)*(k*log(2*m)/log(2))) == 1/(2*m)", "k in [1, oo); m in [1, oo)"),),
        reduction="m = T|Y|/beta; so ghazi-2024-theorem-5.6-noise is about the natural logarithm only",
        corrects=("ghazi-2024-theorem-5.6-noise",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-two-logarithms",
        source="Theorem 5.6, proof, '0.5 tau* eps = 2000 k ln(T|Y|/beta)', with log to the base 2 in tau* = 4000 k log(T|Y|/beta)/eps",
        statement="2000 k log2(T|Y|/beta) = 2000 k ln(T|Y|/beta)",
        goals=(Goals("2000*k*log(m)/log(2) == 2000*k*log(m)", "k in [1, oo); m in [2, oo)", first="k = 1, m = 2"),),
        consequence=Impact.TYPO,
        effect="log cannot be one thing here and in (6): base 2 makes (6) right, base e makes this line right",
        correction=">= instead of =, with log to the base 2",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-two-logarithms-corrected",
        source="Theorem 5.6, proof (corrected)",
        statement="2000 k log2(T|Y|/beta) >= 2000 k ln(T|Y|/beta)",
        goals=(Goals("2000*k*log(m)/log(2) >= 2000*k*log(m)", "k in [1, oo); m in [1, oo)"),),
        corrects=("ghazi-2024-theorem-5.6-two-logarithms",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-noise-second",
        source="Theorem 5.6, proof, Inequality (6), second part",
        statement="k log(2T|Y|/beta) <= 0.01 tau* for tau* = 1000 k log(T|Y|/beta)/eps, T|Y|/beta >= 2",
        goals=(Goals("k*(log(2) + x) <= 0.01*1000*k*x/e", "k in [1, oo); e in (0, 1]; x in [0.69, oo)"),),
        reduction="x = log(T|Y|/beta); with 4000 the more so, and to any base",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-union",
        source="Theorem 5.6, proof, (4) and (5) with probability at least 1 - beta/2",
        statement="alpha = 0.1, zeta = 100 ln(2M/beta), M = T|Y|: M (e^(-alpha zeta) + e^(-alpha zeta/3)) <= beta/2",
        goals=(
            Goals("0.1*(100*x) == 10*x", "x in [0, oo)"),
            Goals("exp(-9*x) + exp(-7/3*x) <= 1", "x in [0.69, oo)"),
        ),
        reduction="x = ln(2M/beta) >= ln 2; the second goal is e^(-10 x) + e^(-10 x/3) <= e^-x, which is beta/(2M), times e^x",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-sensitivity",
        source="Section 5.1.1, 'it is not hard to see that ... Assumption 5.1 and Assumption 5.2 with Delta = k'",
        statement="a user counts at a report only with C_i <= k - 1, so at most k reports; the count is a sum over users of terms >= 0",
        goals=(Goals("(k - 1 - s) + 1 <= k", "k in [1, oo); s in [0, oo)"), Goals("(w + x) - w >= 0", "w in [0, oo); x in [0, 1]")),
        reduction="C_i = k - 1 - s before the report; x = 1 if the new user has y and is not dropped, which depends on x and the "
        "output alone",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-nobody-dropped",
        source="Theorem 5.6, proof, 'I remains the entire dataset for the entire run'",
        statement="a record that contributes to at most k reported heavy hitters is never dropped: C_i < k at the end",
        goals=(Goals("k*s < k", "k in [1, oo); s in [0, 1]", first="k = 1, s = 1"),),
        reduction="C_i = k s; Algorithm 3 drops at C_i = k",
        consequence=Impact.GAP,
        effect="k = 1 and one heavy hitter: its users are dropped when it is reported",
        correction="nobody is dropped before the last of their heavy hitters is reported, which is all that is used",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.6-nobody-dropped-corrected",
        source="Theorem 5.6, proof (corrected)",
        statement="before a reported heavy hitter of its own a record has contributed at most k - 1 times",
        goals=(Goals("(k - 1)*s < k", "k in [1, oo); s in [0, 1]"),),
        corrects=("ghazi-2024-theorem-5.6-nobody-dropped",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-users",
        source="Theorem B.1, proof, 'n = 2 tau*(k) + 1 users'",
        statement="2 tau* + 1 is an integer for tau* = 0.001 k log(|Y|T/k)",
        against=(Goals("2*0.001*2500*log(5) + 1 > 9", ""), Goals("2*0.001*2500*log(5) + 1 < 10", "")),
        instance={"k": "2500", "T": "2500", "Y": "5"},
        reduction="|Y| = 5, T = k = 2500: the number of users would lie between 9 and 10",
        consequence=Impact.TYPO,
        effect="none",
        correction="n = ceil(2 tau*) + 1 or floor(2 tau*) + 1",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-users-corrected",
        source="Theorem B.1, proof (corrected); 'r + 1, r + 2, r + 3 are never tau*(k)-heavy hitters'",
        statement="with n = floor(2 tau*) + 1 users a filler has at most ceil(n/3) of them, fewer than tau* for tau* >= 4, and n > 2 tau*",
        goals=(
            Goals("(2*t - f + 1 + 2)/3 < t", "t in [4, oo); f in [0, 1]"),
            Goals("2*t - f + 1 >= 2*t", "t in [4, oo); f in [0, 1]"),
        ),
        reduction="n = 2 t - f + 1, ceil(n/3) <= (n + 2)/3; tau* >= 4 is part of 'sufficiently large k'",
        corrects=("ghazi-2024-theorem-b.1-users",),
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-binomial",
        source="Theorem B.1, proof, display, third and fourth line",
        statement="r^j C(T, j) >= (rT/k)^(0.01k) for j = ceil(0.1 k)",
        goals=(
            Goals("(b + a)/b >= (i + b + a)/(i + b)", "i in [0, oo); b in [1, oo); a in [0, oo)"),
            Goals("(0.1*k + s)*(y + w) >= 0.01*k*y", "k in [1, oo); s in [0, oo); y in [0, oo); w in [0, oo)"),
        ),
        reduction="C(T, j) is a product of (T - i)/(j - i) >= T/j, with j = i + b, T = j + a; then logarithms: j = 0.1 k + s, "
        "y = log(rT/k) >= 0, w = log(k/j) >= 0",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-b.1-last",
        source="Theorem B.1, proof, display, last line",
        statement="(rT/k)^(0.01k) e^(-eps n)/2 > 1 for n = 2 tau* + 1, k >= 460",
        goals=(
            Goals("log(2.5) <= 1.33*(log(2) + s)", "s in [0, oo)"),
            Goals("0.01*k*(log(2) + s) > e*(0.002*k*2.33*(log(2) + s) + 1) + log(2)", "s in [0, oo); k in [460, oo); e in (0, 1]"),
        ),
        reduction="log(rT/k) = log 2 + s, log(|Y|T/k) <= log 2.5 + log(rT/k) because |Y| = r + 3 <= 2.5 r for r >= 2",
    ),
)
