"""What a person sees on the page is what she saves; what cannot hold is said and undone."""

from __future__ import annotations

import json

import pytest

from .conftest import centre, open_demo, rest, row_height, settled, titles

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]

EVIL = "<img src=x onerror=\"document.title='run'\">"


def saved(page, folder, form="json"):
    page.click("#save summary")
    with page.expect_download() as download:
        page.click(f'[data-format="{form}"]')
    download.value.save_as(folder / form)
    return (folder / form).read_text(encoding="utf-8")


def fill(page, field, text):
    page.fill(field, text)
    page.keyboard.press("Tab")
    rest(page)
    settled(page)


SHOW = """async () => {
    localStorage.setItem("fabula-columns", JSON.stringify({ music: ["off", "length"] }));
    (await import("/static/state.js")).emit("columns");
}"""


def shown(page) -> list[dict]:
    """The rows on the screen, in the words of the page; with how far each is off the template."""
    page.evaluate(SHOW)
    return page.locator("#rows .row:not(.out)").evaluate_all(
        """rows => rows.map((row) => ({
            label: row.querySelector(".grip").textContent, title: row.querySelector(".name").textContent,
            why: row.querySelector(".sub").textContent, off: row.querySelector(".off").textContent,
            length: row.querySelector(".time").textContent }))"""
    )


def clock(seconds: float) -> str:
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02d}"


def seconds(text: str) -> int:
    minutes, _, rest = text.partition(":")
    return 60 * int(minutes) + int(rest)


def check_export(page, folder):
    """Every row and every side on the screen is in the JSON file, number by number."""
    rows, whole = shown(page), json.loads(saved(page, folder))
    assert len(rows) == len(whole["items"])
    for row, item in zip(rows, whole["items"], strict=True):
        assert row["title"] == item["title"]
        assert row["why"].endswith(item["why"])
        assert row["length"] == clock(item["length"])
        off = f"{item['essence'] - item['target']:.1f}".replace("-0.0", "0.0").replace("-", "−")
        assert row["off"] == (off if page.locator(".layer-template").get_attribute("d") else "")
    heads = [text.split("\n") for text in page.locator(".side").all_inner_texts()]
    sides = [(name.removeprefix("Side "), length) for name, length in heads if name.startswith("Side")]
    letters = dict.fromkeys(item["side"] for item in whole["items"] if item["side"])
    assert [letter for letter, _ in sides] == list(letters)
    for (_, text), length in zip(sides, whole["lengths"], strict=False):  # rounded so that they add up
        assert abs(seconds(text) - length) < 1
    if sides:
        assert sum(seconds(text) for _, text in sides) == seconds(page.inner_text("#total").split(" · ")[1])
    assert [row["label"] for row in rows] == [
        f"{item['side']}{[i['side'] for i in whole['items'][: k + 1]].count(item['side'])}"
        for k, item in enumerate(whole["items"])
    ]
    return whole


def test_two_sides_are_saved_as_they_are_shown(visit, tmp_path):
    page = visit()
    open_demo(page)
    check_export(page, tmp_path)
    fill(page, "#sides", "2")
    whole = check_export(page, tmp_path)
    assert len(whole["sides"]) == 2
    fill(page, "#limit", "1:06")
    whole = check_export(page, tmp_path)
    assert (len(whole["items"]), len(whole["left_out"]), sum(whole["lengths"]) <= 66) == (6, 3, True)
    assert page.locator(".side", has_text="Left out").count() == 1
    page.get_by_role("button", name="icarus").click()
    settled(page)
    page.select_option("#by", "loudness")
    page.wait_for_timeout(300)
    settled(page)
    assert check_export(page, tmp_path)["model"] is None


def test_an_opener_of_the_second_side_holds(visit, tmp_path):
    page = visit()
    open_demo(page)
    fill(page, "#sides", "2")
    first = titles(page)[0]
    page.locator(".row .name").nth(0).click()
    page.get_by_role("button", name="Open B", exact=True).click()
    settled(page)
    row = next(row for row in shown(page) if row["title"] == first)
    assert row["label"] == "B1"
    assert page.locator(".row.pinned .name").all_text_contents() == [first]
    check_export(page, tmp_path)
    page.click("#free")
    settled(page)
    assert page.locator(".row.pinned").count() == 0


def test_an_order_made_by_hand_keeps_its_sides_and_claims_nothing(visit, tmp_path):
    page = visit()
    open_demo(page)
    fill(page, "#sides", "2")
    order, sizes = titles(page), json.loads(saved(page, tmp_path))["sides"]
    page.locator(".row").nth(0).focus()
    page.keyboard.press("Alt+Shift+ArrowDown")
    settled(page)
    swapped = [order[1], order[0], *order[2:]]
    assert titles(page) == swapped
    assert page.locator(".row.pinned").count() == 0
    assert page.locator("#verdict").text_content().endswith("made by hand")
    whole = check_export(page, tmp_path)
    assert (whole["gap"], whole["sides"]) == (None, sizes)

    row = page.locator(".row").nth(8)
    row.evaluate("row => row.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(250)
    x, y = centre(row.locator(".grip"))
    page.keyboard.down("Shift")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - row_height(page), steps=8)
    rest(page, 80)
    page.mouse.up()
    page.keyboard.up("Shift")
    settled(page)
    assert titles(page) == [*swapped[:7], swapped[8], swapped[7]]
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    settled(page)
    assert titles(page) == order
    assert page.locator("#verdict").text_content().endswith("as it stands")


def test_pins_and_sides_survive_an_order_made_by_hand(visit, tmp_path):
    page = visit()
    open_demo(page)
    order = titles(page)
    page.locator(".row").nth(2).focus()
    page.keyboard.press("l")
    settled(page)
    page.locator(".row").nth(0).focus()
    page.keyboard.press("Alt+Shift+End")
    settled(page)
    assert titles(page) == [*order[1:], order[0]]
    assert page.locator(".row.pinned .name").all_text_contents() == [order[2]]
    fill(page, "#sides", "3")
    assert titles(page) == [*order[1:], order[0]]  # cut, not laid anew
    assert len(check_export(page, tmp_path)["sides"]) == 3


def test_a_result_that_the_server_forgot_is_found_again(visit, server, tmp_path):
    page = visit(refusals=True)
    open_demo(page)
    collection = page.evaluate("JSON.parse(sessionStorage.getItem('fabula-page')).collection")
    for _ in range(14):
        server.order(collection=collection, template="wave")
    check_export(page, tmp_path)


def test_the_order_before_is_saved_when_it_is_shown(visit, tmp_path):
    page = visit()
    open_demo(page)
    page.click("#given")
    assert [item["title"] for item in json.loads(saved(page, tmp_path))["items"]] == titles(page)
    assert titles(page)[0] == "Embers"


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("#limit", "0:05", "0:05"),
        ("#limit", "soon", "Longest in all: takes a time such as 22:00"),
        ("#side-limit", "0:12", "0:12"),
    ],
)
def test_a_wish_that_cannot_hold_is_said_and_undone(visit, tmp_path, field, text, words):
    page = visit(refusals=True)
    open_demo(page)
    fill(page, "#sides", "2")
    order, total = titles(page), page.locator("#total").text_content()
    page.fill(field, text)
    page.keyboard.press("Tab")
    page.wait_for_selector("#notice.error.shown")
    assert words in page.locator("#notice").text_content()
    assert "--" not in page.locator("#notice").text_content()
    page.wait_for_selector("#rows:not([aria-busy])")
    assert page.input_value(field) == ""
    assert (titles(page), page.locator("#total").text_content()) == (order, total)
    check_export(page, tmp_path)
    page.click("#undo")  # the step that failed is none
    settled(page)
    assert page.input_value("#sides") == "1"


def test_three_neighbours_are_kept_together_and_nothing_else_moves(visit):
    page = visit()
    open_demo(page)
    order = titles(page)
    for k in (3, 4):
        page.locator(".row").nth(k).focus()
        page.keyboard.press("k")
        settled(page)
        assert titles(page) == order
    assert page.locator(".row.linked .name").all_text_contents() == order[3:5]
    page.locator(".row").nth(3).focus()
    page.keyboard.press("Alt+Home")
    settled(page)
    assert titles(page)[:3] == order[3:6]


def test_the_model_speaks_in_a_sentence_and_in_the_words_of_the_medium(visit):
    page = visit()
    open_demo(page)
    says = page.locator("#says").text_content()
    assert says.startswith("Ordered by the model “music”.")
    assert "sure which of two tracks comes first" in says
    assert page.locator("#total").text_content() == "9 tracks · 1:43"
    assert page.locator("#apart-text").text_content() == "No artist twice in a row"
    assert page.get_attribute("#limit", "placeholder") == "22:00"
    page.click("#again")
    rows = "".join(f"Essay {i},{i * 7 % 5}\n" for i in range(6))
    page.set_input_files(
        "#files", {"name": "essays.csv", "mimeType": "text/csv", "buffer": f"title,weight\n{rows}".encode()}
    )
    settled(page)
    assert page.locator("#total").text_content() == "6 items"
    assert page.locator("#says").text_content() == "What rises and falls is weight; no model has a say in it."
    assert page.locator("#player").is_hidden()
    assert page.locator("#limit").is_disabled()
    page.locator(".row .name").nth(0).click()
    assert page.get_by_role("button", name="Play transition").count() == 0


def test_the_steps_that_count_are_chosen_and_stay_in_the_session(visit, tmp_path):
    page = visit()
    open_demo(page)
    assert page.locator("#steps").is_hidden()
    page.locator("#smoothness").fill("1")
    settled(page)
    ticked = {box.get_attribute("value"): box.is_checked() for box in page.locator("#steps input").all()}
    assert {name for name, counts in ticked.items() if not counts} == {"silence", "mix"}
    for name, counts in ticked.items():
        if counts and name != "loudness":
            page.locator(f"#steps input[value={name}]").uncheck()
            settled(page)
    says = page.locator("#says").text_content()
    assert says.count("Steps in") == says.count("Steps in loudness") == 1
    other = visit()
    file = saved(page, tmp_path, "session")
    other.set_input_files("#files", {"name": "s.json", "mimeType": "application/json", "buffer": file.encode()})
    settled(other)
    assert other.locator("#steps input:checked").evaluate_all("found => found.map(({value}) => value)") == ["loudness"]
    assert titles(other) == titles(page)


def test_where_each_likes_to_stand_is_a_table_that_follows_the_order(visit):
    page = visit()
    open_demo(page)
    page.click("#likes-all summary")
    page.locator("#likes-table b").nth(80).wait_for(state="attached")
    assert page.locator("#likes-table i.here").count() == 9
    assert page.locator("#likes-table span").all_text_contents() == titles(page)
    page.locator(".row .name").nth(4).click()
    assert page.locator("#one-likes i").count() == 9
    page.get_by_role("button", name="First", exact=True).click()
    settled(page)
    assert page.locator("#likes-table span").all_text_contents() == titles(page)


def test_a_session_of_the_first_version_opens(visit, tmp_path):
    page = visit()
    open_demo(page)
    file = json.loads(saved(page, tmp_path, "session"))
    for item in file["items"]:
        item["artist"] = item.pop("creator")
    del file["medium"]
    curve = {"knots": [0, 1], "values": [-1.5, 1.5], "name": "steady-rise"}
    wishes = {"curve": curve, "exactly": None, "fixed": {"0": 4}, "together": [], "apart": False, "sides": 2,
              "sideLimit": 1.1, "limit": 1.5, "smoothness": 0}  # fmt: skip
    old = {**file, "version": 1, "state": {"wishes": wishes, "past": [{**wishes, "limit": None}]}}
    other = visit()
    buffer = json.dumps(old).encode()
    other.set_input_files("#files", {"name": "old.json", "mimeType": "application/json", "buffer": buffer})
    settled(other)
    assert (other.input_value("#limit"), other.input_value("#side-limit")) == ("1.5m", "1.1m")
    assert other.locator("#arc-name").text_content() == "steady-rise"
    whole = check_export(other, tmp_path)
    assert (len(whole["sides"]), sum(whole["lengths"]) <= 90, whole["ordering"][0]) == (2, True, 4)
    other.click("#undo")
    settled(other)
    assert other.input_value("#limit") == ""


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


def test_a_step_that_is_undone_is_not_searched_for_again(visit, tmp_path):
    page = visit()
    open_demo(page)
    asked = []
    page.on("request", lambda one: asked.append(one.url) if one.url.endswith("/api/order") else None)
    fill(page, "#sides", "2")
    two = titles(page)
    fill(page, "#sides", "3")
    three = titles(page)
    assert len(asked) >= 2
    asked.clear()
    for button, expected in (("#undo", two), ("#redo", three), ("#undo", two)):
        page.click(button)
        settled(page)
        assert titles(page) == expected
    assert asked == []
    check_export(page, tmp_path)


def test_keeping_neighbours_leaves_an_order_made_by_hand(visit):
    page = visit()
    open_demo(page)
    page.locator("#rows .row").nth(1).click()
    page.keyboard.press("Alt+Shift+ArrowDown")
    settled(page)
    made = titles(page)
    page.keyboard.press("k")
    settled(page)
    assert titles(page) == made
    page.locator("#kept", has_text="Saved").wait_for()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    settled(page)
    assert titles(page) == made
