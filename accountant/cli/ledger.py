"""``pdp ledger``: the persistent account of each unit: opened, charged, released from, reported, checked, kept and restored."""

from __future__ import annotations

from accountant.cli.ledger_verbs import charging, keeping, opening, outsiders, reporting
from accountant.cli.options import say_examples

HELP = (
    "Keep an account of what each unit (a person, or a person and a month) has spent over many releases. A charge is durable before "
    "anything is run, and is never refunded."
)
#: As ``pdp ledger --help`` lists them.
_ORDER = (
    "init", "charge", "release", "publish", "quota", "raise", "report", "export", "root", "statement", "verify", "backup", "restore",
    "migrate",
)  # fmt: skip
_FOUND = opening.VERBS | charging.VERBS | reporting.VERBS | keeping.VERBS | outsiders.VERBS
VERBS = {name: _FOUND[name] for name in _ORDER}
EXAMPLE = say_examples(*(verb.example for verb in VERBS.values()))
