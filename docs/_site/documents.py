"""The part of docs/interoperability.md with all formats, made from their registry: ``python docs/_site/documents.py`` prints it."""

from __future__ import annotations

from accountant.checking import load_document
from proofs_check.kernel.untrusted.formats import FORMATS

_INTRO = """## All formats

Every file that a command or function writes has a format, and every format has an entry in one registry. `pdp check FILE` (in Python
`accountant.check`) says what the file is, what was checked, and what was not checked:

| exit code | |
| --- | --- |
| 0 | accepted: everything that the table lists as checked was checked again by this command; the open hypotheses are printed |
| 1 | rejected: a claim does not follow, or a file of a known format is damaged; the step is named |
| 2 | the file makes no claim that can be checked, or its format or version is unknown; one sentence says what to do |

The kernel alone (`checker.pyz`, `python -m proofs_check.kernel`, and the page in the browser) knows the same names. It checks
`pdp-certificate`, and exits with 2 for all others.

A file *states its protection* (whom it protects, and against what change) and its *open hypotheses* under the key that the table names;
"in words" means text for people. If the cell is empty, files of the format state none.

| format | what it is | versions | protection | hypotheses | `pdp check` |
| --- | --- | --- | --- | --- | --- |
"""
_OUTRO = """
Names with `pdp-` are in the file, as `format` or in its first line. Formats in detail: [certificates](certificates.md), [guarantees
and profiles](#the-formats), [samples](sampling.md#15-the-certificate),
[compositions](account.md), [ledgers](ledger.md).
"""


def list_formats() -> str:
    """Return the part of the page, from its heading on."""
    lines = []
    for name in FORMATS:
        item = load_document(name)
        checked = item.told if item.check is not None or item.parts is not None else f"nothing: it {item.told}"
        versions = ", ".join(map(str, item.versions))
        keys = [f"`{key}`" if key.isidentifier() else key for key in (item.protection, item.hypotheses)]
        shown = f"`{name}`" if name.startswith("pdp-") else name
        lines.append(f"| {' | '.join((shown, item.meaning, versions, *keys, checked))} |\n".replace("  ", " "))
    return _INTRO + "".join(lines) + _OUTRO


if __name__ == "__main__":
    print(list_formats(), end="")  # noqa: T201
