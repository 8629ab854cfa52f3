"""One Coq that is talked to: sentences go in, what it says comes back, and what takes too long is ended with it."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from profiles.errors import MissingProgram

_START_SECONDS, _COMPILE_SECONDS = 120, 600


def read_tactics() -> str:
    """Return the theorems and tactics that every session begins with."""
    folder = resources.files("proofs_check.coq")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("rules.v", "tactics.v"))


@dataclass(frozen=True, slots=True)
class Library:
    """What a session begins with: files that are compiled first, sentences, and what Coq says of the last name in them."""

    files: tuple[Traversable, ...]
    name: str  # of the compiled files, all of which stand under it
    sentences: str
    last: str
    answer: str


def tactics() -> Library:
    """Return ``rules.v`` and ``tactics.v``. What is asked for is a tactic that there is with the library for intervals alone."""
    return Library((), "", read_tactics(), "inside", "Ltac Top.inside")


class CoqSession:
    """A ``coqtop`` with a library loaded.

    Raises :class:`profiles.errors.MissingProgram` where Coq or its library for intervals is missing.
    """

    def __init__(self, library: Library | None = None) -> None:
        program = shutil.which("coqtop")
        if program is None:
            raise MissingProgram(
                "a second opinion of Coq was asked for, but there is no coqtop here; on Debian: apt-get install libcoq-interval"
            )
        self._program, self._library = program, library or tactics()
        self._folder = tempfile.TemporaryDirectory(prefix="pdp-coq-")
        self._asked = 0
        self._compile()
        self._start()

    def __enter__(self) -> CoqSession:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def version(self) -> str:
        """Return Coq's version, such as 8.16.1."""
        done = subprocess.run(  # noqa: S603 - the program that was found
            [self._program, "--print-version"], capture_output=True, text=True, check=False, timeout=_START_SECONDS
        )
        return done.stdout.split(" ")[0].strip() or "unknown"

    def proves(self, name: str, sentences: str, seconds: float) -> bool | None:
        """Whether there is a lemma of this new name after these sentences. None: no answer came in time, and Coq was started anew."""
        answer = self._say(f"{sentences}Abort.\nLocate {name}.", seconds)
        if answer is None:
            self._stop()
            self._start()
            return None
        return f"Constant Top.{name}\n" in answer

    def _compile(self) -> None:
        compiler = shutil.which("coqc")
        for file in self._library.files:
            (Path(self._folder.name) / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            done = None
            with contextlib.suppress(subprocess.TimeoutExpired):
                done = compiler and subprocess.run(  # noqa: S603 - the program that was found
                    [compiler, "-q", "-w", "none", "-R", ".", self._library.name, file.name],
                    cwd=self._folder.name,
                    env=_environment(),
                    capture_output=True,
                    check=False,
                    timeout=_COMPILE_SECONDS,
                )
            if not done or done.returncode:
                self._folder.cleanup()
                raise MissingProgram(
                    f"{file.name} was to be compiled, but the Coq that is here does not; on Debian 12: apt-get install libcoq-interval"
                )

    def _start(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - likewise
            [self._program, "-q", "-quiet", "-w", "none", *(("-R", ".", self._library.name) if self._library.name else ())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder.name,
            env=_environment(),
        )
        self._answers: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_listen, args=(self._process, self._answers), daemon=True).start()
        answer = self._say(f"{self._library.sentences}\nLocate {self._library.last}.", _START_SECONDS)
        if answer is None or self._library.answer not in answer:
            self.__exit__()
            raise MissingProgram(
                "a second opinion of Coq was asked for, but the coqtop that is here does not load its library for intervals; on Debian: "
                "apt-get install libcoq-interval"
            )

    def _stop(self) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def _say(self, sentences: str, seconds: float) -> str | None:
        # a name that is not there ends every answer
        self._asked += 1
        mark, answer, end = f"answered_{self._asked} was not found", b"", time.monotonic() + seconds
        if self._process.stdin is None:
            return None
        try:
            self._process.stdin.write(f"{sentences}\nFail Check answered_{self._asked}.\n".encode("ascii"))
            self._process.stdin.flush()
            while mark.encode() not in answer:
                piece = self._answers.get(timeout=max(0.0, end - time.monotonic()))
                if not piece:
                    break
                answer += piece
            else:
                return answer.decode("utf-8", "replace")
        except (queue.Empty, OSError):
            pass
        return None


def _environment() -> dict[str, str]:
    # an empty folder and no settings of the user: nothing but Coq's own libraries is found
    return {key: value for key, value in os.environ.items() if not key.startswith(("COQ", "OCAML"))}


def _listen(process: subprocess.Popen[bytes], answers: queue.Queue[bytes]) -> None:
    if process.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(process.stdout.fileno(), 65536):
                answers.put(piece)
    answers.put(b"")
