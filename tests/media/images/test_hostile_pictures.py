"""Pictures made to hurt: what Pillow may take a file for, and how much memory one takes."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.errors import FileError
from fabula.media.images.picture_files import FORMATS, open_picture

Image = pytest.importorskip("PIL.Image")


def test_postscript_is_no_picture_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n")
    with pytest.raises(FileError, match="no picture that can be read"):
        open_picture(path, 64)


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        '<image href="{}" width="9" height="9"/>',
        "<image href='{}' width='9' height='9'/>",
        '<filter id="a"><feImage href="{}"/></filter><rect width="9" height="9" filter="url(#a)"/>',
    ],
)
def test_a_drawing_shows_no_other_file(tmp_path: Path, shape: str) -> None:
    pytest.importorskip("resvg_py")
    (tmp_path / 'a"').mkdir()
    Image.new("RGB", (9, 9), (255, 0, 0)).save(tmp_path / "secret.png")
    for number, place in enumerate(("secret.png", f"{tmp_path}/secret.png", f'{tmp_path}/a"/../secret.png')):
        path = tmp_path / f"{number}.svg"
        if '"{}"' in shape:
            place = place.replace('"', "&quot;")
        drawn = f"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{shape.format(place)}</svg>"
        path.write_text(drawn)
        assert np.asarray(open_picture(path, 64)).min() == 255, place  # white: nothing is drawn


def test_a_drawing_has_no_entities_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    path = tmp_path / "a.svg"
    path.write_text('<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>')
    with pytest.raises(FileError, match="entities"):
        open_picture(path, 64)


def test_no_format_is_read_that_another_program_opens() -> None:
    assert not {"EPS", "WMF", "PSD", "FITS", "HDF5", "GRIB", "BUFR"} & set(FORMATS)


def test_sixteen_bits_are_brought_to_eight_as_before(tmp_path: Path, rng: np.random.Generator) -> None:
    values = rng.integers(0, 65536, (150, 40), dtype=np.uint16)
    path = tmp_path / "deep.png"
    Image.fromarray(values).save(path)
    seen = np.asarray(open_picture(path, 200))[..., 0]
    assert (seen == (values * (255.0 / 65535.0)).astype(np.uint8)).all()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what a process took")
@pytest.mark.parametrize("mode", ["I;16", "RGBA", "P", "1"])
def test_a_small_file_of_a_huge_picture_takes_little_memory(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "bomb.png"
    Image.new(mode, (10_900, 10_900)).save(path, compress_level=1)
    program = f"""
from pathlib import Path
from fabula.media.images.picture_files import open_picture
open_picture({str(path)!r}, 256)
print(next(int(row.split()[1]) // 1024 for row in Path("/proc/self/status").open() if row.startswith("VmHWM")))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=150, check=True)
    assert int(run.stdout) < 1100, "MB"


@pytest.mark.slow
def test_more_than_memory_should_hold_is_refused_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    Image.new("1", (20_000, 20_000)).save(path, compress_level=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError, match="at most 120,000,000 are decoded"):
        open_picture(path, 256)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
