"""``python -m proofs_check.kernel FILE``, or this file as a script: 0 accepted, 1 rejected, 2 the file cannot be used."""

from __future__ import annotations

import sys

if not __package__:  # started as a script: nothing but this folder needs to be importable
    _folders = __file__.replace("\\", "/").split("/")
    sys.path.append("/".join(_folders[:-2]) or "/")
    __package__ = _folders[-2]  # noqa: A001 - relative imports below need it

from .checker import check


def main(arguments: list[str]) -> int:
    """Check one file and print the verdict."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m proofs_check.kernel FILE\n")
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:  # noqa: PTH123 - no imports beyond need
            document = file.read(5_000_001)
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"cannot read {arguments[0]}: {problem}\n")
        return 2
    report = check(document)
    if not report.accepted:
        sys.stdout.write(f"rejected at {report.step}: {report.reason}\n")
        return 1
    sys.stdout.write("accepted\n")
    for claim in report.claims:
        bound = f" {claim.bound}" if claim.bound is not None else ""
        sys.stdout.write(f"{claim.claim} {claim.verdict}{bound} [{', '.join(claim.rules)}]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
