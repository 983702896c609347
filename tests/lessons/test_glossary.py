"""The glossary holds what the Learn pages say, and every link to it leads to an entry."""

import re

import pytest

from calib.experiments import EXPERIMENTS
from calib.experiments.shared.long_run import BASELINES
from calib.lessons.glossary import GLOSSARY
from pages.ui.learn.glossary import linked, links_in
from pages.ui.text import plain
from tests.lessons.every import EVERY

TEXTS = [
    *(plain(text) for experiment in EXPERIMENTS.values() for text in experiment.notice),
    *(text for lesson in EVERY.values() for step in lesson.steps for text in (step.text, step.look)),
]


def test_terms_are_in_the_order_of_the_alphabet_and_each_has_an_anchor_of_its_own():
    names = [term.name.lower() for term in GLOSSARY.values()]
    assert names == sorted(names)
    assert len({term.anchor for term in GLOSSARY.values()}) == len(GLOSSARY)
    assert all(term.meaning.endswith(".") for term in GLOSSARY.values())


def test_what_was_stumbled_over_is_explained():
    written = {form for term in GLOSSARY.values() for form in (term.name, *term.forms)}
    asked = {
        "True probability",
        "Pool",
        "TCE",
        "DIR",
        "Calibration loss (CL)",
        "Grouping loss (GL)",
        "Venn–Abers",
    }
    assert asked | set(BASELINES.values()) <= written


@pytest.mark.parametrize("key", [key for key, term in GLOSSARY.items() if term.linked])
def test_every_term_that_texts_link_to_is_linked_from_one(key):
    term = GLOSSARY[key]
    shown = any(key in experiment.terms for experiment in EXPERIMENTS.values())
    assert shown or any(f"#{term.anchor} " in text for text in linked(TEXTS)), (
        "else it is explained for nobody"
    )


def test_a_term_is_linked_once_with_its_meaning_and_nothing_else_is_changed():
    text, again = linked(["A pool and two pools, RF\\_d, $pool$ and [pool](x).", "pool"])
    assert text.count("](learn_glossary#pool ") == 1
    assert '[RF\\_d](learn_glossary#rf-d "A forest with' in text
    assert "$pool$" in text
    assert "[pool](x)" in text
    assert again == "pool"
    assert re.sub(r'\[([^\]]*)\]\(learn_glossary[^)"]*"[^"]*"\)', r"\1", text) == (
        "A pool and two pools, RF\\_d, $pool$ and [pool](x)."
    )
    for made in linked(TEXTS):
        for anchor in re.findall(r"learn_glossary#(\S+)", made):
            assert anchor in {term.anchor for term in GLOSSARY.values()}


def test_the_words_of_a_picture_are_named_once_each_with_their_meaning():
    found = links_in(["TCE of pools, $DIR$", "and TCE again; RF\\_d"], {"RF_d"})
    assert re.findall(r"learn_glossary#(\S+)", found) == ["tce", "pool", "dir"]
