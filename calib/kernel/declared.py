"""Registers in which higher layers declare page settings and figures for lower layers, which cannot import them.

Pages and experiments declare their settings and figures on import. They are imported when one of them is first asked
for: first the settings of pages, then the experiments, which draw.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeVar

from calib.kernel import checks
from calib.kernel.checks import InputError
from calib.kernel.fields import loads
from calib.kernel.records import Parameter

DECLARED_IN = ("calib.settings", "calib.experiments")
_settings: dict[str, Parameter] = {}
_figures: dict[str, Any] = {}
Value = TypeVar("Value")


class _Declared(Mapping[str, Value]):
    """Register whose entries are declared by modules that its readers import, until one declares what they ask for."""

    def __init__(self, held: dict[str, Value]):
        self._held = held

    def _all(self) -> dict[str, Value]:
        for module in DECLARED_IN:
            import_module(module)
        return self._held

    def __getitem__(self, name: str) -> Value:
        for module in DECLARED_IN:
            if name in self._held:
                break
            import_module(module)
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


SETTINGS: Mapping[str, Parameter] = _Declared(_settings)
"""Settings of single pages and experiments that a Recipe may contain, as "page.setting"."""

FIGURES: Mapping[str, Any] = _Declared(_figures)
"""Key of a figure of an experiment → its entry."""


def declare_settings(page: str, parameters: Iterable[Parameter]) -> None:
    """Allow a Recipe the settings of a page or an experiment, each as "page.setting", with its range and default.

    >>> import calib.experiments
    >>> SETTINGS["order.objects"].default, SETTINGS["order.objects"].low, SETTINGS["order.objects"].high
    (6, 2, 20)
    """
    _settings.update({f"{page}.{parameter.name}": parameter for parameter in parameters})


def checked(settings: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Return settings ("page.setting", value) that are not at their defaults; refuse unknown names and wrong values.

    >>> import calib.experiments
    >>> checked([("order.objects", 6), ("order.guess", "1")])
    (('order.guess', '1'),)
    """
    found = []
    for name, value in settings:
        if name not in SETTINGS:
            raise _unknown(name)
        value = checks.setting(value, SETTINGS[name], name)
        if value != SETTINGS[name].default:
            found.append((name, value))
    return tuple(found)


def _unknown(name: str) -> InputError:
    """Return the refusal of a setting, naming the settings of its page, or the pages if there is no such page."""
    page = name.partition(".")[0]
    known = [key for key in SETTINGS if key.partition(".")[0] == page]
    if known:
        return InputError(f"settings: {name!r} is not a known setting. Use one of these: {', '.join(known)}.")
    pages = dict.fromkeys(key.partition(".")[0] for key in SETTINGS)
    return InputError(
        f"settings: {name!r} is not a known setting. Settings are named page.setting, for these pages: "
        f"{', '.join(pages)}."
    )


def as_text(value: Any) -> str:
    """Write a value for a link; ``read`` is the inverse."""
    if isinstance(value, tuple):
        return list_as_text(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def from_text(name: str, text: str) -> Any:
    """Return the value of a setting from a link's text; refuse an undeclared name."""
    if name not in SETTINGS:
        raise _unknown(name)
    return read(text, SETTINGS[name], name)


def read(text: str, parameter: Parameter, name: str = "") -> Any:
    """Parse the value of a parameter; invalid text is returned unchanged, and the parameter's check then refuses it.

    >>> [read(text, Parameter("depth", "Depth", "choice", None, choices=(1, 2, None))) for text in ("2", "none", "two")]
    [2, None, 'two']
    >>> read("0.5", Parameter("gap", "Gap", "number", 1.0)), read("1,max", Parameter("depths", "Depths", "names", ()))
    (0.5, ('1', 'max'))
    """
    if parameter.kind in checks.TEXTS:
        return text
    if parameter.kind == "names":
        return list_from_text(name or parameter.name, text)
    value = _value(text)
    if parameter.kind == "choice":
        return next((c for c in parameter.offered() if c == value or str(c).lower() == text.lower()), value)
    return value


def _value(text: str) -> Any:
    for read_as in (loads, float):  # a number may be written as .5, which is not JSON
        try:
            return read_as(text.lower())
        except ValueError:
            continue
    return text


def list_as_text(names: tuple[Any, ...]) -> str:
    """Join names with commas, or write them as JSON if commas would be ambiguous.

    >>> list_as_text(("a", "b")), list_as_text(("a,b",)), list_as_text(())
    ('a,b', '["a,b"]', '[]')
    """
    plain = all(isinstance(item, str) and "," not in item and not item.startswith("[") for item in names)
    return ",".join(names) if plain and names else json.dumps(names, ensure_ascii=False)


def list_from_text(name: str, text: str) -> Any:
    """Parse the text of ``list_as_text``; refuse invalid JSON under ``name``."""
    if not text.startswith("["):
        return tuple(text.split(","))
    try:
        return loads(text)
    except ValueError:
        raise InputError(f"{name} must be a list in JSON, but is {checks.short_repr(text)}.") from None


def declare_figures(entries: Iterable[Any]) -> None:
    """Declare figures of an experiment (``FigureEntry``)."""
    _figures.update({entry.key: entry for entry in entries})
