"""python -m calib story."""

import pytest

from calib.__main__ import main
from calib.export.story import story_html


def test_it_writes_one_file(tmp_path):
    file = tmp_path / "story.html"
    assert main(["story", "--html", str(file)]) == 0
    assert file.read_bytes() == story_html()


def test_help_names_the_file(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["story", "--help"])
    assert "--html FILE" in capsys.readouterr().out


@pytest.mark.parametrize(("place", "words"), [("no/story.html", "Create the folder"), (".", "is a folder")])
def test_a_wrong_path_is_refused_with_one_message(tmp_path, capsys, place, words):
    assert main(["story", "--html", str(tmp_path / place)]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
