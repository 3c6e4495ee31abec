"""What SECURITY.md promises of the code itself: what it imports, and how it opens what may be hostile."""

from __future__ import annotations

import ast
import gc
import os
import re
import time
import zipfile
from functools import cache
from pathlib import Path

import pytest

import fabula
from fabula.core.template import TemplateSet
from fabula.errors import FabulaError, FileError, InputError
from fabula.media.images.picture_files import read_packet, sidecar_path
from fabula.media.text.packed import read_packed
from fabula.research.bench import BenchCard
from fabula.research.splits import read_recipe
from fabula.sources.fma.archive import fetch_fma
from fabula.sources.playlists.xml_lists import read_library, read_wpl
from fabula.sources.playlists.xspf import read_xspf

HOUSE = Path(fabula.__file__).parent
RUNS_CODE = {"pickle", "shelve", "marshal", "dill", "cloudpickle", "joblib"}
PARSES = ("fromstring", "XMLParser", "iterparse", "ParserCreate", "parseString")
XML = {
    "core/files.py",  # which all others ask
    "media/text/manuscripts.py",  # cuts what was parsed before
    "sources/playlists/xspf.py",
}
ASKED = {"eval", "exec", "compile", "Popen", "run", "urlopen", "open", *PARSES}  # calls that are looked at
DECLARES = '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "ha">]><d>&a;</d>'


@cache
def read_house() -> tuple[dict[str, set[str]], list[tuple[str, ast.Call]]]:
    """The modules that each file imports, and all calls; the trees are not held, each is large."""
    imports: dict[str, set[str]] = {}
    calls = []
    gc.disable()  # many small nodes, none of them garbage
    for path in HOUSE.rglob("*.py"):
        name = path.relative_to(HOUSE).as_posix()
        names = imports.setdefault(name, set())
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
            elif isinstance(node, ast.Call) and name_of(node) in ASKED:
                calls.append((name, node))
    gc.enable()
    return imports, calls


def name_of(call: ast.Call) -> str:
    """The function or method that is called."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def calls(name: str) -> list[tuple[str, ast.Call]]:
    """Where a function or method of that name is called."""
    assert name in ASKED
    return [(path, call) for path, call in read_house()[1] if name_of(call) == name]


def test_nothing_that_runs_code_out_of_data_is_there() -> None:
    for path, names in read_house()[0].items():
        assert not {name.partition(".")[0] for name in names} & RUNS_CODE, path
    assert [path for name in ("eval", "exec", "compile") for path, call in calls(name)
            if isinstance(call.func, ast.Name)] == []  # fmt: skip
    assert all(any(word.arg == "shell" and word.value is not None for word in call.keywords) is False
               for path, call in calls("Popen") + calls("run"))  # fmt: skip


def test_xml_is_parsed_at_few_places_and_each_refuses_what_declares_entities(tmp_path: Path) -> None:
    assert {path for name in PARSES for path, _ in calls(name)} == XML
    assert not any(
        name.startswith(("lxml", "xml.dom", "xml.sax.h")) for names in read_house()[0].values() for name in names
    )
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", DECLARES)
    with pytest.raises(FileError, match="entities of its own"):
        read_packed(str(tmp_path / "a.docx"))
    (tmp_path / "a.xspf").write_text(DECLARES)
    with pytest.raises(FileError, match="document type"):
        read_xspf(tmp_path / "a.xspf")
    (tmp_path / "a.wpl").write_text('<!DOCTYPE smil [<!ENTITY a "b">]><smil><media src="a.mp3"/></smil>')
    with pytest.raises(FileError, match="document type"):
        read_wpl(tmp_path / "a.wpl")
    (tmp_path / "a.xml").write_text('<!DOCTYPE plist [<!ENTITY a "b">]><plist><dict><key>&a;</key></dict></plist>')
    with pytest.raises(FileError, match="is not a library"):
        read_library(str(tmp_path / "a.xml"))
    packet = '<x xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    packet += "<dc:title><r:li>{}</r:li></dc:title></x>"
    assert read_packet(packet.format("Rain")) == {"title": "Rain"}
    assert read_packet('<!DOCTYPE x [<!ENTITY a "ha">]>' + packet.format("&a;")) == {}


def test_titles_within_titles_are_looked_for_once() -> None:
    deep = '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">' + "<dc:title>" * 20_000 + "</dc:title>" * 20_001
    start = time.process_time()
    assert read_packet(deep) == {}
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("name", ["a" * 300 + ".mp3", "a/" * 3000 + "b.mp3"])
def test_a_name_that_no_file_can_have_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.m3u8").write_text(f"#EXTM3U\n{name}\n")
    with pytest.raises(FabulaError) as told:
        fabula.open(tmp_path / "a.m3u8")
    assert "\n" not in str(told.value)


@pytest.mark.timeout(30)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    for name in ("pipe", "a.xmp"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "b.xmp").symlink_to("/dev/zero")
    for read in (TemplateSet.load, read_recipe, BenchCard.load, fabula.load_model):
        with pytest.raises(FabulaError, match=r"pipe: (is no|no such)"):
            read(tmp_path / "pipe")
    for name in ("a.jpg", "b.jpg"):
        with pytest.raises(FileError, match=r"xmp: is not a file"):
            sidecar_path(tmp_path / name)


def test_addresses_are_asked_by_http_alone(tmp_path: Path) -> None:
    assert {path for path, _ in calls("urlopen")} == {"sources/fma/archive.py"}
    for address in ("file:///etc/passwd", "ftp://x/y", "data:,x"):
        with pytest.raises(InputError, match="must start with https:// or http://"):
            fetch_fma(tmp_path, url=address)


def test_pillow_is_told_the_formats() -> None:
    opened = [call for path, call in calls("open") if re.search(r"pillow\(\)|^module\.", ast.unparse(call.func))]
    assert opened
    assert all(any(word.arg == "formats" for word in call.keywords) for call in opened)
