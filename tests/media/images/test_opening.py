"""Pictures of every odd kind: opened right and upright, or refused in one line."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fabula.errors import FileError
from fabula.media.images.picture_files import open_picture
from fabula.media.images.picture_measures import MEASURES, measure_picture

_TURNED = {  # EXIF orientation -> how an upright picture is stored
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: a.transpose(1, 0, 2)[::-1],
    7: lambda a: a.transpose(1, 0, 2)[::-1, ::-1],
    8: lambda a: a.transpose(1, 0, 2)[:, ::-1],
}


@pytest.fixture
def scene(rng: np.random.Generator) -> np.ndarray:
    """A picture that is unlike each of its turns: 60 wide, 40 high, light at the top left."""
    ramp = np.linspace(250, 20, 40)[:, np.newaxis] * np.linspace(1, 0.4, 60)
    colour = np.stack([ramp, ramp * 0.8, ramp * 0.5], axis=2)
    return (colour + rng.uniform(0, 5, colour.shape)).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turns_it_upright(scene: np.ndarray, tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.ascontiguousarray(_TURNED[orientation](scene))
    Image.fromarray(stored).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(np.asarray(open_picture(tmp_path / "a.png", 256)), scene)


@pytest.mark.parametrize("mode", ["L", "1", "P", "CMYK", "YCbCr", "LAB", "RGBA", "LA", "I;16", "F", "HSV"])
def test_every_mode_is_seen_alike(scene: np.ndarray, tmp_path: Path, mode: str) -> None:
    plain = Image.fromarray(scene)
    path = tmp_path / ("a.tif" if mode in ("CMYK", "YCbCr", "LAB", "F") else "a.png")
    if mode == "I;16":
        Image.fromarray(np.asarray(plain.convert("L")).astype(np.uint16) * 257).save(path)
    elif mode == "F":
        Image.fromarray(np.asarray(plain.convert("L")).astype(np.float32)).save(path)
    elif mode == "HSV":
        plain.save(path)
    elif mode == "LAB":
        from PIL import ImageCms

        to_lab = ImageCms.buildTransform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB")
        ImageCms.applyTransform(plain, to_lab).save(path)
    else:
        plain.convert(mode).save(path)
    measured = dict(zip(MEASURES, measure_picture(str(path)), strict=True))
    wanted = dict(zip(MEASURES, _of(plain, tmp_path), strict=True))
    assert measured["aspect"] == 1.5
    assert measured["brightness"] == pytest.approx(wanted["brightness"], abs=12 if mode in ("F", "1", "LAB") else 4)


def _of(picture: Image.Image, folder: Path) -> np.ndarray:
    picture.save(folder / "plain.png")
    return measure_picture(str(folder / "plain.png"))


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "a.png")
    Image.new("P", (8, 8), 0).save(tmp_path / "b.gif", transparency=0)
    for name in ("a.png", "b.gif"):
        assert open_picture(tmp_path / name, 64).getpixel((0, 0)) == (255, 255, 255)


def test_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (9, 6), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert open_picture(tmp_path / "a.gif", 64).getpixel((1, 1)) == (255, 0, 0)


def test_heic(scene: np.ndarray, tmp_path: Path) -> None:
    heif = pytest.importorskip("pillow_heif")
    heif.from_pillow(Image.fromarray(scene)).save(tmp_path / "a.heic", quality=95)
    seen = np.asarray(open_picture(tmp_path / "a.heic", 256)).astype(float)
    assert np.abs(seen - scene).mean() < 6


def test_a_large_one_is_decoded_small(tmp_path: Path) -> None:
    Image.new("RGB", (3000, 2000), "teal").save(tmp_path / "a.jpg")
    assert open_picture(tmp_path / "a.jpg", 256).size == (256, 171)


def _bomb(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims to be huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 64)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jpg", b"not a picture at all", "is no picture that can be read"),
        ("b.png", _bomb(60000, 60000), "claims 60000 x 60000 pixels"),
        ("c.png", _bomb(64, 64), "c.png"),
        ("d.pdf", b"%PDF-1.4 nothing", "is no PDF that can be read"),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_line(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=message) as caught:
        measure_picture(str(tmp_path / name))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / name))


def test_a_cut_off_file_is_told(scene: np.ndarray, tmp_path: Path) -> None:
    Image.fromarray(np.tile(scene, (20, 20, 1))).save(tmp_path / "a.jpg")
    whole = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "b.jpg").write_bytes(whole[: len(whole) // 3])
    with pytest.raises(FileError, match="truncated"):
        measure_picture(str(tmp_path / "b.jpg"))


def test_a_wrong_ending_does_not_matter(scene: np.ndarray, tmp_path: Path) -> None:
    Image.fromarray(scene).save(tmp_path / "a.png")
    (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    np.testing.assert_array_equal(np.asarray(open_picture(tmp_path / "a.jpg", 256)), scene)
