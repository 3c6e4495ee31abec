"""Letters of RTF: bytes in the encodings of fonts and files, of two bytes too, and what stands between words."""

import pytest

from fabula.media.text.passages import parse

FONTS = r"{\fonttbl{\f0\fcharset0 A;}{\f1\fnil\fcharset204 Times CYR;}{\f2\fcharset128 Mincho;}{\f3\fcharset77 G;}}"


def coded(text: str, codec: str) -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(codec))


@pytest.mark.parametrize(
    ("head", "written", "said"),
    [
        (r"\ansi\ansicpg1252\deff0", rf"\f1 {coded('Она', 'cp1251')}\f0  caf\'e9", "Она café"),
        (r"\ansi\ansicpg1252\deff0", rf"{{\f1 {coded('Она', 'cp1251')}}} caf\'e9", "Она café"),
        (r"\ansi\ansicpg1252\deff1", rf"{coded('Она', 'cp1251')} \f0\'e9 \plain {coded('Она', 'cp1251')}", "Она é Она"),
        (r"\ansi\ansicpg1252\deff0", rf"\f2 {coded('ソ表', 'cp932')}", "ソ表"),
        (r"\ansi\ansicpg932", coded("彼女は海", "cp932") + "A", "彼女は海A"),
        (r"\ansi\ansicpg932", r"\'83A \'83\\ \'83\'5c", "ア ソ ソ"),
        (r"\ansi\ansicpg932", rf"\uc2\u24444{coded('彼', 'cp932')}\u22899{coded('女', 'cp932')}.", "彼女."),
        (r"\mac", r"caf\'8e", "café"),
        (r"\ansi\ansicpg10000", r"caf\'8e", "café"),
        (r"\pc", r"caf\'82", "café"),
        (r"\ansi\deff0", r"\f3 caf\'8e", "café"),
        (r"\ansi", r"bl\page next\tab word\line end\emspace so", "bl\nnext\tword\nend so"),
        (r"\ansi", r"\page rain", "rain"),
    ],
)
def test_letters_of_rtf(tmp_path, head, written, said):
    (tmp_path / "a.rtf").write_text(f"{{\\rtf1{head}{FONTS}\n\\pard {written}\\par\n}}", encoding="ascii")
    assert [block.text for block in parse(str(tmp_path / "a.rtf")).blocks] == [said]


def test_bytes_that_are_not_escaped(tmp_path):
    (tmp_path / "a.rtf").write_bytes(b"{\\rtf1\\ansi\\ansicpg1251 " + "Она вышла".encode("cp1251") + b"\\par}")
    assert parse(str(tmp_path / "a.rtf")).blocks[0].text == "Она вышла"
