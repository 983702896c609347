"""The check of words finds what it should in every kind of file, and accepts a sentence that says why it is right."""

from pathlib import Path

import pytest

from scripts.check_words import RULES, Text, complaints, main

PAIRS = [
    ("The model is too modest.", "The model is underconfident."),
    ("It is too sure of itself.", "It is overconfident."),
    ("It promised too little.", "It underestimated."),
    ("Not told apart from Platt scaling.", "No clear difference from Platt scaling."),
    ("Rows are drawn anew.", "Rows are resampled."),
    ("This is more than sampling variability.", "The 95 % interval excludes 0."),
    ("Only 64 rows of the rarer class.", "Only 64 rows of the minority class."),
    ("The interval holds 0.", "The interval includes 0."),
    ("At the stated base rate.", "At the deployment base rate."),
    ("It is wrong in calibration in the large.", "Its calibration-in-the-large is wrong."),
    ("These data are made up.", "These data are simulated."),
    ("A label is no address.", "A label is not an address: there is no longer one."),
    ("The table has one row a setup.", "The table has one row per setup."),
    ("The same for margins.", "Fit margins."),
    ("Mend the table.", "Fix the table."),
    ("It costs next to nothing.", "It costs almost nothing."),
    ("The class ‘odd’ has more rows.", "The class “odd” has the model's rows."),
    ("Its 95% interval is wide.", "Its 95 % interval is wide."),
    ("The behavior of the model.", "The behaviour of the model."),
]


@pytest.mark.parametrize(("wrong", "right"), PAIRS)
def test_each_rule_finds_its_pattern_and_accepts_the_better_words(wrong, right):
    kinds = ("page", "document", "docstring", "comment")
    assert any(rule.found(Text(1, 1, kind, wrong)) for rule in RULES for kind in kinds)
    assert not any(rule.found(Text(1, 1, kind, right)) for rule in RULES for kind in kinds)


def test_there_is_a_pair_for_each_rule():
    assert len(PAIRS) == len(RULES)
    for rule, (wrong, _) in zip(RULES, PAIRS, strict=True):
        assert rule.found(Text(1, 1, sorted(rule.kinds)[-1], wrong)), rule


def words(n: int) -> str:
    return " ".join(["word"] * n) + "."


@pytest.mark.parametrize(
    ("name", "source", "line"),
    [
        ("a.py", 'x = 1\ny = f"{x} rows are drawn anew"\n', 2),
        ("a.py", 'x = 1\ny = f"a share of {x:.0%} of rows"\n', 2),
        ("a.py", 'def f():\n    """The same again."""\n', 2),
        ("a.py", "x = 1\n# one fit a fold\n", 2),
        ("a.py", f'x = ("{words(25)} "\n     "{words(26)}")\n', 1),
        ("a.toml", f'title = "A title of a lesson"\ntext = """\n{words(26)}\n"""\n', 2),
        ("a.md", f"# Title of a page\n\nA line.\n{words(31)}\n", 3),
        ("a.md", "| a | b |\n|---|---|\n| x | all of one: two; three |\n", 3),
        ("a.py", 'def f(x):\n    if x:\n        return f"{x} and "\n        "more"\n    return ""\n', 4),
        ("a.js", "x = 1;\ny = `the ${x} rows are told apart`;\n", 2),
    ],
)
def test_every_kind_of_file_is_read_and_the_line_is_named(tmp_path, name, source, line):
    file = tmp_path / name
    file.write_text(source)
    found = list(complaints(file))
    assert len(found) == 1
    assert abs(found[0][0] - line) <= (1 if name == "a.toml" else 0)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.py", f'x = "trees.metric"\ny = "{words(25)}"\nz = "a {{color: red; top: 0 px; left: 0 px}}"\n'),
        ("a.py", f'"""{words(40)}\n\n>>> f("told apart by {words(40)}")\n"""\n'),
        ("a.md", f"```\n{words(40)} told apart\n```\n\n{words(15)} {words(15)} `told apart`\n"),
        ("a.md", f"| {words(20)} | {words(20)} |\n"),
        ("a.py", 'x = "rows told apart here"  # words: right, the name of a paper\n'),
        ("a.md", f"<!-- words: right, a quotation -->\n{words(40)}\n"),
    ],
)
def test_code_short_sentences_and_sentences_marked_as_right_pass(tmp_path, name, source):
    file = tmp_path / name
    file.write_text(source)
    assert list(complaints(file)) == []


def test_the_exit_status_tells_whether_anything_was_found(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("scripts.check_words.ROOT", tmp_path)
    file: Path = tmp_path / "a.md"
    file.write_text("Rows are drawn anew.\n")
    assert main([str(file)]) == 1
    assert "a.md:1: “anew”" in capsys.readouterr().out
    file.write_text("Rows are resampled.\n")
    assert main([str(file)]) == 0
