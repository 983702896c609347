"""Functions of higher layers behind methods of lower ones, which cannot import them; ``calib`` names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HOOKS: dict[str, Callable[..., Any]] = {}
"""Functions behind methods of an Evaluation: verdict, recommendation, figure, plot, html and of."""
