"""Where the goldens are kept, and how they are written and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_real  # noqa: F401 - its cases are registered
from golden_cases import CASES
from golden_commands import SCENES, SLOW, play
from golden_made import make_all

HERE = Path(__file__).resolve().parent
_PLACES = {"made": HERE / "made.json", "real": HERE / "real.json", "commands": HERE / "commands" / "commands.json"}


def stored(part: str) -> dict[str, Any]:
    """The goldens of a part, by name."""
    found: dict[str, Any] = json.loads(_PLACES[part].read_text(encoding="utf-8"))
    return found


def store(part: str, wanted: list[str], scratch: Path, data: Path) -> None:
    """Write the goldens of a part anew, one line a case; where some are wanted, those alone."""
    found = stored(part) if wanted else {}
    if part == "commands":
        made = make_all(scratch / "made-for-commands")
        for k, (name, scene) in enumerate((SCENES | SLOW).items()):
            if not wanted or name in wanted:
                found[name] = play(scene, made, scratch / f"scene {k}")
        lines = [f"{json.dumps(name)}: {_by_command(found[name])}" for name in SCENES | SLOW]
    else:
        folder = data if part == "real" else make_all(scratch / "made")
        cases = [case for case in CASES.values() if case.real == (part == "real")]
        found |= {case.name: case.values(folder) for case in cases if not wanted or case.name in wanted}
        lines = [f"{json.dumps(case.name)}: {_compact(found[case.name])}" for case in cases]
    _PLACES[part].write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _by_command(scene: list[dict[str, Any]]) -> str:
    return "[\n  " + ",\n  ".join(map(_compact, scene)) + "\n]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
