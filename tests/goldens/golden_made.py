"""Small collections of every medium, made with a fixed seed: what the goldens are measured on everywhere."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

FEATURES = (
    "danceability", "energy", "loudness", "speechiness", "acousticness", "instrumentalness", "liveness", "valence",
    "tempo", "key", "mode", "duration_ms",
)  # fmt: skip

_NOUNS = (
    "river", "winter", "engine", "garden", "mirror", "harbour", "thunder", "paper", "window", "candle", "desert",
    "signal", "shadow", "summer", "bridge", "ocean", "feather", "station", "forest", "letter",
)  # fmt: skip
_ADJECTIVES = ("Slow", "Broken", "Golden", "Hidden", "Last", "Silent", "Burning", "Little", "Electric", "Distant")
_ENDS = ("Intro", "Overture", "Prologue"), ("Outro", "Epilogue", "Goodnight")
_ARTISTS = ("Ada", "Bruno", "Cleo", "Dora")
_PEOPLE = ("Marta", "Jonas", "Elise", "Viktor", "Anna")
_PLACES = ("mill", "harbour", "church", "station", "orchard", "lighthouse")
_GLAD = ("happy", "bright", "laughing", "kind", "lovely", "warm", "hopeful", "joyful")
_SAD = ("dark", "dead", "crying", "afraid", "lonely", "cold", "broken", "terrible")


def make_all(folder: Path) -> Path:
    """Every collection below, in a folder."""
    write_album(folder / "album.csv", 13, seed=1)
    write_album(folder / "eighteen.csv", 18, seed=2)
    write_album(folder / "long.csv", 40, seed=3)
    write_titles(folder / "titles.csv", 9, seed=4)
    write_albums(folder / "albums.csv", 40, seed=5)
    make_sounds(folder / "sounds", 7, seed=6)
    make_chapters(folder / "chapters", 9, seed=7)
    make_verses(folder / "verses", 8, seed=8)
    make_pictures(folder / "pictures", 9, seed=9)
    return folder


def tracks(n: int, rng: np.random.Generator, artists: tuple[str, ...] = _ARTISTS) -> list[dict[str, object]]:
    """Tracks of one album: the 12 features, titles and artists, in an order that has something of an arc."""
    at = np.linspace(0, 1, n)
    drive = np.clip(0.55 + 0.3 * np.sin(2.6 * at + rng.normal(0, 0.3)) + rng.normal(0, 0.15, n), 0.02, 0.98)
    made = []
    for j, force in enumerate(drive):
        noise = rng.random(8)
        values = (
            np.clip(0.3 + 0.4 * force + 0.2 * noise[0], 0, 1), force, -22 + 17 * force + 2 * noise[1],
            0.03 + 0.2 * noise[2] ** 3, np.clip(1 - force + 0.2 * (noise[3] - 0.5), 0, 1), 0.6 * noise[4] ** 4,
            0.08 + 0.3 * noise[5] ** 2, np.clip(0.5 * force + 0.4 * noise[6], 0, 1), 70 + 90 * force + 20 * noise[7],
            int(rng.integers(12)), int(rng.integers(2)), int(rng.integers(110_000, 340_000)),
        )  # fmt: skip
        title = f"{rng.choice(_ADJECTIVES)} {str(rng.choice(_NOUNS)).title()}"
        if j in (0, n - 1) and rng.random() < 0.5:
            title = str(rng.choice(_ENDS[j > 0]))
        row: dict[str, object] = {"track_name": title, "artist": str(rng.choice(artists))}
        row |= {
            name: round(float(value), 4) if isinstance(value, float) else value
            for name, value in zip(FEATURES, values, strict=True)
        }
        made.append(row)
    return made


def write_album(path: Path, n: int, seed: int) -> None:
    """One album, its tracks shuffled."""
    rng = np.random.default_rng(seed)
    rows = [row | {"album": "Made of Numbers"} for row in tracks(n, rng)]
    for number, row in enumerate(rows):
        row["track_name"] = f"{row['track_name']} {number + 1}" if n > 20 else row["track_name"]
    _write(path, [rows[i] for i in rng.permutation(n)])


def write_titles(path: Path, n: int, seed: int) -> None:
    """One album of which titles and durations alone are known."""
    rng = np.random.default_rng(seed)
    rows = [{name: row[name] for name in ("track_name", "artist", "duration_ms")} for row in tracks(n, rng)]
    rows[3]["track_name"], rows[4]["track_name"] = "Harbour Suite, Pt. 1", "Harbour Suite, Pt. 2"
    rows[0]["track_name"] = "Intro"
    _write(path, [rows[i] for i in rng.permutation(n)])


def write_albums(path: Path, number: int, seed: int) -> None:
    """Many albums in their true order, of 4 to 12 tracks, a quarter of them to validate on."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for k in range(number):
        split = "validation" if k % 4 == 3 else "train"
        album = {"collection_id": f"c{k}", "album": f"Album {k}", "split": split}
        maker = (f"Maker {k // 2}",)
        made = tracks(int(rng.integers(4, 13)), rng, maker)
        rows += [album | {"position": j} | row for j, row in enumerate(made)]
    _write(path, rows)


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def make_sounds(folder: Path, number: int, seed: int) -> None:
    """Short sounds of different loudness, pitch, tempo and length."""
    import soundfile

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    rate = 22050
    for k in range(number):
        seconds = 2.5 + 0.25 * int(rng.integers(8))
        t = np.arange(int(seconds * rate)) / rate
        root, beats, level = 110 * 2 ** (rng.integers(24) / 12), 1.2 + rng.random() * 1.6, 0.05 + 0.6 * rng.random()
        tone = sum(np.sin(2 * np.pi * root * h * t) / h for h in (1, 2, 3, 5))
        pulse = np.exp(-6 * (t * beats % 1.0))
        sound = level * (0.4 * tone * pulse + 0.1 * rng.normal(size=len(t)) * (pulse > 0.6))
        soundfile.write(folder / f"{k + 1:02d} {_NOUNS[k].title()}.wav", np.clip(sound, -1, 1), rate, subtype="PCM_16")


def make_chapters(folder: Path, number: int, seed: int) -> None:
    """A short story by chapter: people and places come and go, the mood falls and rises."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(number)
    for chapter in range(number):
        text = "\n\n".join(_paragraph(rng, chapter / (number - 1)) for _ in range(4))
        (folder / f"part-{order[chapter]:02d}.txt").write_text(text + "\n", encoding="utf-8")


def _paragraph(rng: np.random.Generator, at: float) -> str:
    """Some sentences at a point of a story, 0 to 1."""
    sentences = []
    for _ in range(int(rng.integers(5, 9))):
        who = _PEOPLE[min(len(_PEOPLE) - 1, int(abs(rng.normal(at * 4, 0.8))))]
        other = _PEOPLE[int(rng.integers(1 + int(at * 4)))]
        where = _PLACES[min(len(_PLACES) - 1, int(abs(rng.normal(at * 5, 1))))]
        mood = str(rng.choice(_SAD if rng.random() < np.sin(np.pi * at) else _GLAD))
        noun = str(rng.choice(_NOUNS))
        sentences.append(
            str(
                rng.choice(
                    [
                        f"{who} walked to the {where} and thought of {other}, who was {mood} that {noun}.",
                        f"“The {noun} is {mood},” said {who}, “and we must not go back to the {where}.”",
                        f"At the {where} there was a {mood} {noun}, and {other} had seen it before.",
                        f"It was {mood}; {who} remembered the first day, the {where}, the {noun} in the light.",
                        f"Then {other} asked whether {who} would stay, and the {mood} {noun} answered for both.",
                    ]
                )
            )
        )
    return " ".join(sentences)


def make_verses(folder: Path, number: int, seed: int) -> None:
    """Poems of a few lines."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for k in range(number):
        words = [str(w) for w in rng.choice(_NOUNS, 3, replace=False)]
        lines = []
        for _ in range(int(rng.integers(3, 6)) * 4):
            mood = str(rng.choice(_SAD if rng.random() < k / number else _GLAD))
            lines.append(f"The {mood} {rng.choice(words)} by the {rng.choice(_PLACES)} calls")
        stanzas = ["\n".join(lines[at : at + 4]) for at in range(0, len(lines), 4)]
        (folder / f"poem-{k:02d}.txt").write_text("\n\n".join(stanzas) + "\n", encoding="utf-8")


def make_pictures(folder: Path, number: int, seed: int) -> None:
    """Drawn pictures: a ground that goes from one colour to another, and shapes on it."""
    from PIL import Image, ImageDraw

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    for k in range(number):
        wide, high = (96, 64) if rng.random() < 0.7 else (64, 96)
        top, bottom = rng.integers(0, 256, (2, 3))
        mix = np.linspace(0, 1, high)[:, None, None]
        ground = np.broadcast_to(top * (1 - mix) + bottom * mix, (high, wide, 3)).astype(np.uint8)
        picture = Image.fromarray(np.ascontiguousarray(ground))
        draw = ImageDraw.Draw(picture)
        for _ in range(int(rng.integers(1, 6))):
            x, y, r = int(rng.integers(wide)), int(rng.integers(high)), int(rng.integers(4, 26))
            colour = tuple(int(c) for c in rng.integers(0, 256, 3))
            shape = draw.ellipse if rng.random() < 0.5 else draw.rectangle
            shape([x - r, y - r, x + r, y + r], fill=colour)
        picture.save(folder / f"{_NOUNS[k]}.png")
