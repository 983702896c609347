"""Exact reference vectors, which lie outside the repository."""

import json

from tests import shared


def vector(name):
    """Read one named reference vector."""
    return json.loads(shared.path("reference/vectors.json").read_text(encoding="utf-8"))[name]
