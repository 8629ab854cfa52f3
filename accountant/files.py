"""Output files that are written atomically: beside the target, flushed to disk, renamed; removed on any failure."""

from __future__ import annotations

import contextlib
import filecmp
import os
import secrets
import signal
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO

from profiles import InvalidArgument, UnwritableOutput


@contextlib.contextmanager
def replace_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Yield a binary file that becomes ``path`` on success; on any exception (Ctrl-C included) it is removed and ``path`` is untouched.

    ``private``: it is for its owner's eyes, whatever the mode of the one that it takes the place of. A file with rows, weights, states,
    secrets or spending is, unless it is what --out names. Raises :class:`UnwritableOutput` where the system refuses to write.
    """
    with replace_files(path, private=(path,) if private else ()) as (stream,):
        yield stream


@contextlib.contextmanager
def replace_files(*paths: Path, private: Collection[Path] = ()) -> Iterator[tuple[IO[bytes], ...]]:
    """Yield binary files that become ``paths`` on success, one right after the other, once all of them are whole and on disk.

    On any exception (Ctrl-C included) they are removed and ``paths`` are untouched. ``private``: those for their owner's eyes.
    Raises :class:`UnwritableOutput`.
    """
    for path in paths:
        _require_regular(path)
    temporaries: list[Path] = []
    current = paths[0]
    try:
        with contextlib.ExitStack() as stack:
            streams = []
            for current in paths:
                temporaries.append(current.parent / f".{current.name}.{secrets.token_hex(4)}.tmp")  # known before it is there
                handle = os.open(temporaries[-1], os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
                streams.append(stack.enter_context(os.fdopen(handle, "wb")))
            current = paths[0]
            yield tuple(streams)
            for current, stream in zip(paths, streams, strict=True):
                stream.flush()
                os.fchmod(stream.fileno(), 0o600 if current in private else _mode(current))
                os.fsync(stream.fileno())
        with _uninterrupted(), contextlib.ExitStack() as undoing:  # all of them or none
            for place, current in enumerate(paths):
                give_back = _keep(current, temporaries, place) if place < len(paths) - 1 else None
                temporaries[place].replace(current)
                if give_back is not None:
                    undoing.callback(give_back)
            undoing.pop_all()
        for folder in {path.parent for path in paths}:
            sync_folder(folder)
    except OSError as error:
        raise UnwritableOutput(
            f"the output {current} could not be written ({error.strerror or str(error)[:100]}); check folder, space and rights"
        ) from None
    finally:
        with _uninterrupted():
            for temporary in temporaries:
                with contextlib.suppress(OSError):
                    temporary.unlink()


def _keep(path: Path, temporaries: list[Path], place: int) -> Callable[[], None]:
    """Return what gives a file back after another one took its place; its second name is one of the ``temporaries``."""
    kept = temporaries[place].with_suffix(".kept")
    temporaries.append(kept)
    there = os.path.lexists(path)
    with contextlib.suppress(OSError):  # a file system may have no second names
        if there:
            os.link(path, kept, follow_symlinks=False)

    def give_back() -> None:
        with contextlib.suppress(OSError):
            if there:
                kept.replace(path)
            else:
                path.unlink()

    return give_back


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C and a request to end wait until the end of a few renames or removals (in the main thread, the only one they reach)."""
    waiting: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        numbers = (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))
        handlers = {number: signal.getsignal(number) for number in numbers}
    known = {number: handler for number, handler in handlers.items() if handler is not None}
    for number in known:
        signal.signal(number, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)
        if waiting:
            signal.raise_signal(waiting[0])


def check_writable(path: Path) -> None:
    """Refuse an output that could not be written, before the work for it is done. Raises :class:`UnwritableOutput`."""
    _require_regular(path)
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise UnwritableOutput(f"the output {path} could not be written (no such folder, or no right to write there); name another one")


def check_not_input(path: Path, given: object, what: str) -> None:
    """Refuse an output that is an input, which would be lost; ``given`` may be anything. Raises :class:`InvalidArgument`."""
    if not isinstance(given, (str, os.PathLike)):
        return
    with contextlib.suppress(OSError, ValueError):  # what is not there, or is no path, is not lost
        if path.samefile(given):
            raise InvalidArgument(f"the output {path} is the {what}, which would be lost; name another file")


def check_distinct(*paths: Path | None) -> None:
    """Refuse two outputs that are one file, however they are spelled: the one would be lost. Raises :class:`InvalidArgument`."""
    named = [path for path in paths if path is not None]
    for place, path in enumerate(named):
        for other in named[:place]:
            if _is_same(path, other):
                raise InvalidArgument(f"two outputs are both to be {path}; name two files")


def check_outputs(inputs: Mapping[str, object], *outputs: Path | None) -> None:
    """Refuse, before any work, outputs that cannot be written, that are an input, or of which two are one file.

    ``inputs``: what each of them is → what was given for it, which may be anything. Outputs that are None are not asked for. Raises
    :class:`UnwritableOutput` and :class:`InvalidArgument`.
    """
    for path in outputs:
        if path is not None:
            check_writable(path)
            for what, given in inputs.items():
                check_not_input(path, given, what)
    check_distinct(*outputs)


def check_public(data: object, public: Mapping[str, object]) -> None:
    """Refuse a public input that is the private data: the same file, however it is spelled or linked, or one with the same content.

    ``public``: what each input is → what was given for it, which may be anything; ``data`` likewise. What was made of the data in other
    ways is not seen: that the input is public is a hypothesis of the release. Raises :class:`InvalidArgument`.
    """
    for what, given in public.items():
        if isinstance(data, (str, os.PathLike)) and isinstance(given, (str, os.PathLike)) and _has_same_content(Path(data), Path(given)):
            raise InvalidArgument(
                f"the {what} must be public, but {Path(given).name} is the private data, whose records would be published; name a file "
                "that was made without looking at them"
            )


def _has_same_content(path: Path, other: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):  # what is not there, or is no path, is told of where it is read
        if path.is_file() and other.is_file():
            return path.samefile(other) or filecmp.cmp(path, other, shallow=False)
    return False


def _is_same(path: Path, other: Path) -> bool:
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # a loop of links, say, which cannot be written
        if path.resolve() == other.resolve():
            return True
        return path.samefile(other)
    return False


def _require_regular(path: Path) -> None:
    try:
        if "\0" in str(path):
            raise ValueError("embedded null byte")
        other = path.exists() and not path.is_file()
    except (OSError, ValueError) as error:  # a name that is too long, say
        reason = getattr(error, "strerror", None) or str(error)[:100]
        raise UnwritableOutput(f"the output {str(path)[:80]!r} cannot be written ({reason}); name another file") from None
    if other:
        raise UnwritableOutput(f"the output {str(path)!r} exists and is not a regular file; name another one")


def _mode(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    with contextlib.suppress(OSError):  # not every file system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` atomically: the file appears complete, or not at all. Raises :class:`UnwritableOutput`."""
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8"))


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files atomically, all of them or none. Raises :class:`UnwritableOutput`."""
    if contents:
        with replace_files(*contents) as streams:
            for stream, content in zip(streams, contents.values(), strict=True):
                stream.write(content)
