"""The reference: a page for each public package, from ``__all__`` and the docstrings. An object stands on the first page that has it."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

PACKAGES = (
    "accountant",
    "profiles",
    "profiles.mechanisms",
    "profiles.randomness",
    "profiles.randomness.rounded",
    "profiles.mechanisms.repeated",
    "accountant.guarantees",
    "accountant.rules",
    "accountant.samples",
    "accountant.data",
    "accountant.engines",
    "accountant.calibration",
    "accountant.curves",
    "accountant.amplification",
    "accountant.weights.fast",
    "accountant.onesided",
    "accountant.applications.dpsgd",
    "accountant.applications.kmeans",
    "accountant.applications.statistics",
    "accountant.applications.submodular",
    "accountant.applications.submodular.matroids",
    "accountant.applications.setcover",
    "accountant.applications.clustering",
    "accountant.applications.heavyhitters",
    "accountant.ledger",
    "accountant.interop",
    "accountant.testing",
    "accountant.report",
    "proofs_check.audit",
    "proofs_check.exact",
    "proofs_check.exact.repeated",
    "proofs_check.explain",
    "proofs_check.papers",
    "proofs_check.kernel",
    "proofs_check.enclosures",
    "profiles.balls",
)
_FROM_ELSEWHERE = ("set_fit_request", "set_score_request", "set_predict_request", "set_transform_request", "set_partial_fit_request")


def write(folder: Path) -> None:
    """Write the pages, and the one that lists them."""
    described: dict[int, str] = {}
    overview = ["# Reference", "", "Made from the docstrings. The functions that most users need are in `accountant` itself.", ""]
    overview += ["| package | what it is for |", "| --- | --- |"]
    for name in PACKAGES:
        package = importlib.import_module(name)
        (folder / f"reference-{name}.md").write_text(_page(name, described), encoding="utf-8")
        first = (inspect.getdoc(package) or "").partition("\n\n")[0].replace("\n", " ")
        overview.append(f"| [`{name}`](reference-{name}.md) | {first} |")
    overview += ["", "```{toctree}", ":hidden:", ":maxdepth: 1", "", *(f"reference-{name}" for name in PACKAGES), "```", ""]
    (folder / "reference.md").write_text("\n".join(overview), encoding="utf-8")


def _page(name: str, described: dict[int, str]) -> str:
    package = importlib.import_module(name)
    here, elsewhere = [], []
    for public in package.__all__:
        found = getattr(package, public)
        kind = _kind(found)
        home = described.get(id(found)) if kind != "data" else None
        if home is not None:
            elsewhere.append(f"`{public}`: see [`{home}`](reference-{home}.md)")
            continue
        described[id(found)] = name
        here += [f".. auto{kind}:: {name}.{public}", *_options(found, kind), ""]
    whole, _, last = name.rpartition(".")
    shared = (
        ["   :no-index:"] if whole and last in getattr(importlib.import_module(whole), "__all__", ()) else []
    )  # also the name of a function
    lines = [f"# {name}", "", "```{eval-rst}", f".. automodule:: {name}", *shared, "", *here, "```", ""]
    return "\n".join([*lines, *(f"* {line}" for line in elsewhere), ""])


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
    return ["   :members:", *([f"   :exclude-members: {', '.join(hidden)}"] if hidden else [])]
