"""python -m calib playground."""

import pytest

from calib.__main__ import main


def test_it_writes_one_file_that_asks_for_nothing(tmp_path):
    file = tmp_path / "playground.html"
    assert (
        main(["playground", "--html", str(file), "--set", "slope=0.5", "--set", "calibrator=venn_abers"]) == 0
    )
    text = file.read_text(encoding="utf-8")
    assert '"begin": {"slope": 0.5, "calibrator": "venn_abers"}' in text
    for loads in ("src=", "href=", "@import", "fetch(", "[["):
        assert loads not in text


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("slop=1", "no setting 'slop'"),
        ("slope=9", "slope"),
        ("calibrator=beta", "calibrator"),
        ("slope", "NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(tmp_path, capsys, setting, words):
    assert main(["playground", "--html", str(tmp_path / "p.html"), "--set", setting]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()
