"""The rules of one-sided and two-directional privacy. Each docstring is the statement that it applies; proofs: docs/one-sided.md."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from accountant.guarantees import (
    EXACT_REALS,
    INDEPENDENT,
    ONE_ANALYSIS,
    AnyGuarantee,
    Derivation,
    EpsilonDP,
    TwoSidedDP,
    assume,
    discharge,
)
from accountant.guarantees.theorem import Notion, Step, conclude, require_guarantee
from accountant.onesided.amplification import amplify_minus, amplify_plus, read_loss, read_probability
from profiles import InvalidArgument, InvalidNumber, decimal_text, to_exact
from profiles.numbers import shorten

_PAGE = "docs/one-sided.md"


def declare_add_dp(
    subject: str, epsilon0: object, *, source: str, hypotheses: Sequence[str] = (EXACT_REALS,), delta: object = 0
) -> AnyGuarantee:
    """A mechanism is (ε₀, δ₀)-add-DP by a proof elsewhere: P[M(D) ∈ S] ≤ e^ε₀ P[M(D') ∈ S] + δ₀ for D = D' with one record more.

    ``source`` names the proof; without one the claim itself is an open hypothesis. ``hypotheses`` are what it supposes of the
    implementation and of public inputs. Source: Ghazi et al. 2024, Definition 1.7. Raises :class:`InvalidNumber`, :class:`InvalidArgument`.
    """
    return declare_directions(subject, epsilon0, None, source=source, hypotheses=hypotheses, delta_plus=delta)


def declare_directions(
    subject: str,
    plus: object,
    minus: object | None,
    *,
    source: str,
    hypotheses: Sequence[str] = (EXACT_REALS,),
    delta_plus: object = 0,
    delta_minus: object = 0,
) -> AnyGuarantee:
    """A mechanism has the losses ``plus`` (a record goes) and ``minus`` (a record comes; None: unbounded), by a proof elsewhere.

    Raises :class:`InvalidNumber` for losses outside [0, 10000] and deltas outside [0, 1], :class:`InvalidArgument` without a subject.
    """
    if not isinstance(subject, str) or not subject.strip():
        raise InvalidArgument("a guarantee needs the name of the mechanism that it is about, but none was found; give one")
    if not isinstance(source, str) or isinstance(hypotheses, str):
        raise InvalidArgument(f'the source of {subject!r} must be text and its hypotheses a sequence of texts; write hypotheses=("...",)')
    open_source = () if source.strip() else (f"the mechanism {subject!r} has the losses that are declared for it",)
    bound = TwoSidedDP(
        read_loss(plus, "epsilon_plus"),
        None if minus is None else read_loss(minus, "epsilon_minus"),
        _read_delta(delta_plus),
        _read_delta(delta_minus),
    )
    derivation = Derivation("declared losses", source.strip() or "declared without a source", _describe(bound))
    step = Step("declare_directions", (("subject", subject), ("bound", bound), ("source", source), ("hypotheses", tuple(hypotheses))))
    return conclude(subject, bound.notion, bound, derivation, hypotheses=(*hypotheses, *open_source), step=step)


def both_directions(guarantee: AnyGuarantee) -> AnyGuarantee:
    """ε-differential privacy with add/remove neighbours bounds both directions by ε."""
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, EpsilonDP) or guarantee.notion is not Notion.ADD_REMOVE_DP:
        raise InvalidArgument(
            f"both directions follow from an add/remove epsilon, but the guarantee of {guarantee.subject!r} is another; take its worst case"
        )
    bound = TwoSidedDP(guarantee.bound.upper, guarantee.bound.upper, evidence=(guarantee.bound.evidence,))
    derivation = Derivation("both directions", "definition of add/remove privacy", _describe(bound), (), (guarantee.derivation,))
    step = Step("both_directions", (), (guarantee.step,))
    return conclude(
        guarantee.subject, bound.notion, bound, derivation, hypotheses=guarantee.hypotheses, discharged=guarantee.discharged, step=step
    )  # fmt: skip


def compose_directions(subject: str, parts: Sequence[AnyGuarantee]) -> AnyGuarantee:
    """If M_1, ..., M_k have losses (ε_i⁺, ε_i⁻), fixed in advance, and each may see the outputs before it, all together have the sums.

    The deltas of a direction add up as well. A direction that is unbounded in one part is unbounded in all.
    Source: docs/one-sided.md, Theorem 2. Raises :class:`InvalidArgument` for no parts, or a part without two directions.
    """
    if not parts:
        raise InvalidArgument("a composition needs at least one part, but none was given; give the guarantees of the parts")
    bounds = [_two_sided(part) for part in parts]
    minus = [item.minus for item in bounds if item.minus is not None]
    bound = TwoSidedDP(
        sum((item.plus for item in bounds), Fraction(0)),
        None if len(minus) < len(bounds) else sum(minus, Fraction(0)),
        min(Fraction(1), sum((item.delta_plus for item in bounds), Fraction(0))),
        min(Fraction(1), sum((item.delta_minus for item in bounds), Fraction(0))),
        tuple(found for item in bounds for found in item.evidence),
    )
    derivation = Derivation(
        "adaptive composition in each direction", f"{_PAGE}, Theorem 2", _describe(bound), (), tuple(part.derivation for part in parts)
    )
    return conclude(
        subject,
        bound.notion,
        bound,
        derivation,
        hypotheses=[text for part in parts for text in part.hypotheses],
        discharged=[item for part in parts for item in part.discharged],
        step=Step("compose_directions", (("subject", subject),), tuple(part.step for part in parts)),
    )


def subsample(guarantee: AnyGuarantee, p: object) -> AnyGuarantee:
    """If M has the losses (ε⁺, ε⁻), M on a fresh Poisson sample of rate p has ψ⁺ = log(1 + p (e^ε⁺ − 1)), ψ⁻ = −log(1 − p (1 − e^−ε⁻)).

    ε⁻ = ∞ (one-sided) gives ψ⁻ = −log(1 − p). With deltas: p·δ⁺ in the first direction; in the second p·δ⁻/((1 − p) e^ε⁻ + p), which
    is at most p·δ⁻. ``p`` is exact, in [0, 1]; both losses are rounded up. The sampler's draws and the single use of the
    sample are hypotheses; :func:`realise_draws` discharges the first.

    Source: docs/one-sided.md, Theorem 1; Ghazi et al. 2024, Lemma 3.1. Raises :class:`InvalidArgument`, :class:`InvalidNumber`.
    """
    before, rate = _two_sided(guarantee), read_probability(p)
    bound = TwoSidedDP(
        amplify_plus(before.plus, rate),
        amplify_minus(before.minus, rate),
        rate * before.delta_plus,
        rate * before.delta_minus,
    )
    conclusion = f"p = {decimal_text(rate, 17, round_up=True)}: {_describe(bound)}"
    derivation = Derivation("Poisson sampling in each direction", f"{_PAGE}, Theorem 1", conclusion, (), (guarantee.derivation,))
    return conclude(
        f"{guarantee.subject} on a Poisson sample",
        bound.notion,
        bound,
        derivation,
        hypotheses=(INDEPENDENT, ONE_ANALYSIS, *guarantee.hypotheses),
        discharged=guarantee.discharged,
        step=Step("subsample", (("p", rate),), (guarantee.step,)),
    )


def realise_draws(guarantee: AnyGuarantee, bits: str) -> AnyGuarantee:
    """Exact Bernoulli draws select every record independently with probability exactly p, if the random bits are uniform and independent.

    ``bits`` is the hypothesis about the source of the bits (``hypothesis`` of a :class:`accountant.sampler.bits.BitSource`).
    Source: docs/poisson-sampler.md, Theorem 1. Raises :class:`InvalidArgument` where no sample is drawn.
    """
    return assume(discharge(guarantee, INDEPENDENT, "exact Bernoulli draws of binary64 p (docs/poisson-sampler.md, Theorem 1)"), (bits,))


def _two_sided(guarantee: AnyGuarantee) -> TwoSidedDP:
    require_guarantee(guarantee)
    if not isinstance(guarantee.bound, TwoSidedDP):
        raise InvalidArgument(
            f"a guarantee with two directions is needed, but that of {guarantee.subject!r} has none; make one with declare_add_dp, "
            "declare_directions or both_directions"
        )
    return guarantee.bound


def _read_delta(value: object) -> Fraction:
    exact = to_exact(value, "delta")
    if not 0 <= exact <= 1:
        raise InvalidNumber(f"delta must lie in [0, 1], but {shorten(exact)} was found; give a probability")
    return exact


def _describe(bound: TwoSidedDP) -> str:
    ends = {"epsilon_plus": bound.plus, "epsilon_minus": bound.minus}
    shown = [f"{name} {'unbounded' if value is None else '<= ' + decimal_text(value, 12, round_up=True)}" for name, value in ends.items()]
    deltas = {"delta_plus": bound.delta_plus, "delta_minus": bound.delta_minus}
    return ", ".join([*shown, *(f"{name} <= {decimal_text(value, 12, round_up=True)}" for name, value in deltas.items() if value)])
