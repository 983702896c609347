"""Overlap and Calibration-set size: open at once on what was made beforehand; other settings run part by part."""

import json
import time

import pytest

from calib.figures import FIGURES
from calib.learn import EXPERIMENTS
from calib.simulations import SIMULATIONS
from tests.pages.app import faults, page, titles

KEYS = ("overlap", "calibration_size")
SMALL = {
    "overlap": {"d": "2", "n": 200, "repetitions": 1},
    "calibration_size": {"repetitions": 5, "sizes": 10, "n_train": 200},
}


def opened(key, seed=0, **settings):
    chosen = {f"{key}.guess": "skip"} | {f"{key}.{name}": value for name, value in settings.items()}
    return page(f"learn_{key}", learn=json.dumps(chosen), seed=str(seed))


@pytest.mark.parametrize("key", KEYS)
def test_it_opens_at_once_with_what_was_made_beforehand_and_says_how(key):
    at = opened(key)
    assert faults(at) == []
    assert not [button for button in at.button if button.key.startswith("cancel")]
    record = FIGURES[key].prepare(SIMULATIONS[key](random_state=0))
    assert titles(at)[0] == record.title
    assert any("Computed beforehand, on 20" in caption.value for caption in at.main.caption)


@pytest.mark.parametrize("key", KEYS)
def test_a_view_setting_computes_nothing(key):
    at = opened(key, measure="ece", base="default")
    assert faults(at) == []
    record = FIGURES[key].prepare(SIMULATIONS[key](random_state=0), measure="ece", base="default")
    assert titles(at)[0] == record.title


@pytest.mark.parametrize("key", KEYS)
def test_other_settings_run_part_by_part_and_can_be_called_off(key):
    """Pictures of the parts that are there; Cancel keeps them; going on finishes."""
    chosen = {f"{key}.guess": "skip"} | {f"{key}.{name}": value for name, value in SMALL[key].items()}
    at = opened_without_waiting(key, chosen)
    assert faults(at) == []
    (cancel,) = [button for button in at.button if button.key == f"cancel_learn_{key}"]
    cancel.click().run()
    assert any(text.value.startswith("Cancelled") for text in at.info)
    limit = time.monotonic() + 120
    at.button(key=f"fit_again_learn_{key}").click().run()
    seen = set()
    while any(button.key == f"cancel_learn_{key}" for button in at.button):
        assert time.monotonic() < limit
        seen |= {caption.value for caption in at.main.caption if "Computed here" in caption.value}
        time.sleep(1)
        at.run()
    assert faults(at) == []
    values = EXPERIMENTS[key].values({}) | SMALL[key]
    record = FIGURES[key].prepare(SIMULATIONS[key](random_state=0, **EXPERIMENTS[key].numbers(values)))
    assert titles(at)[0] == record.title
    assert seen  # pictures while it ran


def opened_without_waiting(key, chosen):
    from streamlit.testing.v1 import AppTest

    from tests.pages.app import ROOT

    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["learn"] = json.dumps(chosen)
    return at.switch_page(f"pages/learn_{key}.py").run()
