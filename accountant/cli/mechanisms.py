"""``pdp mechanisms``: the catalogue."""

from __future__ import annotations

from accountant.cli.options import JsonOption
from accountant.cli.output import print_json, print_line

NAME = "mechanisms"
HELP = "List the mechanisms of the catalogue: profile, source, and the reference to use as PROFILE."
EXAMPLE = """\b
Examples:
  pdp mechanisms
  pdp mechanisms --json
"""


def main(json: JsonOption = False) -> int:  # noqa: FBT002
    """Run the command."""
    from profiles.mechanisms import catalogue  # noqa: PLC0415

    entries = [
        {
            "name": entry.name,
            "summary": entry.summary,
            "epsilon": entry.profile.text,
            "source": entry.source,
            "reference": entry.reference,
            "hypotheses": [item.sentence for item in entry.hypotheses],
        }
        for entry in catalogue()
    ]
    if json:
        print_json(entries)
        return 0
    for entry in entries:
        print_line(f"{entry['name']}: {entry['summary']}")
        print_line(f"    epsilon(w, x)  {entry['epsilon']}")
        print_line(f"    reference      {entry['reference']}")
        print_line(f"    source         {entry['source']}")
    print_line("verify one with: pdp verify REFERENCE --target-epsilon 3")
    return 0
