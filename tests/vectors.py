"""Exact reference vectors, which lie outside the repository: tests that use them skip where they are missing."""

import json
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "shared" / "reference" / "vectors.json"


def vector(name):
    """One named reference vector, a dict."""
    if not PATH.exists():
        pytest.skip(f"reference vectors are not here: {PATH.name} is expected in ../shared/reference")
    return json.loads(PATH.read_text())[name]
