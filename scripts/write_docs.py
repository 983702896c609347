"""Write the parts of the guide that the code already holds: ``python -m scripts.write_docs``.

They are the list of pages, the models and methods, the fields of a Recipe, the glossary and the page for teachers. Each
stands in its file between two comments. Run it when a page's question, a field's help, a term or a lesson has changed.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

from calib import Recipe
from calib.calibrators import CALIBRATORS, JOINT
from calib.lessons import LESSONS, QUIZZES, Lesson
from calib.lessons.glossary import GLOSSARY
from calib.models import MODELS
from calib.placements import PLACEMENTS
from calib.recipe import FIELDS
from pages.ui.current import PAGES

DOCS = Path(__file__).parents[1] / "docs"


def pages() -> str:
    """Name every page of the app with its question, one list per section, and put them into the navigation."""
    parts, order = [], []
    for section, listed in PAGES.items():
        names = {page: f"pages/{Path(page.script).stem}" for page in listed}
        lines = [f"- [{page.name}]({name}.md): {page.question}" for page, name in names.items()]
        parts.append(f"## {section}\n\n" + "\n".join(lines))
        order.extend(names.values())
    return "\n\n".join([*parts, "```{toctree}\n:hidden:\n\n" + "\n".join(order) + "\n```"])


def choices() -> str:
    """List the names of models, calibrators and placements, as the sidebar shows them."""
    registries = {
        "models": MODELS,
        "calibrators": CALIBRATORS,
        "further calibrators for three or more classes": {
            k: JOINT[k] for k in JOINT if k not in [*CALIBRATORS]
        },
        "calibration data": PLACEMENTS,
    }
    rows = [f"| {name} | {' · '.join(e.label for e in one.values())} |" for name, one in registries.items()]
    return "\n".join(["| | |", "|---|---|", *rows])


def fields() -> str:
    """List every field of a Recipe: its phase, its default and its help."""
    defaults = json.loads(Recipe().to_json())
    rows = [
        f"| `{field.name}` | {field.metadata['phase']} | `{json.dumps(defaults[field.name])}` "
        f"| {FIELDS[field.name].help} |"
        for field in dataclasses.fields(Recipe)
    ]
    return "\n".join(["| field | phase | default | |", "|---|---|---|---|", *rows])


def glossary() -> str:
    """Explain every term, in the order of the alphabet."""
    terms = sorted(GLOSSARY.values(), key=lambda term: term.name.lower())
    return "\n\n".join(f"## {term.name}\n\n{term.meaning}" for term in terms)


def lessons() -> str:
    """Describe the quizzes and the lesson: when to teach each, what to remember, which wrong answers it explains."""
    return "\n\n".join(_lesson(lesson) for lesson in [*QUIZZES.values(), *LESSONS.values()])


def _lesson(lesson: Lesson) -> str:
    points = [f"1. **{step.title}** {step.point}".rstrip() for step in lesson.steps]
    wrong = []
    for question in lesson.questions:
        wrong.append(f"- {question.text}")
        for number, (answer, why) in enumerate(zip(question.answers, question.why, strict=True), start=1):
            if number != question.right:
                wrong.append(f"  - “{answer}”: {why}")
    return "\n\n".join(
        [
            f"### {lesson.title}",
            lesson.summary,
            f"*When.* {lesson.when} {len(lesson.steps)} steps, about {lesson.minutes} minutes.",
            "*Steps and their key points.*",
            "\n".join(points),
            "*Common wrong answers.*",
            "\n".join(wrong),
        ]
    )


PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "pages": ("pages.md", pages),
    "choices": ("data.md", choices),
    "fields": ("file_formats.md", fields),
    "glossary": ("glossary.md", glossary),
    "lessons": ("for_teachers.md", lessons),
}


def written(part: str) -> str:
    """Return the text of a part's file with the part written again."""
    file, make = PARTS[part]
    begin, end = f"<!-- {part}: python -m scripts.write_docs -->", f"<!-- end of {part} -->"
    before, _, rest = (DOCS / file).read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"docs/{file} must hold the lines {begin} and {end}.")
    return f"{before}{begin}\n\n{make()}\n\n{end}{after}"


if __name__ == "__main__":
    for part, (file, _) in PARTS.items():
        (DOCS / file).write_text(written(part), encoding="utf-8")
        print(f"docs/{file}: {part}")
