"""Read JSON from a file field by field: each is requested by name and type, and refused with its path if wrong.

Numbers keep all their digits. JSON has no infinity, so the words "Infinity" and "-Infinity" represent it.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calib.kernel import checks
from calib.kernel.checks import Array, InputError

MOST_JSON_BYTES = 64 * 2**20
LARGEST_FLOAT = sys.float_info.max
INFINITIES = ("Infinity", "-Infinity")


def json_numbers(values: Any) -> Any:
    """Return a number, or a list of numbers, as JSON represents them.

    >>> json_numbers(np.array([0.5, np.inf]))
    [0.5, 'Infinity']
    """
    if np.ndim(values):
        return [json_numbers(value) for value in np.asarray(values).tolist()]
    value = float(values)
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object from names and values; refuse a repeated name, of which JSON would keep the last value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise InputError(f"{twice!r} is given twice in one object. Give it once.")
    return found


def _json(text: Any, **options: Any) -> Any:
    return json.loads(text, **{"object_pairs_hook": _once, **options})


def loads(text: Any, read: Callable[..., Any] = _json, **options: Any) -> Any:
    """Parse JSON (or TOML, by ``read``); refuse repeated names, and raise ValueError for text nested too deeply.

    >>> loads('{"seed": 1, "seed": 2}')
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: 'seed' is given twice in one object. Give it once.
    """
    try:
        return read(text, **options)
    except RecursionError:
        raise ValueError("its parts are nested too deeply") from None
    except ValueError as error:
        if "max_str_digits" not in str(error):
            raise
        raise ValueError(f"a whole number has more than {sys.get_int_max_str_digits():,} digits") from None


def parse(content: str | bytes, what: str, most: int = MOST_JSON_BYTES) -> Fields:
    """Return the object in a JSON text of at most so many bytes; ``what`` names it in messages.

    Raises
    ------
    InputError
        If the text is not a JSON object.
    """
    if len(content) > most:
        raise InputError(f"{what} has {len(content):,} bytes, but at most {most:,} are allowed.")

    def no_number(word: str) -> None:
        raise InputError(f"it contains {word}, which is not a number.")

    try:
        value = loads(content, parse_constant=no_number)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    except ValueError as error:
        raise InputError(f"{what} is not valid JSON: {error}. Use the file as it was saved.") from None
    return Fields(value, f"{what}: the whole")


class Fields:
    """JSON object with its path in the file.

    >>> Fields({"a": {"b": 2}}, "The file: the whole").object("a").number("b", 0, 1)
    Traceback (most recent call last):
    ...
    calib.kernel.checks.InputError: The file: a.b must be a number from 0 to 1, but is 2.
    """

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise InputError(f"{path} must be an object of named fields.")
        self._value, self.path = value, path
        self._known: set[str] = set()
        self._parts: list[Fields] = []

    @property
    def value(self) -> dict[str, Any]:
        """Whole object, unchecked; reading it marks all its fields as known."""
        self._known.update(self._value)
        return self._value

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def gives(self, name: str) -> bool:
        """Tell whether the field exists and is not null."""
        return self._get(name) is not None

    def known(self, *names: str) -> None:
        """Mark further fields as known, even if nothing reads them."""
        self._known.update(names)

    def check_nothing_else(self) -> None:
        """Refuse fields that were never requested, here and in all parts: a misspelt field would otherwise be ignored.

        >>> fields = Fields({"a": 1, "A": 2}, "The file: the whole")
        >>> fields.count("a")
        1
        >>> fields.check_nothing_else()
        Traceback (most recent call last):
        ...
        calib.kernel.checks.InputError: The file: A is not a known field. Use one of these: a.
        """
        for name in self._value:
            if name not in self._known:
                raise self.refuse(
                    name, f"is not a known field. Use one of these: {', '.join(sorted(self._known))}"
                )
        for part in self._parts:
            part.check_nothing_else()

    def _get(self, name: str) -> Any:
        self._known.add(name)
        return self._value.get(name)

    def _part(self, value: Any, path: str) -> Fields:
        part = Fields(value, path)
        self._parts.append(part)
        return part

    def at(self, name: str) -> str:
        """Return the position of a field, for a message."""
        return (
            self.path.replace(": the whole", f": {name}")
            if self.path.endswith(": the whole")
            else f"{self.path}.{name}"
        )

    def refuse(self, name: str, why: str) -> InputError:
        """Return the error that refuses a field."""
        return InputError(f"{self.at(name)} {why}.")

    def object(self, name: str) -> Fields:
        return self._part(self._get(name), self.at(name))

    def objects(self, name: str, *, empty: bool = False) -> list[Fields]:
        """Return a list of objects; an empty list is refused unless ``empty``."""
        return [
            self._part(item, f"{self.at(name)}[{i}]")
            for i, item in enumerate(self._list(name, "objects") or ([] if empty else [None]))
        ]

    def text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            raise self.refuse(name, "must be a string")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        items = self._list(name, "texts")
        if not all(isinstance(item, str) for item in items):
            raise self.refuse(name, "must be a list of strings")
        return tuple(items)

    def choice(self, name: str, allowed: Sequence[Any]) -> Any:
        return checks.one_of(self._get(name), allowed, self.at(name))

    def count(self, name: str) -> int:
        return int(checks.in_range(self._get(name), self.at(name), 1, integer=True))

    def number(
        self, name: str, low: float = -np.inf, high: float = np.inf, *, infinite: bool = False
    ) -> float:
        """Return a finite number in [low, high]; with ``infinite``, also the two words for infinity."""
        value = self._get(name)
        if infinite and value in INFINITIES:
            return float(value)
        if type(value) is int and not -LARGEST_FLOAT <= value <= LARGEST_FLOAT:
            raise self.refuse(name, "must be a finite number")
        return float(checks.in_range(value, self.at(name), low, high))

    def numbers(
        self,
        name: str,
        *,
        increasing: bool = False,
        probabilities: bool = False,
        infinite: bool = False,
        length: int | None = None,
    ) -> Array:
        """Return a list of numbers as float64 (n,); with ``infinite``, also the two words for infinity."""
        items, words = self._list(name, "numbers"), INFINITIES if infinite else ()
        if not all(type(item) in (int, float) or item in words for item in items):
            raise self.refuse(name, "must be a list of numbers")
        # 1e999 and 400 digits are valid JSON
        if not all(item in words or -LARGEST_FLOAT <= item <= LARGEST_FLOAT for item in items):
            raise self.refuse(name, "must contain only finite numbers")
        values = np.array([float(item) for item in items])
        if increasing and (np.diff(values) <= 0).any():
            raise self.refuse(name, "must increase from each number to the next")
        if probabilities and ((values < 0) | (values > 1)).any():
            raise self.refuse(name, "must lie in [0, 1]")
        if length is not None and len(values) != length:
            raise self.refuse(name, f"must contain {length} numbers, but contains {len(values)}")
        return values

    def matrix(self, name: str, shape: tuple[int, int]) -> Array:
        """Return a list of lists of finite numbers as a float64 array of this shape."""
        rows = self._list(name, "lists of numbers")
        held = Fields(dict(enumerate(rows)), self.at(name)) if len(rows) == shape[0] else None
        if held is None:
            raise self.refuse(name, f"must contain {shape[0]} lists, but contains {len(rows)}")
        return np.array([held.numbers(i, length=shape[1]) for i in range(shape[0])]).reshape(shape)  # type: ignore[arg-type]

    def _list(self, name: str, of: str) -> list:
        items = self._get(name)
        if not isinstance(items, list):
            raise self.refuse(name, f"must be a list of {of}")
        return items
