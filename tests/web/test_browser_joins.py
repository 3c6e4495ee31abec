"""Joins in the browser: read side by side, and never as markup."""

from __future__ import annotations

import pytest

from .conftest import settled

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

EVIL = "<img src=x onerror=\"document.title='run'\">"


def test_the_joins_of_the_chosen_text(visit):
    page = visit()
    files = [
        {"name": f"0{k} - {name}.txt", "mimeType": "text/plain", "buffer": text.encode()}
        for k, (name, text) in enumerate(
            (name, f"{EVIL} So {name} began by the sea. " + "It rained on old Tom. " * 30 + f"So {name} ended.")
            for name in ("Ann", "Bob", "Carl")
        )
    ]
    page.set_input_files("#files", files)
    page.wait_for_selector("#rows .row")
    settled(page)
    page.locator("#rows .row .name").nth(1).click()
    page.wait_for_selector("#joins .join:nth-child(2)")
    names = page.locator("#rows .row .name").all_inner_texts()
    assert sorted(names) == ["Ann", "Bob", "Carl"]
    heads = page.locator("#joins .join-title").all_inner_texts()
    assert heads == [f"{names[0]} ends", f"{names[1]} begins", f"{names[1]} ends", f"{names[2]} begins"]
    texts = page.locator("#joins blockquote").all_inner_texts()
    assert texts[0].endswith(f"So {names[0]} ended.")
    assert texts[1].startswith(f"{EVIL} So {names[1]} began")
    assert page.locator("#joins img").count() == 0
    assert page.title() != "run"
    assert not page.locator("#rows .hear").first.is_visible()  # a text is not played
    page.click("#save summary")
    with page.expect_download() as download:
        page.click('[data-format="docx"]')
    assert download.value.suggested_filename.endswith(".docx")
