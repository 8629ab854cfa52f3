"""Hypothesis strategies for what the toolkit works with; each shrinks to something small that reads well."""

from profiles.errors import MissingExtra
from profiles.lazy import offer_names

try:
    import hypothesis  # noqa: F401 - looked for here, so that the error names the extra
except ModuleNotFoundError as error:
    raise MissingExtra("the strategies need Hypothesis, but it is not installed; install pdp-accountant[testing]") from error

# at once: the functions, not the modules of their names
from accountant.testing.strategies.records import records as records
from accountant.testing.strategies.sampling_rules import sampling_rules as sampling_rules

__getattr__, __dir__, __all__ = offer_names(__name__)
