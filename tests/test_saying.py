"""The facts of a sentence are found whatever its words, and a wrong one is named."""

import pytest

from tests.saying import assert_any_says, assert_says, says

TEXT = (
    "Use Platt scaling: its Brier score is 0.125 (−0.3 against Beta),\nnot clear for 1,200 rows at 45\u00a0%."
)


def test_facts_are_found_in_their_order_across_lines_and_narrow_spaces():
    assert_says(TEXT, "Platt scaling", "0.125", "−0.3", "Beta", "not", "1,200", "45 %")


@pytest.mark.parametrize(
    "fact", ["0.12", "125", "0.3", "200", 1, "Plat", "latt", "eta", "clearly", "5 %", "no"]
)
def test_a_part_of_a_word_or_of_a_number_is_no_fact(fact):
    assert not says(TEXT, fact)


def test_facts_in_another_order_are_not_said():
    assert says(TEXT, "Platt scaling", "Beta")
    assert not says(TEXT, "Beta", "Platt scaling")
    assert not says(TEXT, "Beta", "Beta")


def test_a_failure_shows_the_text_and_the_missing_fact():
    with pytest.raises(AssertionError, match=r"'0\.126' of .*missing .*Use Platt scaling"):
        assert_says(TEXT, "Platt", "0.126")


def test_of_several_texts_one_says_all_facts():
    assert_any_says(["Use beta calibration.", TEXT], "Platt scaling", "0.125")
    with pytest.raises(AssertionError, match=r"none says 'beta', '0\.125': \['Use beta calibration\.'"):
        assert_any_says(["Use beta calibration.", TEXT], "beta", "0.125")
