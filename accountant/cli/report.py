"""``pdp report``: one self-contained HTML file for an auditor."""

from __future__ import annotations

import datetime
import hashlib
import os
import secrets
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
)
from accountant.cli.output import print_json, print_line
from accountant.files import check_not_input, check_writable, write_whole
from accountant.report.writing import check_title, today
from profiles.errors import InvalidArgument
from profiles.private import NOT_SHOWN

if TYPE_CHECKING:
    from accountant.report import AuditEvidence, Evidence

NAME = "report"
HELP = "Write one self-contained HTML file for an auditor: profile, proofs, certified epsilon, certificates, open hypotheses, plots."
EXAMPLE = """\b
Examples:
  pdp report examples/lloyd.toml --target-epsilon 20 --out report.html
  pdp report profiles.mechanisms.laplace_sum:default --target-epsilon 8 \\
    --audit-samples 2000 --seed 1 --out audit.html
"""


def main(
    profile: ProfileArgument,
    target_epsilon: TargetOption,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the HTML file to write, whole or not at all")],
    rule: RuleOption = None,
    q: QOption = None,
    constant: ConstantOption = None,
    audit_samples: Annotated[
        str | None, typer.Option("--audit-samples", metavar="N", help="audit the implementation with N outputs for each data set")
    ] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="D", help="of the audit: a JSON array, or a data file")] = None,
    neighbor: Annotated[
        str | None, typer.Option("--neighbor", metavar="D2", help="of the audit: the neighboring data set, likewise")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", metavar="S", help="of the audit; fresh if it is not given")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="instead of the profile's name")] = None,
    date: Annotated[str | None, typer.Option("--date", metavar="DATE", help="2026-01-31; else SOURCE_DATE_EPOCH, else today (UTC)")] = None,
    show_values: ShowValuesOption = False,  # noqa: ARG001, FBT002 - read where refusals are printed
    json: JsonOption = False,  # noqa: FBT002
) -> int:
    """Run the command; the exit code is 0 (an ε is certified), 1 (refuted, rejected or violated) or 3 (undecided)."""
    from accountant.cli.foreign import load_quietly  # noqa: PLC0415
    from accountant.cli.progress import show_progress  # noqa: PLC0415
    from accountant.report import gather, render_page  # noqa: PLC0415

    check_writable(out)
    for given, what in ((profile, "profile"), (dataset, "data set"), (neighbor, "neighboring data set")):
        check_not_input(out, given, what)
    made_on, shown_title = _date(date), check_title(title, "--title")
    if audit_samples is None and (dataset is not None or neighbor is not None or seed is not None):
        raise InvalidArgument("--dataset, --neighbor or --seed was given, but they belong to an audit; add --audit-samples N")
    used_seed = None if audit_samples is None else secrets.randbits(53) if seed is None else seed
    source_name, source_text = _source(profile)
    declaration = load_quietly(profile)
    audited = None if audit_samples is None else _audit(profile, audit_samples, dataset, neighbor, used_seed)
    with show_progress("proving"):
        evidence = gather(
            declaration,
            target_epsilon,
            rule=rule,
            q=q,
            constants=parse_assignments(constant or [], "--constant"),
            audit=audited,
            source_name=source_name,
            source_text=source_text,
        )
    command = _command(
        profile,
        {"--target-epsilon": target_epsilon, "--rule": rule, "--q": q, "--constant": constant or [], "--audit-samples": audit_samples},
        {
            "--dataset": _public(dataset),
            "--neighbor": _public(neighbor),
            "--seed": used_seed,
            "--title": title,
            "--date": made_on,
            "--out": out.name,
        },
    )
    with show_progress("drawing and writing"):
        text = render_page(evidence, title=shown_title or evidence.profile.name, date=made_on, command=command)
    write_whole(out, text)
    _tell(evidence, out, text, used_seed, as_json=json)
    return evidence.exit_code


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
    from profiles.files import MAX_FILE_BYTES, read_text  # noqa: PLC0415

    path = Path(reference)
    if not (reference.endswith(".toml") or ":" not in reference or os.path.exists(reference)):
        return "", None
    return path.stem, read_text(path, MAX_FILE_BYTES)


def _audit(reference: str, samples: str, dataset: str | None, neighbor: str | None, seed: int | None) -> AuditEvidence:
    """Audit the mechanism behind a reference against its own profile."""
    from accountant.cli.report_audit import run_audit  # noqa: PLC0415

    return run_audit(reference, samples, dataset, neighbor, seed or 0)


def _public(dataset: str | None) -> str | None:
    """Return the words for a data set in a file that is meant for others: a path as it is, never records."""
    return NOT_SHOWN if dataset is not None and dataset.lstrip()[:1] in ("[", "{") else dataset


def _command(profile: str, *options: dict[str, Any]) -> tuple[str, ...]:
    words = ["pdp", NAME, profile]
    for name, value in ((name, value) for group in options for name, value in group.items()):
        for item in value if isinstance(value, list) else [value]:
            words += [] if item is None else [name, str(item)]
    return tuple(words)


def _tell(evidence: Evidence, out: Path, text: str, seed: int | None, *, as_json: bool) -> None:
    from proofs_check.audit.report import bound_texts  # noqa: PLC0415

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
        print_line(f"epsilon <= {derived.to_json()['epsilon']['upper']}, under {len(derived.guarantee.hypotheses)} open hypotheses")
    for item in evidence.certificates:
        print_line(f"certificate {item.name}: {'accepted' if item.report.accepted else 'rejected'} by the kernel")
    if audited is not None:
        print_line(f"audit: {audited.result.finding.value}, epsilon >= {bound_texts(audited.result)[0]} (seed {seed})")
