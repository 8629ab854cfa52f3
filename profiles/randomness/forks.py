"""Which process a generator belongs to: a forked one has the generators of its parent, which give the same numbers in both.

What can be known: that a generator was used here, and in which process first. One that was only made, or used by others, before a fork
looks the same in parent and child; each of them is then its first user, and nothing tells them apart.
"""

from __future__ import annotations

import os
from weakref import WeakKeyDictionary

import numpy as np

from profiles.errors import InvalidArgument

Process = tuple[int, int]

_forks = 0  # between the first process that loaded this module and this one
#: The process of the first use, by the lock of the bit generator: one each, as long-lived as it, and unlike it known to weak references.
_homes: WeakKeyDictionary[object, Process] = WeakKeyDictionary()


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - what a fork changes is the process
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def mark_process() -> Process:
    """Return what a forked process has another value of: the process id, and how many forks led here.

    Each alone is not enough: a fork into a new process namespace (a container) may have its parent's id, and a fork by a C library is not
    counted.
    """
    return os.getpid(), _forks


def require_home(rng: np.random.Generator) -> None:
    """Refuse a generator with a state in a process that was forked after its first use here; the first call is that use.

    Generators over one bit generator are one. A bit generator that is copied (pickled) is another one, which has not been used yet.
    Raises :class:`InvalidArgument`.

    >>> require_home(np.random.default_rng(1))
    """
    process = mark_process()
    if _homes.setdefault(rng.bit_generator.lock, process) != process:
        raise InvalidArgument(
            "a seeded generator was used in a forked process, where it would draw what its parent draws; make one there, with a seed "
            "of its own, or none for the secure source"
        )
