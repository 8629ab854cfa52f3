"""A declaration as the text of a profile file, from which :func:`profiles.files.parse_file` reads an equal one."""

from __future__ import annotations

import json
from collections.abc import Iterator

from profiles.errors import InvalidProfile, PDPError
from profiles.files import Declaration, parse_file
from profiles.numbers import exact_text, to_exact
from profiles.terms import to_text


def write_toml(declaration: Declaration) -> str:
    """Return a profile and its sampling rule as TOML, numbers as exact text. Raises :class:`InvalidProfile` where no such file reads back.

    >>> from profiles import declare
    >>> print(write_toml(Declaration(declare("sum", "w*z/b", record={"z": [0, "0.1"]}, parameters={"b": "1/3"}))), end="")
    name = "sum"
    epsilon = "w*z/b"
    [record]
    z = ["0", "0.1"]
    [parameters]
    b = "1/3"
    """
    text = "\n".join(_lines(declaration)) + "\n"
    try:
        found = parse_file(text)
    except PDPError as error:
        raise InvalidProfile(f"the profile {declaration.profile.name[:60]!r} cannot be written to a file: {error}") from None
    mine = declaration.profile
    same = (found.profile.epsilon, found.profile.record, found.profile.parameters) == (mine.epsilon, mine.record, mine.parameters)
    if not same or (found.sampling is None) != (declaration.sampling is None):
        raise InvalidProfile(f"the profile {mine.name[:60]!r} would not come back from a file as it is; declare it from its text")
    return text


def _lines(declaration: Declaration) -> Iterator[str]:
    profile = declaration.profile
    yield f"name = {_quote(profile.name)}"
    yield f"epsilon = {_quote(profile.text)}"
    if profile.source:
        yield f"source = {_quote(profile.source)}"
    yield "[record]"
    yield from (f"{item.name} = [{_quote(exact_text(item.lo))}, {_quote(exact_text(item.hi))}]" for item in profile.record)
    if profile.parameters:
        yield "[parameters]"
    for parameter in profile.parameters:
        if parameter.bounds is not None:
            yield f"{parameter.name} = [{', '.join(_quote(exact_text(end)) for end in parameter.bounds)}]"
        else:
            yield f"{parameter.name} = {_quote('positive' if parameter.value is None else exact_text(parameter.value))}"
    if declaration.sampling is not None:
        yield "[sampling]"
        yield f"q = {_quote(to_text(declaration.sampling.q))}"
        yield from (f"{name} = {_quote(exact_text(to_exact(value)))}" for name, value in declaration.sampling.constants)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
