"""What stands in SQLite's write-ahead log, read without SQLite: it locks the database, and would copy a stranger's log back at the end.

The log is a head of 32 bytes and then frames: a head of 24 bytes, which names the page, and the page. A frame counts if it has the salts of
the log's head, and none before it has not; whether its checksum is right, SQLite decides when the ledger is opened.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from accountant.ledger.database import APPLICATION

_HEAD, _FRAME = struct.Struct(">4s3I8s8x"), struct.Struct(">2I8s8x")
_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_TITLE = b"SQLite format 3\0"
#: Where the first page has the id of the application.
_APPLICATION = slice(68, 72)


def has_ledger_in_log(path: Path) -> bool:
    """Tell whether the first page of a ledger is in the log at ``path``.

    A death while the log is copied back leaves the first page in the file, with the new number of pages, and not yet the last: SQLite
    refuses such a file where it is asked to pass over the log.
    """
    try:
        with path.open("rb") as stream:
            for page, _ in _iter_frames(stream):
                head = stream.read(_APPLICATION.stop) if page == 1 else b""
                if head.startswith(_TITLE) and int.from_bytes(head[_APPLICATION], "big") == APPLICATION:
                    return True
    except OSError:
        pass
    return False


def list_pages(path: Path) -> set[int]:
    """Return the numbers of the pages in the log at ``path``, up to its last commit; none where there is no log."""
    pages, pending = set[int](), set[int]()
    try:
        with path.open("rb") as stream:
            for page, commits in _iter_frames(stream):
                pending.add(page)
                if commits:
                    pages |= pending
                    pending.clear()
    except OSError:
        pass
    return pages


def _iter_frames(stream: IO[bytes]) -> Iterator[tuple[int, bool]]:
    """Yield the number of the page of each frame, and whether it ends a transaction; the stream then stands at the page."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size or head[:4] not in _MAGIC:
        return
    _, _, size, _, salts = _HEAD.unpack(head)
    size = 65_536 if size == 1 else size
    place = _HEAD.size
    while len(frame := stream.read(_FRAME.size)) == _FRAME.size:
        page, pages, own = _FRAME.unpack(frame)
        if own != salts:
            return
        yield page, pages > 0
        place += _FRAME.size + size
        stream.seek(place)
