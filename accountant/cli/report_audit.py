"""The audit of ``pdp report``: an implementation against its own profile, on a given pair of data sets or an obvious one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from profiles.errors import InvalidArgument
from profiles.numbers import to_exact
from profiles.profile import Profile

if TYPE_CHECKING:
    from accountant.report import AuditEvidence

_LEAST, _MOST = 10, 10**9


def run_audit(reference: str, samples: str, dataset: str | None, neighbor: str | None, seed: int) -> AuditEvidence:
    """Return the audit of the mechanism behind a reference; the claim is ε(w, x) of the record in which the data sets differ.

    Without data sets, D is one extreme record of a mechanism of the catalogue's kind, and D′ is empty. What the mechanism prints goes to
    standard error. Raises :class:`InvalidArgument`, :class:`NotNeighbors` and the errors of :mod:`proofs_check.audit`.
    """
    from accountant.cli.audit_inputs import claim_of_pair, make_pair, read_table  # noqa: PLC0415
    from accountant.cli.foreign import quiet_output, with_progress  # noqa: PLC0415
    from accountant.report import AuditEvidence  # noqa: PLC0415
    from proofs_check.audit import audit  # noqa: PLC0415
    from proofs_check.audit.differences import find_difference  # noqa: PLC0415
    from proofs_check.audit.neighbors import judge_neighbors  # noqa: PLC0415
    from proofs_check.audit.report import Setting  # noqa: PLC0415

    count = _count(samples)
    if seed < 0:
        raise InvalidArgument(f"the seed must be an integer of at least 0, but {seed} was found; give one")
    if (dataset is None) != (neighbor is None):
        raise InvalidArgument("--dataset and --neighbor make a pair, but only one of them was given; give both, or neither")
    with quiet_output():
        mechanism = _load(reference)
        profile = getattr(mechanism, "profile", None)
        if not isinstance(profile, Profile):
            raise InvalidArgument("an audit needs a mechanism with a profile of its own, but the object has none; name a mechanism")
        if dataset is not None and neighbor is not None:
            pair = make_pair(read_table(dataset, "--dataset"), read_table(neighbor, "--neighbor"))
        else:
            pair = _obvious_pair(mechanism, profile)
        judge_neighbors(*pair)
        difference = find_difference(*pair)
        claim, _ = claim_of_pair(profile, difference.added_record(), mechanism, {})
        with with_progress(2 * count) as progress:
            result = audit(mechanism, *pair, claim, rng=np.random.default_rng(seed), samples=count, progress=progress)
    private = dataset is not None  # else the pair is ours: one record on the border of the domain
    told = "" if private else f": {difference.private_text()}"
    return AuditEvidence(result, reference, difference.text() + told, Setting(reference).assumptions(result), private=private)


def _count(text: str) -> int:
    exact = to_exact(text, "the number of samples")
    if exact.denominator != 1 or not _LEAST <= exact <= _MOST:
        raise InvalidArgument(f"the number of samples must be an integer from {_LEAST} to {_MOST}, but {text[:40]} was found; give one")
    return int(exact)


def _load(reference: str) -> Callable[..., Any]:
    from proofs_check.references import load_object  # noqa: PLC0415

    if reference.endswith(".toml") or ":" not in reference:
        raise InvalidArgument("an audit runs an implementation, but a profile file was given; name a mechanism as package.module:object")
    found = load_object(reference, "a mechanism")
    if not callable(found) or isinstance(found, type) or not hasattr(found, "profile"):
        raise InvalidArgument(f"an audit needs a mechanism that can be run, but {reference[:80]!r} cannot; leave out --audit-samples")
    made: Callable[..., Any] = found
    return made


def _obvious_pair(mechanism: Any, profile: Profile) -> tuple[Any, Any]:
    """Return one record on the border of the domain, and no record. Raises :class:`InvalidArgument` where that is not obvious."""
    centres = getattr(mechanism, "centres", None)
    dimension = getattr(mechanism, "dimension", centres.shape[1] if isinstance(centres, np.ndarray) and centres.ndim == 2 else None)
    radius = getattr(mechanism, "radius", None)
    if not profile.record and dimension is None:
        dimension, radius = 1, 0
    if not isinstance(dimension, int) or radius is None:
        raise InvalidArgument(
            "an audit needs two neighboring data sets, and this mechanism does not say what its records are; give --dataset D --neighbor D2"
        )
    record = np.zeros((1, dimension))
    record[0, 0] = _at_most(to_exact(radius, "the radius"))
    return record, np.zeros((0, dimension))


def _at_most(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else float(np.nextafter(nearest, -np.inf))
