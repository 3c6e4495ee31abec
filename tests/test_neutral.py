"""Nothing above media/ knows a medium: no code there names one of music's features, or what music calls things."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "fabula"
ABOVE = ("session", "research", "jobs", "report", "web", "cli")
WORDS = re.compile(r"(?i)(?<![a-z])(loudness|duration_ms|tempo|artists?|tracks?|albums?|sounds?)(?![a-z])")
# What a command's help may say by way of example, and names that are no words of a medium.
FINE = re.compile(r"fabula |album\.csv|new-album|album-\d|--apart artist|such as artist|other\.csv|--tempo")


def texts(path: Path) -> list[tuple[int, str]]:
    """Names and texts in the code of a module, docstrings and comments aside, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            found.append((node.lineno, node.value))
        elif isinstance(node, ast.Name):
            found.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute):
            found.append((node.lineno, node.attr))
        elif isinstance(node, ast.arg):
            found.append((node.lineno, node.arg))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append((node.lineno, node.name))
    return found


@pytest.mark.parametrize("layer", ABOVE)
def test_no_code_names_a_medium(layer):
    named = [
        f"{path.relative_to(SOURCE)}:{line}: {text[:60]!r}"
        for path in sorted((SOURCE / layer).rglob("*.py"))
        for line, text in texts(path)
        if WORDS.search(text.replace("_", " ") if "duration" not in text else text) and not FINE.search(text)
    ]
    assert not named, "\n".join(named)


def test_the_test_can_fail(tmp_path):
    file = tmp_path / "x.py"
    file.write_text('"""A track."""\nitem.artist\nx = "loudness"\n')
    assert [text for _, text in texts(file) if WORDS.search(text)] == ["artist", "loudness"]
