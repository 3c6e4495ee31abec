import zipfile
from pathlib import Path

import pytest

STORY = "Ann walked to the sea. The rain fell on old Tom, and he said nothing."


@pytest.fixture
def packed(tmp_path):
    """Writes a zip file of names and contents."""

    def write(name: str, files: dict[str, str | bytes]) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, content in files.items():
                archive.writestr(inner, content)
        return path

    return write


@pytest.fixture
def chapters(tmp_path):
    """A folder of five chapters."""
    folder = tmp_path / "book"
    folder.mkdir()
    for number, title in enumerate(["Rain", "The Boat", "Night", "A Letter", "Home"], start=1):
        body = "\n\n".join(
            [STORY, f"Then Mary wrote {number} letters to {title} House. " * (3 * number), '"Who?" she said.']
        )
        (folder / f"{number}.txt").write_text(f"{title}\n\n{body}\n", encoding="utf-8")
    return folder
