"""What a shell completes beside commands and options: names that the command line knows. Each list is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def complete_profile(incomplete: str) -> list[str]:
    """Profile files, and the catalogue where its beginning is written."""
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    files = [str(path) for path in sorted(folder.glob("*.toml"))] if folder.is_dir() else []
    return _starting(incomplete, [*files, *(complete_mechanism(incomplete) if incomplete else [])])


def complete_mechanism(incomplete: str) -> list[str]:
    """The mechanisms of the catalogue that can be run."""
    from profiles.mechanisms import catalogue  # noqa: PLC0415

    return _starting(incomplete, (entry.reference for entry in catalogue()))


def complete_condition(incomplete: str) -> list[str]:
    """The conditions."""
    from proofs_check.verify import CONDITIONS  # noqa: PLC0415

    return _starting(incomplete, CONDITIONS)


def complete_rule(incomplete: str) -> list[str]:
    """The sampling rules."""
    from accountant.rules import RULES  # noqa: PLC0415

    return _starting(incomplete, RULES)


def complete_claim(incomplete: str) -> list[str]:
    """The ids of the papers' statements."""
    from proofs_check.papers import all_claims  # noqa: PLC0415

    return _starting(incomplete, (claim.id for claim in all_claims()))


def complete_paper(incomplete: str) -> list[str]:
    """The keys of the papers."""
    from proofs_check.papers import PAPERS  # noqa: PLC0415

    return _starting(incomplete, (paper.key for paper in PAPERS))


def complete_mode(incomplete: str) -> list[str]:
    """The modes of an audit."""
    from proofs_check.audit import Mode  # noqa: PLC0415

    return _starting(incomplete, (mode.value for mode in Mode))


def complete_effort(incomplete: str) -> list[str]:
    """The efforts of an audit."""
    from proofs_check.audit import Effort  # noqa: PLC0415

    return _starting(incomplete, (effort.value for effort in Effort))


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
