"""What the page says of its advice is the table of docs/results.md."""

import re
from pathlib import Path

from calib.analysis.advice import TRIED

RESULTS = Path(__file__).parents[2] / "docs" / "results.md"
NAMED = {
    "this advice": "**the advice**",
    "Platt always": "always Platt",
    "Venn–Abers always": "always Venn–Abers",
    "the lowest on the test rows": "the lowest on the test rows",
    "no calibration": "always Uncalibrated",
}


def test_every_number_of_the_line_stands_in_the_table():
    text = RESULTS.read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (\S[^|]*?) \| \**([\d.]+)", text, re.MULTILINE))
    for words, strategy in NAMED.items():
        (number,) = re.findall(rf"{words}(?: lost)? ([\d.]+\d)", TRIED)
        assert number == table[strategy], words
    assert float(table["**the advice**"]) == min(float(table[name]) for name in NAMED.values())
    tables, sets = re.search(r"On (\d+) tables .* from (\d+) real data sets", TRIED).groups()
    assert f"# {tables} tables" in text
    assert f"From each of {sets} data sets" in text
