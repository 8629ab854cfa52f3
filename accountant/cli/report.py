"""``pdp report``: one self-contained HTML file for an auditor."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accountant.cli.options import (
    ConstantOption,
    JsonOption,
    ProfileArgument,
    QOption,
    RuleOption,
    ShowValuesOption,
    TargetOption,
    parse_assignments,
    repeat_words,
)
from accountant.cli.output import print_json, print_line
from accountant.cli.streams import load_quietly, quiet_output
from accountant.files import check_outputs, write_whole
from accountant.progress import show_progress, with_progress
from accountant.report.writing import check_title, today
from profiles.errors import InvalidArgument
from profiles.hypotheses import count_assumptions
from profiles.numbers import to_integer
from profiles.private import NOT_SHOWN

if TYPE_CHECKING:
    from accountant.report import AuditEvidence, Evidence

HELP = "Write one self-contained HTML file for an auditor: profile, proofs, certified epsilon, certificates, unverified assumptions, plots."
EXAMPLE = """\b
Examples:
  pdp report examples/lloyd.toml --target-epsilon 20 --out report.html
  pdp report profiles.mechanisms.laplace_sum:default --target-epsilon 8 \\
    --audit-samples 2000 --seed 1 --out audit.html
"""


@dataclass(frozen=True, slots=True)
class Options:
    profile: ProfileArgument
    target_epsilon: TargetOption
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the HTML file to write, atomically")]
    rule: RuleOption = None
    q: QOption = None
    constant: ConstantOption = None
    audit_samples: Annotated[
        str | None, typer.Option("--audit-samples", metavar="N", help="audit the implementation with N outputs for each data set")
    ] = None
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="D", help="the data set of the audit: a JSON array, or a data file")
    ] = None
    neighbor: Annotated[
        str | None, typer.Option("--neighbor", metavar="D2", help="the neighboring data set of the audit, in the same form")
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="the seed of the audit; fresh by default")] = None
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="instead of the profile's name")] = None
    date: Annotated[
        str | None,
        typer.Option("--date", metavar="DATE", help="the day to print, as 2026-01-31; by default SOURCE_DATE_EPOCH or today (UTC)"),
    ] = None
    self_checking: Annotated[
        bool, typer.Option("--self-checking", help="a page that checks its own certificates, in the reader's browser (9 MB)")
    ] = False
    runtime: Annotated[
        Path | None, typer.Option("--runtime", metavar="PATH", help="the Python runtime for --self-checking: docs/report.md")
    ] = None
    show_values: ShowValuesOption = False
    json: JsonOption = False


def run(options: Options) -> int:
    """Run the command; the exit code is 0 (an ε is certified), 1 (refuted, rejected or violated) or 3 (undecided)."""
    from accountant.report import gather, render_page

    check_outputs({"profile": options.profile, "data set": options.dataset, "neighboring data set": options.neighbor}, options.out)
    made_on, shown_title = _date(options.date), check_title(options.title, "--title")
    if options.audit_samples is None and (options.dataset is not None or options.neighbor is not None or options.seed is not None):
        raise InvalidArgument("--dataset, --neighbor or --seed was given, but they belong to an audit; add --audit-samples N")
    used_seed = None if options.audit_samples is None else secrets.randbits(53) if options.seed is None else options.seed
    runtime = _runtime(options)
    source_name, source_text = _source(options.profile)
    declaration = load_quietly(options.profile)
    audited = None if options.audit_samples is None else _audit(options, options.audit_samples, used_seed or 0)
    with show_progress("proving"):
        evidence = gather(
            declaration,
            options.target_epsilon,
            rule=options.rule,
            q=options.q,
            constants=parse_assignments(options.constant, "--constant"),
            audit=audited,
        )
    evidence = dataclasses.replace(evidence, source_name=source_name, source_text=source_text)
    # what is meant for others names a data file by its path, and shows no records
    public = dataclasses.replace(
        options,
        dataset=_public(options.dataset),
        neighbor=_public(options.neighbor),
        seed=used_seed,
        date=made_on,
        out=Path(options.out.name),
        runtime=None,
    )
    command = repeat_words("report", public, leave_out=("show_values", "json"))
    with show_progress("drawing and writing"):
        text = render_page(evidence, title=shown_title or evidence.profile.name, date=made_on, command=command, runtime=runtime)
    write_whole(options.out, text)
    _tell(evidence, options.out, text, used_seed, as_json=options.json)
    return evidence.exit_code


def _runtime(options: Options) -> dict[str, bytes] | None:
    """Return the Python runtime for a page that checks itself, None for one that does not. Raises :class:`InvalidArgument`."""
    from accountant.report.checking.runtime import load_runtime

    if not options.self_checking:
        if options.runtime is not None:
            raise InvalidArgument("--runtime was given, but it belongs to a page that checks itself; add --self-checking")
        return None
    return load_runtime(options.runtime or Path("node_modules/pyodide"))


def _date(given: str | None) -> str:
    """Return the date that is printed, as YYYY-MM-DD. Raises :class:`InvalidArgument`."""
    if given is not None:
        try:
            return datetime.date.fromisoformat(given).isoformat()
        except ValueError:
            raise InvalidArgument(f"--date must be a day such as 2026-01-31, but {given[:40]!r} was found; write it like that") from None
    return today()


def _source(reference: str) -> tuple[str, str | None]:
    """Return name and text of a profile file; none for an object."""
    from profiles.files import MAX_FILE_BYTES, read_text

    path = Path(reference)
    if not (reference.endswith(".toml") or ":" not in reference or os.path.exists(reference)):
        return "", None
    return path.stem, read_text(path, MAX_FILE_BYTES)


def _audit(options: Options, samples: str, seed: int) -> AuditEvidence:
    """Return the audit of the mechanism behind PROFILE; the claim is ε(w, x) of the record in which the data sets differ.

    Without data sets, D is one extreme record of a mechanism of the catalogue's kind, and D′ is empty. What the mechanism prints goes to
    standard error. Raises :class:`InvalidArgument`, :class:`NotNeighbors` and the errors of :mod:`proofs_check.audit`.
    """
    import numpy as np

    from accountant.cli.audit_inputs import claim_of_pair, make_pair, obvious_pair, parse_samples, read_table
    from accountant.report import AuditEvidence
    from profiles.profile import Profile
    from proofs_check.audit import audit
    from proofs_check.audit.differences import find_difference
    from proofs_check.audit.neighbors import judge_neighbors
    from proofs_check.audit.report import Circumstances

    count = parse_samples(samples)
    to_integer(seed, "the seed", 0)
    if (options.dataset is None) != (options.neighbor is None):
        raise InvalidArgument("--dataset and --neighbor make a pair, but only one of them was given; give both, or neither")
    with quiet_output():
        mechanism = _load(options.profile)
        profile = getattr(mechanism, "profile", None)
        if not isinstance(profile, Profile):
            raise InvalidArgument("an audit needs a mechanism with a profile of its own, but the object has none; name a mechanism")
        if options.dataset is not None and options.neighbor is not None:
            pair = make_pair(read_table(options.dataset, "--dataset"), read_table(options.neighbor, "--neighbor"))
        else:
            pair = obvious_pair(mechanism, profile)
        judge_neighbors(*pair)
        difference = find_difference(*pair)
        claim, _ = claim_of_pair(profile, difference.added_record(), mechanism, {})
        with with_progress(2 * count) as progress:
            result = audit(mechanism, *pair, claim, rng=np.random.default_rng(seed), samples=count, progress=progress)
    private = options.dataset is not None  # else the pair is ours: one record on the border of the domain
    told = "" if private else f": {difference.private_text()}"
    return AuditEvidence(
        result, options.profile, difference.text() + told, Circumstances(options.profile).assumptions(result), private=private
    )


def _load(reference: str) -> Callable[..., Any]:
    from proofs_check.references import load_object

    if reference.endswith(".toml") or ":" not in reference:
        raise InvalidArgument("an audit runs an implementation, but a profile file was given; name a mechanism as package.module:object")
    mechanism = load_object(reference, "a mechanism")
    if not callable(mechanism) or isinstance(mechanism, type) or not hasattr(mechanism, "profile"):
        raise InvalidArgument(f"an audit needs a mechanism that can be run, but {reference[:80]!r} cannot; leave out --audit-samples")
    made: Callable[..., Any] = mechanism
    return made


def _public(dataset: str | None) -> str | None:
    """Return the words for a data set in a file that is meant for others: a path as it is, never records."""
    return NOT_SHOWN if dataset is not None and dataset.lstrip()[:1] in ("[", "{") else dataset


def _tell(evidence: Evidence, out: Path, text: str, seed: int | None, *, as_json: bool) -> None:
    from proofs_check.audit.report import bound_texts

    derived, audited = evidence.derived, evidence.audit
    size = len(text.encode())
    if as_json:
        print_json(
            {
                "out": str(out),
                "bytes": size,
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
                "profile": evidence.profile.name,
                "conditions": {name: decision.verdict.value for name, decision in evidence.verification.decisions.items()},
                "epsilon": None if derived is None else derived.to_json()["epsilon"],
                "hypotheses": [] if derived is None else [item.sentence for item in derived.guarantee.hypotheses],
                "obstacle": evidence.obstacle or None,
                "certificates": {item.name: {"accepted": item.report.accepted, "sha256": item.digest} for item in evidence.certificates},
                "audit": None if audited is None else audited.result.finding.value,
                "seed": seed,
            }
        )
        return
    print_line(f"report written to {out} ({size} bytes)")
    if derived is None:
        print_line(f"no epsilon is certified: {evidence.obstacle}")
    else:
        print_line(f"epsilon <= {derived.to_json()['epsilon']['upper']}, under {count_assumptions(len(derived.guarantee.hypotheses))}")
    for item in evidence.certificates:
        print_line(f"certificate {item.name}: {'accepted' if item.report.accepted else 'rejected'} by the kernel")
    if audited is not None:
        print_line(f"audit: {audited.result.finding.value}, epsilon >= {bound_texts(audited.result)[0]} (seed {seed})")
