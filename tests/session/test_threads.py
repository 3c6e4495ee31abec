"""Threads of names: which are found, what is told of them, and how they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.core.collection import Collection, Item
from fabula.errors import InputError
from fabula.media.medium import Threads
from fabula.media.text.pairs import names_along
from fabula.report.figures import threads_figure
from fabula.report.page import order_page
from fabula.session.explain import describe_threads
from fabula.session.session import open_session


def texts_of(*texts):
    return Collection("c", [Item(str(k), f"T{k}", details={"text": text}) for k, text in enumerate(texts)])


def test_names_that_several_texts_share():
    found = names_along(
        texts_of(
            "Then Ann met Mr Tom. He saw old Ann, and the End was near the end, the end.",
            "Once more Ann sat by Tom, and old Tom slept. It was the End of it, in the end.",
            "And here came Carl and Carl and Carl, alone at the End.",
        )
    )
    assert found.names == ("Ann", "Tom")  # Carl is in one alone, End is a word, Mr is a title
    assert found.counts.tolist() == [[2, 1], [1, 2], [0, 0]]


def test_in_german_nouns_are_no_names():
    text = (
        "Und dann sah die Frau den Hund, und der Hund sah Anna. Da kam Anna mit dem Hund, und dann sagte Anna nichts. "
    )
    found = names_along(texts_of(text, text))
    assert found.names == ("Anna",)


def test_nothing_where_there_are_no_names():
    assert names_along(texts_of("it rained", "it stopped")) is None


def test_sides_part_threads():
    threads = Threads(("Ann", "Tom", "Eve", "Ed"), np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]))
    told = describe_threads(threads, np.array([0, 1, 2]), breaks=(2,))
    assert told == ["brings in Ann and Tom", "goes on with Ann and brings in Eve", "brings in Ed"]


def test_a_ribbon_each_and_no_markup_of_the_texts():
    threads = Threads(("<b>", "Tom"), np.array([[1.0, 0], [0, 2], [3, 1]]))
    drawn = threads_figure(threads, ["<i>", "b", "c"])
    assert drawn.count('class="flow"') == 4  # an item that has it
    assert "<b>" not in drawn
    assert "<i>" not in drawn


@pytest.fixture
def folder(tmp_path):
    for number, (one, other) in enumerate([("Ann", "Tom"), ("Tom", "Eve"), ("Eve", "Ann"), ("Tom", "Ann")]):
        body = f"Then old {one} met young {other} by the good sea, and {one} was glad of it. "
        (tmp_path / f"{number}.txt").write_text(body * 12, encoding="utf-8")
    return tmp_path


def test_reasons_and_the_report_tell_of_them(folder):
    ordered = open_session(folder).order()
    assert "brings in" in ordered.reasons[0]
    assert any("goes on with" in reason for reason in ordered.reasons[1:])
    page = order_page(ordered)
    assert "<h2>Threads</h2>" in page
    assert "<h2>The arc of the whole</h2>" in page


def test_what_a_session_only_names_is_not_read(folder):
    from fabula.session.open import dump_session, load_session

    session, _ = load_session(dump_session(open_session(folder, by="words"), {}))
    assert session.threads is None
    assert "<h2>The arc of the whole</h2>" not in order_page(session.order())


def test_a_model_reads_nothing_that_a_saved_session_names(folder, tmp_path, monkeypatch):
    from fabula.media.text import passages as files
    from fabula.session.open import dump_session, load_session

    saved = dump_session(open_session(folder, by="words"), {})
    saved["by"] = None
    secret = tmp_path / "secret.txt"
    secret.write_text("Nobody may read this.")
    for item in saved["items"]:
        item["path"] = str(secret)
    monkeypatch.setattr(files, "read_document", lambda path: pytest.fail(f"{path} was read"))
    session, _ = load_session(saved, model="prose")
    assert len(session.order(alternatives=1).ordering) == len(saved["items"])
    assert session.likelihood is None
    with pytest.raises(InputError, match="say which column"):
        session.by(model="prose")


def test_the_essence_of_what_is_stored_is_found_again(folder):
    from dataclasses import replace

    session = open_session(folder)
    items = [replace(item, path=f"shown/{number}.txt") for number, item in enumerate(session.collection.items)]
    source = replace(session.source, files=False, collection=replace(session.collection, items=tuple(items)))
    again = replace(session, source=source).by(model="prose")  # as the page asks: what is shown is not to be opened
    assert again.order(alternatives=1).ordering.tolist() == session.order(alternatives=1).ordering.tolist()
