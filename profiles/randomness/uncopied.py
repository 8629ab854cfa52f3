"""What holds random bits is not copied: both copies would use the same ones."""

from __future__ import annotations

from typing import NoReturn


class Uncopied:
    """Claim: ``copy``, ``deepcopy`` and ``pickle`` raise what :meth:`_refuse_copy` of the class raises; a class writes that one method.

    >>> import copy
    >>> class Dice(Uncopied):
    ...     __slots__ = ()
    ...     def _refuse_copy(self):
    ...         raise TypeError("dice cannot be copied")
    >>> copy.copy(Dice())
    Traceback (most recent call last):
    ...
    TypeError: dice cannot be copied
    """

    __slots__ = ()

    def _refuse_copy(self) -> NoReturn:
        raise NotImplementedError

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, _memo: object) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()


__all__ = ["Uncopied"]
