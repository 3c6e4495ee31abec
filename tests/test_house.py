"""The house stays one that a person can hold: what it is made of, counted and printed, and a limit for each count.

``pytest tests/test_house.py -s`` prints the counts.
"""

# ruff: noqa: T201 - the counts are printed

from __future__ import annotations

import ast
import gc
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import fabula

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
SHARED_NAMES = {"__init__.py", "registry.py", "model.py"}  # files that may stand in several folders
NAMED_BY_KIND = {"cli", "encoders", "scorers", "nets", "tasks"}  # folders of a file per command, or per kind
# Participles that do not end in -ed; and words that end so and are none.
IRREGULAR = {
    "begun", "broken", "brought", "built", "chosen", "dealt", "drawn", "driven", "fallen", "felt", "given", "gone",
    "grown", "heard", "held", "hidden", "kept", "known", "laid", "lost", "meant", "met", "said", "seen", "sent",
    "shown", "spent", "taken", "taught", "thrown", "told", "torn", "understood", "won", "worn", "written",
}  # fmt: skip
NO_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "red", "seed", "speed"}

# No count grows past its limit; a limit falls with its count, and rises only with a reason.
LIMITS = {
    "lines": 56_230,  # 49,948 before reviews, children, what is heard, libraries, manuscripts, plug-in media
    "files": 227,
    "imports": 0.082,
    "chain": 22,
    "entered": 58,
    "participles": 0.01,
    "long functions": 0,
    "public names": 22,
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    path: Path
    text: str
    nodes: tuple[ast.AST, ...]

    def functions(self) -> Iterator[Function]:
        return (node for node in self.nodes if isinstance(node, Function))


@cache
def modules() -> dict[str, Module]:
    found = {}
    gc.disable()  # a million small nodes, none of them garbage
    for path in sorted((SRC / "fabula").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        name = ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        found[name] = Module(name, path, text, tuple(ast.walk(ast.parse(text))))
    gc.enable()
    return found


@pytest.fixture(scope="module", autouse=True)
def _forget() -> Iterator[None]:
    """The trees are large: whoever comes later does not carry them."""
    yield
    modules.cache_clear()


def docstring_lines(node: ast.AST) -> range:
    """The lines of the docstring of a module, class or function."""
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return range(body[0].lineno, (body[0].end_lineno or 0) + 1)
    return range(0)


def code_lines(module: Module) -> int:
    """Lines that are no docstring, no comment and not empty."""
    told = {line for node in module.nodes for line in docstring_lines(node)}
    rows = enumerate(module.text.splitlines(), 1)
    return sum(1 for number, row in rows if row.strip() and not row.strip().startswith("#") and number not in told)


def imports(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    return (node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom))


def imported(module: Module) -> set[str]:
    """The modules of the package that a module imports, anywhere, but for type checkers alone."""
    for_types = {
        id(inner)
        for node in module.nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    found: set[str] = set()
    for node in imports(module):
        if id(node) in for_types or not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            found.add(inner if inner in modules() else node.module)
    return found & set(modules()) - {module.name}


def longest_chain() -> list[str]:
    """The longest way from a module to one it imports, to one that imports, and so on."""

    @cache
    def chain(name: str) -> tuple[str, ...]:
        return (name, *max((chain(other) for other in imported(modules()[name])), key=len, default=()))

    return list(max(map(chain, modules()), key=len))


def is_participle(name: str) -> bool:
    word = name.strip("_").split("_")[0]
    return word in IRREGULAR or (word.endswith("ed") and word not in NO_PARTICIPLES)


def body_lines(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1 - len(docstring_lines(function))


@pytest.fixture(scope="module")
def entered(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The modules whose functions run when the demo album is ordered, with nothing measured before."""
    program = """
import json, sys, threading
seen = set()
def look(frame, event, arg):
    code = frame.f_code
    if code.co_flags & 1 and code.co_filename.endswith(".py"):  # no bodies of modules and classes
        seen.add(frame.f_globals.get("__name__", ""))
threading.settrace(look)
sys.settrace(look)
from fabula.cli import main
sys.argv = ["fabula", "order", sys.argv[1]]
try:
    main()
except SystemExit as stop:
    if stop.code:
        raise
sys.settrace(None)
print(json.dumps(sorted(name for name in seen if name.startswith("fabula"))), file=sys.stderr)
"""
    environment = {**os.environ, "PYTHONPATH": str(SRC), "FABULA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-c", program, str(SRC / "fabula" / "demo")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True, env=environment)
    return list(json.loads(run.stderr.splitlines()[-1]))


def test_lines_and_files() -> None:
    lines = sum(module.text.count("\n") for module in modules().values())
    print(f"\nlines {lines}, files {len(modules())}")
    assert lines <= LIMITS["lines"]
    assert len(modules()) <= LIMITS["files"]


def test_imports_are_a_small_share_of_the_code() -> None:
    rows = sum((node.end_lineno or 0) - node.lineno + 1 for m in modules().values() for node in imports(m))
    share = rows / sum(map(code_lines, modules().values()))
    print(f"\nimports {share:.1%} of the code")
    assert share <= LIMITS["imports"]


def test_the_longest_chain_of_imports() -> None:
    chain = longest_chain()
    print(f"\nlongest chain of imports {len(chain)}: {' > '.join(name.removeprefix('fabula.') for name in chain)}")
    assert len(chain) <= LIMITS["chain"]


def test_ordering_the_demo_enters_few_modules(entered: list[str]) -> None:
    print(f"\nmodules entered {len(entered)}: {' '.join(name.removeprefix('fabula.') for name in entered)}")
    assert len(entered) <= LIMITS["entered"]


def test_functions_are_named_by_what_they_do() -> None:
    names = [function.name for module in modules().values() for function in module.functions()]
    bad = sorted(filter(is_participle, names))
    print(f"\nparticiples {len(bad)} of {len(names)} functions: {' '.join(bad)}")
    assert len(bad) <= LIMITS["participles"] * len(names)


def test_no_class_name_stands_twice() -> None:
    names = Counter(
        node.name for module in modules().values() for node in module.nodes if isinstance(node, ast.ClassDef)
    )
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_no_file_name_stands_twice() -> None:
    free = [m.path for m in modules().values() if not NAMED_BY_KIND & set(m.path.relative_to(SRC).parts)]
    names = Counter(path.name for path in free if path.name not in SHARED_NAMES)
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_few_functions_are_long() -> None:
    long = [
        f"{m.name}.{f.name} ({body_lines(f)})" for m in modules().values() for f in m.functions() if body_lines(f) > 50
    ]
    print(f"\nfunctions over 50 lines {len(long)}: {' '.join(long)}")
    assert len(long) <= LIMITS["long functions"]


def test_private_docstrings_are_one_line() -> None:
    many = [
        f"{module.name}.{node.name}"
        for module in modules().values()
        for node in module.nodes
        if isinstance(node, Function | ast.ClassDef) and node.name.startswith("_") and not node.name.startswith("__")
        if len(docstring_lines(node)) > 1
    ]
    assert many == []


def test_few_names_are_public() -> None:
    print(f"\npublic names {len(fabula.__all__)}")
    assert len(fabula.__all__) <= LIMITS["public names"]


@pytest.mark.parametrize(
    ("name", "expected"), [("kept", True), ("_joined", True), ("need_more", False), ("read", False)]
)
def test_participles_are_told_from_verbs(name: str, expected: bool) -> None:  # noqa: FBT001
    assert is_participle(name) is expected


def test_the_walk_names_every_module_that_is_entered(entered: list[str]) -> None:
    walk = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = [modules()[name].path.relative_to(SRC / "fabula").as_posix() for name in entered]
    assert [path for path in paths if f"`{path}" not in walk] == []
