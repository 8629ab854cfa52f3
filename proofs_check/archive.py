"""The kernel as one file, ``checker.pyz``: a zipapp that runs with any Python from 3.11 on, the same bytes wherever it is made.

Its SHA-256 stands on the page docs/trust.md: who has a file with that hash has the kernel that the page is about.
"""

from __future__ import annotations

import hashlib
import inspect
import struct
import zlib
from functools import cache
from pathlib import Path

from proofs_check import kernel
from proofs_check.deflate import deflate

_MAIN = b"""import sys

from kernel.__main__ import main

sys.exit(main(sys.argv[1:]))
"""
_DAY, _VERSION, _DEFLATED = 0x21, 20, 8  # 1980-01-01, the first one that a zip file can have


def kernel_sources() -> dict[str, bytes]:
    """Return the kernel's modules, name → text with the line ends of Unix, in alphabetical order."""
    paths = sorted(Path(inspect.getfile(kernel)).parent.glob("*.py"))
    return {path.name: path.read_bytes().replace(b"\r\n", b"\n") for path in paths}


@cache
def make_checker() -> bytes:
    """Return the bytes of ``checker.pyz``: the modules of the kernel as they are, and a line that starts it.

    >>> import hashlib
    >>> hashlib.sha256(make_checker()).hexdigest() == checker_digest()
    True
    """
    files = {"__main__.py": _MAIN, **{f"kernel/{name}": text for name, text in kernel_sources().items()}}
    body, directory = bytearray(b"#!/usr/bin/env python3\n"), bytearray()
    for name, text in files.items():
        packed = deflate(text)
        about = struct.pack("<HHHHHIIIHH", _VERSION, 0, _DEFLATED, 0, _DAY, zlib.crc32(text), len(packed), len(text), len(name), 0)
        directory += b"PK\x01\x02" + struct.pack("<H", _VERSION) + about
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode("ascii")
        body += b"PK\x03\x04" + about + name.encode("ascii") + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)


def checker_digest() -> str:
    """Return the SHA-256 of ``checker.pyz``."""
    return hashlib.sha256(make_checker()).hexdigest()
