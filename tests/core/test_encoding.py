"""Text files as bytes and back."""

from __future__ import annotations

import codecs

import pytest

from fabula.core.files import Script, decode, find_mark, guess_encoding
from fabula.errors import FileError
from fabula.media.text.documents import decode as decode_document
from fabula.sources.tables.read_table import read_table

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@pytest.mark.parametrize("encoding", MARKS)
def test_a_byte_order_mark_says_the_encoding_of_tables_and_texts_alike(tmp_path, encoding):
    text = "title,energy\nKünstler,0.5\n"
    data = MARKS[encoding] + text.encode(encoding)
    assert find_mark(data) == (MARKS[encoding], encoding)
    assert decode_document(data, "x.txt")[0] == text
    found, script = decode(data, "x.csv", "a table")
    assert (found, script) == (text, Script(encoding, MARKS[encoding]))
    assert script.encode(found) == data
    (tmp_path / "x.csv").write_bytes(data)
    assert read_table(tmp_path / "x.csv")[0].items[0].title == "Künstler"


def test_without_a_mark_the_first_encoding_that_fits_is_taken():
    assert decode("é".encode("cp1252"), "x", "a table") == ("é", Script("cp1252"))
    with pytest.raises(FileError, match="it holds binary data"):
        decode(b"a\0b", "x", "a table")
    with pytest.raises(FileError, match="line 2 is not utf-8 text"):
        decode(b"a\n\xe9", "x", "a table", ["utf-8"])


# How stories begin, in encodings that say nothing of themselves.
STORIES = {
    "koi8-r": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.",
    "cp1251": "Однажды весною, в час небывало жаркого заката, в Москве, на Патриарших прудах, явились двое.",
    "cp866": "В начале июля, в чрезвычайно жаркое время, под вечер, один молодой человек вышел из своей каморки.",
    "cp932": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
    "euc-jp": "国境の長いトンネルを抜けると雪国であった。夜の底が白くなった。",
    "gb18030": "今天晚上，很好的月光。我不见他，已是三十多年；今天见了，精神分外爽快。",
    "big5": "今天晚上，很好的月光。我不見他，已是三十多年；今天見了，精神分外爽快。",
    "cp1250": "Byl pozdní večer, první máj, večerní máj, byl lásky čas. Hrdliččin zval ku lásce hlas.",
    "iso8859-2": "Litwo! Ojczyzno moja! Ty jesteś jak zdrowie; ile cię trzeba cenić, ten tylko się dowie.",
    "cp1254": "Korkma, sönmez bu şafaklarda yüzen al sancak; sönmeden yurdumun üstünde tüten son ocak. Yıldızım.",
    "cp949": "죽는 날까지 하늘을 우러러 한 점 부끄럼이 없기를, 잎새에 이는 바람에도 나는 괴로워했다.",
}


@pytest.mark.parametrize("encoding", STORIES)
def test_texts_and_tables_of_old_encodings_are_read_by_their_letters(tmp_path, encoding):
    text = STORIES[encoding]
    data = text.encode(encoding)
    assert guess_encoding(data) == encoding
    assert decode_document(data, "x.txt")[0] == text
    table = f"title,energy\n{text.replace(',', ' ')},0.5\nb,0.1\n"
    (tmp_path / "x.csv").write_bytes(table.encode(encoding))
    assert read_table(tmp_path / "x.csv")[0].items[0].title == text.replace(",", " ")


@pytest.mark.parametrize(
    "text",
    [
        "Où allez-vous ? À l'été, là-bas.",
        "«—¿Qué?—»",
        "Größe",
        "£5, à",
        "It cost £20 — a “fortune”…",
        "På øya stod en å.",
        "naïve café",
        "É",
    ],
)
def test_western_texts_stay_what_they_were(text):
    assert guess_encoding(text.encode("cp1252")) == "cp1252"


@pytest.mark.parametrize("encoding", ["cp1250", "iso8859-2"])
@pytest.mark.parametrize(
    "text",
    [
        "Zażółć gęślą jaźń, powiedział i poszedł spać.",
        "Příliš žluťoučký kůň úpěl ďábelské ódy.",
        "Hazádnak rendületlenűl légy híve, oh magyar; bölcsőd az s majdan sírod is, mely ápol s eltakar. Őrült fűszál.",
    ],
)
def test_languages_of_central_europe_are_read_in_both_encodings(text, encoding):
    assert decode_document(text.encode(encoding), "x.txt")[0] == text


def test_a_byte_that_is_broken_or_cut_changes_nothing():
    for encoding, text in STORIES.items():
        data = (text * 3).encode(encoding)
        assert guess_encoding(data[:-1]) == encoding
        assert guess_encoding(data + b"\xff\xff" + data) == encoding
