"""``python -m calib export``: a saved calibrator in the language of the place where scores are made."""

import sys
from pathlib import Path

import numpy as np
import pytest

from calib.__main__ import main
from calib.calibrators import Rank, VennAbers
from calib.export import LANGUAGES, read_calibrator, write_calibrator, write_program

ROOT = Path(__file__).parents[1]


@pytest.fixture
def saved(tmp_path):
    """A calibrator in a file."""
    fitted = VennAbers().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1])
    (tmp_path / "c.json").write_text(write_calibrator(fitted, notes=["read me"]), encoding="utf-8")
    return tmp_path / "c.json"


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_printed_is_what_the_library_writes(saved, language, capfdbinary):
    assert main(["export", str(saved), f"--{language}"]) == 0
    wanted = write_program(read_calibrator(saved.read_bytes()), language)
    assert capfdbinary.readouterr().out == wanted
    path = saved.with_name("out")
    assert main(["export", str(saved), f"--{language}", "--output", str(path)]) == 0
    assert path.read_bytes() == wanted
    assert capfdbinary.readouterr().out == b""


def test_onnx_goes_through_a_pipe_unchanged(saved, capfdbinary):
    assert main(["export", str(saved), "--onnx"]) == 0
    printed = capfdbinary.readouterr()
    assert printed.err == b""
    import onnxruntime

    session = onnxruntime.InferenceSession(printed.out, providers=["CPUExecutionProvider"])
    p0, p1, _ = session.run(None, {"score": np.array([0.3, 0.9])})
    pairs = VennAbers().fit([0.1, 0.3, 0.4, 0.8], [0, 1, 0, 1]).predict_interval([0.3, 0.9])
    np.testing.assert_array_equal(np.column_stack([p0, p1]), pairs)


def test_onnx_is_not_thrown_at_a_terminal(saved, capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["export", str(saved), "--onnx"]) == 2
    said = capsys.readouterr()
    assert "--output FILE" in said.err
    assert said.out == ""


def test_the_score_has_the_name_that_is_asked_for(saved, capsys):
    assert main(["export", str(saved), "--sql", "--score", "model score"]) == 0
    assert '"model score"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not valid JSON"),
        (b"", "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b"[1]", "must be an object"),
        (b'{"model": "svm"}', "not a calibrator file"),
        (b'{"format": "calib.calibrator", "version": 9}', "version must be one of 1"),
        (
            write_calibrator(VennAbers().fit([0, 1], [0, 1])).replace('"p0"', '"pO"').encode(),
            "must be an object",
        ),
        (
            write_calibrator(Rank().fit(np.eye(2), [0, 1])).encode(),
            "Rank calibration needs every tree's score",
        ),
        (None, "cannot be read"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_broken_file_is_one_clear_message(content, words, tmp_path, capsys):
    if content is not None:
        (tmp_path / "c.json").write_bytes(content)
    assert main(["export", str(tmp_path / "c.json"), "--sql"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert words in said.err
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    "arguments", [["c.json"], ["--sql"], ["c.json", "--sql", "--onnx"], ["c.json", "--java"]]
)
def test_one_language_must_be_named(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["export", *arguments])
    assert ended.value.code == 2
    assert "usage: python -m calib export" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_named(saved, capsys):
    assert main(["export", str(saved), "--js", "--output", str(saved.parent / "no" / "x.js")]) == 2
    assert "no folder" in capsys.readouterr().err
