from pathlib import Path

import numpy as np
import pytest
import soundfile

from fabula.errors import FileError, InputError
from fabula.evaluation.controls import divide
from fabula.research.splits import gather


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(len(names))
    for name in names:
        soundfile.write(folder / f"{name}.wav", 0.1 * rng.standard_normal(4000), 8000)
    return folder


def test_numbered_folders_and_playlists_are_collections(tmp_path):
    put(tmp_path / "a", "01 Dawn", "02 Noon", "10 Dusk")
    mixed = put(tmp_path / "b", "Rain", "Sun", "Wind")
    (mixed / "b.m3u8").write_text("Wind.wav\nRain.wav\nSun.wav\n")
    put(tmp_path / "c", "Loose", "Free", "Wild")
    put(tmp_path / "d", "1 Alone", "2 Both")
    found, notes = gather(tmp_path)
    titles = {c.id: [Path(item.path).stem for item in c.items] for c in found}
    assert titles == {
        str(Path("b", "b.m3u8")): ["Wind", "Rain", "Sun"],
        "a": ["01 Dawn", "02 Noon", "10 Dusk"],
    }
    assert all(c.ordered and np.isfinite(c.features).any() for c in found)
    assert [note for note in notes if "not numbered" in note]


def test_what_cannot_be_measured_is_told(tmp_path):
    put(tmp_path / "a", "1 a", "2 b", "3 c", "4 d")
    (tmp_path / "a" / "5 e.wav").write_text("no sound")
    found, notes = gather(tmp_path)
    assert len(found[0]) == 4
    assert any("5 e.wav" in note for note in notes)


def test_nothing_ordered_is_an_error(tmp_path):
    with pytest.raises(FileError, match="is not a folder"):
        gather(tmp_path / "none")
    put(tmp_path / "a", "Loose", "Free", "Wild")
    with pytest.raises(InputError, match="holds no numbered folder and no playlist of 3 files; left out"):
        gather(tmp_path)


def test_a_part_is_set_apart_by_who_made_it(tmp_path):
    from fabula.core.collection import Collection, Item

    many = [Collection(str(i), [Item("x", artist=f"a{i % 12}")]) for i in range(60)]
    some, apart = divide(many, 0.2)
    assert {c.items[0].artist for c in some}.isdisjoint(c.items[0].artist for c in apart)
    assert 12 <= len(apart) <= 17
    few = [Collection(str(i), [Item("x", artist="one")]) for i in range(4)]
    assert [len(part) for part in divide(few, 0.1)] == [2, 2]
    with pytest.raises(InputError, match="must lie between 0 and 1; got 1"):
        divide(few, 1)
