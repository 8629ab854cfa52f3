"""A PostgreSQL server of our own, for as long as a test session takes: in a temporary directory, reached by a socket in it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


def find_programs() -> Path:
    """The folder of initdb and pg_ctl, or a skip with the reason."""
    found = shutil.which("pg_ctl")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    pytest.skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")


def name_user() -> str:
    """Who the server runs as: us, or where we are root, whom it refuses, the user postgres."""
    if os.geteuid():
        return pwd.getpwuid(os.geteuid()).pw_name
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        pytest.skip("a PostgreSQL server does not run as root, and there is no user postgres")


@dataclass(frozen=True)
class Server:
    """A server with the programs in ``programs`` and everything else in ``folder``."""

    programs: Path
    folder: Path
    user: str

    def run(self, program: str, *words: str) -> None:
        become = ["runuser", "-u", self.user, "--"] if not os.geteuid() else []
        command = [*become, str(self.programs / program), *words]
        with (self.folder / "output").open("ab") as output:  # pg_ctl hands its streams on to the server
            done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
        assert done.returncode == 0, (self.folder / "output").read_text(errors="replace")[-800:]

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=40"
        self.run("pg_ctl", "start", "-w", "-D", str(self.folder / "data"), "-l", str(self.folder / "log"), "-o", options)

    def crash(self) -> None:
        """Stop it as a power failure does: without writing anything."""
        self.run("pg_ctl", "stop", "-m", "immediate", "-D", str(self.folder / "data"))

    def address(self, schema: str = "", user: str | None = None) -> str:
        return f"postgresql:///postgres?host={self.folder}&user={user or self.user}" + (f"#{schema}" if schema else "")


@contextlib.contextmanager
def open_server() -> Iterator[Server]:
    """Start a server that keeps what it confirms, and stop it."""
    server = Server(find_programs(), Path(tempfile.mkdtemp(prefix="pdp-ledger-")), name_user())
    shutil.chown(server.folder, server.user)
    try:
        server.run("initdb", "-D", str(server.folder / "data"), "-A", "trust", "-U", server.user, "-E", "UTF8", "--no-locale", "-k")
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(AssertionError):
                server.crash()
    finally:
        shutil.rmtree(server.folder, ignore_errors=True)
