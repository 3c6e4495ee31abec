"""Plain text as Markdown and back: no word and no sign of it is lost, and what is marked stays marked."""

import pytest
from hypothesis import given, settings, strategies as st

from fabula.media.text.documents import (
    PARAGRAPH,
    Document,
    TextBlock,
    bare,
    escape,
    html_document,
    mark_looks,
    markdown_document,
    plain_document,
)

PIECES = st.sampled_from(
    ["*", "**", "_", "__", "`", "```", "~~", "~", "#", "##", "\\", "<", ">", "<b", "<!--", "-->", "[", "]", "](", ")",
     "!", "&amp;", "&", "-", "--", "---", "===", "=", "+++", "•", "⁂", "❦", "·", " ", "  ", "\n", "\t", "a", "word",
     "é", "1.", "@x", "https://x.y", ":", "\u3000", "\xa0"]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.characters(exclude_categories=["Cs", "Cc"]), max_size=30).map("".join)


def as_paragraph(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip()).strip()


@settings(max_examples=1000, deadline=None)
@given(TEXTS.map(as_paragraph).filter(bool))
def test_plain_text_is_the_same_again(text):
    found = markdown_document(Document((TextBlock(PARAGRAPH, text),)).markup)
    assert [(block.level, block.text) for block in found.blocks] == [(PARAGRAPH, text)]


@settings(max_examples=500, deadline=None)
@given(TEXTS.map(lambda text: " ".join(text.split())).filter(bool))
def test_so_are_headings(text):
    found = markdown_document(Document((TextBlock(2, text),)).markup)
    assert [(block.level, block.text) for block in found.blocks] == [(2, text)]


@settings(max_examples=500, deadline=None)
@given(TEXTS.map(as_paragraph).filter(bool))
def test_beside_words_in_italic(text):
    marked = mark_looks([(0, text + " "), (1, "so"), (0, " " + text)])
    (block,) = markdown_document(marked).blocks
    assert block.text == f"{text} so {text}"


@pytest.mark.parametrize("sign", ["*", "_", "a_b", " * ", "~", "`", "[", "<", "#", "---\n"])
def test_many_signs(sign):
    text = ("x" + sign * 3000).strip()
    assert bare(escape(text)) == text


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("<https://sea.org/a_b_c>", "https://sea.org/a_b_c"),
        ("Write <anna@sea.org>.", "Write anna@sea.org."),
        (r"\*x\* and *y*", "*x* and y"),
        ("`x<y>*z*` and `a`", "x<y>*z* and a"),
        ("**bold _both_** and <b>tags</b>, [a *link*](http://x)", "bold both and tags, a link"),
        ("# C#", "C#"),
        ("# Rain ##", "Rain"),
    ],
)
def test_what_is_marked_in_markdown(markdown, said):
    (block,) = markdown_document(markdown).blocks
    assert block.text == said


def test_what_parts_scenes_and_what_has_no_letters():
    blocks = [TextBlock(-1, text, raw) for text, raw in (("", ""), ("-----", ""), ("", "\\appendix"), ("?!", ""))]
    assert Document(tuple(blocks)).markup == "* * *\n\n* * *\n\n* * *\n\n?!"


def test_pieces_of_words_bring_no_marks():
    parts = [
        (0, "un"),
        (1, "believ"),
        (0, "able, "),
        (2, "I"),
        (0, "t is "),
        (1, "so"),
        (0, "_"),
        (1, " and"),
        (2, " so"),
    ]
    assert mark_looks(parts) == "unbelievable, It is so\\_ *and* **so**"


def test_a_page_with_looks():
    page = html_document("<p>Dear <i>John</i> &lt;john@sea.org&gt;, [see](p. 4) if a &lt;b and c&gt; d *no*.</p>")
    again = markdown_document(page.markup)
    assert again.text == page.text == "Dear John <john@sea.org>, [see](p. 4) if a <b and c> d *no*."
    assert "*John*" in page.markup


def test_a_plain_file():
    text = "Chapter 1\n\n<sigh> He wrote to <anna@sea.org>.\n\n# 1 bottles stood there.\n\ngreen_bottles"
    found = plain_document(text)
    assert [(b.level, b.text) for b in markdown_document(found.markup).blocks] == [
        (b.level, b.text) for b in found.blocks
    ]
