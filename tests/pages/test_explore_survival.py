"""Survival: the page says what ``check_survival`` found, moves the horizon, and asks for what it does not know."""

from __future__ import annotations

import pandas as pd
import pytest

from calib import sources
from calib.analysis.centres import centres
from calib.analysis.survival.check import check_survival
from calib.data import TableFile, sample_table
from calib.export import page_source
from calib.kernel.wording import alike
from calib.metrics import METRICS
from pages.ui import state
from pages.ui.explore.survival import LEADING_MEASURES, RELAPSES
from pages.ui.text import plain
from tests.pages.app import ROOT, App, faults, go, headline, messages, page
from tests.waiting import LIMIT

FRAME = sample_table("relapses").frame


def found(horizon: int, **more):
    return check_survival(
        FRAME["time"],
        FRAME["target"],
        FRAME[f"risk_{horizon}"],
        horizon,
        cause="relapse",
        censored="censored",
        **more,
    )


def test_the_sample_opens_with_its_numbers_and_a_slider_moves_the_horizon():
    at = page("explore_survival", **RELAPSES)
    assert faults(at) == []
    for horizon in (5, 2):
        if horizon == 2:
            at.select_slider(key="survival.horizon").set_value(2.0).run()
        assert faults(at) == []
        table = found(horizon).table()
        for metric in LEADING_MEASURES:
            assert headline(at)[METRICS[metric].label] == alike(*table.loc[metric])[0]
    assert at.session_state["recipe"].setting("survival.horizon") == 2


def test_the_hospitals_are_centres():
    at = page("explore_survival", **RELAPSES)
    made = found(5)
    rows = made.known["row"]
    sentences = centres(made.evaluation, FRAME["hospital"].to_numpy()[rows]).sentences
    texts = [each.value for each in at.markdown]
    assert all(plain(sentence) in texts for sentence in sentences)


def test_other_pages_say_that_censored_rows_count_as_negative():
    lost = int((FRAME["target"] == "censored").sum())
    for script in ("explore_reliability", "explore_decide"):
        at = page(script, **RELAPSES)
        assert faults(at) == []
        assert len([text for text in messages(at) if f"{lost:,} censored rows count here" in text]) == 1
        assert any(link.proto.label == "Open Survival" for link in at.get("page_link"))
    at = page("explore_survival", **RELAPSES)
    assert not any("count here" in text for text in messages(at))


def test_without_times_and_events_the_page_asks_and_offers_a_sample():
    at = page("explore_survival")
    assert faults(at) == []
    assert any("time" in text and "horizon" in text for text in messages(at))
    assert any("sample" in link.proto.label for link in at.get("page_link"))


def uploaded(frame: pd.DataFrame, **settings):
    content = frame.to_csv(index=False).encode()
    key, file = sources.digest(content), TableFile("any.csv", content)
    at = App(str(ROOT / "app.py"), default_timeout=LIMIT)
    at.session_state["uploads"] = {key: state.Upload("any.csv", file.read(), None, False, file)}
    at.query_params.update({"data": f"upload:{key}", "file": "any.csv", "content": "predictions", **settings})
    return go(at, "explore_survival")


SMALL = pd.DataFrame(
    {
        "time": [1.0, 2, 3, 4, 5, 6] * 5,
        "event": [1, 0, 1, 0, 1, 0] * 5,
        "risk_4": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] * 5,
    }
)
BAD = {
    "negative": (SMALL.assign(time=SMALL["time"] - 3), {}, "negative"),
    "no event by then": (SMALL.assign(time=SMALL["time"] + 10), {}, "no event by"),
    "nobody followed": (SMALL, {"survival.horizon": "9", "survival.risks": "risk_4"}, "at most 6"),
    "all censored": (SMALL.assign(event=0), {}, "Every row is censored: event is 0 throughout"),
    "no such event": (SMALL.assign(event=SMALL["event"] * 2), {}, "Choose the event of interest"),
    "above 1": (SMALL.assign(risk_4=SMALL["risk_4"] * 100), {}, "Divide percentages"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_message_with_its_remedy(case):
    frame, settings, says = BAD[case]
    at = uploaded(frame, **settings)
    assert not at.exception
    told = [text for text in messages(at) if says in text]
    assert len(told) == 1
    assert "cause=" not in told[0]


@pytest.mark.parametrize(
    ("centre", "says"), [("a", "at least two centres"), (range(30), "Merge small centres")]
)
def test_one_centre_and_centres_of_one_class_get_one_message(centre, says):
    at = uploaded(SMALL.assign(hospital=centre), **{"reliability.group": "hospital"})
    assert faults(at) == []
    assert len([text for text in messages(at) if says in text]) == 1


def test_probabilities_of_survival_are_asked_about():
    at = uploaded(SMALL.assign(surv_4=1 - SMALL["risk_4"]).drop(columns="risk_4"))
    assert any("meaning" in text for text in messages(at))
    at = uploaded(
        SMALL.assign(surv_4=1 - SMALL["risk_4"]).drop(columns="risk_4"), **{"survival.means": "survival"}
    )
    of_risk = uploaded(SMALL)
    assert headline(at) == headline(of_risk)


def test_the_python_code_prints_the_numbers(capsys):
    at = page("explore_survival", **RELAPSES, **{"survival.horizon": "2"})
    exec(page_source("survival", at.session_state["recipe"]), {})
    said = capsys.readouterr().out
    assert found(2).verdict.sentence in said
    assert found(2).table().round(4).to_string() in said
