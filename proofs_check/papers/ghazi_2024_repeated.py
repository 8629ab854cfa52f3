"""Ghazi et al. 2024: Sections 4 and 5 and Appendix C (the repeated mechanisms). Exponents are in units of lambda = eps0/Delta."""

from __future__ import annotations

from proofs_check.papers.statements import Claim, Consequence, Goals

CLAIMS = (
    Claim(
        id="ghazi-2024-theorem-4.3",
        source="Theorem 4.3, proof",
        statement="with monotone scores a round's ratio is at most exp(lambda (q(o; D) - q(o; D')))",
        goals=(Goals("exp(d)/(1 + s) <= exp(d)", "d in [0, oo); s in [0, oo)"),),
        reduction="Z(D)/Z(D') = 1 + s with s >= 0 by Assumption 4.1; rounds multiply (docs/repeated-mechanisms.md, Theorem A)",
    ),
    Claim(
        id="ghazi-2024-theorem-5.3-sum-over-below",
        source="Theorem 5.3, proof, last display",
        statement="Pr[M(D) = o]/Pr[M(D') = o] <= exp(eps0/Delta * sum over rounds with o_i = BELOW of (h_i(D) - h_i(D')))",
        goals=(Goals("exp(-(u - d)) <= exp(-u)", "u in [1, oo); d in [0, 1]", first="u = 1, d = 1"),),
        reduction="one round that is above: the sum is empty, u = tau - h(D'), d = h(D) - h(D') <= u",
        consequence=Consequence.GAP,
        effect=(
            "the display before it bounds the ratio for 'at most tau' a second time, where 'above tau' is meant; as printed the proof "
            "never uses Assumption 5.2, which is about the rounds that are above"
        ),
        correction="the sum runs over the rounds with o_i = ABOVE; the theorem holds",
    ),
    Claim(
        id="ghazi-2024-theorem-5.3-corrected",
        source="Theorem 5.3, proof (corrected)",
        statement="above: the ratio is at most exp(lambda (h(D) - h(D'))); below: at most 1",
        goals=(
            Goals("exp(-v) <= exp(d)*exp(-(v + d))", "v in [0, oo); d in [0, oo)"),
            Goals("1 <= exp(u + s)*exp(-u)", "u in [0, oo); s in [0, oo)"),
            Goals("1 - exp(-v) <= 1 - exp(-(v + d))", "v in [0, oo); d in [0, oo)"),
        ),
        reduction="v = tau - h(D), d = h(D) - h(D'); in the second goal h(D) >= tau, u = tau - h(D') and d = u + s",
        corrects=("ghazi-2024-theorem-5.3-sum-over-below",),
    ),
    Claim(
        id="ghazi-2024-lemma-c.1-factor",
        source="Lemma C.1, proof, display",
        statement="the factor of round i is 1/(e^eps (m - L) + L - i + 1)",
        goals=(Goals("(exp(e)*a + k)/(a + k) == 1/(exp(e)*a + k)", "a in [1, oo); k in [1, oo); e in [0, oo)", first="a=1, k=1, e=1"),),
        reduction="a = m - L, k = L - i + 1; without the record all m - i + 1 = a + k candidates are equally likely",
        consequence=Consequence.TYPO,
        effect="the numerator is lost, and the inequality after it points the wrong way; the lemma holds",
        correction="the factor is (e^eps (m - L) + L - i + 1)/(m - i + 1), and it is > e^(eps'/L)",
    ),
    Claim(
        id="ghazi-2024-lemma-c.1-factor-corrected",
        source="Lemma C.1, proof (corrected)",
        statement="the factor is e^eps - (e^eps - 1)(L - i + 1)/(m - i + 1), which is > e^(eps'/L) for the m of the lemma",
        goals=(
            Goals("(exp(e)*a + k)/(a + k) == exp(e) - (exp(e) - 1)*k/(a + k)", "a in [0, oo); k in [1, oo); e in [0, oo)"),
            Goals("k/(k + a) <= (j + k)/(j + k + a)", "a in [0, oo); k in [1, oo); j in [0, oo)"),
            Goals("y + h - (y + h - 1)*l/((y + h - 1)*l/h + s) > y", "y in [1, oo); h in (0, oo); l in [1, oo); s in [1, oo)"),
        ),
        reduction="a = m - L, k = L - i + 1, j = i - 1, y = e^(eps'/L), e^eps = y + h, m = (e^eps - 1) L/h + s with s >= 1",
        corrects=("ghazi-2024-lemma-c.1-factor",),
    ),
    Claim(
        id="ghazi-2024-appendix-c-composition-halved",
        source="Appendix C, '2 L eps-DP' (strengthened)",
        statement="with monotone scores a round loses at most lambda max d when a record comes: L rounds at most L eps0, not 2 L eps0",
        goals=(Goals("t*exp(d + s) + (1 - t)*exp(d) <= exp(d + s)", "t in [0, 1]; d in [0, oo); s in [0, oo)"),),
        reduction="E exp(lambda d) <= exp(lambda max d), for two values; docs/repeated-mechanisms.md, Theorem A'",
    ),
    Claim(
        id="ghazi-2024-calibration-for-rounds",
        source="docs/repeated-mechanisms.md, Theorem C (Corollary 3.2 for eps_minus = L eps0)",
        statement="for y = 1 + e^eps (1 - y^-L) and p = (e^eps - 1)/(y - 1) both directions are exactly eps; x/(1 - e^-x) increases",
        goals=(
            Goals("1 + h/((1 + h)*c)*((1 + h)*c) == 1 + h", "h in (0, oo); c in (0, 1]"),
            Goals("1 - h/((1 + h)*c)*c == 1/(1 + h)", "h in (0, oo); c in (0, 1]"),
            Goals("exp(x) >= 1 + x", "x in [0, oo)"),
        ),
        reduction="e^eps = 1 + h, c = 1 - y^-L, so y - 1 = (1 + h) c; the last goal, times e^-x, is the sign of the derivative",
    ),
)
