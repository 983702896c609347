"""The cells of a study: data set × model fit × repeat × fold, each with its training and test rows.

Setups that share their model fit share the cell. All randomness in a cell follows from its own seed, so
that numbers depend neither on the order of cells nor on the number of jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from calib.kernel.checks import InputError
from calib.kernel.records import Dataset
from calib.kernel.wording import counted
from calib.placements import PLACEMENTS
from calib.splits import RowInfo
from calib.splits.random import AtRandom
from calib.study.protocol import Protocol, Setup, Splits


@dataclass(frozen=True)
class Cell:
    """One model fit: these setups of this data set in this fold.

    Attributes
    ----------
    seed
        Seed of the model and its placement: the splits' seed + the run index (repeat · folds + fold).
    """

    data: str
    setups: tuple[Setup, ...]
    repeat: int
    fold: int

    @property
    def splits(self) -> Splits:
        return self.setups[0].splits

    @property
    def seed(self) -> int:
        return self.splits.seed + self.repeat * self.splits.folds_a_repeat + self.fold


def study_cells(
    protocol: Protocol,
    data: Iterable[str],
    setups: Iterable[str] | None = None,
    repeats: int | None = None,
    folds: int | None = None,
) -> list[Cell]:
    """Return the cells in the order of running: for each data set, all setups of the first fold come first.

    Parameters
    ----------
    protocol, data
        The protocol, and the names of the data sets.
    setups
        Names; None for the protocol's default.
    repeats
        Largest number of repeats; None for the protocol's.
    folds
        Folds of the cross-validation; None for the protocol's. Refused for random splits, which have none.

    Examples
    --------
    >>> from calib.study import load_protocol
    >>> len(study_cells(load_protocol("venn_forests_2019"), ["heart"], repeats=2, folds=5))  # two fits serve ten setups
    20
    """
    groups = _fits(protocol, setups, repeats, folds)
    return [
        Cell(name, group, repeat, fold)
        for name in data
        for repeat in range(max(group[0].splits.repeats for group in groups))
        for fold in range(max(group[0].splits.folds_a_repeat for group in groups))
        for group in groups
        if repeat < group[0].splits.repeats and fold < group[0].splits.folds_a_repeat
    ]


@dataclass(frozen=True)
class Extent:
    """Number of runs and fits in a study.

    Attributes
    ----------
    cells
        Cells of the grid.
    fits
        Model fits, including those within a placement.
    results
        Rows of the results file, one per setup and fold.
    predictions
        Stored predictions of all test rows.
    """

    cells: int
    fits: int
    results: int
    predictions: int


def extent(
    protocol: Protocol,
    sets: Mapping[str, Dataset],
    setups: Iterable[str] | None = None,
    repeats: int | None = None,
    folds: int | None = None,
) -> Extent:
    """Count the cells of ``study_cells`` and their fits and results without creating them; same parameters.

    Parameters
    ----------
    protocol, sets, setups, repeats, folds
        See ``study_cells``.

    Examples
    --------
    >>> from calib.study import load_protocol, load_sets
    >>> protocol = load_protocol("venn_forests_2019")
    >>> extent(protocol, load_sets(["sample:digits"], protocol.data), repeats=1)
    Extent(cells=20, fits=20, results=100, predictions=17970)
    """
    cells = fits = results = predictions = 0
    for group in _fits(protocol, setups, repeats, folds):
        splits, recipe = group[0].splits, group[0].recipe
        times = splits.repeats * splits.folds_a_repeat
        for data in sets.values():
            tested = data.n / splits.folds if splits.kind == "folds" else data.n * splits.test_size
            cells += times
            fits += times * PLACEMENTS[recipe.placement].fits(recipe.cv, round(tested))
            results += times * len(group)
            predictions += round(times * len(group) * tested)
    return Extent(cells, fits, results, predictions)


def _fits(
    protocol: Protocol, setups: Iterable[str] | None, repeats: int | None, folds: int | None
) -> list[tuple[Setup, ...]]:
    """Return the setups by model fit, each with the requested splits."""
    if folds is not None and protocol.splits.kind != "folds":
        raise InputError(
            "--folds: this protocol uses random splits, not folds. Set the number of splits with --repeats."
        )
    fits: dict[str, list[Setup]] = {}
    for setup in protocol.chosen(setups):
        own = setup.splits.repeats
        most = own if repeats is None else repeats
        if own != protocol.splits.repeats:  # its own number (16 of full Venn–Abers beside 100) is a limit
            most = min(most, own)
        splits = replace(setup.splits, repeats=most, folds=folds or setup.splits.folds)
        setup = replace(setup, splits=splits)
        fits.setdefault(setup.fit_key(), []).append(setup)
    return [tuple(group) for group in fits.values()]


def check_rows_for(splits: Splits, data: Dataset) -> None:
    """Refuse more folds than rows of the second largest class (than all rows, if not stratified)."""
    rarest = RowInfo(data.coded).rarest
    rows, whose = (rarest, "The minority class") if splits.stratified else (data.n, "The data set")
    if splits.kind == "folds" and rows < splits.folds:
        raise InputError(
            f"{whose} has {counted(rows, 'row')}, fewer than the {splits.folds} folds. Use fewer folds, or exclude "
            "this data set."
        )


def rows_of_cell(cell: Cell, data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return (training rows, test rows) of a cell, as sorted positions."""
    splits, seed = cell.splits, cell.splits.seed + cell.repeat
    rows, at_random = RowInfo(data.coded), AtRandom(splits.stratified)
    if splits.kind == "random":
        cut = at_random.holdout(rows, splits.test_size, seed)
    else:
        check_rows_for(splits, data)
        cut = at_random.folds(rows, splits.folds, seed)[cell.fold]
    _check_rows_within(cell, data, cut.train)
    return np.sort(cut.train), np.sort(cut.test)


def _check_rows_within(cell: Cell, data: Dataset, train: np.ndarray) -> None:
    """Refuse more inner folds than the training rows allow, with the same message for all cells of a set."""
    setup = cell.setups[0]
    if setup.recipe.placement == "cv":
        name, needed = "cv", setup.recipe.cv
    elif setup.calibration_folds is not None:
        name, needed = "calibration_folds", setup.calibration_folds
    else:
        return
    if RowInfo(data.coded[train]).rarest < needed:
        rarest = RowInfo(data.coded).rarest
        raise InputError(
            f"The minority class has {counted(rarest, 'row')}; too few of these rows are training rows "
            f"for {needed} folds. Use a smaller {name} in the protocol, or exclude this data set."
        )
