"""Build the site: stage the documents, write the pages that are made of numbers, run Sphinx.

python site/build.py [FOLDER]     by default build/site
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "src" / "fabula" / "web" / "static"
sys.path.insert(0, str(HERE))
# Documents of the root, and what they are called on the site.
NAMES = {"CHANGELOG.md": "changelog.md", "ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md",
         "SECURITY.md": "security.md", "README.md": "index.md", "LICENSE": "licence.md"}  # fmt: skip
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
IMPORT = re.compile(
    r'^import (?:\* as (?P<all>\w+)|\{(?P<names>[^}]*)\}) from "\./(?P<file>[\w-]+\.js)";$', re.MULTILINE
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const)\s)", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function|const) ([\w$]+)", re.MULTILINE)
SHELL = re.compile(r'<div class="highlight-sh.*?</pre>', re.DOTALL)
OPTION = re.compile(r"(?<=[\s>])(--?\w[\w-]*)")  # is not broken after its dashes
COMMENT = re.compile(r"^[ \t]*//[^\n]*\n|^/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    source = target.with_name(f"{target.name}-source")
    for folder in (target, source):
        shutil.rmtree(folder, ignore_errors=True)
    stage(source)
    from sphinx.cmd.build import build_main

    doctrees = target.with_name(f"{target.name}-doctrees")
    failed = build_main(["-q", "-W", "--keep-going", "-j", "2", "-d", str(doctrees), str(source), str(target)])
    if failed:
        sys.exit(failed)
    copy_images(source, target)
    for page in target.rglob("*.html"):
        page.write_text(mend(page.read_text(encoding="utf-8")), encoding="utf-8")
    for spare in ("objects.inv", ".buildinfo", ".buildinfo.bak"):
        (target / spare).unlink(missing_ok=True)
    print(f"written: {target / 'index.html'}")


def mend(text: str) -> str:
    """What the theme leaves out for those who hear the page, or have no pointer."""
    for wrong, right in (
        ('role="heading">', 'role="heading" aria-level="2">'),
        ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
        ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
        ("<pre>", '<pre tabindex="0">'),
        ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
        ('<th class="head"></th>', '<td class="head"></td>'),
        ('<th class="head"><p></p></th>', '<td class="head"></td>'),
        ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
    ):
        text = text.replace(wrong, right)
    return SHELL.sub(lambda block: OPTION.sub(r'<span class="option">\1</span>', block.group()), text)


def copy_images(source: Path, target: Path) -> None:
    """Pictures that a document shows by HTML of its own."""
    for page in target.glob("*.html"):
        for name in re.findall(r'(?:src|href)="(images/[^"]+)"', page.read_text(encoding="utf-8")):
            if (source / name).exists():
                (target / "images").mkdir(exist_ok=True)
                shutil.copy(source / name, target / name)


def stage(source: Path) -> None:
    """All documents in one folder, with links among them."""
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("*.py", "__pycache__", "notebooks"))
    shutil.copytree(HERE / "pages", source, dirs_exist_ok=True)
    shutil.copy(HERE / "conf.py", source)
    for name, page in NAMES.items():
        if name not in ("README.md", "LICENSE"):
            shutil.copy(ROOT / name, source / page)
    (source / "licence.md").write_text(
        f"# Licence\n\n```text\n{(ROOT / 'LICENSE').read_text(encoding='utf-8')}```\n", encoding="utf-8"
    )
    with (source / "formats.md").open("a", encoding="utf-8") as formats:
        formats.write("\n```{toctree}\n:hidden:\n:glob:\n\nplaces/*\n```\n")
    list_others(source)
    from gallery import write_pages

    write_pages(json.loads((HERE / "gallery.json").read_text(encoding="utf-8")), source / "gallery")
    for page in source.rglob("*.md"):
        home = page.relative_to(source)
        pages = {there: Path(name) for name, there in NAMES.items() if name != "README.md"}  # the first page is its own
        back = pages.get(str(home), Path("docs") / home)
        page.write_text(relink(page.read_text(encoding="utf-8"), back, home, source), encoding="utf-8")
    stage_static(source / "_static")


def list_others(source: Path) -> None:
    """A document that the first page does not name yet stands at the end of its list."""
    index = source / "index.md"
    text = index.read_text(encoding="utf-8")
    named = {
        line.rpartition("<")[2].strip("> ")
        for block in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
    }
    pages = (str(page.relative_to(source).with_suffix("")) for page in source.rglob("*.md"))
    others = sorted(page for page in pages if page not in named and page != "index" and not page.startswith("places/"))
    if others:
        listed = "\n".join(others)
        index.write_text(f"{text}\n```{{toctree}}\n:hidden:\n:caption: More\n\n{listed}\n```\n", encoding="utf-8")


def relink(text: str, back: Path, home: Path, source: Path) -> str:
    """The links of a document at `back` in the repository, as they are on the site; what is not there is no link."""

    def point(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path or target.startswith("mailto:"):
            return match.group()
        real = os.path.normpath(back.parent / path)
        there = NAMES.get(real, str(Path(real).relative_to("docs")) if real.startswith("docs/") else None)
        if there is None or not (source / there).is_file():
            if not (ROOT / real).exists():
                sys.exit(f"{home}: leads nowhere: {target}")
            return words
        path = os.path.relpath(there, home.parent)
        return f"{mark}[{words}]({path}{'#' + anchor if anchor else ''})"

    return LINK.sub(point, text)


def stage_static(folder: Path) -> None:
    """Styles, the page's own scripts in one, and the sound of the demo."""
    shutil.copytree(HERE / "static", folder, ignore=shutil.ignore_patterns("*.js"))
    shutil.copy(PAGE / "icon.svg", folder)
    shutil.copytree(ROOT / "src" / "fabula" / "demo", folder / "demo")
    data = (HERE / "demo.json").read_text(encoding="utf-8").strip()
    (folder / "stage.js").write_text(bundle("stage.js", f"const DEMO = {data};"), encoding="utf-8")
    css = (
        (PAGE / "desk.css").read_text(encoding="utf-8").split(".fields {")[0],
        (PAGE / "player.css").read_text(encoding="utf-8"),
    )
    own = (HERE / "static" / "stage.css").read_text(encoding="utf-8")
    (folder / "stage.css").write_text(
        ".stage {\n" + "\n".join(css).replace("position: sticky; bottom: 0; ", "") + "}\n" + own, encoding="utf-8"
    )


def bundle(first: str, head: str) -> str:
    """One plain script of a module and all that it imports: a page opened from a disk loads no modules."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        own = HERE / "static" / name
        text = (own if own.exists() else PAGE / name).read_text(encoding="utf-8")
        for match in IMPORT.finditer(text):
            if match["file"] not in done:
                add(match["file"])
        body = IMPORT.sub(
            lambda m: f"const {m['all'] or '{' + m['names'].replace(' as ', ': ') + '}'} = modules[{m['file']!r}];",
            text,
        )
        body = COMMENT.sub("", EXPORT.sub("", body))
        done[name] = f"modules[{name!r}] = (() => {{\n{body}\nreturn {{ {', '.join(EXPORTED.findall(text))} }};\n}})();"

    add(first)
    return "(() => {\n" + head + "\nconst modules = {};\n" + "\n".join(done.values()) + "\n})();\n"


if __name__ == "__main__":
    main()
