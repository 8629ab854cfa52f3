"""The kernel as one file, ``checker.pyz``: a zipapp that runs with any Python from 3.11 on, the same bytes wherever it is made.

Its SHA-256 stands on the page docs/trust.md: who has a file with that hash has the kernel that the page is about.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import zipfile
from functools import cache
from pathlib import Path

from proofs_check import kernel

_MAIN = b"""import sys

from kernel.__main__ import main

sys.exit(main(sys.argv[1:]))
"""


def kernel_sources() -> dict[str, bytes]:
    """Return the kernel's modules, place in its folder → text with the line ends of Unix, in alphabetical order."""
    folder = Path(inspect.getfile(kernel)).parent
    places = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return {place: (folder / place).read_bytes().replace(b"\r\n", b"\n") for place in places}


@cache
def make_checker() -> bytes:
    """Return the bytes of ``checker.pyz``: the modules of the kernel as they are, and a line that starts it.

    >>> import hashlib
    >>> hashlib.sha256(make_checker()).hexdigest() == checker_digest()
    True
    """
    files = {"__main__.py": _MAIN, **{f"kernel/{name}": text for name, text in kernel_sources().items()}}
    whole = io.BytesIO()
    whole.write(b"#!/usr/bin/env python3\n")
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:  # zlib does not promise the same bytes between its versions
        for name, text in files.items():
            about = zipfile.ZipInfo(name)  # of 1980-01-01
            about.create_system = 3  # Unix, also where it is made elsewhere
            archive.writestr(about, text)
    return whole.getvalue()


def checker_digest() -> str:
    """Return the SHA-256 of ``checker.pyz``."""
    return hashlib.sha256(make_checker()).hexdigest()
