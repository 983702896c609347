"""With three or more classes the page advises on all together, and offers the method that the advice begins with."""

from .app import faults, page


def test_the_method_to_begin_with_is_added_by_a_click_and_advised():
    at = page(
        "explore_reliability", data="sample:all_digits", model="naive_bayes", calibrators="none,isotonic"
    )
    assert faults(at) == []
    assert any(one.value.startswith("**Use isotonic regression\\.**") for one in at.markdown)
    at.button(key="add_joint").click().run()
    assert faults(at) == []
    assert at.multiselect(key="calibrators").value == ["none", "isotonic", "structured_matrix"]
    assert any(one.value.startswith("**Use structured matrix scaling\\.**") for one in at.markdown)
    assert not [one for one in at.button if one.key == "add_joint"]
