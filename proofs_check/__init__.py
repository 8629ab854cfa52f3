"""Why you can believe a statement: the prover, the kernel that checks it, exact computations, the audit, the papers.

The packages below are loaded when first used. Nothing of ours is imported here, because the kernel lives below this package.
"""

from importlib import import_module
from types import ModuleType

#: What shows the values of this package (profiles/views.py).
__presenting__ = "proofs_check.presenting"
__all__ = [
    "admission",
    "audit",
    "certificates",
    "conditions",
    "enclosures",
    "exact",
    "explain",
    "kernel",
    "papers",
    "statements",
    "suprema",
    "verify",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
