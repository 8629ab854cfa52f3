"""Fay et al. 2024: Appendix A (Propositions 16 and 17). e = eps(w, x), d = eps'(w, x); omega(w) = (e^eps(w) − 1)/w."""

from __future__ import annotations

from proofs_check.prover.trees import MANIFEST, ZERO, monotone, tangent
from proofs_check.statements.sentences import Goals, Impact, PaperClaim, Status

_E = "e in [0, oo)"

CLAIMS = (
    PaperClaim(
        id="fay-2024-appendix-a-constant-profile",
        source="Appendix A, 'reduces to Proposition 3'",
        statement="for a profile constant in w, psi = log(1 + q (e^eps - 1)) is Proposition 3",
        goals=(Goals("log(1 + q*(exp(e) - 1)) == log(1 + (exp(e) - 1)*q)", "q in [0, 1]; " + _E),),
    ),
    PaperClaim(
        id="fay-2024-proposition-16-derivative",
        source="Proposition 16, proof, first line",
        statement="d omega(1)/dw = e^eps (eps' - 1) + 1",
        goals=(Goals("(d*exp(e)*1 - (exp(e) - 1))/1**2 == exp(e)*(d - 1) + 1", "d in R; " + _E),),
        reduction="the quotient rule at w = 1",
    ),
    PaperClaim(
        id="fay-2024-proposition-16-step",
        source="Proposition 16, proof, second line",
        statement="eps' < 1 - e^-eps implies e^eps (eps' - 1) + 1 < e^eps ((1 - e^-eps) - 1) + 1",
        goals=(Goals("exp(e)*((1 - exp(-e) - h) - 1) + 1 < exp(e)*((1 - exp(-e)) - 1) + 1", "h in (0, oo); " + _E),),
        reduction="eps' = 1 - e^-eps - h",
    ),
    PaperClaim(
        id="fay-2024-proposition-16-zero",
        source="Proposition 16, proof, third line",
        statement="e^eps ((1 - e^-eps) - 1) + 1 = 0",
        goals=(Goals("exp(e)*((1 - exp(-e)) - 1) + 1 == 0", _E),),
    ),
    PaperClaim(
        id="fay-2024-proposition-16-sign",
        source="Proposition 16, proof, 'hence'",
        statement="d omega/dw < 0 gives d psi/dq > 0: log(1 + omega) has the slope -w^2 omega'/(1 + omega) in q = 1/w",
        goals=(Goals("-w**2*(-h)/(1 + om) > 0", "w in [1, oo); h in (0, oo); om in [0, oo)"),),
        reduction="omega' = -h",
    ),
    PaperClaim(
        id="fay-2024-proposition-16-consequence",
        source="Appendix A, 'Consequently'",
        statement="if the condition holds in a neighborhood of the maximizer of eps(1, x), some sampler gives a strictly smaller epsilon",
        against=(
            Goals("1 - exp(-1) > 0", ""),
            Goals("1 + (exp(a*w) - 1)/w >= exp(a)", "a in [0, 1]; w in [1, oo)"),
        ),
        instance={"eps_at_maximizer": "1", "supremum_of_the_others": "1"},
        reduction="one record x* with eps(w) = 1 (eps' = 0 < 1 - 1/e), isolated from records x_a, a < 1, with eps(w) = a w: whatever the "
        "weight, psi(x_a) >= a, so the supremum over the records stays 1",
        consequence=Impact.WRONG,
        effect="records elsewhere whose profile comes close to the maximum keep epsilon where it is",
        correction="X compact, eps(1, x) continuous, and the condition in neighborhoods of all maximizers",
    ),
    PaperClaim(
        id="fay-2024-proposition-16-consequence-corrected",
        source="Appendix A (corrected)",
        statement="a record at distance k > 0 below the maximum M that keeps q = 1 has psi = M - k < M, off the neighborhoods",
        goals=(Goals("log(1 + (exp(M - k) - 1)/1) < M", "M in (0, oo); k in (0, oo)"),),
        reduction="compactness gives one k > 0 for all records outside the neighborhoods, which keep q = 1",
        corrects=("fay-2024-proposition-16-consequence",),
    ),
    PaperClaim(
        id="fay-2024-proposition-17-derivative",
        source="Proposition 17, proof, first line",
        statement="d omega/dw = (e^eps (w eps' - 1) + 1)/w^2",
        goals=(
            Goals("(d*exp(e)*w - (exp(e) - 1))/w**2 == (exp(e)*(w*d - 1) + 1)/w**2", "d in R; w in [1, oo); " + _E),
            Goals(
                "(exp(f*w**p) - 1)/w == (exp(f*w**p)*(w*(f*p*w**(p - 1)) - 1) + 1)/w**2",
                "f in [0, oo); p in [1, oo); w in [1, oo)",
                derive=("w",),
            ),
        ),
        reduction="the quotient rule; the second goal differentiates eps = f w^p in full",
    ),
    PaperClaim(
        id="fay-2024-proposition-17-step-1",
        source="Proposition 17, proof, first inequality",
        statement="eps <= w eps' gives e^eps (w eps' - 1) + 1 >= e^eps (eps - 1) + 1",
        goals=(Goals("(exp(e)*((e + h) - 1) + 1)/w**2 >= (exp(e)*(e - 1) + 1)/w**2", "h in [0, oo); w in [1, oo); " + _E),),
        reduction="w eps' = eps + h",
    ),
    PaperClaim(
        id="fay-2024-proposition-17-step-2",
        source="Proposition 17, proof, second inequality",
        statement="e^eps (eps - 1) + 1 >= (eps + 1)(eps - 1) + 1, by e^z >= z + 1",
        goals=(Goals("exp(e)*(e - 1) + 1 >= (e + 1)*(e - 1) + 1", _E, first="e = 1/2"),),
        consequence=Impact.GAP,
        effect="the factor eps - 1 is negative for eps < 1, which turns the inequality round: 0.176 >= 0.25 at the witness",
        correction="e^eps (eps - 1) + 1 >= 0 directly (its derivative is eps e^eps >= 0 and it is 0 at 0); even >= eps^2/2",
    ),
    PaperClaim(
        id="fay-2024-proposition-17-step-2-corrected",
        source="Proposition 17, proof (corrected)",
        statement="e^eps (eps - 1) + 1 >= eps^2/2 >= 0",
        goals=(
            Goals(
                "exp(e)*(e - 1) + 1 >= e**2/2",
                _E,
                hint=monotone("e", tangent("e", "e", MANIFEST), ZERO, increasing=True),
            ),
            Goals("exp(e)*(e - 1) + 1 >= 0", _E),
        ),
        corrects=("fay-2024-proposition-17-step-2",),
    ),
    PaperClaim(
        id="fay-2024-proposition-17-step-3",
        source="Proposition 17, proof, third inequality",
        statement="((eps + 1)(eps - 1) + 1)/w^2 >= eps^2/w^2 (an equality)",
        goals=(Goals("((e + 1)*(e - 1) + 1)/w**2 == e**2/w**2", "w in [1, oo); " + _E),),
    ),
    PaperClaim(
        id="fay-2024-proposition-17-power-profiles",
        source="Appendix A, below Proposition 17",
        statement="eps = f w^p with p >= 1 and f >= 0 satisfies eps <= w eps'",
        goals=(Goals("w*(p*f*w**(p - 1)) >= f*w**p", "f in [0, oo); p in [1, oo); w in [1, oo)"),),
    ),
    PaperClaim(
        id="fay-2024-appendix-a-splitting",
        source="Appendix A, below Proposition 17, with Section 3.1",
        statement="invariance under splitting (w, x) into w copies implies a linear profile, by group privacy",
        aside=Status.OUT_OF_SCOPE,
        argument="copies exist for integers w only, and group privacy bounds the loss (eps(w) <= w eps(1)) but does not determine it; no "
        "inequality with constants is stated",
    ),
    PaperClaim(
        id="fay-2024-appendix-a-uniform-never-optimal",
        source="Appendix A, last paragraph",
        statement="uniform sampling is never optimal unless the profile is constant: profiles that differ have different optimal weights",
        goals=(Goals("Abs((1 + k*3 + (3 - k)/3*3**2) - (1 + 3*3)) > 0", "k in (0, 1]", first="k = 1"),),
        reduction="e^eps = 1 + k w + (3 - k) w^2/3 and e^eps* = 4, so that E = 3; for k = 0 the optimal weight is w = 3, and the "
        "statement wants another one for k > 0; but (1 + 3 k + 3 (3 - k)) - (1 + 9) = 0",
        consequence=Impact.WRONG,
        effect="a remark that nothing rests on: profiles may differ and still meet at the same optimal weight",
        correction="true for linear profiles: the optimal weight is strictly decreasing in a(x)",
    ),
    PaperClaim(
        id="fay-2024-appendix-a-uniform-never-optimal-corrected",
        source="Appendix A, last paragraph (corrected)",
        statement="for eps = a w a larger a violates the constraint at the weight where a smaller one meets it: e^{(a+h) w} > e^{a w}",
        goals=(
            Goals(
                "exp((a + h)*w) > exp(a*w)",
                "a in (0, oo); h in (0, oo); w in [1, oo)",
                hint=tangent("h*w", "exp(a*w)", MANIFEST),
            ),
        ),
        corrects=("fay-2024-appendix-a-uniform-never-optimal",),
    ),
)
