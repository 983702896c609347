"""Reference vectors and the strategies that the metric tests share."""

import json
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"


@pytest.fixture(scope="session")
def vectors():
    path = SHARED / "reference" / "vectors.json"
    if not path.exists():
        pytest.skip("the reference vectors are not beside the repository")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def shared():
    if not (SHARED / "datasets").exists():
        pytest.skip("the reference data sets are not beside the repository")
    return SHARED
