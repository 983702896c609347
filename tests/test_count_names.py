"""The counts of scripts.count_names, of a small house where each can be seen; and no name of ours has two meanings."""

from pathlib import Path

import numpy as np

from scripts.count_names import branches_on_k, function_lines, read_modules, two_meanings

ONE = '''
SURE, MOST = 0.01, 5
KEPT: int = 3


class Look:
    pass


def advise(evaluation):
    """Say what to do."""
    if evaluation.whole is None:
        return "two"
    return "more" if evaluation.of_confidence else "one"
'''
TWO = """
from calib.one import KEPT

SURE = 1 - 1e-9
MOST = 5


class Look:
    pass
"""


def test_what_is_counted(tmp_path):
    (tmp_path / "calib").mkdir()
    for name, source in {"one": ONE, "two": TWO}.items():
        (tmp_path / f"calib/{name}.py").write_text(source)
    trees = read_modules(tmp_path)
    assert list(trees) == ["calib/one.py", "calib/two.py"]
    constants, classes = two_meanings(trees)
    assert {name: list(where.values()) for name, where in constants.items()} == {
        "SURE": ["0.01", "1 - 1e-09"]
    }
    assert list(classes) == ["Look"]
    assert branches_on_k(trees) == (2, 1)
    assert np.array_equal(function_lines(trees), [4])


def test_no_constant_and_no_class_has_two_meanings():
    assert two_meanings(read_modules(Path(__file__).parents[1])) == ({}, {})
