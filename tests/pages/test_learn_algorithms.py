"""Algorithms: forward, back and to the end; points in the address; nonsense refused by name."""

from tests.pages.app import experiment, faults, messages, query, settings_in_address, settled, titles
from tests.saying import assert_any_says, assert_says


def learn(**settings):
    return experiment("pooling", **query({f"pooling.{key}": value for key, value in settings.items()}))


def test_one_move_at_a_time_forward_and_back():
    at = learn(guess="skip", points="1:0 2:1 3:1 4:0 5:1")
    assert_any_says(titles(at), "Move 1 of 2", "1/1", "above", "0/1", "1/2")
    settled(at.slider(key="pooling.step").set_value(1).run())
    assert_any_says(titles(at), "Move 2 of 2", "1/1", "above", "1/2", "2/3")
    assert settings_in_address(at)["pooling.step"] == 1
    assert [button.key for button in at.main.button if "move" in button.key] == [], "the play bar moves it"
    settled(at.slider(key="pooling.step").set_value(2).run())
    assert_any_says(titles(at), "2 moves", "3 pools")
    assert at.slider(key="pooling.step").max == 2
    settled(at.slider(key="pooling.step").set_value(1).run())
    assert titles(at)[0].startswith("Move 2 of 2")
    assert faults(at) == []


def test_other_points_start_a_new_run():
    at = learn(guess="skip", step=2)
    settled(at.text_area(key="pooling.points").set_value("1:0 2:1").run())
    assert_any_says(titles(at), "0 moves", "2 pools")
    assert settings_in_address(at)["pooling.points"] == "1:0 2:1"


def test_points_that_are_none_are_refused_by_their_label_and_stay_to_be_mended_as_the_picture_does():
    at = learn(guess="skip")
    before = titles(at)
    settled(at.text_area(key="pooling.points").set_value("1:0 2:7").run())
    (said,) = messages(at)
    assert_says(said, "Points", "1 to 60 points", "'2:7'", "not")
    assert at.text_area(key="pooling.points").value == "1:0 2:7"
    assert "pooling.points" not in settings_in_address(at)
    assert titles(at) == before
    settled(at.text_area(key="pooling.points").set_value("1:1 2:0").run())
    assert messages(at) == []
    assert settings_in_address(at)["pooling.points"] == "1:1 2:0"
    settled(at.text_area(key="pooling.points").set_value("none").run())
    settled(at.slider(key="pooling.step").set_value(1).run())
    assert (messages(at), at.text_area(key="pooling.points").value) == ([], "1:1 2:0"), "as what is drawn"


def test_no_seed_where_nothing_is_drawn():
    assert "seed" not in [field.key for field in learn(guess="skip").number_input]
