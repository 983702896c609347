"""Methods of one kind by key: our own, and those from outside.

From outside means ``register``, in a notebook or a script, or an entry point of an installed package, in the
group that the registry is named after. Entry points are read once, when the registry is first looked into;
one that cannot be loaded or breaks a promise is left out and named under ``problems``, so that all others
still work.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from calib.kernel.checks import InputError

Entry = TypeVar("Entry")


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Key → entry, in the order they were added.

    Attributes
    ----------
    group
        Its name among entry points, and in messages.
    shipped
        Our own entries, each with its ``key``; the attribute is a mapping of these alone.
    check
        Refuses, with an InputError, an entry from outside that breaks a promise.
    unlisted
        Entries of another kind that are found by their key but not listed, as calibrators of K classes among those of
        two.
    origin
        The class or function that makes an entry what it is. Defined again, as by a notebook's cell run again,
        it takes the place of its earlier self; a key that is taken by anything else is refused.

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
        self.shipped: Mapping[str, Entry] = MappingProxyType({entry.key: entry for entry in shipped})
        self.unlisted = unlisted
        self._held: dict[str, Entry] = dict(self.shipped)
        self._problems: list[str] = []
        self._lock, self._awaited, self._complete = RLock(), True, False

    def register(self, entry: Any) -> Any:
        """Register an entry from outside under its key, and return it, so that it also decorates a class.

        ``calib.calibrators.register`` takes a class derived from ``ScoreCalibrator`` or ``IntervalCalibrator``,
        ``calib.models.register`` a ``ModelEntry`` and ``calib.metrics.register`` a ``Metric``.

        Raises
        ------
        InputError
            If the entry describes itself wrongly or fails on a small example, or if its key is taken.

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

    def everything(self) -> dict[str, Entry]:
        """Return all entries by key, those that are not listed too."""
        return {**self._all(), **self.unlisted}

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each entry point that was left out."""
        self._all()
        return tuple(self._problems)

    def __getitem__(self, key: str) -> Entry:
        held = self._all()
        return held[key] if key in held else self.unlisted[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Entry]:
        """What is held. A plug-in that looks into the registry while it is loaded finds it without those to come."""
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
        before = dict(self._held)
        try:
            self.register(point.load())
        except (Exception, SystemExit) as error:  # whatever a stranger's module does must not stop the others
            self._held = before  # a class may have registered itself before its module failed
            why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}."
            source = f" of the package {point.dist.name}" if point.dist else ""
            self._problems.append(f"The plug-in {point.name!r}{source} is not added to {self.group}. {why}")

    def _redefines(self, entry: Any) -> bool:
        """Tell whether an entry with a taken key redefines the plug-in entry that has this key."""
        if entry.key in self.shipped:
            return False
        held, new = self._origin(self._held[entry.key]), self._origin(entry)
        named = [(one.__module__, getattr(one, "__qualname__", one)) for one in (held, new)]
        return held is new or named[0] == named[1]


def check_named(entry: Any, who: str) -> None:
    """Refuse an entry whose key could not stand in a link, or that has no name for people."""
    key, label = getattr(entry, "key", None), getattr(entry, "label", None)
    if not isinstance(key, str) or not re.fullmatch("[a-z][a-z0-9_]*", key):
        raise InputError(f"{who}: key must be lower-case letters, digits and underscores, but is {key!r}.")
    if not isinstance(label, str) or not label.strip():
        raise InputError(f"{who}: label must be the name that pages show, as text, but is {label!r}.")
