"""A profile as people write it: on one line, in LaTeX, and as a card of a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from profiles.numbers import exact_text
from profiles.presenting import cards
from profiles.presenting.elements import Child, Element, make
from profiles.presenting.latex import term_latex
from profiles.presenting.mathml import lay_out, operator, term_math
from profiles.terms import number, symbol

if TYPE_CHECKING:
    from profiles.profile import Parameter, Profile

_LONGEST = 400


def describe(profile: Profile) -> str:
    """Return a profile on one line: its name, ε, the ranges of the statistics, and the parameters. A long ε is cut."""
    text = profile.text
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    told = [f"{s.name} in [{exact_text(s.lo)}, {exact_text(s.hi)}]" for s in profile.record]
    return ", ".join([f"{json.dumps(profile.name, ensure_ascii=False)}: epsilon = {shown}", *told, *map(_text_of, profile.parameters)])


def _text_of(parameter: Parameter) -> str:
    if parameter.bounds is not None:
        return f"{parameter.name} in [{', '.join(map(exact_text, parameter.bounds))}]"
    return f"{parameter.name} > 0" if parameter.value is None else f"{parameter.name} = {exact_text(parameter.value)}"


def to_latex(profile: Profile) -> str:
    r"""Return a profile in LaTeX's display mathematics: ε as it was written, and what it is quantified over.

    >>> from profiles import declare
    >>> print(to_latex(declare("sum", "w*z/b", record={"z": [0, 2]}, parameters={"b": 3})))
    $\displaystyle \varepsilon(w, z) = \frac{w\,z}{b}, \quad w \geq 1, \; z \in [0, 2], \; b = 3$
    """
    arguments = ", ".join(["w", *(term_latex(symbol(s.name)) for s in profile.record)])
    told = [rf"{term_latex(symbol(s.name))} \in [{term_latex(number(s.lo))}, {term_latex(number(s.hi))}]" for s in profile.record]
    for parameter in profile.parameters:
        shown = term_latex(symbol(parameter.name))
        if parameter.bounds is not None:
            told.append(rf"{shown} \in [{', '.join(term_latex(number(end)) for end in parameter.bounds)}]")
        else:
            told.append(f"{shown} > 0" if parameter.value is None else f"{shown} = {term_latex(number(parameter.value))}")
    over = r", \; ".join([r"w \geq 1", *told])
    return rf"$\displaystyle \varepsilon({arguments}) = {term_latex(profile.epsilon)}, \quad {over}$"


def to_html(profile: Profile) -> str:
    """Return a profile as a card."""
    return cards.card(describe_in_html(profile), cards.line(make("small", _PROMISE)))


_PROMISE = (
    "A promise of the mechanism, which nothing here proves: adding or removing such a record changes the probability of no output by more "
    "than the factor exp(ε)."
)


def describe_in_html(profile: Profile) -> list[Child]:
    """Return the lines that a card tells of a profile."""
    made: list[Child] = [
        cards.line(cards.name(profile.name), " – PDP profile, in nats"),
        make("div", make("p", equation(profile)), class_="pdp-scroll", tabindex="0", role="group", aria_label="formula"),
        cards.line("for all ", _over(profile)),
    ]
    if profile.parts:
        made.append(cards.line("Composed of ", ", ".join(part.profile.name for part in profile.parts)))
    if profile.source:
        made.append(cards.line(make("small", f"Source: {profile.source}")))
    return made


def equation(profile: Profile) -> Element:
    """Return ε(w, x) = ... as one ``math`` element."""
    arguments: list[Element] = [make("mi", "w")]
    for statistic in profile.record:
        arguments += [make("mo", ",", separator="true"), *lay_out(symbol(statistic.name))[0]]
    left = make("mrow", make("mo", "("), arguments, make("mo", ")"))
    return make("math", make("mi", "ε"), left, operator("="), lay_out(profile.epsilon)[0], display="block")


def _over(profile: Profile) -> list[Child]:
    told: list[Child] = [make("code", "w ≥ 1")]
    for statistic in profile.record:
        told += [", ", term_math(symbol(statistic.name)), f" in [{exact_text(statistic.lo)}, {exact_text(statistic.hi)}]"]
    for parameter in profile.parameters:
        relation = _text_of(parameter).removeprefix(parameter.name)
        told += ["; " if parameter is profile.parameters[0] else ", ", term_math(symbol(parameter.name)), relation]
    return told


__all__ = ["describe", "describe_in_html", "equation", "to_html", "to_latex"]
