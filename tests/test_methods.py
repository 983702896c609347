"""docs/methods.md has every method of the registries, with a formula or a rule, and every source that it cites."""

import re
from pathlib import Path

import pytest

from calib.calibrators import CALIBRATORS, MERGE_RULES
from calib.metrics import METRICS
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.splits import SPLITS

pytestmark = pytest.mark.whole_registry

TEXT = (Path(__file__).parents[1] / "docs" / "methods.md").read_text(encoding="utf-8")
SECTIONS = {part.partition("\n")[0]: part for part in TEXT.split("\n## ")[1:]}
REGISTRIES = {
    "Calibrators": CALIBRATORS,
    "Calibration data": PLACEMENTS,
    "Splits": SPLITS,
    "Models": MODELS,
    "Metrics": METRICS,
}


def rows(section: str) -> dict[str, str]:
    """What the table of a section says, by key; one line may say it of several."""
    lines = re.findall(r"^\| (`.*?) \| (.*) \|$", SECTIONS[section], flags=re.M)
    return {key: said for keys, said in lines for key in re.findall(r"`(\w+)`", keys)}


@pytest.mark.parametrize("section", REGISTRIES)
def test_every_key_of_a_registry_is_told_and_no_other(section):
    assert set(rows(section)) == set(REGISTRIES[section])


def test_every_merge_rule_is_told():
    assert set(re.findall(r"^- `(\w+)`: p = ", SECTIONS["Calibrators"], flags=re.M)) == set(MERGE_RULES)


def test_whoever_a_calibrator_names_as_its_source_is_cited_for_it():
    references = dict(re.findall(r"^(\d+)\. (.*)$", SECTIONS["References"], flags=re.M))
    for key, calibrator in CALIBRATORS.items():
        said = " ".join(references[number] for number in re.findall(r"\[(\d+)\]", rows("Calibrators")[key]))
        named = re.findall(r"[A-ZŁ]\w+(?= (?:et al|and|19|20))", calibrator.source)
        assert not named or any(name in said for name in named), (key, calibrator.source)


def test_every_reference_is_used_and_there():
    text, _, listed = TEXT.partition("\n## References")
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", listed, flags=re.M)]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert {int(number) for number in re.findall(r"\[(\d+)\](?!\()", text)} == set(numbers)
