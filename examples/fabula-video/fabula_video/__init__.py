"""Video clips as a medium of fabula: measured, ordered, played on the page, written as one film. Needs ffmpeg."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fabula.media import (
    SECONDS,
    Collection,
    Cover,
    FileError,
    Item,
    Medium,
    Preview,
    Spec,
    Step,
    Steps,
    Words,
    join_stretch,
    run_program,
    split_stretch,
    whole_file,
)

ENDINGS = frozenset({".mp4", ".mov", ".m4v", ".mkv", ".webm", ".avi"})
FFMPEG = ["ffmpeg", "-v", "error", "-format_whitelist", "mov,matroska,avi"]  # a playlist named .mp4 opens nothing
RATE, WIDTH, HEIGHT = 5, 48, 27  # frames a second that are looked at, and their size in pixels
CUT = 0.25  # change from one frame to the next, 0 to 1, at which a new shot begins
COLOURS = [f"{end}_{colour}" for end in ("opens", "closes") for colour in ("red", "green", "blue")]
NAMES = ("seconds", "motion", "brightness", "warmth", *COLOURS)


# Measuring: a few small frames of each clip.


def look(path, stop=lambda: False):
    """The frames of a clip, or of a stretch of it (``film.mp4#t=2,5``): shape (k, height, width, 3), 0 to 1."""
    file, begins, ends = split_stretch(path)
    small = ["-vf", f"fps={RATE},scale={WIDTH}:{HEIGHT}", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"]
    raw = run_program([*FFMPEG, *seek(begins, ends), "-i", file, *small], [file], stop)
    frames = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, WIDTH, 3)
    if not len(frames):
        raise FileError(f"{path}: has no frames")
    return frames.astype(np.float32) / 255


def seek(begins, ends):
    """What tells ffmpeg to read from when to when; nothing for all of a file."""
    return [*(["-ss", str(begins)] if begins else []), *(["-to", str(ends)] if ends else [])]


def describe(frames):
    """The numbers of some frames, in the order of `NAMES`."""
    change = np.abs(np.diff(frames, axis=0)).mean() if len(frames) > 1 else 0.0
    red, _, blue = frames.mean(axis=(0, 1, 2))
    ends = [*frames[0].mean(axis=(0, 1)), *frames[-1].mean(axis=(0, 1))]
    return np.array([len(frames) / RATE, RATE * change, frames.mean(), red - blue, *ends], dtype=np.float64)


def measure(path, stop):
    """The numbers of a clip."""
    return describe(look(path, stop))


def lengths(collection):
    """Seconds, for limits and sides; NaN as long as nothing was measured."""
    known = "seconds" in collection.feature_names
    return collection.column("seconds") if known else np.full(len(collection), np.nan)


# What lies between two clips.


def steps(collection, essence):
    """What lies between two clips: the jump of colour at the cut, and how differently they move."""
    opens, closes = collection.columns(COLOURS[:3]), collection.columns(COLOURS[3:])
    jump = np.linalg.norm(closes[:, np.newaxis] - opens, axis=2)  # from the end of one to the beginning of the other
    motion = collection.column("motion")
    return Steps((Step("cut", "of colour", jump), Step("pace", "motion", np.abs(motion[:, np.newaxis] - motion), 0.5)))


# One long file is cut into its shots.


def find_shots(path, cutting):
    """The shots of a film as items, each a stretch of the file; None where it is one shot."""
    frames = look(path, cutting.stop)
    change = np.abs(np.diff(frames, axis=0)).mean(axis=(1, 2, 3))
    starts = [0, *(np.flatnonzero(change > CUT) + 1).tolist(), len(frames)]
    if len(starts) == 2:
        return None
    items, rows = [], []
    for number, (start, end) in enumerate(pairwise(starts), 1):
        where = join_stretch(path, start / RATE, end / RATE)
        items.append(Item(f"shot {number}", f"shot {number}", where))
        rows.append(describe(frames[start:end]))
        cutting.tell(number, len(starts) - 1, f"shot {number}")
    return Collection(Path(path).stem, items, np.array(rows), NAMES)


# What is seen and written.


def find_frame(path, size):
    """A frame that stands for a clip."""
    file, begins, _ = split_stretch(path)
    small = ["-frames:v", "1", "-vf", f"scale={size}:{size}:force_original_aspect_ratio=decrease"]
    jpeg = ["-c:v", "mjpeg", "-f", "image2pipe", "-"]
    data = run_program([*FFMPEG, "-ss", str(begins or 0), "-i", file, *small, *jpeg], [file])
    return Cover(data, "image/jpeg") if data else None


def probe(path):
    """Width, height, and whether there is sound."""
    told = run_program(["ffprobe", "-v", "error", "-show_streams", "-of", "json", path], [path])
    streams = json.loads(told)["streams"]
    seen = next(stream for stream in streams if stream["codec_type"] == "video")
    return seen["width"], seen["height"], any(stream["codec_type"] == "audio" for stream in streams)


def write_film(collection, target, sides):
    """One film of all clips in their order, as large as the first of them, silent where a clip is."""
    width, height, _ = probe(split_stretch(collection.items[0].path)[0])
    size = f"{width // 2 * 2}:{height // 2 * 2}"
    fit = f"scale={size}:force_original_aspect_ratio=decrease,pad={size}:-1:-1,setsar=1,fps=25,format=yuv420p"
    silence = ["-f", "lavfi", "-i", "anullsrc=r=44100:cl=stereo"]
    with TemporaryDirectory() as folder, whole_file(target) as film:
        clips = [f"{folder}/{number}.ts" for number in range(len(collection))]
        for item, clip in zip(collection.items, clips, strict=True):
            file, begins, ends = split_stretch(item.path)
            sound = "0:a:0" if probe(file)[2] else "1:a:0"
            made = [
                "-map",
                "0:v:0",
                "-map",
                sound,
                "-shortest",
                "-vf",
                fit,
                "-af",
                "apad",
                "-ar",
                "44100",
                "-ac",
                "2",
                clip,
            ]
            run_program([*FFMPEG[:3], *seek(begins, ends), "-i", file, *silence, *made], [file])
        whole = Path(folder, f"film{Path(target).suffix}")
        run_program([*FFMPEG[:3], "-i", f"concat:{'|'.join(clips)}", "-c", "copy", str(whole)])
        with whole.open("rb") as done:
            shutil.copyfileobj(done, film)
    return Path(target)


WORDS = Words(
    item="clip",
    items="clips",
    collection="film",
    creator="camera",
    traits={"motion": ("lively", "still"), "brightness": ("light", "dark"), "warmth": ("warm", "cold")},
    file="a video",
    files="videos",
)
MEDIUM = Medium(
    "video",
    WORDS,
    endings=ENDINGS,
    specs={"video": lambda: Spec("video", 1, NAMES, measure, (len(NAMES),))},
    columns=("motion", "brightness", "warmth", "seconds"),
    codes=frozenset(COLOURS),
    unit=SECONDS,
    lengths=lengths,
    steps=steps,
    parts=find_shots,
    preview=Preview("video", cover=find_frame),
    outputs={".mp4": write_film},
)
