import pytest

from fabula.media.text.documents import markdown_document, part_bounds, plain_document
from fabula.media.text.heads import names_part
from fabula.media.text.manuscripts import find_parts
from fabula.media.text.passages import read_document, read_item

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DOCX = f"""<?xml version="1.0"?><w:document xmlns:w="{WORD}"><w:body>
<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Rain</w:t></w:r></w:p>
<w:p><w:r><w:t>It rained </w:t></w:r><w:r><w:t>all day.</w:t></w:r></w:p><w:p/></w:body></w:document>"""
CORE = '<p xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>x</dc:title><dc:creator>Ann Lee</dc:creator></p>'
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
ODT = f"""<d xmlns:t="{TEXT}">
<t:h t:outline-level="2">Rain</t:h><t:p>It<t:s/>rained <t:span>all day.</t:span></t:p></d>"""
CONTAINER = '<c><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></c>'
OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Sea</dc:title>
<dc:creator>Ann Lee</dc:creator></metadata><manifest><item id="a" href="one.xhtml"/><item id="b" href="two%20b.xhtml"/>
<item id="c" href="../../../etc/passwd"/></manifest>
<spine><itemref idref="a"/><itemref idref="c"/><itemref idref="b"/></spine></package>"""
EPUB = {
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": OPF,
    "OEBPS/one.xhtml": "<html><body><h1>One</h1><p>It rained.</p></body></html>",
    "OEBPS/two b.xhtml": "<html><body><h1>Two</h1><p>It stopped.</p></body></html>",
}


def test_a_docx_file(packed):
    path = packed("rain.docx", {"word/document.xml": DOCX, "docProps/core.xml": CORE})
    item = read_item(str(path))
    assert (item.title, item.creator, read_document(str(path)).text) == ("Rain", "Ann Lee", "It rained all day.")


def test_an_odt_file(packed):
    path = packed("rain.odt", {"content.xml": ODT})
    assert (read_item(str(path)).title, read_document(str(path)).text) == ("Rain", "It rained all day.")


def test_an_epub_file_and_no_way_out_of_it(packed):
    path = packed("sea.epub", EPUB)
    assert read_document(str(path)).text == "It rained.\n\nIt stopped."
    item = read_item(str(path))
    assert (item.title, item.creator) == ("The Sea", "Ann Lee")
    found = find_parts(read_document(str(path)))
    assert [found.part(k).heading for k in found.items] == ["One", "Two"]


NCX = """<ncx><docTitle><text>The Sea</text></docTitle><navMap>
<navPoint><navLabel><text>Front</text></navLabel><content src="one.xhtml"/></navPoint>
<navPoint><navLabel><text>Chapter 2</text></navLabel><content src="two%20b.xhtml#top"/>
<navPoint><navLabel><text>It stopped.</text></navLabel><content src="two%20b.xhtml#in"/></navPoint></navPoint>
</navMap></ncx>"""


@pytest.mark.parametrize(("contents", "headings"), [(NCX, ["", "Chapter 2"]), (NCX[:90], ["", ""]), ("", ["", ""])])
def test_headings_that_the_contents_of_a_book_alone_know(packed, contents, headings):
    """As LibreOffice writes books: every heading is a paragraph like any other."""
    listed = '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
    path = packed(
        "sea.epub",
        EPUB
        | {
            "OEBPS/book.opf": OPF.replace("</manifest>", listed),
            "OEBPS/toc.ncx": contents,
            "OEBPS/one.xhtml": "<html><body><p>The Sea</p><p>It rained.</p></body></html>",
            "OEBPS/two b.xhtml": "<html><body><p>Chapter 2</p><p>It stopped.</p></body></html>",
        },
    )
    blocks = read_document(str(path)).blocks
    assert [block.text for block in blocks if block.level == 1] == [name for name in headings if name]
    assert "Chapter 2" in [block.text for block in blocks]


def test_a_page(tmp_path):
    path = tmp_path / "rain.html"
    page = (
        "<head><meta charset=iso-8859-1><title>t</title><style>p {}</style></head><h1>Café</h1><p>Déjà<br>vu &amp; so"
    )
    path.write_bytes(page.encode("latin-1"))
    assert (read_item(str(path)).title, read_document(str(path)).text) == ("Café", "Déjà\nvu & so")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings_are_found(tmp_path, encoding):
    path = tmp_path / "rain.txt"
    path.write_bytes("Ça et là\r\n\r\nIl “pleuvait” à Noël.\r\n".encode(encoding))
    assert (read_item(str(path)).title, read_document(str(path)).text) == ("Ça et là", "Il “pleuvait” à Noël.")


def test_front_matter_gives_title_and_author(tmp_path):
    path = tmp_path / "x.md"
    path.write_text('---\ntitle: "Rain"\nauthor: Ann Lee\ndraft: yes\n---\n\n## One\n\nIt *rained*.\n')
    item = read_item(str(path))
    assert (item.title, item.creator, read_document(str(path)).text) == ("Rain", "Ann Lee", "It rained.")


def test_headings_under_lines():
    assert [block.level for block in markdown_document("Rain\n====\n\nIt rained.\n\nTwo\n---\nEnd").blocks] == [
        1,
        0,
        2,
        0,
    ]


@pytest.mark.parametrize(
    "heading",
    ["CHAPTER IV", "Chapter 4. The Boat", "IV.", "4. The Boat", "Erstes Kapitel", "Chapitre premier", "第一章 雨"],
)
def test_headings_of_plain_text_are_cut_off(heading):
    assert plain_document(f"{heading}\n\nIt rained.\n\nIt stopped.").text == "It rained.\n\nIt stopped."


@pytest.mark.parametrize(
    ("kind", "spelled"),
    [
        ("Chapter", "One, Twelve, Thirteen, Twenty, Twenty-One, the Thirteenth, Nineteen: The Boat, Forty two, Last"),
        ("Capitolo", "primo, terzo, sei, undicesimo, ventitré, ultimo"),
        ("Capítulo", "terceiro, décimo terceiro, once, veintiuno, sétimo, vinte e um, único"),
        ("Chapitre", "premier, deuxième, dix-septième, vingt et unième, treize. La Mer"),
        ("Kapitel", "Dreizehn, Einundzwanzig"),
        ("Hoofdstuk", "een, twaalf"),
    ],
)
def test_chapters_counted_in_words_are_parts(kind, spelled):
    heads = [f"{kind} {word}" for word in spelled.split(", ")]
    text = "\n\n".join(f"{head}\n\nIt rained on day {k}." for k, head in enumerate(heads))
    assert [block.text for block in plain_document(text).blocks if block.level] == heads


@pytest.mark.parametrize(
    "line", ["Act once, and be done", "Letter due tomorrow", "Book seize it", "Chapter the", "Part and parcel"]
)
def test_what_is_a_number_in_another_language_is_none(line):
    assert not names_part(line)


@pytest.mark.parametrize(
    "line", ["I know.", "I walked on", "Il pleuvait", "Part of me died", "Book me a room", "1920 came"]
)
def test_what_only_begins_like_a_heading_is_text(line):
    assert plain_document(f"It rained.\n\n{line}\n\nIt stopped.").text.count("\n\n") == 2


def test_running_heads_and_page_numbers_are_no_text():
    pages = "\n\n".join(f"THE SEA\n\nIt rained on day {word}.\n\n{n}" for n, word in enumerate("abcd", start=17))
    assert plain_document("Rain fell here.\n\n" + pages).text.count("\n\n") == 4
    assert plain_document("He came.\n\nShe left.\n\nEND OF VOLUME ONE").text == "He came.\n\nShe left."


def test_a_refrain_is_text():
    poem = "\n\n".join(["The sea, the sea", "comes in"] * 4)
    assert plain_document("It was so.\n\n" + poem).text.count("The sea") == 4


def test_the_first_line_of_a_text_that_goes_on_is_no_title():
    assert plain_document("It rained.\n\nIt stopped.").heading == ""
    assert plain_document("one line only").text == "one line only"


def test_parts_by_separators_and_by_empty_lines():
    assert len(part_bounds(markdown_document("One.\n\n***\n\nTwo.\n\n* * *\n\nThree."))) == 3
    assert len(part_bounds(plain_document("One was.\n\nStill.\n\n\n\nTwo was.\n\n\n\n\nThree was."))) == 3


@pytest.mark.parametrize(
    ("style", "level"),
    [
        ('<w:style w:styleId="Ttulo1"><w:name w:val="heading 1"/></w:style>', 1),
        (
            '<w:style w:styleId="Ttulo1"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="4"/></w:pPr></w:style>',
            2,
        ),
        ('<w:style w:styleId="Ttulo1"><w:name w:val="Rubrik"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>', 3),
        ('<w:style w:styleId="Ttulo1"><w:name w:val="Rubrik"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>', 0),
        ('<w:style w:styleId="Ttulo1"><w:name w:val="Subtitle"/></w:style>', 0),
        ('<w:style w:styleId="Ttulo1"><w:name w:val="heading 1"/></w:st', 0),
    ],
)
def test_headings_of_word_by_the_names_of_their_styles(packed, style, level):
    files = {"word/document.xml": DOCX.replace("Heading1", "Ttulo1").replace("all day.", "all day. " * 20)}
    files["word/styles.xml"] = f'<w:styles xmlns:w="{WORD}">{style}</w:styles>'
    assert read_document(str(packed("rain.docx", files))).blocks[0].level == level
