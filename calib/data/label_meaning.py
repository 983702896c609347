"""Decide what labels mean, or ask: classes, codes for a missing label, shares of annotators, or counts of events.

Events and trials, and shares, become two lines per row: one of class 1 and one of class 0, weighted by their counts
or shares.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from calib.data.columns import as_float, whole_counts
from calib.data.conventions import codes_for_missing, number_of
from calib.data.errors import DataError, ReadingQuestion, as_answer, no_column
from calib.data.label import Labels
from calib.kernel.records import Dataset
from calib.kernel.wording import counted, quoted


class Counted(NamedTuple):
    """Lines of a table that stand for several rows: ``ones`` (n,) of class 1 and ``zeros`` (n,) of class 0."""

    ones: np.ndarray
    zeros: np.ndarray
    note: str
    shares: bool = False

    @property
    def labels(self) -> Labels:
        """Labels of both classes; each line has class 1 until ``on`` divides it; missing where the counts are."""
        return Labels(np.where(np.isfinite(self.ones + self.zeros), 1, -1), self.names)

    @property
    def counts(self) -> dict[str, int]:
        """Number of rows per class, rounded."""
        sums = (round(float(np.nansum(lines))) for lines in (self.zeros, self.ones))
        return dict(zip(self.names, sums, strict=True))

    @property
    def names(self) -> tuple[str, str]:
        return ("0", "1") if self.shares else ("no event", "event")

    def on(self, data: Dataset, rows: np.ndarray) -> Dataset:
        """Divide each line of a Dataset of these ``rows``, bool (n,), into one of class 1 and one of class 0.

        Lines without weight are left out. Both lines of a share are in one cluster.
        """
        weight = np.column_stack([self.ones[rows], self.zeros[rows]]).ravel()
        if data.weight is not None:
            weight = weight * np.repeat(data.weight, 2)
        kept = np.flatnonzero(weight > 0)
        lines = kept // 2
        held = {
            name: values[lines]
            for name in ("time", "cluster", "part")
            if (values := getattr(data, name)) is not None
        }
        if self.shares:
            held |= {"cluster": held.get("cluster", lines), "shares": self.ones[rows][lines]}
        return replace(
            data, X=data.X.iloc[lines], y=(kept % 2 == 0).astype(np.intp), weight=weight[kept], **held
        )


def ask_about_labels(
    target: str, counts: Mapping[str, int], labels_as: str | None, named: Collection[str | None] = ()
) -> None:
    """Ask if labels may be codes for a missing label, unless a column is ``named`` after them.

    Raises
    ------
    ReadingQuestion
        If so, and ``labels_as`` does not state that they are classes.

    Examples
    --------
    >>> ask_about_labels("y", {"-999": 6, "0": 90, "1": 60}, None)    # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    calib.data.errors.ReadingQuestion: '-999' in 'y' (6 rows) may mean that the label is missing. ...
    """
    codes = [code for code in codes_for_missing(counts) if code not in named]
    if labels_as is not None or not codes:
        return
    rows, left = sum(counts[code] for code in codes), [name for name in counts if name not in codes]
    one = len(codes) == 1
    message = (
        f"{quoted(codes)} in {target!r} ({counted(rows, 'row')}) may mean that the label is missing. "
        f"{'This value may also be a class' if one else 'These values may also be classes'}."
    )
    missing = (
        f"{counted(rows, 'row')} {'is' if rows == 1 else 'are'} excluded; the classes are {quoted(left)}."
    )
    raise ReadingQuestion(
        message,
        (
            as_answer("Missing: exclude these rows", missing, drop_labels=tuple(codes)),
            as_answer(
                "A class" if one else "Classes", f"There are {len(counts)} classes.", labels_as="classes"
            ),
        ),
    )


def ask_about_shares(target: str, counts: Mapping[str, int], labels_as: str | None) -> bool:
    """Tell whether labels are shares of annotators; ask if they may be.

    Raises
    ------
    ReadingQuestion
        If labels lie between 0 and 1, and ``labels_as`` is None.
    DataError
        If ``labels_as`` is "shares", but a label is not between 0 and 1.

    Examples
    --------
    >>> ask_about_shares("y", {"0": 5, "1": 5}, None), ask_about_shares("y", {"0": 5, "0.5": 5}, "shares")
    (False, True)
    """
    values = [number_of(name) for name in counts]
    inside = [value is not None and 0 <= value <= 1 for value in values]
    if labels_as == "shares":
        if not all(inside):
            wrong = next(name for name, fits in zip(counts, inside, strict=True) if not fits)
            raise DataError(
                f"labels_as is 'shares', but {target!r} contains {wrong!r}.",
                "Shares must lie between 0 and 1. Correct the label, or remove labels_as.",
            )
        return True
    fractions = [name for name, value in zip(counts, values, strict=True) if value not in (0, 1)]
    if labels_as is not None or not fractions or not all(inside):
        return False
    raise ReadingQuestion(
        f"Labels in {target!r} lie between 0 and 1, such as {quoted(fractions, 3)}. These numbers may be "
        "shares or classes.",
        (
            as_answer(
                "Shares of annotators",
                "The Brier score and the reliability diagram of the mean label are available. Accuracy, AUC "
                "and other metrics that need one class per row are not.",
                labels_as="shares",
            ),
            as_answer("Classes", f"There are {len(counts):,} classes.", labels_as="classes"),
        ),
    )


def counted_events(typed: pd.DataFrame, events: str, trials: str) -> Counted:
    """Return the lines of a table of events and trials.

    Raises
    ------
    DataError
        If a column is missing or contains other values, or events exceed trials.
    """
    for name in (events, trials):
        if name not in typed:
            raise no_column(f"trials: column {name!r}", typed)
        if whole_counts(typed[name]) is None:
            raise DataError(
                f"{name!r} must contain counts of rows: whole numbers of at least 0.", "Correct its values."
            )
    ones, total = as_float(typed[events]), as_float(typed[trials])
    if (wrong := ones > total).any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"Row {row + 1:,} has {ones[row]:g} events in {total[row]:g} trials.", "Correct the counts."
        )
    note = (
        f"{events!r} contains the number of events among {trials!r}: {np.nansum(ones):,.0f} of "
        f"{np.nansum(total):,.0f}."
    )
    return Counted(ones, total - ones, note)


def shares_of(target: str, codes: np.ndarray, texts: Sequence[str]) -> Counted:
    """Return the lines of labels that are shares; a missing label, code −1, is NaN."""
    share = np.array([*map(float, texts), np.nan])[codes]
    note = (
        f"{target!r} contains shares: a row with share s counts as class 1 with weight s and as class 0 "
        "with weight 1 − s. The Brier score is the mean of (probability − share)². Accuracy, AUC and other "
        "metrics that need one class per row are not available."
    )
    return Counted(share, 1 - share, note, shares=True)
