"""``pdp mechanisms``: the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from accountant.cli.options import JsonOption
from accountant.cli.output import print_json, print_line

HELP = "List the mechanisms of the catalogue: profile, source, and the reference to use as PROFILE."
EXAMPLE = """\b
Examples:
  pdp mechanisms
  pdp mechanisms --json
"""


@dataclass(frozen=True, slots=True)
class Options:
    json: JsonOption = False


def run(options: Options) -> int:
    from profiles.mechanisms import Arithmetic, catalogue
    from profiles.mechanisms.interface import suppose_noise
    from profiles.notions import to_notion
    from profiles.terms import to_text

    entries = [
        {
            "name": entry.name,
            "summary": entry.summary,
            "notion": entry.profile.notion.value,
            entry.profile.notion.number: to_text(entry.profile.promise),
            "source": entry.source,
            "reference": entry.reference,
            "hypotheses": [item.sentence for item in entry.hypotheses],
            "arithmetic": {kind.value: [item.id for item in suppose_noise(kind)] for kind in Arithmetic},
        }
        for entry in catalogue()
    ]
    if options.json:
        print_json(entries)
        return 0
    for entry in entries:
        print_line(f"{entry['name']}: {entry['summary']}")
        word = to_notion(entry["notion"]).number
        print_line(f"    {word + '(w, x)':<13}  {entry[word]}" + ("" if word == "epsilon" else f'   in the notion "{entry["notion"]}"'))
        print_line(f"    reference      {entry['reference']}")
        print_line(f"    source         {entry['source']}")
    for kind, meaning in ((Arithmetic.EXACT, "the default: correctly rounded values"), (Arithmetic.BINARY64, "for studies")):
        print_line(f'arithmetic="{kind.value}" ({meaning}) assumes {", ".join(item.id for item in suppose_noise(kind))}')
    print_line("verify one with: pdp verify REFERENCE --target-epsilon 3 (no target in other notions than the pure one)")
    return 0
