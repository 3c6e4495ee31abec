"""The page's own files: whole, small, and loading nothing from elsewhere."""

from __future__ import annotations

import re

from fabula.web.app import STATIC

FILES = sorted(path.name for path in STATIC.iterdir())


def test_the_page_is_served(server):
    page = server.client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert '<script type="module" src="/static/main.js">' in page.text
    for name in FILES:
        answer = server.client.get(f"/static/{name}")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    assert server.client.get("/static/main.js").headers["content-type"].startswith("text/javascript")


def test_nothing_is_loaded_from_elsewhere():
    for name in FILES:
        text = (STATIC / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//[a-z0-9-]+\.[a-z]|@import|innerHTML|insertAdjacentHTML|eval\(", text), name
        assert not re.search(r"<[a-z][^>]*\s(style|on\w+)=", text), name  # the policy forbids them


def test_every_import_is_there():
    for name in FILES:
        if name.endswith(".js"):
            for wanted in re.findall(r'from "\./([^"]+)"', (STATIC / name).read_text(encoding="utf-8")):
                assert wanted in FILES


def test_every_id_in_the_scripts_is_on_the_page():
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([^"]+)"', page))
    assert len(ids) == len(re.findall(r'\bid="', page))  # none twice
    for name in FILES:
        if name.endswith(".js"):
            wanted = set(re.findall(r'\$\("([^"]+)"\)', (STATIC / name).read_text(encoding="utf-8")))
            assert wanted <= ids, name


WORDS = re.compile(r"\b(loudness|duration_ms|tempo|artists?|tracks?|albums?|sounds?|music)\b", re.IGNORECASE)
KINDS = re.compile(
    r'"(?:sound|music)"|(?:runnable|range)-track|(?:previous|next)track|\b(?:artist|album): '
)  # names that are not ours
TEXTS = [*STATIC.parent.rglob("*.py"), *STATIC.glob("*.js"), *STATIC.glob("*.html"), *STATIC.glob("*.css")]


def test_no_word_of_a_medium_is_in_the_page():
    """What things are called comes from the medium."""
    for path in TEXTS:
        assert WORDS.findall(KINDS.sub("", path.read_text(encoding="utf-8"))) == [], path.name


def test_no_option_of_the_command_line_is_named():
    for path in TEXTS:
        text = path.read_text(encoding="utf-8").replace("`fabula order --json`", "")
        text = re.sub(r'(?:setProperty|getPropertyValue)\("--', "", text)  # of a style sheet
        assert path.suffix == ".css" or not re.search(r"(?<![\w-])--[a-z]", text), path.name
