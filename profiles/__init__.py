"""What a mechanism promises: exact, symbolic PDP profiles and the mechanisms that make the promise. Decides nothing.

The names below are loaded when first used: SymPy takes most of a second, which help, completion and checking a file do not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.lazy import load_from

if TYPE_CHECKING:
    from profiles.composition import compose_adaptively
    from profiles.errors import (
        Infeasible,
        InvalidArgument,
        InvalidData,
        InvalidExpression,
        InvalidNumber,
        InvalidProfile,
        InvalidSampling,
        InvalidTarget,
        MissingExtra,
        NotNeighbors,
        NotOffered,
        NotPrivate,
        NotReplayed,
        OpenHypotheses,
        PDPError,
        SampleUsed,
        Undecided,
        UnreadableFile,
        UnwritableOutput,
    )
    from profiles.files import Declaration, SamplingDeclaration, load, load_file, parse_file
    from profiles.grammar import parse_expression
    from profiles.numbers import decimal_text, exact_text, to_exact
    from profiles.profile import Parameter, Part, Profile, Statistic, Variable, declare
    from profiles.stored import read_profile, write_profile

_HOME = {
    "Declaration": "profiles.files",
    "Infeasible": "profiles.errors",
    "InvalidArgument": "profiles.errors",
    "InvalidData": "profiles.errors",
    "InvalidExpression": "profiles.errors",
    "InvalidNumber": "profiles.errors",
    "InvalidProfile": "profiles.errors",
    "InvalidSampling": "profiles.errors",
    "InvalidTarget": "profiles.errors",
    "MissingExtra": "profiles.errors",
    "NotOffered": "profiles.errors",
    "NotPrivate": "profiles.errors",
    "NotNeighbors": "profiles.errors",
    "NotReplayed": "profiles.errors",
    "OpenHypotheses": "profiles.errors",
    "PDPError": "profiles.errors",
    "Parameter": "profiles.profile",
    "Part": "profiles.profile",
    "Profile": "profiles.profile",
    "SampleUsed": "profiles.errors",
    "SamplingDeclaration": "profiles.files",
    "Statistic": "profiles.profile",
    "Undecided": "profiles.errors",
    "UnreadableFile": "profiles.errors",
    "UnwritableOutput": "profiles.errors",
    "Variable": "profiles.profile",
    "compose_adaptively": "profiles.composition",
    "decimal_text": "profiles.numbers",
    "declare": "profiles.profile",
    "exact_text": "profiles.numbers",
    "load": "profiles.files",
    "load_file": "profiles.files",
    "parse_expression": "profiles.grammar",
    "parse_file": "profiles.files",
    "read_profile": "profiles.stored",
    "to_exact": "profiles.numbers",
    "write_profile": "profiles.stored",
}

__all__ = [
    "Declaration",
    "Infeasible",
    "InvalidArgument",
    "InvalidData",
    "InvalidExpression",
    "InvalidNumber",
    "InvalidProfile",
    "InvalidSampling",
    "InvalidTarget",
    "MissingExtra",
    "NotNeighbors",
    "NotOffered",
    "NotPrivate",
    "NotReplayed",
    "OpenHypotheses",
    "PDPError",
    "Parameter",
    "Part",
    "Profile",
    "SampleUsed",
    "SamplingDeclaration",
    "Statistic",
    "Undecided",
    "UnreadableFile",
    "UnwritableOutput",
    "Variable",
    "compose_adaptively",
    "decimal_text",
    "declare",
    "exact_text",
    "load",
    "load_file",
    "parse_expression",
    "parse_file",
    "read_profile",
    "to_exact",
    "write_profile",
]


__getattr__ = load_from(__name__, _HOME)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
