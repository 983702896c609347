"""What the page says of its advice is the table of docs/results.md."""

import re
from pathlib import Path

from calib.analysis.advice import LESS_THAN_NONE, TRIED
from calib.analysis.choice import START
from calib.calibrators import label_of

RESULTS = Path(__file__).parents[2] / "docs" / "results.md"
NAMED = {
    "this advice": "**the advice**",
    "always Platt": "always Platt",
    "no calibration": "always Uncalibrated",
}


def test_every_number_of_the_line_stands_in_the_table():
    text = RESULTS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S[^|]*?) \| \**([\d.]+)", text, re.MULTILINE)
    table = {name: number for name, number in rows if name in NAMED.values() or name.startswith("always")}
    for words, strategy in NAMED.items():
        (number,) = re.findall(rf"{words}(?: lost)? ([\d.]+\d)", TRIED)
        assert number == table[strategy], words
    assert float(table["**the advice**"]) == min(float(number) for number in table.values())
    tables, sets = re.search(r"(\d+) tables of (\d+) real data sets", TRIED).groups()
    assert f"# {tables} tables" in text
    assert f"From each of {sets} data sets" in text
    assert f"{tables} tables" in LESS_THAN_NONE
    for start in START:  # of both it may be said
        assert float(table[f"always {label_of(start)}"]) < float(table["always Uncalibrated"])
