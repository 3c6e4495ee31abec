"""The site: it is built without a warning, leads nowhere wrong, and its first page works as the page does."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fabula

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "site"
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DEMO = json.loads((SITE / "demo.json").read_text(encoding="utf-8"))


def run(*command: str | Path, limit: float = 110) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False, timeout=limit
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    done = run(SITE / "build.py", folder, limit=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_public_name_is_on_the_page_of_names():
    page = (SITE / "pages" / "api.md").read_text(encoding="utf-8")
    told = set(re.findall(r"auto\w+:: (?:fabula\.)*(\w+)$", page, re.MULTILINE))
    assert set(fabula.__all__) - told - {"__version__"} == set()


def test_orders_along_a_template_are_two_sorts_as_the_first_page_does_them():
    essence = sorted(item["essence"] for item in DEMO["collection"]["items"])
    for one in DEMO["templates"]:
        targets = fabula.Template(one["knots"], one["values"], one["name"]).at(
            [j / (len(essence) - 1) for j in range(len(essence))]
        )
        least = sum(abs(a - b) for a, b in zip(essence, sorted(targets), strict=True))
        laid = [DEMO["collection"]["items"][item]["essence"] for item in DEMO["answers"][one["name"]]["ordering"]]
        assert sum(abs(a - b) for a, b in zip(laid, targets, strict=True)) == pytest.approx(least, abs=0.01), one[
            "name"
        ]


def test_the_first_page_has_every_element_that_the_scripts_of_the_page_ask_for():
    make = runpy.run_path(str(SITE / "build.py"))["bundle"]
    asked = set(re.findall(r'\$\("([\w-]+)"\)', make("stage.js", "")))
    there = set(re.findall(r'id="([\w-]+)"', (SITE / "pages" / "index.md").read_text(encoding="utf-8")))
    assert asked - there <= {"one-wave"}  # of the item chosen, which is not shown here


def test_links_lead_where_they_did_and_none_is_lost(tmp_path):
    relink = runpy.run_path(str(SITE / "build.py"))["relink"]
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "index.md").write_text("")
    page = "[all](gallery/index.md#a), [tests](../tests/conftest.py), [there](https://a.b)"
    told = relink(page, Path("docs/index.md"), Path("index.md"), tmp_path)
    assert told == "[all](gallery/index.md#a), tests, [there](https://a.b)"
    with pytest.raises(SystemExit, match=re.escape("index.md: leads nowhere: nothing.md")):
        relink("[x](nothing.md)", Path("docs/index.md"), Path("index.md"), tmp_path)


@pytest.mark.slow
def test_the_first_page_leads_on(built):
    body = (built / "index.html").read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    source = (SITE / "pages" / "index.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((\S+)\.md\)", source):
        assert f'href="{target}.html"' in body, target


@pytest.mark.slow
def test_the_stored_orders_are_those_of_today():
    done = run("-W", "ignore", SITE / "make_demo.py", "--check")
    assert done.returncode == 0, done.stderr or "run: python site/make_demo.py"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "at"), [("albums", 0), ("novels", 2), ("books", 0)])
def test_the_gallery_is_what_its_script_computes(kind, at, data, monkeypatch):
    monkeypatch.syspath_prepend(SITE)
    make = importlib.import_module("make_gallery")
    monkeypatch.setattr(make, kind.upper(), getattr(make, kind.upper())[at : at + 1])
    [found] = getattr(make, kind)(data)
    stored = json.loads((SITE / "gallery.json").read_text(encoding="utf-8"))
    assert stored["version"] == fabula.__version__
    for name, value in stored[kind][at].items():
        assert found[name] == (pytest.approx(value, abs=1) if name in ("heights", "low", "high") else value), name


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "tutorials").glob("*.md")), ids=lambda page: page.stem)
def test_every_command_of_a_tutorial_runs_and_prints_what_is_shown(page):
    done = run(SITE / "fill_tutorials.py", "--check", page, limit=290)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_links_anchors_and_html(built):
    done = run(SITE / "check.py", built, limit=200)
    assert done.returncode == 0, done.stdout
    assert "nothing wrong" in done.stdout
    broken = built / "broken.html"  # the check can fail
    broken.write_text(
        '<!doctype html><html><body><h1>x</h1><a href="no.html">x</a><img src="//elsewhere/x.png"></p></body></html>'
    )
    found = run(SITE / "check.py", built, limit=200).stdout
    broken.unlink()
    for problem in (
        "leads nowhere: no.html",
        "loads //elsewhere",
        "has no language",
        "says nothing",
        "unexpected-end-tag",
    ):
        assert problem in found


@pytest.fixture
def first_page(built):
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=program,
            args=["--no-sandbox", "--disable-gpu", "--mute-audio", "--autoplay-policy=no-user-gesture-required"],
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or wrong.append(request.url)
        )
        page.goto((built / "index.html").as_uri())
        page.wait_for_function("document.querySelectorAll('.knot').length === 5")
        yield page
        browser.close()
        assert wrong == []


def titles(page) -> list[str]:
    return page.eval_on_selector_all(".s-row .s-name", "all => all.map(one => one.textContent)")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.flaky(reruns=2)
def test_the_first_page_orders_plays_and_splits(first_page):
    page, items = first_page, [item["title"] for item in DEMO["collection"]["items"]]
    stored = {name: [items[k] for k in one["ordering"]] for name, one in DEMO["answers"].items()}
    assert titles(page) == stored["icarus"]
    page.get_by_role("button", name="tragedy").click()
    page.wait_for_function("first => document.querySelector('.s-name').textContent === first", arg=stored["tragedy"][0])
    assert titles(page) == stored["tragedy"]
    box = page.locator(".knot .handle").first.bounding_box()  # the first knot from the top to the floor
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 5, box["y"] + 260, steps=6)
    page.mouse.up()
    page.wait_for_function("first => document.querySelector('.s-name').textContent !== first", arg=stored["tragedy"][0])
    page.get_by_role("button", name="proposed").click()
    page.wait_for_function("first => document.querySelector('.s-name').textContent === first", arg=stored[""][0])
    page.click("#two-sides")
    page.wait_for_function("document.getElementById('total').textContent.startsWith('side A')")
    assert titles(page) == [items[k] for k in DEMO["sides"][""]["ordering"]]
    page.click("#play")
    page.wait_for_function("parseInt(document.getElementById('seek').value) > 20")
    found = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(page).response["violations"]
    assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == []
