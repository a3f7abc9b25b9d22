# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The user's functions, by names that other processes can find them by."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvsim_core.errors import ArgumentError

EXPECTED = "expected a function, 'file.py:function' or 'module:function'"


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function of a file or module.

    Attributes:
        text: `file.py:function` or `module:function`.
        pickled: The function itself as a reference, if it was given as an object.
    """

    text: str
    pickled: bytes | None = None

    def load(self) -> Callable[..., Any]:
        """Return the function.

        Raises:
            ArgumentError: There is none.
        """
        if self.pickled is not None:
            loaded: Callable[..., Any] = pickle.loads(self.pickled)
            return loaded
        home, _, name = self.text.rpartition(":")
        found: Any = _module(home)
        for part in name.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            raise ArgumentError(f"{home} has no function {name!r}")
        function: Callable[..., Any] = found
        return function

    def files(self) -> set[str]:
        """Return the function's file and the modules beside it that are imported."""
        path = inspect.getsourcefile(inspect.unwrap(self.load()))
        if path is None:
            return set()
        folder = Path(path).parent
        beside = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        found = {file for file in beside if file and Path(file).parent == folder}
        return {path, *(file for file in found if file.endswith(".py"))}


def function_name(function: Any, what: str) -> FunctionName | None:
    """Return the name of a function that a user gave, None for None; it is loaded as a check.

    Raises:
        ArgumentError: It is no function, or other processes could not find it.
    """
    if function is None or isinstance(function, FunctionName):
        return function
    if isinstance(function, str):
        home, _, name = function.rpartition(":")
        if not home or not name:
            raise ArgumentError(f"{what}: {EXPECTED}, got {function!r}")
        if home.endswith(".py"):
            home = str(Path(home).absolute())
        named = FunctionName(f"{home}:{name}")
        named.load()
        return named
    if not callable(function):
        raise ArgumentError(f"{what}: {EXPECTED}, got {function!r:.80}")
    name = getattr(function, "__qualname__", type(function).__name__)
    module = getattr(function, "__module__", "")
    try:
        pickled = pickle.dumps(function)
    except Exception:
        pickled = b""
    main = module == "__main__" and not getattr(sys.modules["__main__"], "__file__", None)
    if not pickled or main:
        raise ArgumentError(
            f"{what}: other processes cannot import {name!r}; it must be a function at the top"
            " level of a file or module"
        )
    return FunctionName(f"{module}:{name}", pickled)


def _module(home: str) -> Any:
    """Import a file or a module.

    Raises:
        ArgumentError: It cannot be imported.
    """
    try:
        if not home.endswith(".py"):
            return importlib.import_module(home)
        path = Path(home).absolute()
        name = f"mvsim_user_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
        if name in sys.modules:
            return sys.modules[name]
        if not path.is_file():
            raise ArgumentError(f"{home}: no such file")
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ArgumentError(f"{home}: not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module
    except ArgumentError:
        raise
    except (Exception, SystemExit) as error:
        raise ArgumentError(f"{home}: {type(error).__name__}: {error}") from None
