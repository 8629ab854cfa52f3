"""Errors of mechanisms other than a lack of privacy. None of these is ever counted as evidence for or against a claim."""

from __future__ import annotations

from profiles.errors import PDPError


class MechanismRaised(PDPError):
    """The mechanism raised an exception; the message carries it."""


class MechanismHangs(PDPError):
    """A call of the mechanism did not return within its time limit."""


class UnusableOutputs(PDPError):
    """The mechanism returned NaN, a wrong number of outputs, outputs of changing shape, or objects that cannot be compared."""


class ConstantOutputs(PDPError):
    """The mechanism returned one value only on each data set: it is deterministic, or ignores its generator. Says nothing about ε."""


class DifferentConstants(ConstantOutputs):
    """The mechanism returned one value on D and another on D′: if this is no coincidence, no finite ε holds."""


class SharedGenerator(PDPError):
    """Outputs do not come from the generator that was passed in, so that they need not be independent."""


class StatefulMechanism(PDPError):
    """For equal generators and equal data sets the outputs depend on earlier calls: they are not independent draws of one mechanism."""
