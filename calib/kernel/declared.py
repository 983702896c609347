"""What rooms upstairs declare to those below, which cannot import them: settings of pages, and where figures are found.

A page or an experiment declares on import; the face of the package imports them all, so that whoever uses ``calib``
finds everything declared. Figures are imported when they are first asked for: drawing is not needed to compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from calib.kernel.records import Parameter

_settings: dict[str, Parameter] = {}
_figures: dict[str, str] = {}

SETTINGS: Mapping[str, Parameter] = MappingProxyType(_settings)
"""All that a Recipe may hold for single pages and experiments, as "page.setting"."""

FIGURES: Mapping[str, str] = MappingProxyType(_figures)
"""Key of a figure → the module whose ``FIGURES`` has it."""


def declare_settings(page: str, parameters: Iterable[Parameter]) -> None:
    """Allow a Recipe the settings of a page or an experiment, each as "page.setting", with its range and default.

    >>> import calib.experiments
    >>> SETTINGS["order.objects"].default, SETTINGS["order.objects"].low, SETTINGS["order.objects"].high
    (6, 2, 20)
    """
    _settings.update({f"{page}.{parameter.name}": parameter for parameter in parameters})


def declare_figures(module: str, keys: Iterable[str]) -> None:
    """Say which module holds the figures with these keys, in a tuple ``FIGURES``."""
    _figures.update(dict.fromkeys(keys, module))


def figure(key: str) -> Any:
    """The figure of a module upstairs that was declared under this key; KeyError where none was."""
    return next(entry for entry in import_module(_figures[key]).FIGURES if entry.key == key)
