"""The audit: lower confidence bounds on ε from runs of an implementation on neighboring data sets. See docs/audit.md.

>>> import numpy as np
>>> def laplace(dataset, rng, size):
...     return sum(dataset) + rng.laplace(0, 1.0, size)
>>> result = audit(laplace, [1.0], [], Claim(1), rng=np.random.default_rng(1), samples=2_000)
>>> result.finding.value, result.epsilon_lower <= 1
('consistent', True)
"""

from proofs_check.audit.api import Mode, audit
from proofs_check.audit.claims import Claim, claim_of_record
from proofs_check.audit.pairs import Pair, SearchResult, extreme_records, query_patterns, record_pairs, search_pairs
from proofs_check.audit.results import AuditResult, EventReport, Finding
from proofs_check.audit.scores import Effort

__all__ = [
    "AuditResult",
    "Claim",
    "Effort",
    "EventReport",
    "Finding",
    "Mode",
    "Pair",
    "SearchResult",
    "audit",
    "claim_of_record",
    "extreme_records",
    "query_patterns",
    "record_pairs",
    "search_pairs",
]
