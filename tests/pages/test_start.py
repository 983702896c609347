"""The address without a path: what this is, two doors, and one mark of the diagram explained."""

from pathlib import Path

from calib import Recipe
from calib.analysis.recommendation.advice import recommend
from calib.analysis.selection import telling_mark
from calib.calibrators import label_of
from calib.evaluate import evaluate
from calib.figures import FIGURES, LIGHT
from calib.sources import load
from pages.ui import start
from tests.pages.app import LIMIT, ROOT, App, faults, go, settled, titles


def opened(**query):
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.query_params.update(query)
    return settled(at.run())


def said(at):
    return [element.value.replace("\\", "") for element in at.markdown]


def test_start_leads_to_the_glossary():
    at = opened()
    assert "Glossary" in [link.proto.label for link in at.get("page_link")]


def test_it_says_what_this_is_and_explains_one_mark_with_its_numbers():
    at = opened()
    assert [title.value for title in at.title] == [start.SENTENCE]
    mark = telling_mark(evaluate(Recipe(), load(Recipe())))
    assert any(mark.sentence in text for text in said(at))
    assert faults(at) == []


def test_it_has_no_sidebar_no_settings_and_three_ways_in_with_a_picture_each():
    at = opened()
    assert not at.sidebar.children
    assert at.query_params == {}
    assert titles(at)[1:] == [way.title for way in start.WAYS]
    stems = [Path(way.page).stem for way in start.WAYS]
    shipped = {f"{stem}-{shade}.webp" for stem in stems for shade in ("light", "dark")}
    assert {path.name for path in start.PICTURES_FOLDER.glob("*.webp")} == shipped
    assert sum(path.stat().st_size for path in start.PICTURES_FOLDER.iterdir()) < 100_000


def test_an_address_without_a_path_but_with_settings_is_a_link_to_reliability():
    at = opened(calibrators="none,platt")
    assert at.session_state["page"] == "pages/explore_reliability.py"
    assert titles(at)[0].startswith("Not calibrated: ")  # the verdict on the sample's model
    assert not any("How to read one point" in title for title in titles(at))


def test_the_doors_lead_to_ones_own_data_and_to_the_story():
    at = opened()
    at.button(key="door_data").click().run()
    assert at.session_state["page"] == "pages/explore_data.py"
    at = opened()
    at.button(key="door_learn").click().run()
    assert at.session_state["page"] == "pages/learn_story.py"


def test_ones_own_settings_wait_while_start_is_open():
    at = go(opened(), "explore_reliability")
    at.slider(key="bins").set_value(9).run()
    at._page_hash = at._finished_page_script_hash = ""  # the address without a path
    at.query_params.clear()
    assert titles(settled(at.run())) == titles(opened())
    assert go(at, "explore_reliability").session_state["recipe"].bins == 9


def test_each_line_of_the_diagram_has_its_name_beside_it_since_it_has_no_legend():
    evaluation = evaluate(Recipe(), load(Recipe()))
    shown = ["none", recommend(evaluation).choice]
    record = FIGURES["reliability"].prepare(evaluation, calibrators=shown)
    figure = start._with_names_alone(record, LIGHT)
    written = {text for trace in figure.data for text in trace.text or () if "text" in (trace.mode or "")}
    assert {label_of(key) for key in shown} <= written
    assert not figure.layout.showlegend
