"""Write docs/licences.md: the licence of every package that the base install and each extra bring, as they say it.

``python release/licences.py`` in an environment with all extras; ``--check`` fails where the page is behind.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).resolve().parents[1] / "docs" / "licences.md"
HEAD = """# Licences of what is installed

fabula is under the MIT licence. This is what the base install and each extra bring on Linux, with the licence that each
package states, written by `python release/licences.py`. An extra lists what it brings beyond the base. mutagen (extra
`tags`) and pillow-jxl-plugin (extra `jxl`) are under the GPL: who passes on a program that contains them is bound by
that; fabula works without.
"""


def brought(name: str, extras: frozenset[str], found: dict[str, str]) -> dict[str, str]:
    """Package -> licence of all that an installed package requires, with some of its extras."""
    for line in metadata.requires(name) or []:
        need = Requirement(line)
        wanted = any(not need.marker or need.marker.evaluate({"extra": extra}) for extra in (extras or {""}))
        key = re.sub(r"[-_.]+", "-", need.name).lower()
        if not wanted or (key in found and key != "fabula"):
            continue
        try:
            found[key] = licence(need.name)
        except metadata.PackageNotFoundError:
            continue
        brought(need.name, frozenset(need.extras), found)
    return found


def licence(name: str) -> str:
    """What a package says of its licence: the expression, else the classifiers, else the first line of the text."""
    about = metadata.metadata(name)
    if about.get("License-Expression"):
        return about["License-Expression"]
    stated = [c.rsplit(" :: ", 1)[-1] for c in about.get_all("Classifier") or [] if c.startswith("License :: ")]
    stated = [c for c in stated if c != "OSI Approved"]
    text = (about.get("License") or "").strip().splitlines()
    return " or ".join(stated) or (text[0][:60] if text else "not stated")


def page() -> str:
    """The whole page."""
    extras = metadata.metadata("fabula").get_all("Provides-Extra") or []
    base = brought("fabula", frozenset(), {})
    base.pop("fabula", None)
    parts = [HEAD, _list("base", base)]
    for extra in sorted(set(extras) - {"all"}):
        more = {k: v for k, v in brought("fabula", frozenset({extra}), {}).items() if k not in base and k != "fabula"}
        parts.append(_list(f"`{extra}`", more))
    return "\n".join(parts)


def _list(title: str, found: dict[str, str]) -> str:
    """The packages of each licence, those of most packages first."""
    by: dict[str, list[str]] = {}
    for name, of in sorted(found.items()):
        by.setdefault(of, []).append(name)
    lines = sorted((-len(names), f"- **{of}**: {', '.join(names)}") for of, names in by.items())
    return f"## {title}\n\n" + "".join(f"{line}\n" for _, line in lines)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
