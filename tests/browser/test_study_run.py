"""A study in the browser: run, cancelled, gone on with, opened on Results, its store taken along."""

import pytest

from calib.study import Store
from tests.study import small
from tests.waiting import LIMIT, until


def bring(tab, key, name, content):
    with tab.page.expect_response(lambda response: "/upload_file/" in response.url):
        tab.by_key(key).get_by_test_id("stFileUploaderDropzoneInput").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )
    return tab.settle()


@pytest.mark.soak
def test_a_study_is_run_cancelled_gone_on_with_and_opened(tab):
    tab.open("study_run", **{"run.repeats": "300"})
    text = small.PROTOCOL.replace("repeats = 2", "repeats = 300").replace(
        '"width"]', '"width", "ece", "auc"]'
    )
    bring(tab, "run_protocol_file", "small.toml", text.encode())
    bring(tab, "run_files", "one.csv", small.table().to_csv(index=False).encode())
    main = tab.page.get_by_test_id("stMain")
    main.get_by_role("button", name="Start", exact=True).click()
    until(lambda: tab.headline().get("Runs done", "0 of").split()[0] != "0", "some cells are done")
    assert "runs" in tab.page.get_by_test_id("stProgress").inner_text()
    main.get_by_role("button", name="Cancel").click()
    main.get_by_role("button", name="Continue").wait_for(timeout=1000 * LIMIT)
    tab.settle()
    done = int(tab.headline()["Runs done"].split()[0].replace(",", ""))
    assert 0 < done < 1800
    tab.type_number("run.repeats", done // 6 + 2)  # a few more: the study ends in the sight of this test
    main.get_by_role("button", name="Start", exact=True).click()
    main.get_by_text("runs are done.").first.wait_for(timeout=1000 * LIMIT)
    tab.settle()
    cells = 6 * (done // 6 + 2)
    assert tab.headline()["Runs done"] == f"{cells:,} of {cells:,}"
    main.get_by_text("Continue later or elsewhere").click()
    content = tab.download(lambda: main.get_by_role("button", name="Results file (SQLite)").click())
    rows = Store.of_bytes(content, "results.sqlite").rows()
    assert len(rows[rows["setup"] != "VAP"]) == cells
    main.get_by_role("button", name="Open in Results").click()
    tab.page.wait_for_url("**/study_results**")
    tab.settle()
    assert tab.headline()["Data sets compared"] == "1 of 1" or tab.faults() == []
    assert tab.faults() == []
