"""All claims, in the order of the papers. Ids are stable: they are cited in certificates, derivations and other people's notes."""

from __future__ import annotations

from functools import lru_cache

from profiles.errors import InvalidArgument
from profiles.suggestions import suggest
from proofs_check.papers import (
    fay_2023,
    fay_2024_appendix_a,
    fay_2024_kmeans,
    fay_2024_sampling,
    fay_2024_weights,
    ghazi_2024_appendix_c,
    ghazi_2024_clustering,
    ghazi_2024_greedy_scaling,
    ghazi_2024_heavy_hitters,
    ghazi_2024_matroids,
    ghazi_2024_monitor,
    ghazi_2024_preliminaries,
    ghazi_2024_repeated,
    ghazi_2024_sampling,
    ghazi_2024_setcover,
    ghazi_2024_submodular,
)
from proofs_check.statements.judge import Judgement, decide
from proofs_check.statements.sentences import Paper, PaperClaim

PAPERS = (
    Paper("fay-2024", "Fay et al. 2024", "Personalized Privacy Amplification via Importance Sampling (TMLR 12/2024)"),
    Paper("fay-2023", "Fay et al. 2023, v1", "Privacy Amplification via Importance Sampling (first version)"),
    Paper(
        "ghazi-2024",
        "Ghazi et al. 2024",
        "Individualized Privacy Accounting via Subsampling with Applications in Combinatorial Optimization (ICML 2024)",
    ),
)
_PARTS = (
    fay_2024_sampling,
    fay_2024_weights,
    fay_2024_kmeans,
    fay_2024_appendix_a,
    fay_2023,
    ghazi_2024_preliminaries,
    ghazi_2024_sampling,
    ghazi_2024_repeated,
    ghazi_2024_submodular,
    ghazi_2024_heavy_hitters,
    ghazi_2024_monitor,
    ghazi_2024_appendix_c,
    ghazi_2024_matroids,
    ghazi_2024_setcover,
    ghazi_2024_greedy_scaling,
    ghazi_2024_clustering,
)


def all_claims(paper: str | None = None) -> tuple[PaperClaim, ...]:
    """Return the claims of one paper (by key), or of all. Raises :class:`InvalidArgument` for an unknown key."""
    keys = [known.key for known in PAPERS]
    if paper is not None and paper not in keys:
        raise InvalidArgument(f"--paper {paper[:60]!r} is not a known paper; use one of {', '.join(keys)}{suggest(paper, keys)}")
    return tuple(claim for claim in _by_id().values() if paper is None or claim.paper == paper)


def find_claim(claim_id: str) -> PaperClaim:
    """Return the claim with an id. Raises :class:`InvalidArgument` for an unknown one."""
    claims = _by_id()
    if claim_id not in claims:
        raise InvalidArgument(f"there is no claim {claim_id[:80]!r}; see 'pdp claims'{suggest(claim_id, claims)}")
    return claims[claim_id]


@lru_cache(maxsize=1)
def _by_id() -> dict[str, PaperClaim]:
    claims: dict[str, PaperClaim] = {}
    for part in _PARTS:
        for claim in part.CLAIMS:
            if claim.id in claims:
                raise InvalidArgument(f"the claim id {claim.id!r} is used twice; ids are unique")
            claims[claim.id] = claim
    return claims


@lru_cache(maxsize=4096)
def judge(claim_id: str) -> Judgement:
    """Return the judgement of a claim; made once a process. Raises :class:`profiles.InvalidArgument` for an unknown id."""
    return decide(find_claim(claim_id))
