"""Noise for a target ε* and an expected sample size under several sampling rules, with the error of the sum beside it: to choose by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from accountant.calibration.noise import DEFAULT_TOLERANCE, Calibration, calibrate_noise
from accountant.calibration.rule_constants import RuleConstants
from accountant.calibration.sizes import calibrate_noise_for_size
from accountant.calibration.sum_error import SumError, SumNoise, SumRecords, choose_noise, error_of_any, error_on_data, read_records
from accountant.calibration.template import Template, make_template, open_parameters
from accountant.data import StatisticSpec, check_range, open_dataset, parse_statistic
from accountant.guarantees import to_json
from accountant.rules import SamplingRule, make_rule, refuse_oracle, rule_from_expression
from profiles import (
    Declaration,
    Infeasible,
    InvalidArgument,
    Profile,
    SamplingDeclaration,
    Undecided,
    decimal_text,
    exact_text,
    parse_expression,
)
from profiles.files import to_declaration
from profiles.hypotheses import NOISE_FROM_DATA, PUBLIC_CENTRE, PUBLIC_CONSTANTS, TARGET_FROM_DATA, Hypothesis
from profiles.numbers import to_target
from profiles.terms import free_symbols, to_text
from profiles.views import show_picture

if TYPE_CHECKING:
    from profiles.presenting.pictures import Picture

CERTIFIED, UNKNOWN, INFEASIBLE = "certified", "unknown", "infeasible"
#: The rule of the profile file.
OWN = "the profile's own"
_CONSTRAINED = "privacy-constrained"
_PUBLIC = frozenset(item.id for item in (PUBLIC_CONSTANTS, PUBLIC_CENTRE, NOISE_FROM_DATA, TARGET_FROM_DATA))


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule: the least noise that was found and certified (``calibration``), or why there is none (``reason``).

    ``verdict``: certified, unknown or infeasible. ``error``: the expected error of the sum, None with ``error_reason``. ``size``: the
    expected sample size, where it is a public number. ``from_data``: the noise is a function of the data, and private like them.
    """

    rule: str
    verdict: str
    calibration: Calibration | None = None
    reason: str | None = None
    error: SumError | None = None
    error_reason: str | None = None
    size: Fraction | None = None
    from_data: bool = False

    @property
    def public(self) -> tuple[Hypothesis, ...]:
        """The open hypotheses about constants: what must be public for the guarantee to hold."""
        return () if self.calibration is None else tuple(item for item in self.calibration.hypotheses if item.id in _PUBLIC)

    def to_json(self) -> dict[str, Any]:
        calibration = self.calibration
        made: dict[str, Any] = {"rule": self.rule, "verdict": self.verdict, "reason": self.reason}
        if calibration is None:
            return made
        q = calibration.derived.rule.q
        noise = {
            "noise": {name: exact_text(value) for name, value in calibration.parameters.items()},
            "too_small": None if calibration.too_small is None else exact_text(calibration.too_small),
        }
        error = None if self.error is None else self.error.to_json()
        hidden = bool(self.error and self.error.private)
        return {
            **made,
            "q": None if q is None else to_text(q),
            **({} if self.from_data else noise),
            "least": calibration.smallest,
            "epsilon": to_json(calibration.derived.guarantee)["epsilon"],
            "expected_sample_size": None if self.size is None else exact_text(self.size),
            "error": None if hidden else error,
            "error_reason": self.error_reason,
            "public": [item.sentence for item in self.public],
            **({} if self.from_data else {"guarantee": calibration.derived.to_json()}),
        }

    def private_json(self) -> dict[str, Any]:
        """Return what depends on the data set: to be shown under ``private`` only."""
        calibration = self.calibration
        if calibration is None:
            return {}
        made: dict[str, Any] = {}
        if self.from_data:
            made["noise"] = {name: exact_text(value) for name, value in calibration.parameters.items()}
            made["too_small"] = None if calibration.too_small is None else exact_text(calibration.too_small)
            made["expected_sample_size"] = None if calibration.size is None else decimal_text(Fraction(calibration.size), 12, round_up=True)
        if self.error is not None and self.error.private:
            made["error"] = self.error.to_json()
        return made


@dataclass(frozen=True, slots=True)
class Comparison:
    """The noise for one target under several rules, in the order of the call; ``parameters`` is the noise that was found."""

    profile: Profile
    target: Fraction
    parameters: tuple[str, ...]
    noise: SumNoise
    choices: tuple[RuleResult, ...] = field()

    def plot(self) -> Picture:
        """Return a picture of the certified ε against the noise, a line for each rule whose noise is public.

        Raises :class:`profiles.InvalidArgument` where there is none, :class:`profiles.MissingExtra` without Matplotlib.
        """
        return show_picture(self)

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form of ``pdp calibrate``; what depends on a data set is under ``private``, by rule."""
        private = {choice.rule: calibration for choice in self.choices if (calibration := choice.private_json())}
        return {
            "profile": self.profile.name,
            "target_epsilon": exact_text(self.target),
            "parameters": list(self.parameters),
            "sum": {"noise_norm": self.noise.norm, "dimension": self.noise.dimension},
            "choices": [choice.to_json() for choice in self.choices],
            **({"private": private} if private else {}),
        }


def calibrate(
    reference: str | Profile | Declaration,
    target_epsilon: object,
    *,
    rules: str | Sequence[str] = (),
    q: str | None = None,
    target_size: object | None = None,
    rate: object | None = None,
    constants: Mapping[str, object] | None = None,
    parameters: str | Sequence[str] | Mapping[str, object] = (),
    data: Any = None,
    specs: Sequence[StatisticSpec | str] = (),
    noise_norm: str | None = None,
    dimension: int | None = None,
    tolerance: object = DEFAULT_TOLERANCE,
) -> Comparison:
    """Claim: for each rule with the verdict certified, the mechanism with the noise that is returned, on a sample by that rule, is ε*-DP
    under the hypotheses of its guarantee; where ``found.smallest``, no noise smaller by more than ``tolerance`` is enough.

    ``reference``: a profile, a declaration, a file or ``package.module:object``. ``parameters``: the noise to be found, by default the only
    parameter that is ``"positive"``; a number that it has already is replaced; several with their proportions, ``{"b": 1, "c": 2}``.
    ``rules``: names; ``q``: an expression; without both the profile file's own rule. ``target_size``: M, the constant m of all of them, or
    ``rate``: m/n. ``constants``: public numbers, for one of several rules with its name before them (``"coreset-l2.mean"``); n, m and lam
    are taken from the file's [sampling] where they are not given. ``data`` with ``specs``: the records for which the error of the sum is
    computed, and the size for ``privacy-constrained``, whose noise then is a function of the data.

    The error is that of one noisy weighted sum in ``dimension`` coordinates whose noise has a density ∝ exp(−‖ζ‖/s), s the first parameter
    and the norm ``noise_norm`` (l1: Laplace noise); E‖Ŝ − S‖₂² = Σ (1/q − 1)‖x‖₂² + E‖ζ‖₂². Source: docs/howto-epsilon.md.

    Raises :class:`InvalidTarget`, :class:`InvalidArgument` (no parameter, or one of which more noise costs more), :class:`InvalidSampling`
    (a rule that is not possible, such as m > n), :class:`NotPrivate`, :class:`InvalidData`, and what loading raises.

    >>> from profiles import declare
    >>> profile = declare("sum", "w*z/b", record={"z": [0, 1]}, parameters={"b": "positive"})
    >>> found = calibrate(profile, 2, rules="uniform", constants={"n": 100}, target_size=10)
    >>> [(name, float(value)) for name, value in found.choices[0].calibration.parameters.items()]
    [('b', 2.3965293)]
    >>> round(found.choices[0].error.root_mean_square, 2)
    30.19
    """
    target = to_target(target_epsilon, "(0, 1000000]")
    declaration = to_declaration(reference)
    template = _make_template(declaration.profile.require_pure(), parameters)
    read = tuple(parse_statistic(spec) if isinstance(spec, str) else spec for spec in specs)
    if read and data is None:
        raise InvalidArgument("a way to read statistics was given, but no data set; add --data FILE, or leave it out")
    records = None if data is None else read_records(declaration.profile, data, read)
    if records is not None:
        check_range(declaration.profile, open_dataset(data), records.specs)  # before the search begins
    noise = choose_noise(records, noise_norm, dimension)
    names = (rules,) if isinstance(rules, str) else tuple(rules)
    public = RuleConstants(declaration, names, constants or {}, target_size, rate)
    asked = _list_rules(declaration, template.profile, names, q, public, target)
    _refuse_rising(template)
    request = _Request(template, declaration.hypotheses, target, tolerance, records, noise)
    choices = tuple(_choose(request, made, public) for made in asked)
    return Comparison(declaration.profile, target, tuple(template.proportions), noise, choices)


def _make_template(profile: Profile, parameters: str | Sequence[str] | Mapping[str, object]) -> Template:
    if isinstance(parameters, str):
        parameters = (parameters,)
    named = list(parameters)
    if len(named) > 1 and not isinstance(parameters, Mapping):
        raise InvalidArgument(
            f"the noise was to be found in the parameters {', '.join(named)}; give their proportions, such as "
            f"{', '.join(f'{name}=1' for name in named)}"
        )
    opened = open_parameters(profile, named)
    proportions = dict(parameters) if isinstance(parameters, Mapping) and parameters else dict.fromkeys(named, 1) if named else None
    if proportions is not None:
        left = [item.name for item in opened.free_parameters if item.name not in proportions]
        if left:
            raise InvalidArgument(
                f"the noise was to be found in {', '.join(proportions)}, but {', '.join(left)} has no number either; give it one in the "
                "profile, or find both in given proportions"
            )
    template = make_template(opened, proportions)
    ranged = [item.name for item in opened.free_parameters if item.bounds is not None]
    if ranged:
        raise InvalidArgument(f"noise needs numbers for all other parameters, but {', '.join(ranged)} has a range; give a number")
    for name in template.proportions:
        if name not in free_symbols(opened.epsilon):
            raise InvalidArgument(
                f"the noise was to be found in {name!r}, but epsilon(w, x) = {opened.text[:120]} does not depend on it; "
                "name another parameter"
            )
    return template


def _refuse_rising(template: Template) -> None:
    if template.prove_falling() is not None:
        return
    rise = template.find_rise()
    if rise is None:
        return
    names, record = ", ".join(template.proportions), {key: value for key, value in rise.items() if key not in ("less", "more")}
    at = ", ".join(f"{key} = {exact_text(value)}" for key, value in record.items())
    raise InvalidArgument(
        f"noise was to be found in {names}, but more of it does not always cost less: epsilon at {at} rises as the scale "
        f"goes from {exact_text(rise['less'])} to {exact_text(rise['more'])}; name a parameter that is a noise scale"
    )


def _list_rules(
    declaration: Declaration, profile: Profile, names: Sequence[str], q: str | None, public: RuleConstants, target: Fraction
) -> list[SamplingRule]:
    for name in names:
        refuse_oracle(name)
        if list(names).count(name) > 1:
            raise InvalidArgument(f"the rule {name!r} was named twice; name it once")
    made = [make_rule(name, profile, public.of_rule(name), target if name == _CONSTRAINED else None) for name in names]
    if q is not None:
        term = parse_expression(q, "q")
        made.append(rule_from_expression(q, profile, public.of_expression(term)))
    if not made:
        own = declaration.sampling
        if own is None:
            raise InvalidArgument(
                "a sampling rule is needed, but none was given and the profile file has no [sampling]; add --rule NAME or --q EXPR"
            )
        rule = rule_from_expression(own.q, profile, public.of_expression(own.q))
        made.append(replace(rule, name=OWN))
    return made


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of every rule: the mechanism, ε*, how near its noise comes to the least one, and the records of the sum."""

    template: Template
    hypotheses: tuple[Hypothesis, ...]
    target: Fraction
    tolerance: object
    records: SumRecords | None
    noise: SumNoise


def _choose(request: _Request, rule: SamplingRule, public: RuleConstants) -> RuleResult:
    records, noise, count, size = request.records, request.noise, public.number(rule.name, "n"), public.size(rule.name)
    try:
        if rule.q is None:
            calibration = _constrained(request, size)
        else:
            calibration = calibrate_noise(
                request.template.profile,
                rule,
                request.target,
                proportions=request.template.proportions,
                tolerance=request.tolerance,
                hypotheses=request.hypotheses,
            )
    except (Infeasible, Undecided) as error:
        return RuleResult(rule.name, INFEASIBLE if isinstance(error, Infeasible) else UNKNOWN, reason=str(error))
    scale = next(iter(calibration.parameters.values()))
    used, bound = calibration.derived.rule, calibration.derived.bound.upper
    if records is not None:
        return RuleResult(
            rule.name,
            CERTIFIED,
            calibration,
            error=error_on_data(calibration.profile, used, bound, scale, records, noise),
            size=size,
            from_data=rule.q is None,
        )
    if count is None:
        return RuleResult(rule.name, CERTIFIED, calibration, error_reason="give n (--constant n=...) or --data to see it", size=size)
    bounded = error_of_any(calibration.profile, used, count, scale, noise)
    why = None if bounded is not None else "no bound for all data sets was found; give --data to see it for one"
    return RuleResult(rule.name, CERTIFIED, calibration, error=bounded, error_reason=why, size=size)


def _constrained(request: _Request, size: Fraction | None) -> Calibration:
    if size is None or request.records is None:
        raise InvalidArgument(
            "privacy-constrained weights meet the target with any noise, and the sample size decides which; give --target-size M and "
            "--data FILE (the noise is then a function of the data), or choose the noise yourself"
        )
    return calibrate_noise_for_size(
        request.template.profile,
        request.target,
        size,
        request.records.statistics,
        proportions=request.template.proportions,
        tolerance=request.tolerance,
        hypotheses=request.hypotheses,
    )


def fill_profile(choice: RuleResult, declaration: Declaration) -> Declaration:
    """Return the declaration with the noise of a certified choice, and the rule it is for as its own (none for one without an expression).

    Raises :class:`InvalidArgument` for a choice without noise, or whose noise is a function of the data.
    """
    if choice.calibration is None:
        raise InvalidArgument(f"there is no noise for {choice.rule!r} to be written to a profile ({choice.reason}); choose another rule")
    if choice.from_data:
        raise InvalidArgument(
            f"the noise for {choice.rule!r} was computed from the data, and a profile or certificate with it would show them; choose "
            "a noise without looking at this data, and write it into the profile"
        )
    q = choice.calibration.derived.rule.q
    return Declaration(choice.calibration.profile, None if q is None else SamplingDeclaration(q), declaration.hypotheses)
