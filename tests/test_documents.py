"""Documents agree with the code in every fact that can be read off, and the check finds what does not."""

import pytest

from scripts import check_documents

AGAIN = "Zadrozny, Elkan (2003). Transforming classifier scores into accurate multiclass probability estimates. KDD."


def test_documents_say_the_limits_and_names_of_the_code():
    assert check_documents.findings() == []


@pytest.mark.parametrize(
    ("file", "before", "after", "found"),
    [
        ("docs/data.md", "| columns | 5,000 |", "| columns | 4,000 |", "should say “| columns | 5,000 |”"),
        ("docs/pages/learn_two_probabilities.md", "five experiments", "six", "should say “five experiments to try”"),
        ("docs/data.md", "Dirichlet calibration", "", "should say “Dirichlet calibration”"),
        ("docs/methods.md", "\n4. ", f"\n4. {AGAIN}\n4. ", "references 3 and 4 are one paper"),
        ("docs/pages/explore_groups.md", "*Details*", "*Smallest gap found*", "no page shows “Smallest gap found”"),
    ],
)  # fmt: skip
def test_a_stale_document_is_found(file, before, after, found, tmp_path, monkeypatch):
    for name in {*check_documents.FACTS, "docs/methods.md", file}:
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((check_documents.ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / file).write_text(
        (tmp_path / file).read_text(encoding="utf-8").replace(before, after), encoding="utf-8"
    )
    for folder in check_documents.SHOWN:
        (tmp_path / folder).symlink_to(check_documents.ROOT / folder)
    monkeypatch.setattr(check_documents, "ROOT", tmp_path)
    assert [line for line in check_documents.findings() if found in line] == check_documents.findings() != []
