"""The operating system's secure source as a :class:`numpy.random.Generator`: it draws the noise of a release by default."""

from __future__ import annotations

import ctypes
import itertools
import operator
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from profiles import InvalidArgument
from profiles.hypotheses import SECURE_BITS, SEEDED_BITS, Hypothesis
from profiles.randomness.forks import require_home


class _Functions(ctypes.Structure):
    """NumPy's ``bitgen_t`` (numpy/random/bitgen.h): a state, which we have none of, and four functions of it."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("state", "next_uint64", "next_uint32", "next_double", "next_raw"))


def _draw_words(layout: str) -> Iterator[int]:
    """Return an endless iterator of integers of ``layout`` (of :mod:`struct`) that reads ``os.urandom`` for each of them.

    It is made of iterators that are written in C: no bytecode runs while NumPy draws, and so no signal handler. An interrupt (Ctrl-C, a
    timeout) is raised when NumPy is done, instead of being lost in a callback, which would then give a 0. Nothing is read ahead that a fork
    could repeat.
    """
    packed = struct.Struct(layout)
    return itertools.chain.from_iterable(map(packed.unpack, map(os.urandom, itertools.repeat(packed.size))))


class SystemBits:
    """A bit generator for NumPy whose words are ``os.urandom``'s: no seed, no state, nothing that could repeat, also after a fork.

    Doubles are the multiples of 2⁻⁵³ in [0, 1), as NumPy's own generators make them of a word. Copies are new sources.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        high = map(operator.rshift, _draw_words("<Q"), itertools.repeat(11))
        sources: dict[str, tuple[Any, Iterator[Any]]] = {
            "next_uint64": (ctypes.c_uint64, _draw_words("<Q")),
            "next_uint32": (ctypes.c_uint32, _draw_words("<I")),
            "next_double": (ctypes.c_double, map(operator.mul, high, itertools.repeat(2.0**-53))),
            "next_raw": (ctypes.c_uint64, _draw_words("<Q")),
        }
        # NumPy passes the state, which functions without arguments leave where it is
        self._callbacks: dict[str, Callable[[], Any]] = {name: ctypes.CFUNCTYPE(kind)(it.__next__) for name, (kind, it) in sources.items()}
        addresses = {name: ctypes.cast(made, ctypes.c_void_p) for name, made in self._callbacks.items()}  # type: ignore[arg-type]
        self._functions = _Functions(state=None, **addresses)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule: Any = make(ctypes.addressof(self._functions), b"BitGenerator", None)

    def __reduce__(self) -> Any:
        return SystemBits, ()


def system_generator() -> np.random.Generator:
    """Return a NumPy generator whose bits are those of the operating system's secure source.

    >>> 0 <= system_generator().random() < 1
    True
    """
    return np.random.Generator(SystemBits())  # type: ignore[arg-type]


def open_generator(rng: object = None) -> tuple[np.random.Generator, Hypothesis]:
    """Return the generator that draws noise, and what has to be true of it: None is the secure source of the operating system.

    Raises :class:`InvalidArgument` for what is not a generator, and for one that was used before this process was forked.
    """
    if rng is None:
        return system_generator(), SECURE_BITS
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"a numpy.random.Generator was expected, but an object of type {type(rng).__name__} was found; leave it out for the "
            "secure source of the operating system, or pass numpy.random.default_rng() in tests"
        )
    if isinstance(rng.bit_generator, SystemBits):
        return rng, SECURE_BITS
    require_home(rng)
    return rng, SEEDED_BITS
