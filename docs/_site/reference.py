"""The reference: a page for each public package, from ``__all__`` and the docstrings. An object stands on the first page that has it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable
from pathlib import Path

#: The packages in the order of use, by what they are for.
PARTS = {
    "What most users need": ("accountant",),
    "Say what a mechanism costs": (
        "profiles",
        "profiles.mechanisms",
        "profiles.mechanisms.repeated",
        "accountant.rules",
    ),
    "Bound it, and choose the noise": (
        "accountant.guarantees",
        "accountant.amplification",
        "accountant.onesided",
        "accountant.calibration",
        "accountant.curves",
    ),
    "Weigh and sample data": (
        "accountant.data",
        "accountant.weights.fast",
        "accountant.samples",
        "accountant.engines",
    ),
    "Run private algorithms": (
        "accountant.applications.dpsgd",
        "accountant.applications.kmeans",
        "accountant.applications.statistics",
        "accountant.applications.submodular",
        "accountant.applications.submodular.matroids",
        "accountant.applications.setcover",
        "accountant.applications.clustering",
        "accountant.applications.heavyhitters",
    ),
    "Keep account, and hand it on": (
        "accountant.ledger",
        "accountant.interop",
        "accountant.report",
    ),
    "Test and audit": (
        "accountant.testing",
        "proofs_check.audit",
        "proofs_check.exact",
        "proofs_check.exact.repeated",
    ),
    "Look inside": (
        "proofs_check.explain",
        "proofs_check.papers",
        "proofs_check.kernel",
        "proofs_check.enclosures",
        "profiles.balls",
        "profiles.randomness",
        "profiles.randomness.rounded",
    ),
}
PACKAGES = tuple(name for names in PARTS.values() for name in names)
#: The names of ``accountant`` itself in the order of use; a test finds those that stand in no part.
NAMES = {
    "Declare and verify": ("declare", "load", "verify", "admit", "prove_convexity"),
    "Bound epsilon": ("derive_epsilon", "make_rule", "amplify", "worst_case_directions", "exact_epsilon", "exact_delta", "render"),
    "Choose the noise": ("calibrate", "calibrate_noise", "calibrate_noise_for_size", "calibrate_one_sided"),
    "Weigh and sample": (
        *("optimal_weight", "optimal_weights", "feasible_weights", "compute_weights_file"),
        *("plan_sample", "draw_sample", "sample_file", "amplify_once", "prepare_selection"),
    ),
    "Account for several releases": ("training", "compose", "subsample", "DeltaWarning"),
    "Release from a table": ("release", "plan_release", "Count", "Sum", "Mean", "Variance", "Quantile", "Histogram", "By"),
    "Run private algorithms": ("DPKMeans", "DPLloyd", "DPSGDClassifier", "dp_sgd_plan"),
    "Hand on and check": ("report", "check", "write_guarantee", "read_guarantee", "replay", "suppose"),
    "Audit": ("audit", "Claim"),
}
#: Classes whose methods are also those of a base that has no place of its own on the pages.
_WITH_BASE = ("Ledger",)
_FROM_ELSEWHERE = ("set_fit_request", "set_score_request", "set_predict_request", "set_transform_request", "set_partial_fit_request")


def write(folder: Path) -> None:
    """Write the pages, and the one that lists them."""
    described: dict[int, str] = {}
    overview = ["# Reference", "", "Made from the docstrings, in the order of use.", ""]
    for part, names in PARTS.items():
        overview += [f"## {part}", "", "| package | what it is for |", "| --- | --- |"]
        for name in names:
            package = importlib.import_module(name)
            (folder / f"reference-{name}.md").write_text(_page(name, described), encoding="utf-8")
            first = (inspect.getdoc(package) or "").partition("\n\n")[0].replace("\n", " ")
            overview.append(f"| [`{name}`](reference-{name}.md) | {first} |")
        overview.append("")
    overview += ["```{toctree}", ":hidden:", ":maxdepth: 1", "", *(f"reference-{name}" for name in PACKAGES), "```", ""]
    (folder / "reference.md").write_text("\n".join(overview), encoding="utf-8")


def _page(name: str, described: dict[int, str]) -> str:
    package = importlib.import_module(name)
    whole, _, last = name.rpartition(".")
    shared = (
        ["   :no-index:"] if whole and last in getattr(importlib.import_module(whole), "__all__", ()) else []
    )  # also the name of a function
    lines = [f"# {name}", "", "```{eval-rst}", f".. automodule:: {name}", *shared, "", "```", ""]
    elsewhere: list[str] = []
    for part, names in NAMES.items() if name == PACKAGES[0] else [("", package.__all__)]:
        here = _describe(name, names, described, elsewhere)
        lines += [*([f"## {part}", ""] if part else []), *(["```{eval-rst}", *here, "```", ""] if here else [])]
    return "\n".join([*lines, *(f"* {line}" for line in elsewhere), ""])


def _describe(package: str, names: Iterable[str], described: dict[int, str], elsewhere: list[str]) -> list[str]:
    """Return the directives for names, and note those that stand on an earlier page."""
    here = []
    for public in names:
        found = getattr(importlib.import_module(package), public)
        kind = _kind(found)
        home = described.get(id(found)) if kind != "data" else None
        if home is not None:
            elsewhere.append(f"`{public}`: see [`{home}`](reference-{home}.md)")
            continue
        described[id(found)] = package
        here += [f".. auto{kind}:: {package}.{public}", *_options(found, kind), ""]
    return here


def _kind(found: object) -> str:
    if inspect.isclass(found):
        return "exception" if issubclass(found, BaseException) else "class"
    return "function" if inspect.isroutine(found) else "data"


def _options(found: object, kind: str) -> list[str]:
    if kind == "data":
        return ["   :no-value:"]
    if kind != "class":
        return []
    hidden = [name for name in _FROM_ELSEWHERE if hasattr(found, name)]
    base = ["   :inherited-members:"] if getattr(found, "__name__", "") in _WITH_BASE else []
    return ["   :members:", *base, *([f"   :exclude-members: {', '.join(hidden)}"] if hidden else [])]
