"""``python -m proofs_check.kernel FILE``, or this file as a script: 0 accepted, 1 rejected, 2 the file cannot be used."""

import sys

if not __package__:  # started as a script: nothing but this folder needs to be importable
    _folders = __file__.replace("\\", "/").split("/")
    sys.path.append("/".join(_folders[:-2]) or "/")
    __package__ = _folders[-2]

from .untrusted.formats import say_other
from .untrusted.upgrade import UPGRADED, check


def main(arguments: list[str]) -> int:
    """Check one file and print the verdict."""
    try:
        (name,) = arguments
        with open(name, encoding="utf-8") as file:
            document = file.read(1_000_001)
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"usage: python -m proofs_check.kernel FILE ({problem})\n")
        return 2
    report = check(document)
    other = say_other(document) if report.step == "certificate" else None
    if other:
        sys.stderr.write(f"{name!a} {other}\n")
        return 2
    rejected = f"rejected at {report.step}: {report.reason}\n".encode("ascii", "backslashreplace").decode()
    sys.stdout.write("accepted\n" + f"{UPGRADED}\n" * report.upgraded if report.accepted else rejected)
    for claim in report.claims:
        sys.stdout.write(f"{claim.line()}\n")
    return 0 if report.accepted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
