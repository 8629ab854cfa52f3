"""The Python runtime that a page carries: CPython in WebAssembly, of one version, whose files have known hashes."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
from pathlib import Path

from profiles.errors import UnreadableFile

VERSION = "314.0.7"
PACKAGE = "pyodide"
#: The files that a page needs, and the SHA-256 of each in the package of this version.
FILES = {
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
}
_LARGEST = 20_000_000
_HOW = f"get it with: npm pack {PACKAGE}@{VERSION}, and name the file or the unpacked folder with --runtime"


def load_runtime(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """Return the files of the runtime, each with the hash that is expected, from a folder or from the package as it is downloaded (.tgz).

    Raises :class:`profiles.UnreadableFile` where one is missing or another one than expected.
    """
    given = Path(path)
    try:
        files = _read_folder(given) if given.is_dir() else _read_package(given)
    except (OSError, tarfile.TarError, EOFError, KeyError, ValueError):
        raise UnreadableFile(f"the Python runtime {PACKAGE} {VERSION} was expected at {given}, but it is not there; {_HOW}") from None
    for name, digest in FILES.items():
        if hashlib.sha256(files[name]).hexdigest() != digest:
            raise UnreadableFile(f"{name} at {given} is not the one of {PACKAGE} {VERSION}: its SHA-256 differs; {_HOW}")
    return files


def _read_folder(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def _read_package(file: Path) -> dict[str, bytes]:
    files = {}
    with tarfile.open(file, "r:gz") as archive:
        for name in FILES:
            member = archive.extractfile(f"package/{name}")
            if member is None:
                raise KeyError(name)
            files[name] = member.read(_LARGEST)
    return files


def pack(data: bytes) -> bytes:
    """Return the data compressed, for the page; without a date, so that it is the same each time."""
    return gzip.compress(data, 9, mtime=0)
