"""Exact reference vectors, which lie outside the repository."""

import json

from tests import shared


def vector(name):
    """One named reference vector, a dict."""
    return json.loads(shared.path("reference/vectors.json").read_text(encoding="utf-8"))[name]
