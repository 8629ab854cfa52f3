"""Writing a report from Python: what ``pdp report`` does."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from profiles.errors import InvalidArgument

if TYPE_CHECKING:
    from accountant.report.evidence import AuditEvidence, Evidence
    from profiles import Declaration, Profile

_MOST_TITLE = 200


def report(
    profile: str | Profile | Declaration,
    target_epsilon: object,
    out: str | PathLike[str],
    *,
    rule: str | None = None,
    q: str | None = None,
    constants: Mapping[str, object] | None = None,
    audit: AuditEvidence | None = None,
    title: str | None = None,
    date: datetime.date | None = None,
    runtime: str | PathLike[str] | None = None,
) -> Evidence:
    """Write one self-contained HTML file for an auditor, atomically, and return the evidence in it.

    The profile is verified for the target ε* (nats), and ε is bounded after sampling with ``rule``, ``q``, the declaration's own rule, or
    else privacy-constrained sampling for the target. ``exit_code`` of the result is 0 where an ε is certified, 1 where something is
    refuted, rejected or violated, 3 where it is undecided. ``date`` is printed; else SOURCE_DATE_EPOCH, else today (UTC). With a
    Python ``runtime``, npm's folder or package of pyodide (docs/report.md), the page checks its certificates again where it is read.

    Raises what loading, verification and :func:`accountant.derive_epsilon` raise for unusable input, :class:`profiles.InvalidArgument` for
    a title that is not a line of text, :class:`profiles.UnreadableFile` for a runtime that is missing or not the expected one,
    :class:`profiles.UnwritableOutput`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from accountant import declare, report
    >>> with TemporaryDirectory() as folder:
    ...     found = report(declare("sum", "w*z", record={"z": [0, 4]}), 5, Path(folder) / "report.html", q="1/2")
    ...     text = (Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> found.exit_code, text.startswith("<!DOCTYPE html>")
    (0, True)
    """
    from accountant.files import check_writable, write_whole  # noqa: PLC0415 - the function is light until it is called
    from accountant.report.checking.runtime import load_runtime  # noqa: PLC0415
    from accountant.report.evidence import gather  # noqa: PLC0415
    from accountant.report.page import render_page  # noqa: PLC0415

    path = Path(out)
    check_writable(path)
    loaded = None if runtime is None else load_runtime(runtime)
    shown = check_title(title, "the title")
    evidence = gather(profile, target_epsilon, rule=rule, q=q, constants=constants, audit=audit)
    options = {"rule": rule, "q": q, "constants": dict(constants or {}) or None, "title": title}
    words = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    source = repr(profile) if isinstance(profile, str) else evidence.profile.name
    call = f"accountant.report({', '.join([source, repr(str(target_epsilon)), repr(path.name), *words])})"
    day = date.isoformat() if date is not None else today()
    write_whole(path, render_page(evidence, title=shown or evidence.profile.name, date=day, command=(call,), runtime=loaded))
    return evidence


def today() -> str:
    """Return the day that is printed where none is given: of SOURCE_DATE_EPOCH, else today (UTC). Raises :class:`InvalidArgument`."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    if not re.fullmatch(r"[0-9]{1,11}", epoch):
        raise InvalidArgument(f"SOURCE_DATE_EPOCH must be a number of seconds, but {epoch[:40]!r} was found; correct or unset it")
    return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).date().isoformat()


def check_title(given: str | None, what: str) -> str | None:
    """Return a title. Raises :class:`InvalidArgument` for what is not a line of printable text."""
    if given is not None and (not isinstance(given, str) or not given.strip() or len(given) > _MOST_TITLE or not given.isprintable()):
        raise InvalidArgument(f"{what} must be printable text of 1 to {_MOST_TITLE} characters; give another one")
    return given
