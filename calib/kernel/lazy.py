"""Import names of packages, and entries of registries, when they are first used, as in SPEC 1 of Scientific Python.

A package lists its names once, as ordinary imports under ``if TYPE_CHECKING:``. Type checkers, editors and the test of
the floors read them there, and so does ``attach``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

Entry = TypeVar("Entry")


def attach(package: str) -> None:
    """Let a package import the names under its ``if TYPE_CHECKING:`` when they are first used.

    A module of the package with the name of one of its functions, such as ``calib.data.prepare``, does not hide the
    function.

    >>> import calib.data
    >>> calib.data.prepare.__module__, "prepare" in dir(calib.data)
    ('calib.data.prepare', True)
    """
    module = sys.modules[package]
    source = module.__loader__.get_source(package)  # type: ignore[union-attr]
    vars(module)["_where"] = dict(_names(ast.parse(source)))
    module.__class__ = _LazyPackage


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield (name, its module) for each import under ``if TYPE_CHECKING:``."""
    for block in tree.body:
        if (
            isinstance(block, ast.If)
            and isinstance(block.test, ast.Name)
            and block.test.id == "TYPE_CHECKING"
        ):
            for line in block.body:
                if isinstance(line, ast.ImportFrom):
                    yield from ((alias.name, str(line.module)) for alias in line.names)


class _LazyPackage(ModuleType):
    _where: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self._where:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(self._where[name]), name)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._where or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self._where})


def first_use(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports its module on the first call.

    >>> first_use("math", "sqrt")(4)
    2.0
    """
    return lambda *args, **options: getattr(import_module(module), name)(*args, **options)


class Entries(Mapping[str, Entry]):
    """Entries of a registry by key, in order; each is imported when it is first used.

    Parameters
    ----------
    package
        Package whose modules define the entries.
    where
        Key → "module:name".

    Examples
    --------
    >>> found = Entries("xml", {"parse": "sax:parse", "missing": "no_such_module:name"})
    >>> list(found), "missing" in found, found["parse"].__module__
    (['parse', 'missing'], True, 'xml.sax')
    """

    def __init__(self, package: str, where: Mapping[str, str]) -> None:
        self._package, self._where = package, dict(where)
        self._held: dict[str, Entry] = {}

    def __getitem__(self, key: str) -> Entry:
        if key not in self._held:
            module, _, name = self._where[key].partition(":")
            self._held[key] = getattr(import_module(f"{self._package}.{module}"), name)
        return self._held[key]

    def __contains__(self, key: object) -> bool:
        return key in self._where

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)
