"""The audit: lower confidence bounds on ε from runs of an implementation on neighboring data sets. See docs/audit.md.

>>> import numpy as np
>>> from proofs_check.audit import Claim, audit
>>> def laplace(dataset, rng, size):
...     return sum(dataset) + rng.laplace(0, 1.0, size)
>>> result = audit(laplace, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=2_000)
>>> result.finding.value, result.epsilon_lower <= 1
('consistent', True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profiles.lazy import load_from

if TYPE_CHECKING:
    from proofs_check.audit.adapters import in_processes, one_at_a_time
    from proofs_check.audit.api import Mode, audit
    from proofs_check.audit.claims import Claim, claim_of_record
    from proofs_check.audit.neighbors import Neighboring, Relation, judge_neighbors
    from proofs_check.audit.pairs import Pair, SearchResult, extreme_records, query_patterns, record_pairs, search_pairs
    from proofs_check.audit.results import AuditResult, EventReport, Finding, Parts
    from proofs_check.audit.scores import Effort

__all__ = [
    "AuditResult",
    "Claim",
    "Effort",
    "EventReport",
    "Finding",
    "Mode",
    "Neighboring",
    "Pair",
    "Parts",
    "Relation",
    "SearchResult",
    "audit",
    "claim_of_record",
    "extreme_records",
    "in_processes",
    "judge_neighbors",
    "one_at_a_time",
    "query_patterns",
    "record_pairs",
    "search_pairs",
]

_PLACES = {
    "adapters": ("in_processes", "one_at_a_time"),
    "api": ("Mode", "audit"),
    "claims": ("Claim", "claim_of_record"),
    "neighbors": ("Neighboring", "Relation", "judge_neighbors"),
    "pairs": ("Pair", "SearchResult", "extreme_records", "query_patterns", "record_pairs", "search_pairs"),
    "results": ("AuditResult", "EventReport", "Finding", "Parts"),
    "scores": ("Effort",),
}
_HOME = {name: f"{__name__}.{module}" for module, names in _PLACES.items() for name in names}

#: Also a worker process that needs the adapters alone does not load SciPy.
__getattr__ = load_from(__name__, _HOME)
