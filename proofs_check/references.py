"""References to Python objects: ``package.module:object`` or ``path/to/file.py:object``. Importing runs the module."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn


def load_object(reference: str, what: str = "an object") -> Any:
    """Return the object behind a reference. A file sees the modules beside it, as a script does, and is run once in a process.

    Importing runs the module: use references only to code that you trust. Raises :class:`profiles.errors.UnreadableFile`.

    >>> load_object("math:pi")
    3.141592653589793
    """
    module_name, colon, attribute = reference.rpartition(":")
    names = attribute.split(".")
    is_file = module_name.endswith(".py")
    parts = names if is_file else [*module_name.split("."), *names]
    if not colon or not all(part.isidentifier() for part in parts):
        _refuse(f"{what} was expected as package.module:object or path/to/file.py:object, but {reference[:80]!r} was found; correct it")
    try:
        loaded: Any = _run_file(Path(module_name), what) if is_file else _import(module_name)
        for name in names:
            loaded = getattr(loaded, name)
    except (Exception, SystemExit) as error:
        if type(error).__module__ == "profiles.errors":
            raise
        text = " ".join(str(error).split())[:200]
        hint = _hint(error, module_name, names, is_file=is_file)
        _refuse(f"{what} {reference[:80]!r} could not be loaded ({type(error).__name__}: {text}); check module and name{hint}")
    return loaded


def _import(name: str) -> ModuleType:
    if "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(name)


def _run_file(path: Path, what: str) -> ModuleType:
    if not path.is_file():
        from profiles.suggestions import suggest_file  # noqa: PLC0415 - worker processes start faster without the profiles

        _refuse(f"{what} was expected in the file {str(path)[:200]!r}, but there is no such file; check the path{suggest_file(path)}")
    path = path.resolve()
    name = _file_name(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        _refuse(f"the file {str(path)[:200]!r} is not a Python module; name one that ends in .py")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _hint(error: BaseException, module_name: str, names: list[str], *, is_file: bool) -> str:
    from profiles.suggestions import suggest_reference  # noqa: PLC0415 - worker processes start faster without the profiles

    if not isinstance(error, (ImportError, AttributeError)):
        return ""
    return suggest_reference(_file_name(Path(module_name).resolve()) if is_file else module_name, names)


def _file_name(path: Path) -> str:
    return f"file_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"


def _refuse(message: str) -> NoReturn:
    from profiles.errors import UnreadableFile  # noqa: PLC0415 - worker processes start faster without the profiles

    raise UnreadableFile(message) from None
