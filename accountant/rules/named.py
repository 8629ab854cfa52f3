"""The sampling rules by name, from an expression, or from a profile file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from accountant.rules.coreset import check_exponent, check_size, coreset_term, norm_statistic
from accountant.rules.variance import refuse_oracle
from profiles import InvalidSampling, InvalidTarget, Profile, SamplingDeclaration, parse_expression, to_exact
from profiles.grammar import is_name
from profiles.hypotheses import FEASIBLE_WEIGHTS, IN_RANGE, IS_NORM, PUBLIC_CENTRE, PUBLIC_CONSTANTS, TARGET_FIXED, Hypothesis, name_range
from profiles.numbers import to_number
from profiles.suggestions import suggest
from profiles.terms import RESERVED, Term, free_symbols, number, substitute
from proofs_check.suprema.feasibility import check_probability, shown


@dataclass(frozen=True, slots=True)
class SamplingRule:
    """A public map q(x) of a Poisson importance sampler: record x is selected independently with probability q(x), weight 1/q(x).

    ``q`` is a term in the record statistics with all constants put in; None where the rule is implicit (``privacy-constrained``:
    q = 1/w*(x) for ``target_epsilon``). ``hypotheses`` are the unverified assumptions of the rule; ``source`` is where it is stated.
    """

    name: str
    q: Term | None
    constants: tuple[tuple[str, Fraction], ...]
    hypotheses: tuple[Hypothesis, ...]
    source: str
    target_epsilon: Fraction | None = None

    def hypotheses_for(self, profile: Profile) -> tuple[Hypothesis, ...]:
        """Return ``hypotheses`` where the rule samples records of ``profile``: that about the declared range names the range."""
        return tuple(name_range(profile) if item.id == IN_RANGE.id else item for item in self.hypotheses)


PUBLIC_RATE = PUBLIC_CONSTANTS.about(names="n and m (or the rate) are")

#: From a profile, the constants and the name of a statistic to the term of q.
Build = Callable[[Profile, Mapping[str, Fraction], str | None], Term | None]


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """One line of the table of named rules: the sets of constants it accepts, and what makes it from them."""

    name: str
    formula: str
    accepts: tuple[tuple[str, ...], ...]
    build: Build
    hypotheses: tuple[Hypothesis, ...]
    source: str
    uses_statistic: bool = False


def _uniform_rate(_: Profile, constants: Mapping[str, Fraction], __: str | None) -> Term:
    if "rate" in constants:
        return number(constants["rate"])
    m, n = constants["m"], constants["n"]
    if m > n:
        raise InvalidSampling(
            f"the rule 'uniform' was asked for an expected sample size of m = {shown(m)}, but there are n = {shown(n)} records, so that "
            "q = m/n > 1; give an m of at most n"
        )
    return number(m / n)


def _coreset(fixed: int | None) -> Build:
    def build(profile: Profile, constants: Mapping[str, Fraction], statistic: str | None) -> Term:
        chosen = norm_statistic(profile, statistic)
        exponent = constants["exponent"] if fixed is None else Fraction(fixed)
        rule = "coreset" if fixed is None else f"coreset-l{fixed}"
        check_exponent(rule, exponent)
        check_size(rule, constants, exponent, chosen)
        return coreset_term(constants, exponent, chosen.name)

    return build


def _implicit(_: Profile, __: Mapping[str, Fraction], ___: str | None) -> None:
    return None


_CORESET = (PUBLIC_CONSTANTS.about(names="n, m and lam are"), PUBLIC_CENTRE, IN_RANGE)
RULES: Mapping[str, RuleEntry] = {
    entry.name: entry
    for entry in (
        RuleEntry(
            "uniform",
            "m/n (or rate)",
            (("m", "n"), ("rate",)),
            _uniform_rate,
            (PUBLIC_RATE, IN_RANGE),
            "Fay et al. 2024, Proposition 3 and Section 5",
        ),
        RuleEntry(
            "coreset-l1",
            "lam*m/n + (1-lam)*m*z/(n*mean), mean = mean l1 norm",
            (("m", "n", "lam", "mean"),),
            _coreset(1),
            (*_CORESET, PUBLIC_CONSTANTS.about(names="the mean norm is"), IS_NORM.about(norm="l1 norm")),
            "Fay et al. 2023, v1, Proposition 6",
            uses_statistic=True,
        ),
        RuleEntry(
            "coreset-l2",
            "lam*m/n + (1-lam)*m*z**2/(n*mean), mean = mean squared l2 norm",
            (("m", "n", "lam", "mean"),),
            _coreset(2),
            (*_CORESET, PUBLIC_CONSTANTS.about(names="the mean squared norm is"), IS_NORM.about(norm="l2 norm")),
            "Fay et al. 2024, Section 4",
            uses_statistic=True,
        ),
        RuleEntry(
            "coreset",
            "lam*m/n + (1-lam)*m*z**exponent/(n*mean), mean = mean of z**exponent",
            (("m", "n", "lam", "mean", "exponent"),),
            _coreset(None),
            (
                *_CORESET,
                PUBLIC_CONSTANTS.about(names="the mean of the norm to the power exponent is"),
                IS_NORM.about(norm="norm that is sampled by"),
            ),
            "Fay et al. 2024, Section 4, with any norm and exponent",
            uses_statistic=True,
        ),
        RuleEntry(
            "privacy-constrained",
            "1/w*(x), the largest weight with sampled profile at most the target",
            ((),),
            _implicit,
            (IN_RANGE, TARGET_FIXED, FEASIBLE_WEIGHTS),
            "Fay et al. 2024, Problem 7",
        ),
    )
}
_ALIASES = {"xbar": "mean", "lambda": "lam"}


def describe_rules() -> tuple[tuple[str, str, str], ...]:
    """Return (name, formula, source) of every named rule, for documentation and help."""
    return tuple((entry.name, entry.formula, entry.source) for entry in RULES.values())


def make_rule(
    name: str, profile: Profile, constants: Mapping[str, object] | None = None, target_epsilon: object | None = None
) -> SamplingRule:
    """Return the named sampling rule with its constants put in.

    ``constants``: m (expected sample size), n (size of the data set), lam in [0, 1], mean (also ``xbar``), exponent, rate, as exact
    numbers; ``statistic`` names the norm where the profile has several statistics. ``target_epsilon`` > 0 is for ``privacy-constrained``.

    Raises :class:`InvalidSampling` (unknown name or constant, a missing constant, q > 1 or q ≤ 0 at a record that it names),
    :class:`NotPrivate` (``variance-optimal``), :class:`InvalidTarget`, :class:`InvalidNumber`.

    >>> from profiles import declare
    >>> make_rule("uniform", declare("sum", "w*z", record={"z": [0, 1]}), {"m": 1, "n": 4}).q
    ('num', Fraction(1, 4))
    """
    refuse_oracle(name)
    entry = RULES.get(name) if isinstance(name, str) else None
    if entry is None:
        raise InvalidSampling(f"the sampling rule {str(name)[:60]!r} is unknown; known are {_listed(RULES)}{suggest(name, RULES)}")
    given = _canonical(constants or {})
    statistic = given.pop("statistic", None) if entry.uses_statistic else None
    if statistic is not None and not isinstance(statistic, str):
        raise InvalidSampling("the constant statistic must be the name of a record statistic; give it as text")
    exact = {key: to_exact(value, f"the constant {key}") for key, value in given.items()}
    _check_names(entry, exact)
    for key, value in exact.items():
        _check_range(entry, key, value)
    if name == "privacy-constrained":
        if target_epsilon is None:
            raise InvalidSampling("the rule 'privacy-constrained' needs a target epsilon; give it")
        target = to_number(target_epsilon, "the target epsilon", "(0, inf)", "give a positive number", InvalidTarget)
        return SamplingRule(name, None, (), entry.hypotheses, entry.source, target)
    q = entry.build(profile, exact, statistic)
    if q is not None:
        check_probability(profile, q)
    return SamplingRule(name, q, tuple(sorted(exact.items())), entry.hypotheses, entry.source)


def rule_from_expression(expression: str | Term, profile: Profile, constants: Mapping[str, object] | None = None) -> SamplingRule:
    """Return the rule q(x) = ``expression`` in the statistics, the numeric parameters of the profile and ``constants``.

    Raises :class:`InvalidSampling` (unknown symbol, a parameter without a number, q > 1 or q ≤ 0 at a record that it names),
    :class:`InvalidExpression`, :class:`InvalidNumber`.
    """
    term = profile.in_shares(parse_expression(expression, "q") if isinstance(expression, str) else expression)
    statistics = {statistic.name for statistic in profile.record}
    numbers = {p.name: p.value for p in profile.parameters if p.value is not None}
    own: dict[str, Fraction] = {}
    for key, value in (constants or {}).items():
        if not is_name(key) or key in RESERVED:
            raise InvalidSampling(f"the sampling constant {str(key)[:60]!r} is not a free identifier; rename it")
        if key in statistics or any(key == parameter.name for parameter in profile.parameters):
            raise InvalidSampling(f"the sampling constant {key!r} is already a name of the profile; rename it")
        own[key] = to_exact(value, f"the sampling constant {key}")
    known = {**numbers, **own}
    for name in sorted(free_symbols(term)):
        if name in statistics or name in known:
            continue
        if any(name == parameter.name for parameter in profile.parameters):
            raise InvalidSampling(f"q uses the parameter {name!r}, which has no number; give it one, since q must be a public map")
        raise InvalidSampling(
            f"q uses the symbol {name!r}, but only {_listed({*statistics, *known})} are known; "
            f"declare it as a sampling constant{suggest(name, {*statistics, *known})}"
        )
    q = substitute(term, {name: number(value) for name, value in known.items()})
    check_probability(profile, q)
    used = tuple(sorted((name, value) for name, value in known.items() if name in free_symbols(term)))
    open_constants = constants_are_public([name for name, _ in used])
    return SamplingRule("expression", q, used, (*open_constants, IN_RANGE), "given as an expression")


def constants_are_public(names: Sequence[str]) -> tuple[Hypothesis, ...]:
    """Return the hypothesis about the constants of an expression, if it has any."""
    return (PUBLIC_CONSTANTS.about(names=f"{', '.join(names)} {'are' if len(names) > 1 else 'is'}"),) if names else ()


def rule_from_declaration(
    profile: Profile, declaration: SamplingDeclaration, constants: Mapping[str, object] | None = None
) -> SamplingRule:
    """Return the rule of a profile file's [sampling] table; ``constants`` override or add to those of the table."""
    return rule_from_expression(declaration.q, profile, {**dict(declaration.constants), **(constants or {})})


def _canonical(constants: Mapping[str, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in constants.items():
        name = _ALIASES.get(key, key)
        if name in result:
            raise InvalidSampling(f"the constant {name!r} is given twice; give it once")
        result[name] = value
    return result


def _check_names(entry: RuleEntry, given: Mapping[str, Fraction]) -> None:
    known = {key for keys in entry.accepts for key in keys}
    for key in given:
        if key not in known:
            raise InvalidSampling(
                f"the rule {entry.name!r} has no constant {str(key)[:60]!r}; it takes {_listed(known)}{suggest(key, {*known, *_ALIASES})}"
            )
    if any(set(keys) == set(given) for keys in entry.accepts):
        return
    wanted = " or ".join(", ".join(keys) for keys in entry.accepts)
    missing = min(([key for key in keys if key not in given] for keys in entry.accepts), key=len)
    if not missing:
        raise InvalidSampling(f"the rule {entry.name!r} takes {wanted}, but {_listed(given)} were given; give one of the two")
    raise InvalidSampling(f"the rule {entry.name!r} is {entry.formula} and needs {wanted}, but {', '.join(missing)} is missing; give it")


def _check_range(entry: RuleEntry, key: str, value: Fraction) -> None:
    to_number(value, f"the constant {key} of {entry.name!r}", "[0, 1]" if key == "lam" else "(0, inf)", error=InvalidSampling)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
