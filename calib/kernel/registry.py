"""Registry of methods of one kind by key: shipped ones, and plug-ins.

Plug-ins are added by ``register``, in a notebook or a script, or by an entry point of an installed package, in the
group with the registry's name. Entry points are read once, when the registry is first used. One that cannot be loaded
or breaks the contract is left out and listed in ``problems``, so that all others still work.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from calib.kernel.checks import InputError

Entry = TypeVar("Entry")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Mapping from key to entry, in the order of addition.

    Attributes
    ----------
    group
        Name of the group of entry points, also used in messages.
    shipped
        Shipped entries, each with a ``key``, or a mapping of them by key, such as ``calib.kernel.lazy.Entries``; the
        attribute is a mapping.
    check
        Function that refuses, with an InputError, a plug-in that breaks the contract.
    unlisted
        Entries that are found by key but not listed, such as calibrators of K classes in the registry of two-class
        calibrators.
    origin
        Function that returns the class or function behind an entry. If it is defined again, as when a notebook cell
        is run again, it replaces the earlier entry; any other entry with a taken key is refused.

    Examples
    --------
    >>> from fractions import Fraction
    >>> class Half(Fraction):
    ...     key = "half"
    >>> halves = Registry("calib.halves", [Half(1, 2)], check=lambda entry: None, origin=type)
    >>> list(halves), halves["half"], halves.problems
    (['half'], Half(1, 2), ())
    >>> halves.register(Half(2, 4))
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: key: 'half' is taken in calib.halves. Choose another.
    """

    def __init__(
        self,
        group: str,
        shipped: Iterable[Any],
        check: Callable[[Any], None],
        origin: Callable[[Any], Any],
        unlisted: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self.group, self._check, self._origin = group, check, origin
        by_key: Any = shipped if isinstance(shipped, Mapping) else {entry.key: entry for entry in shipped}
        self.shipped: Mapping[str, Entry] = MappingProxyType(by_key)
        self.unlisted = unlisted
        self._held: ChainMap[str, Entry] = ChainMap({}, self.shipped)  # type: ignore[arg-type] # only read
        self._problems: list[str] = []
        self._lock, self._awaited, self._complete = RLock(), True, False

    def register(self, entry: Any) -> Any:
        """Register a plug-in under its key, and return it, so that this also decorates a class.

        ``calib.calibrators.register`` takes a class derived from ``ScoreCalibrator`` or ``IntervalCalibrator``,
        ``calib.models.register`` a ``ModelEntry`` and ``calib.metrics.register`` a ``Metric``.

        Raises
        ------
        InputError
            If the entry breaks the contract or fails on a small example, or if its key is taken.

        Notes
        -----
        An installed package registers by an entry point in the group of that name, in its pyproject.toml::

            [project.entry-points."calib.metrics"]
            mine = "its_package:MINE"

        Examples
        --------
        >>> from calib.calibrators import Platt, register
        >>> register(type("Mine", (Platt,), {}))
        Traceback (most recent call last):
        ...
        calib.kernel.checks.InputError: key: 'platt' is taken in calib.calibrators. Choose another.
        """
        self._check(entry)
        with self._lock:
            if entry.key in self.unlisted or (entry.key in self._held and not self._redefines(entry)):
                raise InputError(f"key: {entry.key!r} is taken in {self.group}. Choose another.")
            self._held[entry.key] = entry
        return entry

    def everything(self) -> Mapping[str, Entry]:
        """Return all entries by key, including unlisted ones."""
        return ChainMap(self.unlisted, self)  # type: ignore[arg-type] # only read

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences on entry points that were left out, one per entry point."""
        self._all()
        return tuple(self._problems)

    def __getitem__(self, key: str) -> Entry:
        listed = self.shipped if key in self.shipped else self._all()
        return listed[key] if key in listed else self.unlisted[key]

    def __contains__(self, key: object) -> bool:
        return key in self.shipped or key in self.unlisted or key in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> Mapping[str, Entry]:
        """Load the entry points once, and return all entries; a plug-in that is loading sees those before it."""
        if not self._complete:
            with self._lock:
                if self._awaited:
                    self._awaited = False
                    for point in sorted(
                        entry_points(group=self.group), key=lambda point: (point.name, point.value)
                    ):
                        self._take(point)
                    self._complete = True
        return self._held

    def _take(self, point: EntryPoint) -> None:
        before = self._held.copy()
        try:
            self.register(point.load())
        except (Exception, SystemExit) as error:  # an error in a plug-in must not stop the others
            self._held = before  # a class may have registered itself before its module failed
            why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}."
            source = f" of the package {point.dist.name}" if point.dist else ""
            self._problems.append(
                f"The plug-in {point.name!r}{source} could not be added to {self.group}. {why}"
            )

    def _redefines(self, entry: Any) -> bool:
        """Tell whether an entry with a taken key redefines the plug-in that has this key."""
        if entry.key in self.shipped:
            return False
        held, new = self._origin(self._held[entry.key]), self._origin(entry)
        named = [(one.__module__, getattr(one, "__qualname__", one)) for one in (held, new)]
        return held is new or named[0] == named[1]


def check_named(entry: Any, who: str) -> None:
    """Refuse an entry whose key cannot be used in a link, or that has no label."""
    key, label = getattr(entry, "key", None), getattr(entry, "label", None)
    if not isinstance(key, str) or not re.fullmatch("[a-z][a-z0-9_]*", key):
        raise InputError(f"{who}: key must be lower-case letters, digits and underscores, but is {key!r}.")
    if not isinstance(label, str) or not label.strip():
        raise InputError(f"{who}: label must be a string, the name that pages show, but is {label!r}.")
