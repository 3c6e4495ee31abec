"""Text files as bytes and back."""

from __future__ import annotations

import codecs

import pytest

from fabula.core.files import Script, decode, find_mark
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
    assert decode_document(data, "x.txt") == text
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
