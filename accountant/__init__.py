"""What promises add up to: certified ε bounds, optimal weights, guarantees that carry their hypotheses.

The names below are the public Python API; they are loaded when first used.
"""

import accountant.report  # noqa: F401 - see below
from profiles.lazy import offer_names

# The package of the report has the name of the function that users call. It is loaded here, where that costs nothing, and its name given
# back: an import of it later on finds it loaded, and never takes the name from the function.
del report  # noqa: F821 - the import system binds a package's name in its parent

#: What shows the values of this package (profiles/views.py).
__presenting__ = "accountant.presenting"
__getattr__, __dir__, __all__ = offer_names(__name__)
