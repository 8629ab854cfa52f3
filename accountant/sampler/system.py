"""The operating system's secure source as a :class:`numpy.random.Generator`: it draws the noise of a release by default."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import numpy as np

from profiles import InvalidArgument
from profiles.hypotheses import SECURE_BITS, SEEDED_BITS, Hypothesis

_BLOCK = 8192
_UINT64 = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
_UINT32 = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
_DOUBLE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)


class _Functions(ctypes.Structure):
    """NumPy's ``bitgen_t`` (numpy/random/bitgen.h): a state and four functions of it."""

    _fields_ = (
        ("state", ctypes.c_void_p),
        ("next_uint64", _UINT64),
        ("next_uint32", _UINT32),
        ("next_double", _DOUBLE),
        ("next_raw", _UINT64),
    )


class SystemBits:
    """A bit generator for NumPy whose words are ``os.urandom``'s: no seed, no state, nothing that could repeat, also after a fork.

    Words are read in blocks; a block belongs to one process, and each word is wiped when it has been used.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._process, self._words, self._place = os.getpid(), bytearray(), 0
        word = self._draw
        self._functions = _Functions(
            None,
            _UINT64(lambda _: word(8)),
            _UINT32(lambda _: word(4)),
            _DOUBLE(lambda _: (word(8) >> 11) * 2.0**-53),
            _UINT64(lambda _: word(8)),
        )
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule: Any = make(ctypes.addressof(self._functions), b"BitGenerator", None)

    def _draw(self, size: int) -> int:
        if self._place + size > len(self._words) or self._process != os.getpid():
            self._process, self._words, self._place = os.getpid(), bytearray(os.urandom(_BLOCK)), 0
        found = int.from_bytes(self._words[self._place : self._place + size], "little")
        self._words[self._place : self._place + size] = bytes(size)
        self._place += size
        return found

    def __reduce__(self) -> Any:
        """A copy would have no state to copy: it is a new source."""
        return SystemBits, ()


def system_generator() -> np.random.Generator:
    """Return a NumPy generator whose bits are those of the operating system's secure source.

    >>> 0 <= system_generator().random() < 1
    True
    """
    return np.random.Generator(SystemBits())  # type: ignore[arg-type]


def open_generator(rng: object = None) -> tuple[np.random.Generator, Hypothesis]:
    """Return the generator that draws noise, and what has to be true of it: None is the secure source of the operating system.

    Raises :class:`InvalidArgument` for what is no generator.
    """
    if rng is None:
        return system_generator(), SECURE_BITS
    if not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"a numpy.random.Generator was expected, but an object of type {type(rng).__name__} was found; leave it out for the "
            "secure source of the operating system, or pass numpy.random.default_rng() in tests"
        )
    return rng, SECURE_BITS if isinstance(rng.bit_generator, SystemBits) else SEEDED_BITS
