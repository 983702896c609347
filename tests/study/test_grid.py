"""Cells: which there are, which rows they train and test on, and which seed they have."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split

from calib import Dataset
from calib.kernel.checks import InputError
from calib.study import SHIPPED, extent, load_protocol, read_protocol, study_cells
from calib.study.grid import rows_of_cell
from tests.saying import assert_says
from tests.sweep import sweep

from .small import PROTOCOL, table

FRAME = table()
DATA = Dataset("one", FRAME[["a", "b", "c"]], (FRAME["target"] == "yes").to_numpy().astype(int))
SMALL = read_protocol(PROTOCOL, "small.toml")


def test_setups_that_share_their_fit_share_a_cell():
    cells = study_cells(SMALL, ["one", "two"])
    assert len(cells) == 2 * 2 * 3 * 2  # sets, repeats, folds, fits
    assert [[setup.name for setup in cell.setups] for cell in cells[:2]] == [["Raw", "VAP"], ["Forest"]]
    assert {cell.data for cell in cells[:12]} == {"one"}


def test_the_seed_of_a_cell_is_its_run_index():
    seeds = {(cell.repeat, cell.fold): cell.seed for cell in study_cells(SMALL, ["one"])}
    assert seeds == {(r, k): 3 * r + k for r in range(2) for k in range(3)}


def test_folds_are_those_of_scikit_learn_with_the_repeat_as_seed():
    for cell in study_cells(SMALL, ["one"], setups=["Forest"]):
        expected = list(StratifiedKFold(3, shuffle=True, random_state=cell.repeat).split(DATA.X, DATA.y))[
            cell.fold
        ]
        for rows, other in zip(rows_of_cell(cell, DATA), expected, strict=True):
            np.testing.assert_array_equal(rows, other)


@pytest.mark.parametrize("stratified", [True, False])
def test_random_splits_are_drawn_anew_each_repeat(stratified):
    text = PROTOCOL.replace("folds = 3", f'kind = "random"\nstratified = {str(stratified).lower()}')
    cells = study_cells(read_protocol(text, "s.toml"), ["one"], setups=["Raw"], repeats=3)
    assert [(cell.repeat, cell.fold, cell.seed) for cell in cells] == [(0, 0, 0), (1, 0, 1), (2, 0, 2)]
    for cell in cells:
        stratify = DATA.y if stratified else None
        train, test = train_test_split(
            np.arange(90), test_size=1 / 3, stratify=stratify, random_state=cell.repeat
        )
        np.testing.assert_array_equal(rows_of_cell(cell, DATA)[1], np.sort(test))
        np.testing.assert_array_equal(rows_of_cell(cell, DATA)[0], np.sort(train))
    with pytest.raises(InputError, match="--folds: this protocol uses random splits"):
        study_cells(read_protocol(text, "s.toml"), ["one"], folds=5)


def test_fewer_repeats_and_other_folds():
    cells = study_cells(SMALL, ["one"], setups=["VAP"], repeats=1, folds=5)
    assert [(cell.repeat, cell.fold) for cell in cells] == [(0, k) for k in range(5)]
    assert len(study_cells(SMALL, ["one"], setups=["VAP"], repeats=4)) == 12


def test_a_setup_with_repeats_of_its_own_is_repeated_no_more_often():
    text = PROTOCOL.replace('{ name = "Raw",', '{ name = "Raw", repeats = 1, seed = 50,')
    protocol = read_protocol(text, "s.toml")
    assert [c.seed for c in study_cells(protocol, ["one"], setups=["Raw"], repeats=9)] == [50, 51, 52]
    cells = [cell for cell in study_cells(protocol, ["one"]) if cell.setups[0].name == "VAP"]
    assert len(cells) == 6
    assert all(len(cell.setups) == 1 for cell in cells)  # other splits, another fit


def test_too_few_rows_of_a_class_for_the_folds_are_refused():
    y = np.zeros(90, dtype=int)
    y[:2] = 1
    with pytest.raises(InputError, match="minority class has 2 rows, fewer than the 3 folds"):
        rows_of_cell(study_cells(SMALL, ["one"])[0], Dataset("one", DATA.X, y))


@pytest.mark.parametrize("key", SHIPPED)
@pytest.mark.parametrize("repeats", sweep([None, 2], 2))
def test_the_extent_is_that_of_the_grid_and_of_its_placements(key, repeats):
    protocol, data = load_protocol(key), {"one": DATA, "two": DATA}
    cells = study_cells(protocol, data, repeats=repeats)
    found = extent(protocol, data, repeats=repeats)
    assert found.cells == len(cells)
    assert found.results == sum(len(cell.setups) for cell in cells)
    # a third of 90 rows tests
    within = {"cv": lambda setup: setup.recipe.cv + 1, "full": lambda setup: 1 + 2 * 30}
    one = {cell.setups[0].recipe.placement: cell.setups[0] for cell in cells}
    fits = {name: within.get(name, lambda setup: 1)(setup) for name, setup in one.items()}
    assert found.fits == sum(fits[cell.setups[0].recipe.placement] for cell in cells)
    tested = [len(rows_of_cell(cell, DATA)[1]) * len(cell.setups) for cell in cells]
    assert found.predictions == pytest.approx(sum(tested), rel=0.02)


FIRST_FOLD = "calibration_folds = 6\n"


@pytest.mark.parametrize(
    ("splits", "more", "name"), [("", ", cv = 6", "cv"), (FIRST_FOLD, "", "calibration_folds")]
)
def test_more_folds_than_the_training_rows_allow_are_told_in_one_sentence_for_the_set(splits, more, name):
    text = PROTOCOL.replace("[splits]", f"[splits]\n{splits}")
    text = text.replace('placement = "split" }', 'placement = "cv", cv = 6 }') if more else text
    y = np.repeat([0, 1], (40, 8))  # 5 or 6 of the minority class train
    data = Dataset("one", table(48), y, ("no", "yes"))
    told = set()
    for cell in study_cells(read_protocol(text, "small.toml"), ["one"], ["Raw"]):
        try:
            rows_of_cell(cell, data)
        except InputError as error:
            told.add(str(error))
    (sentence,) = told
    assert_says(sentence, "minority class", "8 rows", "too few", "6 folds")
    assert f"Use a smaller {name} " in sentence
