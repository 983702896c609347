"""Search real tables for segments in which a forest's probabilities are wrong, and bound their grouping loss.

    python -m scripts.audit_tables FOLDER [NAME …] [--write docs/measurements.md]

FOLDER holds one CSV file per data set, with its label in the column ``target``. Half of the rows, chosen at random,
train and calibrate a random forest; the other half is searched. The last line is the sample with a
hidden group, whose true probabilities are known. The table is
printed, or replaces the one between the marks in the file of ``--write``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from calib import Dataset, Evaluation, Recipe, evaluate
from calib.analysis.audit.of_evaluation import audited, look_of
from calib.analysis.grouping_losses import grouping_losses
from calib.calibrators import label_of
from calib.data import prepare, read_table
from calib.kernel.wording import number
from calib.sources import load

NAMES = ("german_credit", "diabetes", "phoneme", "jm1")
SAMPLE = Recipe(data="sample:hidden_group", content="predictions", calibrators=("none",))
RECIPE = Recipe(test_size=0.5, calibrators=("none", "platt", "isotonic"))
HEAD = (
    "| table | predictions | rows | segments | found | groups | clearest group | adjusted p | Brier score | "
    "grouping loss by a tree | p |\n" + "| --- " * 11 + "|"
)
BEGIN, END = "<!-- audit_tables -->\n", "<!-- /audit_tables -->\n"


def table(folder: Path, name: str) -> Dataset:
    return prepare(read_table(folder / f"{name}.csv"), "target", name=name)


def lines(name: str, evaluation: Evaluation) -> list[str]:
    """Return one line per calibrator."""
    found = []
    for key in evaluation.predictions:
        made = audited(evaluation, key)
        loss = grouping_losses(evaluation, key)
        tree = next(each for each in loss.losses if each.partition == "tree")
        low, high = map(number, tree.interval)
        cells = [
            name,
            label_of(key).lower(),
            f"{len(evaluation.y):,}",
            f"{len(made.found.segments):,}",
            f"{made.found.found:,}",
            len(made.causes),
            _clearest(made),
            number(made.found.p_value),
            number(loss.brier),
            f"{number(tree.lower)} [{low}, {high}]",
            number(tree.p_value),
        ]
        found.append("| " + " | ".join(map(str, cells)) + " |")
    return found


def _clearest(made) -> str:
    worst = made.found.segments.iloc[0]
    if not made.causes:
        return "none"
    look = look_of(made.found, 0)
    told = f"{worst['segment']}: {worst['rows']:,} rows, {100 * worst['predicted']:.0f} % → "
    told += f"{100 * worst['observed']:.0f} %"
    return told + ("" if look == "level" else f" ({look})")


def main(folder: Path, names: list[str], write: Path | None) -> None:
    found = [HEAD]
    for name in names:
        found += lines(name, evaluate(RECIPE, table(folder, name)))
        print(*found[-3:], sep="\n", flush=True)
    found += lines("hidden group", evaluate(SAMPLE, load(SAMPLE)))
    print(found[-1])
    if write is not None:
        before, _, rest = write.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        text = "\n".join(found)
        write.write_text(f"{before}{BEGIN}{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("names", nargs="*", default=list(NAMES))
    asked.add_argument("--write", type=Path)
    given = asked.parse_args()
    main(given.folder, given.names, given.write)
