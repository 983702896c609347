"""Reference numbers that are not there: skipped by name where a person runs the tests, failing in CI."""

import pytest

from tests import shared


def test_what_is_missing_is_skipped_by_name(monkeypatch, tmp_path):
    monkeypatch.setattr(shared, "FOLDER", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="reference/vectors.json is not in ../shared"):
        shared.path("reference/vectors.json")


def test_in_ci_it_fails(monkeypatch, tmp_path):
    monkeypatch.setattr(shared, "FOLDER", tmp_path)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="papers/001_.* is not in ../shared"):
        shared.path("papers/001_*.txt")


def test_without_the_folder_there_is_a_test_that_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(shared, "FOLDER", tmp_path)
    monkeypatch.setenv("CI", "true")
    (name,) = shared.data_sets()
    with pytest.raises(pytest.fail.Exception):
        shared.path(f"datasets/{name}.csv")


def test_what_is_there_is_found_by_name_and_by_pattern(monkeypatch, tmp_path):
    (tmp_path / "papers").mkdir()
    file = tmp_path / "papers" / "001_first.txt"
    file.touch()
    monkeypatch.setattr(shared, "FOLDER", tmp_path)
    assert shared.path("papers/001_first.txt") == shared.path("papers/001_*.txt") == file
