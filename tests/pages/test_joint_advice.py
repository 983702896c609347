"""With three or more classes the page advises on all together, and offers the method that the advice begins with."""

from calib.recipe import COMPARED_JOINTLY, Recipe
from tests.saying import assert_any_says

from .app import faults, page, settled, titles


def test_the_method_to_begin_with_is_added_by_a_click_and_advised():
    at = page(
        "explore_reliability", data="sample:all_digits", model="naive_bayes", calibrators="none,isotonic"
    )
    assert faults(at) == []
    assert "Use isotonic regression" in titles(at)
    at.button(key="add_joint").click().run()
    assert faults(at) == []
    assert at.multiselect(key="calibrators").value == ["none", "isotonic", "auto"]
    assert "Use automatic calibration" in titles(at)
    assert not [one for one in at.button if one.key == "add_joint"]


def test_methods_for_all_classes_are_compared_by_default_and_a_link_keeps_its_meaning():
    two, of_all = list(Recipe().calibrators), list(COMPARED_JOINTLY)
    at = page("explore_reliability", data="sample:all_digits", model="naive_bayes")
    assert at.multiselect(key="calibrators").value == two  # as the link says
    at = page("explore_reliability", model="naive_bayes")
    at = settled(at.selectbox(key="data").set_value("sample:all_digits").run())
    assert faults(at) == []
    assert at.multiselect(key="calibrators").value == of_all
    assert "Use structured matrix scaling" in titles(at)
    assert_any_says([one.value for one in at.markdown], "Brier score over all classes")
    at = settled(at.selectbox(key="classes_together").set_value("3").run())
    assert faults(at) == []
    assert at.multiselect(key="calibrators").value == two
    at = settled(at.selectbox(key="classes_together").set_value("").run())
    assert at.multiselect(key="calibrators").value == of_all
    at = settled(at.selectbox(key="data").set_value("sample:digits").run())
    assert at.multiselect(key="calibrators").value == two
