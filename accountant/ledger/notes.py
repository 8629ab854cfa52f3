"""What an office writes beside an entry: who asked for it, for which purpose, and who approved it. All of it is public."""

from __future__ import annotations

from collections.abc import Mapping

from profiles import InvalidArgument
from profiles.suggestions import describe_unknown

#: What may be said of an entry.
NOTES = ("analyst", "purpose", "approver")
_LONGEST = 200


def to_note(given: Mapping[str, object] | None) -> dict[str, str]:
    """Return what is said of an entry: lines of text under the names of ``NOTES``; what is None is left out.

    Raises :class:`InvalidArgument` for another name, and for what is no line of 1 to 200 printable letters.

    >>> to_note({"purpose": "census 2026", "analyst": None})
    {'purpose': 'census 2026'}
    """
    checked = {}
    for name, value in (given or {}).items():
        if name not in NOTES:
            shown, hint = describe_unknown(name, NOTES)
            raise InvalidArgument(f"an entry of a ledger names {', '.join(NOTES)}, but {shown} was found; choose among these{hint}")
        if value is None:
            continue
        if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or not value.isprintable():
            raise InvalidArgument(
                f"the {name} of an entry is a line of 1 to {_LONGEST} printable letters, but something else was found; it is public"
            )
        checked[name] = value.strip()
    return checked
