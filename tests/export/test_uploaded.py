"""What is uploaded besides tables is first read where reading can be ended."""

from pathlib import Path

import numpy as np
import pytest

from calib import Recipe
from calib.calibrators import CALIBRATORS, INPUT_TABLES, Isotonic
from calib.data import confined
from calib.export import read_calibrator, uploaded, write_calibrator, write_recipes
from calib.kernel.checks import InputError
from calib.study import papers, read_protocol
from calib.study.store import Store
from scripts.hostile_files import OTHERS

pytestmark = pytest.mark.skipif(not confined.can_confine(), reason="this system cannot confine a process")
PROTOCOL = Path(papers.__file__).with_name("arena.toml").read_text()
GOOD = {
    "recipes": write_recipes({"one": Recipe(seed=1)}).encode(),
    "calibrator": write_calibrator(Isotonic().fit([0.2, 0.4, 0.6], [0, 1, 1])).encode(),
    "protocol": PROTOCOL.encode(),
    "results": Store.in_memory().content(),
}


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_file_is_read_to_its_end_without_files_and_network(kind):
    """A module that is imported late would be missing there."""
    uploaded.check_ends(getattr(uploaded, kind), GOOD[kind], f"a {kind}")


SCORES, LABELS = np.linspace(0.05, 0.95, 60), np.tile([0, 1, 1], 20)


@pytest.mark.parametrize("key", CALIBRATORS)
def test_a_good_calibrator_of_each_kind_is_read_to_its_end(key):
    method = CALIBRATORS[key]()
    scores = np.tile(SCORES[:, None], 3) if method.input in INPUT_TABLES else SCORES
    content = write_calibrator(method.fit(scores, LABELS)).encode()
    uploaded.check_ends(uploaded.calibrator, content, key)


def test_the_good_files_are_good():
    read_calibrator(GOOD["calibrator"])
    read_protocol(PROTOCOL, "a protocol")


@pytest.mark.parametrize("kind", GOOD)
def test_why_a_file_is_no_such_file_is_left_to_its_reader(kind):
    uploaded.check_ends(getattr(uploaded, kind), b"nothing of ours", "a file")


@pytest.mark.parametrize("name", OTHERS)
def test_a_hostile_file_is_refused_in_one_message(name):
    kind, make = OTHERS[name]
    content, read = make(), getattr(uploaded, kind).__wrapped__

    def reads() -> None:
        uploaded.check_ends(getattr(uploaded, kind), content, name)
        read(content, name)

    with pytest.raises((InputError, ValueError)) as refused:  # ValueError: not JSON at all
        reads()
    assert len(str(refused.value)) < 400


def test_what_takes_more_than_its_limits_is_ended():
    kind, make = OTHERS["pairs.calibrator"]
    with pytest.raises(InputError, match="which are the limits.*as it was saved"):
        uploaded.check_ends(getattr(uploaded, kind), make(), "pairs.json")
