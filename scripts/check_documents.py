"""Check documents against the code where a fact can be read off: ``python -m scripts.check_documents``.

Limits and numbers stand in a document as ``FACTS`` says them, every name of a control or page in italics is one that
the program shows, and no reference is listed twice. Prints each finding; exit status 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from calib.analysis.audit.search import MAX_DEPTH
from calib.analysis.grouping import CLUSTERS, FEWEST_GROUPING_ROWS, REDRAWS
from calib.analysis.label_shift import MOST_INTERVALS
from calib.analysis.watch.over_time import ROW_PERIODS
from calib.calibrators import CALIBRATORS, JOINT
from calib.data.folder import MOST_LISTED_TABLES, MOST_NESTED
from calib.data.label import MOST_PREDICTED, MOST_TRAINED
from calib.data.large_file import COUNTED_ROWS
from calib.data.limits import MOST_TABLE_COLUMNS, SPARE, UPLOAD_LIMIT, format_bytes
from calib.data.relation import BLOCK_ROWS
from calib.data.sampling import LEARN_ROWS
from calib.experiments import EXPERIMENTS
from calib.figures.base import MOST_SETUPS
from calib.lessons import LESSONS
from calib.lessons.live_quiz import LENGTH, SILENCE
from calib.settings import PAGE_SETTINGS
from calib.study.papers.ten_setups import SETUP_NAMES as TEN_SETUPS
from pages.ui.session_cache import OF_ALL_SESSIONS, OF_SESSION, OF_UPLOADS
from scripts.crawl_statements import worlds

ROOT = Path(__file__).parents[1]
NAMES = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
AUDIT = {setting.name: setting.default for setting in PAGE_SETTINGS["groups"]}


def _experiments(page: str) -> str:
    return NAMES[sum(experiment.page == page for experiment in EXPERIMENTS.values())]


FACTS = {
    "CONTRIBUTING.md": [f"for {len(worlds())} evaluations"],
    "README.md": [f"An uploaded file can have at most {format_bytes(UPLOAD_LIMIT)}"],
    "SECURITY.md": [f"{format_bytes(OF_SESSION)} of results and {format_bytes(OF_UPLOADS)} of files"],
    "docs/deployment.md": [f"at most {format_bytes(OF_SESSION)} of results", format_bytes(OF_ALL_SESSIONS)],
    "docs/load.md": [
        f"{format_bytes(OF_SESSION)} of results and {format_bytes(OF_UPLOADS)} of uploaded files"
    ],
    "docs/pages/learn_two_probabilities.md": [
        f"A lesson of {NAMES[len(LESSONS['venn_abers'].steps)]} steps",
        f"{_experiments('two_probabilities')} experiments to try",
    ],
    "docs/pages/learn_class.md": [
        f"a code of {NAMES[LENGTH]} letters",
        f"closes after {NAMES[int(SILENCE / 3600)]} hours",
    ],
    "docs/pages/explore_out_of_bag.md": [f"the {NAMES[len(TEN_SETUPS)]} setups"],
    "docs/pages/explore_watch.md": [f"divided into {NAMES[ROW_PERIODS]} parts"],
    "docs/pages/explore_groups.md": [f"at least {FEWEST_GROUPING_ROWS} test rows"],
    "docs/pages/study_results.md": [f"more than {'forty' if MOST_SETUPS == 40 else MOST_SETUPS} setups"],
    "docs/command_line.md": [
        f"number of columns per segment, from 1 to {MAX_DEPTH}",
        f"{AUDIT['resamples']} by default",
        f"rows in a segment, {AUDIT['min_rows']} by default",
    ],
    "docs/methods.md": [
        f"new labels are drawn from the calibration curve {REDRAWS} times",
        f"{CLUSTERS[0]} to {CLUSTERS[-1]} clusters",
    ],
    "docs/base_rate.md": [f"up to {MOST_INTERVALS} classes"],
    "docs/coming_from_scikit_learn.md": [f"and [{len(CALIBRATORS) - 4} more]"],
    "docs/data.md": [
        f"| file | {UPLOAD_LIMIT / 1e6:,.0f} MB |",
        f"| columns | {MOST_TABLE_COLUMNS:,} |",
        f"Reading needs up to {format_bytes(SPARE)} of memory",
        f"three or more classes (at most {MOST_TRAINED})",
        f"can evaluate at most {MOST_PREDICTED:,} classes",
        f"more than {COUNTED_ROWS:,} rows is counted",
        f"The sample has {LEARN_ROWS:,} rows",
        f"in batches of {BLOCK_ROWS:,}",
        f"If there are more than {MOST_LISTED_TABLES:,} tables",
        f"at most {NAMES[MOST_NESTED]} folders deep",
        *(each.label for each in (*CALIBRATORS.values(), *JOINT.values())),
    ],
}
"""Document → phrases that it must contain, made from the limits and registries of the code."""
SHOWN = ("pages", "calib")
OF_STREAMLIT = ("Connecting", "Box Select")
ITALICS = re.compile(r"(?<![*\w])\*([A-Z][^*\n]{1,40}?)\*(?![*\w])")
GUIDE = (
    "README.md",
    "docs/pages/*.md",
    "docs/data.md",
    "docs/base_rate.md",
    "docs/splits.md",
    "docs/export.md",
)


def missing_facts() -> Iterator[str]:
    """Yield each phrase of ``FACTS`` that its document does not contain."""
    for name, phrases in FACTS.items():
        text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
        yield from (f"{name}: should say “{phrase}”" for phrase in phrases if phrase not in text)


def unknown_labels() -> Iterator[str]:
    """Yield each name in italics in the guide that no source of the pages contains."""
    files = [file for folder in SHOWN for file in _sources(ROOT / folder)]
    source = re.sub(r'"\s*\n\s*f?"', "", "\n".join(file.read_text(encoding="utf-8") for file in files))
    for file in (file for pattern in GUIDE for file in sorted(ROOT.glob(pattern))):
        for label in ITALICS.findall(file.read_text(encoding="utf-8")):
            parts = re.split(r" · |: | … ", label.rstrip(".:?"))
            if not all(part in source for part in parts) and label not in OF_STREAMLIT:
                yield f"{file.relative_to(ROOT)}: no page shows “{label}”"


def _sources(place: Path) -> list[Path]:
    files = [place] if place.is_file() else place.rglob("*")
    return [file for file in files if file.suffix in (".py", ".js", ".html")]


def repeated_references() -> Iterator[str]:
    """Yield each paper that the references of docs/methods.md list twice, by its year and title."""
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8").partition("\n## References")[2]
    seen: dict[str, str] = {}
    for number, authors, title in re.findall(r"^(\d+)\. (.*?) \(\d{4}\)\. ([^.]+)\.", text, flags=re.M):
        paper = f"{authors.partition(',')[0]}: {title.lower()}"
        if paper in seen:
            yield f"docs/methods.md: references {seen[paper]} and {number} are one paper"
        seen[paper] = number


def findings() -> list[str]:
    """Return every finding."""
    return [*missing_facts(), *unknown_labels(), *repeated_references()]


if __name__ == "__main__":
    found = findings()
    print("\n".join(found))
    sys.exit(bool(found))
