"""A profile as people write it: on one line, in LaTeX, and as a card of a notebook."""

from __future__ import annotations

import json

from profiles.notions import ORDER, ProfileNotion
from profiles.numbers import exact_text
from profiles.presenting import cards
from profiles.presenting.elements import Child, Element, make
from profiles.presenting.latex import term_latex
from profiles.presenting.mathml import lay_out, operator, term_math
from profiles.presenting.pictures import plot_profile
from profiles.profile import Profile
from profiles.terms import Term, number, symbol, to_text
from profiles.variables import Parameter
from profiles.views import show_html, show_latex, show_picture, show_text

_LONGEST = 400


def as_declared(profile: Profile) -> tuple[Term, tuple[tuple[str, Term, Term], ...]]:
    """Return what is promised (ε in pure profiles) and the statistics (name, lower end, upper end) as they were declared, also where the
    ends of a range are expressions in the parameters, for which the profile itself has shares of [0, 1] (:mod:`profiles.ranges`).
    """
    written = {item.share: (item.name, item.lo, item.hi) for item in profile.shares}
    ranges = tuple(written.get(s.name, (s.name, number(s.lo), number(s.hi))) for s in profile.record)
    return profile.written.promise if written and profile.written is not None else profile.promise, ranges


def describe_shares(profile: Profile) -> list[str]:
    """Return what stands in proofs, witnesses and certificates for each statistic whose range has expressions as ends.

    >>> from profiles import declare
    >>> describe_shares(declare("sum", "w*z", record={"z": [0, "2*R"]}, parameters={"R": "positive"}))
    ['In proofs and witnesses z stands as 2*R*z_share, with z_share in [0, 1].']
    """
    return [
        f"In proofs and witnesses {item.name} stands as {_cut(to_text(item.value))}, with {item.share} in [0, 1]."
        for item in profile.shares
    ]


def describe(profile: Profile) -> str:
    """Return a profile on one line: its name, ε, the ranges of the statistics, and the parameters, as declared. A long text is cut."""
    epsilon, ranges = as_declared(profile)
    shown = _cut(to_text(epsilon))
    told = [f"{name} in [{_end(lo)}, {_end(hi)}]" for name, lo, hi in ranges]
    notion = "" if profile.notion is ProfileNotion.PURE else f" ({profile.notion.value})"
    promise = f"{profile.notion.number} = {shown}{notion}"
    return ", ".join([f"{json.dumps(profile.name, ensure_ascii=False)}: {promise}", *told, *map(_text_of, profile.parameters)])


@show_text.register(Profile)
def _profile_text(profile: Profile) -> str:
    return f"Profile({describe(profile)})"


def describe_wholly(profile: Profile) -> str:
    """Return all that a profile promises, and nothing cut: ε or the named number of its notion, every range and constant, which a file
    could narrow.

    >>> from profiles import declare
    >>> describe_wholly(declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": 3}))
    'w*z/b with z in [0, 2], b = 3'
    """
    told = [f"{item.name} in [{exact_text(item.lo)}, {exact_text(item.hi)}]" for item in profile.record]
    told += [f"{item.name} in {item.text}" for item in (() if profile.written is None else profile.written.ranges)]
    told += map(_text_of, profile.parameters)
    pure = profile.notion is ProfileNotion.PURE
    said = to_text(profile.promise) if pure else f"{profile.notion.number} = {to_text(profile.promise)}"
    return f"{said} with {', '.join(told)}" if told else said


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _end(end: Term) -> str:
    return exact_text(end[1]) if end[0] == "num" else _cut(to_text(end))


def _text_of(parameter: Parameter) -> str:
    if parameter.bounds is not None:
        return f"{parameter.name} in [{', '.join(map(exact_text, parameter.bounds))}]"
    return f"{parameter.name} > 0" if parameter.value is None else f"{parameter.name} = {exact_text(parameter.value)}"


_SIGNS = {
    ProfileNotion.PURE: r"\varepsilon",
    ProfileNotion.GAUSSIAN: r"\mu",
    ProfileNotion.RENYI: r"\mathrm{rdp}",
    ProfileNotion.ZCDP: r"\rho",
}


@show_latex.register(Profile)
def to_latex(profile: Profile) -> str:
    r"""Return a profile in LaTeX's display mathematics: ε as it was written, and what it is quantified over.

    >>> from profiles import declare
    >>> print(to_latex(declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": 3})))
    $\displaystyle \varepsilon(w, z) = \frac{w\,z}{b}, \quad w \geq 1, \; z \in [0, 2], \; b = 3$
    """
    epsilon, ranges = as_declared(profile)
    order = [term_latex(symbol(ORDER))] if profile.notion is ProfileNotion.RENYI else []
    arguments = ", ".join([*order, "w", *(term_latex(symbol(name)) for name, _, _ in ranges)])
    told = [rf"{term_latex(symbol(name))} \in [{term_latex(lo)}, {term_latex(hi)}]" for name, lo, hi in ranges]
    for parameter in profile.parameters:
        shown = term_latex(symbol(parameter.name))
        if parameter.bounds is not None:
            told.append(rf"{shown} \in [{', '.join(term_latex(number(end)) for end in parameter.bounds)}]")
        else:
            told.append(f"{shown} > 0" if parameter.value is None else f"{shown} = {term_latex(number(parameter.value))}")
    over = r", \; ".join([*(rf"{name} > 1" for name in order), r"w \geq 1", *told])
    return rf"$\displaystyle {_SIGNS[profile.notion]}({arguments}) = {term_latex(epsilon)}, \quad {over}$"


@show_html.register(Profile)
def to_html(profile: Profile) -> str:
    """Return the HTML of a profile: its formula, ranges and parameters, and what the number promises, which nothing here proves."""
    return cards.card(describe_in_html(profile), cards.line(make("small", f"{_PROMISE} {_MEANINGS[profile.notion]}")))


_PROMISE = "A promise of the mechanism, which nothing here proves: adding or removing such a record"
_MEANINGS = {
    ProfileNotion.PURE: "changes the probability of no output by more than the factor exp(ε).",
    ProfileNotion.GAUSSIAN: "is no easier to detect than whether one draw is of N(0, 1) or of N(μ, 1). This μ is not an ε.",
    ProfileNotion.RENYI: "gives a Rényi divergence of order α of at most rdp, in either direction. This rdp is not an ε.",
    ProfileNotion.ZCDP: "gives a Rényi divergence of at most α ρ, for all orders α > 1 and in either direction. This ρ is not an ε.",
}


_UNITS = {
    ProfileNotion.PURE: "in nats",
    ProfileNotion.GAUSSIAN: "Gaussian",
    ProfileNotion.RENYI: "Rényi, in nats",
    ProfileNotion.ZCDP: "zCDP, in nats",
}


def describe_in_html(profile: Profile) -> list[Child]:
    """Return the lines that a card shows of a profile."""
    made: list[Child] = [
        cards.line(cards.name(profile.name), f" – PDP profile, {_UNITS[profile.notion]}"),
        make("div", make("p", equation(profile)), class_="pdp-scroll", tabindex="0", role="group", aria_label="formula"),
        cards.line("for all ", _over(profile)),
    ]
    if profile.parts:
        made.append(cards.line("Composed of ", ", ".join(part.profile.name for part in profile.parts)))
    if profile.source:
        made.append(cards.line(make("small", f"Source: {profile.source}")))
    return made


def equation(profile: Profile) -> Element:
    """Return ε(w, x) = ..., or what else is promised, as it was declared, as one ``math`` element."""
    epsilon, ranges = as_declared(profile)
    order = [*lay_out(symbol(ORDER))[0], make("mo", ",", separator="true")] if profile.notion is ProfileNotion.RENYI else []
    arguments: list[Element] = [*order, make("mi", "w")]
    for name, _, _ in ranges:
        arguments += [make("mo", ",", separator="true"), *lay_out(symbol(name))[0]]
    left = make("mrow", make("mo", "("), arguments, make("mo", ")"))
    return make("math", make("mi", profile.notion.sign), left, operator("="), lay_out(epsilon)[0], display="block")


def _over(profile: Profile) -> list[Child]:
    told: list[Child] = [make("code", "α > 1"), ", "] if profile.notion is ProfileNotion.RENYI else []
    told.append(make("code", "w ≥ 1"))
    for name, lo, hi in as_declared(profile)[1]:
        told += [", ", term_math(symbol(name)), " in [", _end_in_html(lo), ", ", _end_in_html(hi), "]"]
    for parameter in profile.parameters:
        relation = _text_of(parameter).removeprefix(parameter.name)
        told += ["; " if parameter is profile.parameters[0] else ", ", term_math(symbol(parameter.name)), relation]
    return told


def _end_in_html(end: Term) -> Child:
    return exact_text(end[1]) if end[0] == "num" else term_math(end)


show_picture.register(Profile)(plot_profile)
