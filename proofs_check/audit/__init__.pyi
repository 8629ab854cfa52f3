"""The public names of proofs_check.audit, each with the module that it is at home in: the one list (profiles/lazy.py)."""

from proofs_check.audit.adapters import in_processes as in_processes
from proofs_check.audit.adapters import one_at_a_time as one_at_a_time
from proofs_check.audit.api import audit as audit
from proofs_check.audit.claims import Claim as Claim
from proofs_check.audit.claims import claim_of_record as claim_of_record
from proofs_check.audit.method import AuditMethod as AuditMethod
from proofs_check.audit.method import Mode as Mode
from proofs_check.audit.neighbors import Neighboring as Neighboring
from proofs_check.audit.neighbors import Relation as Relation
from proofs_check.audit.neighbors import judge_neighbors as judge_neighbors
from proofs_check.audit.pairs import Pair as Pair
from proofs_check.audit.pairs import SearchResult as SearchResult
from proofs_check.audit.pairs import extreme_records as extreme_records
from proofs_check.audit.pairs import query_patterns as query_patterns
from proofs_check.audit.pairs import record_pairs as record_pairs
from proofs_check.audit.pairs import search_pairs as search_pairs
from proofs_check.audit.results import AuditResult as AuditResult
from proofs_check.audit.results import EventReport as EventReport
from proofs_check.audit.results import Finding as Finding
from proofs_check.audit.results import Parts as Parts
from proofs_check.audit.scores import Effort as Effort
