"""Look through a built site: links, anchors, HTML, what it would ask of others; with --browser what a reader's browser says.

python site/check.py [FOLDER] [--browser] [--pictures FOLDER]

--browser prints first paint, bytes and layout shift of some pages at three widths, and what axe finds in light and dark.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import html5lib

SAMPLE = (
    "index",
    "tutorials/musician",
    "how-it-works",
    "gallery/albums",
    "gallery/thomas-hardy-the-mayor-of-casterbridge",
    "results",
    "api",
)
LOOKS = ((1440, 900, "light"), (1024, 768, "dark"), (390, 844, "light"))
# What html5lib calls an error and the living standard does not.
FINE = {"expected-doctype-but-got-unknown", "unexpected-char-in-comment"}
WATCH = """
window.seen = { shift: 0 };
new PerformanceObserver((list) => list.getEntries().forEach((one) => one.hadRecentInput || (seen.shift += one.value))).observe({ type: "layout-shift", buffered: true });
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).resolve().parents[1] / "build" / "site")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    folder = asked.folder.resolve()
    problems = list(look_through(folder))
    if asked.browser:
        problems += look_in_browser(folder, asked.pictures)
    print("\n".join(problems) or f"{len(list(folder.rglob('*.html')))} pages: nothing wrong")
    sys.exit(bool(problems))


@cache
def parse(page: Path) -> tuple[Any, tuple[str, ...]]:
    """The tree of a page, and what is wrong with its HTML."""
    parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
    tree = parser.parse(page.read_text(encoding="utf-8"))
    return tree, tuple(
        f"{page.name}: {code} {data} at {where}" for where, code, data in parser.errors if code not in FINE
    )


@cache
def ids(page: Path) -> frozenset[str]:
    return frozenset(node.get("id") for node in parse(page)[0].iter() if node.get("id"))


def look_through(folder: Path) -> Iterator[str]:
    """What is wrong with the pages, in words."""
    for page in sorted(folder.rglob("*.html")):
        tree, errors = parse(page)
        yield from errors
        yield from look_at(page, tree, folder)
    for style in folder.rglob("*.css"):
        for target in re.findall(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8")):
            yield f"{style.name}: asks for something from elsewhere: {target}"


def look_at(page: Path, tree: Any, folder: Path) -> Iterator[str]:
    name = page.relative_to(folder)
    found = [node.get("id") for node in tree.iter() if node.get("id")]
    for double in {one for one in found if found.count(one) > 1}:
        yield f"{name}: the id {double} stands twice"
    if not tree.get("lang"):
        yield f"{name}: has no language"
    if sum(1 for _ in tree.iter("h1")) != 1 and name.name not in ("search.html", "genindex.html"):
        yield f"{name}: has {sum(1 for _ in tree.iter('h1'))} headings of the first rank"
    for node in tree.iter():
        if not isinstance(node.tag, str):
            continue
        source = node.get("src") or (node.get("href") if node.tag == "link" else None)
        if source and re.match(r"(https?:)?//", source):
            yield f"{name}: loads {source}"
        target = node.get("src") or node.get("href")
        if target and not re.match(r"[a-z]+:|//", target):
            yield from follow(name, page, target, folder)
        if node.tag == "img" and not node.get("alt"):
            yield f"{name}: a picture says nothing: {node.get('src')}"


def follow(name: Path, page: Path, target: str, folder: Path) -> Iterator[str]:
    path, _, anchor = unquote(target).partition("#")
    file = (page.parent / path.partition("?")[0]).resolve() if path else page
    file = file / "index.html" if file.is_dir() else file
    if not file.exists() or folder not in file.parents:
        yield f"{name}: leads nowhere: {target}"
    elif anchor and file.suffix == ".html" and anchor not in ids(file):
        yield f"{name}: no such place: {target}"


def look_in_browser(folder: Path, pictures: Path | None) -> list[str]:
    """Paint, bytes, shift, and what axe finds."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from benchmarks.bench_page import find_browser

    problems: list[str] = []
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu", "--mute-audio"]
        )
        for width, height, scheme in LOOKS:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.add_init_script(WATCH)
            for name in SAMPLE:
                page = context.new_page()
                asked: list[str] = []
                page.on("request", lambda request, asked=asked: asked.append(request.url))
                page.on("pageerror", lambda error, name=name, told=problems: told.append(f"{name}: {error}"))
                page.goto((folder / f"{name}.html").as_uri())
                page.wait_for_timeout(2500 if name == "index" else 300)
                seen = page.evaluate(
                    "({ shift: seen.shift, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, wide: document.documentElement.scrollWidth })"
                )
                files = {url.partition("?")[0].partition("#")[0] for url in asked if url.startswith("file:")}
                size = sum(
                    Path(unquote(url.removeprefix("file://"))).stat().st_size
                    for url in files
                    if Path(unquote(url.removeprefix("file://"))).exists()
                )
                outside = [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]
                found = Axe().run(page).response["violations"]
                print(
                    f"{width:>5} {scheme:<5} {name:<22} paint {seen['paint'] or 0:4.0f} ms  {size / 1000:5.0f} kB  shift {seen['shift']:.4f}  axe {len(found)}"
                )
                problems += [f"{name} at {width}, {scheme}: asks {url}" for url in outside]
                problems += [
                    f"{name} at {width}, {scheme}: {one['id']} {[node['target'] for node in one['nodes']][:3]}"
                    for one in found
                ]
                if seen["wide"] > width:
                    problems.append(f"{name} at {width}: {seen['wide']} pixels wide")
                if seen["shift"] > 0.1:
                    problems.append(f"{name} at {width}: shifts by {seen['shift']:.3f}")
                if pictures:
                    pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=pictures / f"{name.replace('/', '-')}-{width}-{scheme}.png")
                page.close()
            context.close()
        browser.close()
    return problems


if __name__ == "__main__":
    main()
