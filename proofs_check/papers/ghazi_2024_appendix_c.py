"""Ghazi et al. 2024: Appendix C (the repeated exponential mechanism in the direction of adding a record), and the proof of Theorem 5.3.

Symbols: e^ε = 1 + h; g = m − L candidates that x likes; k = L − i + 1 dummies are left in round i, so that m − i + 1 = g + k.
"""

from __future__ import annotations

from proofs_check.statements.sentences import Goals, Impact, PaperClaim

_ROUND = "((1 + h)*g + k)/(g + k)"
_COUNTS = "h in (0, oo); g in [1, oo); k in [1, oo)"

#: m = L/(1 − f) + s with e^(ε'/L) = 1 + h f and y = f/(1 − f), so that 1 + h f = 1 + h y/(1 + y), L = k + j and g = L y + s.
_ABOVE_THE_QUOTIENT = "h in (0, oo); k in [1, oo); j in [0, oo); y in [0, oo); s in (0, oo)"
_ROUND_ABOVE = "((1 + h)*((k + j)*y + s) + k)/((k + j)*y + s + k)"
_NUMBER = "m = (e^eps - 1)L/(e^eps - e^(eps'/L)) + s; e^(eps'/L) = 1 + h y/(1 + y), L = k + j, m - L = L y + s"

CLAIMS = (
    PaperClaim(
        id="ghazi-2024-lemma-c.1-display",
        source="Lemma C.1, proof, display, second line",
        statement="Pr[EM(D') = o_i]/Pr[EM(D) = o_i] = 1/(e^eps (m - L) + L - i + 1)",
        goals=(Goals("(1/(g + k))/(1/((1 + h)*g + k)) == 1/((1 + h)*g + k)", _COUNTS),),
        consequence=Impact.TYPO,
        effect="in the text at hand the numerator 1/(m - i + 1) is missing; the fraction is then below 1",
        correction="the factor is (e^eps (m - L) + L - i + 1)/(m - i + 1) = e^eps - (e^eps - 1)(L - i + 1)/(m - i + 1)",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-c.1-display-corrected",
        source="Lemma C.1 (corrected)",
        statement="(e^eps (m - L) + L - i + 1)/(m - i + 1) = e^eps - (e^eps - 1)(L - i + 1)/(m - i + 1)",
        goals=(
            Goals(f"(1/(g + k))/(1/((1 + h)*g + k)) == {_ROUND}", _COUNTS),
            Goals(f"{_ROUND} == 1 + h - h*k/(g + k)", _COUNTS),
        ),
        corrects=("ghazi-2024-lemma-c.1-display",),
    ),
    PaperClaim(
        id="ghazi-2024-lemma-c.1-sign",
        source="Lemma C.1, proof, display, third line",
        statement="the product is < e^eps' by the choice of m",
        goals=(Goals(f"{_ROUND_ABOVE} < 1 + h*y/(1 + y)", _ABOVE_THE_QUOTIENT),),
        reduction=_NUMBER,
        consequence=Impact.TYPO,
        effect="in the text at hand the sign is turned round: a product below e^eps' would show nothing",
        correction="each factor, and so the product, is > e^(eps'/L) for every m above (e^eps - 1)L/(e^eps - e^(eps'/L)); the paper's m is",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-c.1-sign-corrected",
        source="Lemma C.1 (corrected)",
        statement="every factor is > e^(eps'/L) for m > (e^eps - 1)L/(e^eps - e^(eps'/L))",
        goals=(Goals(f"{_ROUND_ABOVE} > 1 + h*y/(1 + y)", _ABOVE_THE_QUOTIENT),),
        reduction=_NUMBER,
        corrects=("ghazi-2024-lemma-c.1-sign",),
    ),
    PaperClaim(
        id="ghazi-2024-lemma-c.1-quantifiers",
        source="Lemma C.1, 'there exists A ... for any eps' < L eps'",
        statement="one A of the proof, that is one m, is not eps'-DP on its pair of data sets for any eps' < L eps",
        goals=(Goals(f"{_ROUND} >= 1 + h", _COUNTS),),
        reduction="not eps'-DP for any eps' < L eps means a product of at least e^(L eps), but every factor is below e^eps",
        consequence=Impact.GAP,
        effect="the proof's m grows without bound as eps' goes to L eps: it shows 'for each eps' there is an A'",
        correction="one A does with other data sets: m = L + 1, D' = n copies of x, n to infinity (docs/audit.md, section 14)",
    ),
    PaperClaim(
        id="ghazi-2024-lemma-c.1-quantifiers-corrected",
        source="Lemma C.1 (corrected)",
        statement="with n copies of x in D' every factor is at least e^eps - (e^eps - 1)(L - i + 1)/(e^(n eps) (m - L))",
        goals=(Goals("((1 + h)*c*g + k)/(c*g + k) >= 1 + h - h*k/(c*g)", _COUNTS + "; c in [1, oo)"),),
        reduction="c = e^(n eps); the bound goes to e^eps for n to infinity, for every m > L",
        corrects=("ghazi-2024-lemma-c.1-quantifiers",),
    ),
    PaperClaim(
        id="ghazi-2024-appendix-c-composition",
        source="Appendix C, '2 L eps-DP' (strengthened)",
        statement="monotone scores of realised sensitivity Delta: one round costs eps in the direction of adding, not 2 eps",
        goals=(Goals("exp(e*r)*a <= exp(e)*a", "e in [0, oo); r in [0, 1]; a in [0, oo)"),),
        reduction="summed over the candidates, of weight a and growing by r Delta: Z(D) <= e^eps Z(D'); the chosen weight does not fall",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.3-sum",
        source="Theorem 5.3, proof, last display",
        statement="the ratio is at most exp((eps0/Delta) sum of h_i(D) - h_i(D') over the rounds with answer bottom)",
        goals=(Goals("exp(e*d) <= exp(e*0)", "e in (0, oo); d in (0, 1]"),),
        reduction="one round, answer top, h(D') < h(D) <= tau: the ratio is exp((eps0/Delta)(h(D) - h(D'))), the sum is empty",
        consequence=Impact.TYPO,
        effect="in the text at hand top and bottom are exchanged; Assumption 5.2 is about answers top",
        correction="the sum is over the rounds with answer top; the bound before it is about Pr[h_i + theta_i > tau_i]",
    ),
    PaperClaim(
        id="ghazi-2024-theorem-5.3-sum-corrected",
        source="Theorem 5.3 (corrected)",
        statement="Pr[h(D) + theta > tau]/Pr[h(D') + theta > tau] <= exp((eps0/Delta)(h(D) - h(D')))",
        goals=(
            Goals("exp(-e*u)/exp(-e*(u + d)) <= exp(e*d)", "e in (0, oo); d in [0, 1]; u in [0, oo)"),
            Goals("1/exp(-e*v) <= exp(e*(v + u))", "e in (0, oo); v in [0, 1]; u in [0, oo)"),
        ),
        reduction="tau - h(D) = u >= 0 and h(D) - h(D') = d; else h(D) > tau, the first probability is 1, tau - h(D') = v, h(D) - tau = u",
        corrects=("ghazi-2024-theorem-5.3-sum",),
    ),
)
