"""What a mechanism promises: exact, symbolic PDP profiles and the mechanisms that make the promise. Decides nothing."""

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
