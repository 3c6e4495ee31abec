from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fabula.cli import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def fabula(capsys) -> Callable[..., Outcome]:
    """Run the command line in this process."""

    def call(*arguments: object) -> Outcome:
        code = run([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def album(tmp_path) -> Path:
    """A table of seven items, in a folder and under a name with spaces and accents."""
    folder = tmp_path / "mes été"
    folder.mkdir()
    path = folder / "l'album.csv"
    path.write_text(
        "title,artist,path,energy,tempo,mood\n"
        "Dawn,Ana,01 dawn.flac,0.10,80,calm\n"
        "Run,Bo,02 run.flac,0.95,170,wild\n"
        "Walk,Ana,03 walk.flac,0.40,100,calm\n"
        "Storm,Cy,04 stürm.flac,0.90,150,wild\n"
        "Rest,Bo,05 rest.flac,0.20,,calm\n"
        "Dance,Cy,06 dance.flac,0.75,124,glad\n"
        "Home,Ana,07 home.flac,0.30,90,glad\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def playlist(tmp_path) -> Path:
    path = tmp_path / "mix tape.m3u8"
    path.write_text(
        "#EXTM3U\n#PLAYLIST:Mix\n# a comment on the first\n#EXTINF:200,Ana - Dawn\nmusic/01 dawn.flac\n"
        "#EXTINF:120,Bo - Run\n#EXTVLCOPT:start-time=3\nmusic/02 run.flac\n"
        "#EXTINF:310,Cy - Storm\n/abs/storm.ogg\n# end\n",
        encoding="utf-8",
    )
    return path
