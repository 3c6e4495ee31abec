"""Sphinx: what the site is built with. `make site` stages the documents and runs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

import fabula

project = "fabula"
author = "the fabula authors"
version = release = fabula.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["notebooks/**"]
templates_path: list[str] = []
root_doc = "index"
nitpicky = False
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
add_module_names = False

html_theme = "furo"
html_title = "fabula"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = html_show_copyright = False
html_baseurl = ""
html_theme_options = {
    "navigation_with_keys": False,
    "light_css_variables": {"color-brand-primary": "#2560cc", "color-brand-content": "#2052b0", "font-stack": "system-ui, -apple-system, 'Segoe UI', sans-serif"},
    "dark_css_variables": {"color-brand-primary": "#7aaeff", "color-brand-content": "#8bb8ff", "font-stack": "system-ui, -apple-system, 'Segoe UI', sans-serif"},
    "footer_icons": [],
}  # fmt: skip
html_search_language = "en"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def inline_figures(app: Any, doctree: nodes.document, name: str) -> None:
    """Our own figures stand in the page itself, so that they follow its theme."""
    for image in list(doctree.findall(nodes.image)):
        path = Path(app.srcdir) / image["uri"]
        if (
            path.suffix != ".svg"
            or not path.exists()
            or 'class="fig' not in (text := path.read_text(encoding="utf-8"))[:400]
        ):
            continue
        label = nodes.unescape(image.get("alt", "")).replace('"', "&quot;")
        drawn = STYLE.sub("", text[text.index("<svg") :]).replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        image.replace_self(nodes.raw("", f'<span class="fig-box" tabindex="0">{drawn}</span>', format="html"))


def join_returns(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What a function gives back is told in sentences here, and not as a list of types."""
    for at in range(len(lines) - 1):
        if lines[at].strip() in ("Returns", "Yields") and set(lines[at + 1].strip()) == {"-"}:
            end = next((k for k in range(at + 2, len(lines)) if set(lines[k].strip()) == {"-"}), len(lines) + 1) - 1
            body = [line.strip() for line in lines[at + 2 : end] if line.strip()]
            lines[at + 2 : end] = [" ".join(body), ""]
            return


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", join_returns, priority=400)  # before napoleon
    app.connect("doctree-resolved", inline_figures)
