"""The table from rules of the certificate format to explanations, with an honest answer for what is not in it."""

from __future__ import annotations

from proofs_check.explain.branching import explain_branches
from proofs_check.explain.direct import UNSEEN, explain_boxes, explain_ceiling, explain_manifest, explain_zero
from proofs_check.explain.setting import Explainer, Reason, Setting
from proofs_check.explain.structural import (
    explain_exp_tangent,
    explain_generalise,
    explain_log_tangent,
    explain_monotone,
    explain_periodicity,
    explain_scale,
    explain_split,
    explain_sum,
)
from proofs_check.kernel.untrusted.proofs import find_name
from proofs_check.prover.effort import OutOfTime, out_of_time
from proofs_check.results import Tree

#: A new rule of the kernel is one function and one line here.
RULES: dict[str, Explainer] = {
    "zero": explain_zero,
    "manifest": explain_manifest,
    "boxes": explain_boxes,
    "monotone": explain_monotone,
    "split": explain_split,
    "scale": explain_scale,
    "sum": explain_sum,
    "generalise": explain_generalise,
    "periodicity": explain_periodicity,
    "ceiling": explain_ceiling,
    "branches": explain_branches,
    "exp-tangent": explain_exp_tangent,
    "log-tangent": explain_log_tangent,
}


def explain_tree(setting: Setting, tree: Tree) -> Reason:
    """Return why a proof tree proves the goal of a setting. Raises nothing: what cannot be explained is named."""
    rule = str(find_name(tree.get("rule")))
    explainer = RULES.get(rule)
    if explainer is None:
        return Reason((f"By the rule {rule} of the kernel, for which no explanation is written; docs/certificates.md states it.",))
    if out_of_time():
        return _cut_short(rule)
    try:
        return explainer(setting, tree, explain_tree)
    except OutOfTime:  # what is told of the steps around this one is kept
        return _cut_short(rule)
    except Exception:  # SymPy may fail in any way; an explanation is no part of the proof
        return Reason((f"By the rule {rule}, in a way that could not be put into words; pdp check checks the step.",))


def _cut_short(rule: str) -> Reason:
    return Reason((f"By the rule {rule}; the explanation is cut short here, and pdp check checks the step.",))


def explain_default(setting: Setting) -> Reason:
    """Return why a side condition holds for which the certificate has no proof of its own: by the sign of a normal form, or by boxes."""
    manifest = explain_tree(setting, {"rule": "manifest"})
    return explain_tree(setting, {"rule": "boxes", "budget": 2000}) if manifest.said == UNSEEN else manifest
