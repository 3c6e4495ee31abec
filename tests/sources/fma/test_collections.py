import csv
import zipfile

import numpy as np
import pytest

from fabula.errors import FileError, InputError
from fabula.media.music.librosa_features import FEATURE_NAMES
from fabula.sources.fma import archive as fma_archive
from fabula.sources.fma.albums import REASONS, read_fma


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_reads_the_archive_as_it_comes(usual, tmp_path, compression):
    path = tmp_path / "fma_metadata.zip"
    path.write_bytes(usual.zipped(compression=compression))
    for place in (path, tmp_path):
        reading = read_fma(place)
        assert [c.id for c in reading.collections] == ["10", "20", "30"]
        assert reading.splits == ("validation", "test", "training")
    assert reading.dropped == dict.fromkeys(REASONS, 0)


def test_items_stand_in_the_order_of_their_numbers(usual, tmp_path):
    album = read_fma(usual.write(tmp_path)).of("training")[0]
    assert [item.title for item in album.items] == ["Título 1", "Título 2", "Título 3"]
    assert [item.id for item in album.items] == ["9", "2", "16"]
    assert album.title == 'Album "30", with a comma'
    assert album.ordered
    assert album.items[0].artist == "Artist 30"
    assert album.items[0].details == {"genre": "Folk"}


def test_features_are_regrouped_by_name_into_the_papers_layout(usual, tmp_path, rng):
    rng.shuffle(usual.columns)  # place must not matter
    for album in read_fma(usual.write(tmp_path)).collections:
        assert album.features.shape == (len(album), 75, 7)
        assert album.features.dtype == np.float32
        for item, found in zip(album.items, album.features, strict=True):
            assert np.array_equal(found, usual.expected(int(item.id), 100 + int(item.id)))


def test_names_are_those_of_the_features_measured_from_audio(usual, tmp_path):
    assert read_fma(usual.write(tmp_path)).collections[0].feature_names == FEATURE_NAMES


def test_echonest_has_eight_features_and_few_albums(usual, tmp_path):
    reading = read_fma(usual.write(tmp_path), features="echonest")
    assert [c.id for c in reading.collections] == ["30"]
    assert reading.dropped["features"] == 2
    assert reading.collections[0].features.shape == (3, 8)
    assert np.allclose(reading.collections[0].column("energy"), [9.2, 2.2, 16.2])


def test_a_split_has_its_collections(usual, tmp_path):
    usual.album(40, [1, 2], split="training")
    reading = read_fma(usual.write(tmp_path))
    assert {split: [c.id for c in reading.of(split)] for split in set(reading.splits)} == {
        "training": ["30"], "validation": ["10"], "test": ["20"],
    }  # fmt: skip
    assert reading.dropped["size"] == 1


@pytest.mark.parametrize(
    ("numbers", "more", "reason"),
    [
        ([1, 2], {}, "size"),
        (list(range(1, 22)), {}, "size"),
        ([1, 1, 2], {}, "doubles"),
        ([0, 0, 0], {}, "doubles"),
        ([1, 2, 4], {}, "gaps"),
        ([2, 3, 4], {}, "gaps"),
        ([1, 2, ""], {}, "gaps"),
        ([1, 2, 3], {"said": -1}, "unknown length"),
        ([1, 2, 3], {"said": ""}, "unknown length"),
        ([1, 2, 3], {"said": 4}, "incomplete"),
        ([1, 2, 3], {"splits": ["training", "test", "training"]}, "mixed splits"),
    ],
)
def test_an_album_is_dropped_once_and_for_a_reason(usual, tmp_path, numbers, more, reason):
    usual.album(40, numbers, **more)
    reading = read_fma(usual.write(tmp_path))
    assert [c.id for c in reading.collections] == ["10", "20", "30"]
    assert {name: count for name, count in reading.dropped.items() if count} == {reason: 1}


@pytest.mark.parametrize("numbers", [[1, 2, 3], list(range(1, 21)), [0, 2, 1], ["1.0", "2.0", "3.0"]])
def test_an_album_at_the_edge_is_kept(empty, tmp_path, numbers):
    ids = empty.album(5, numbers, said=len(numbers) - 1)  # more than the album is said to have: nothing is missing
    reading = read_fma(empty.write(tmp_path))
    order = np.argsort([float(number) for number in numbers])
    assert [int(item.id) for item in reading.collections[0].items] == [ids[i] for i in order]


def test_tracks_without_an_album_are_left_out_and_albums_without_features_counted(usual, tmp_path):
    usual.album(-1, [1, 2, 3])
    usual.album("", [1, 2])
    usual.without_features = set(usual.album(40, [1, 2, 3])[:1])
    usual.empty_features = set(usual.album(50, [1, 2, 3])[1:2])
    usual.album(60, [1, 2, 3])
    usual.tracks[-1]["track", "duration"] = ""
    reading = read_fma(usual.write(tmp_path))
    assert reading.dropped["features"] == 3
    assert len(reading.collections) == 3
    assert sum(reading.dropped.values()) == 3


def test_artists_in_two_splits_are_named(usual, tmp_path):
    usual.album(40, [1, 2, 3], split="test", artist="Artist 30")
    assert read_fma(usual.write(tmp_path)).shared_artists == {
        ("training", "validation"): (),
        ("training", "test"): ("Artist 30",),
        ("validation", "test"): (),
    }


def test_the_second_reading_does_not_parse(usual, tmp_path, monkeypatch):
    first = read_fma(usual.write(tmp_path))
    monkeypatch.setattr("fabula.sources.fma.archive._read_features", lambda *_: pytest.fail("parsed again"))
    second = read_fma(tmp_path)
    for a, b in zip(first.collections, second.collections, strict=True):
        assert np.array_equal(a.features, b.features)


def load(path):
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("damage", ["cut", "flip", "text", "label", "absent"])
def test_what_was_kept_is_recomputed_when_broken(usual, tmp_path, damage):
    first = read_fma(usual.write(tmp_path))
    kept = tmp_path / "fma_features.npz"
    data, before = kept.read_bytes(), load(kept)
    if damage == "cut":
        kept.write_bytes(data[:-100])
    elif damage == "flip":
        middle = data.index(b"values.npy") + 500
        kept.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    elif damage == "text":
        kept.write_text("[1, 2")
    elif damage == "label":
        np.savez(kept, label="another", ids=before["ids"], values=before["values"] + 1)
    else:
        kept.unlink()
    again = read_fma(tmp_path)
    assert all(
        np.array_equal(a.features, b.features) for a, b in zip(first.collections, again.collections, strict=True)
    )
    assert all(np.array_equal(load(kept)[name], before[name]) for name in ("label", "ids", "values"))


def test_a_changed_table_is_read_anew(usual, tmp_path):
    read_fma(usual.write(tmp_path))
    usual.album(5, [1, 2, 3])
    assert len(read_fma(usual.write(tmp_path)).collections) == 4


def test_a_folder_that_cannot_be_written_to_is_still_read(usual, tmp_path, monkeypatch):
    def refuse(path):
        raise FileError("no")

    monkeypatch.setattr("fabula.sources.fma.archive.whole_file", refuse)
    assert len(read_fma(usual.write(tmp_path)).collections) == 3
    assert not list(tmp_path.glob("fma_features*"))


def test_lines_that_end_otherwise_give_the_same_numbers(usual, tmp_path):
    usual.empty_features = {9}
    whole = read_fma(usual.write(tmp_path))
    for path in tmp_path.glob("fma_features*"):
        path.unlink()
    text = (tmp_path / "features.csv").read_bytes()
    (tmp_path / "features.csv").write_bytes(text.rstrip(b"\n").replace(b"\n", b"\r\n"))
    pieces = read_fma(tmp_path)
    assert pieces.dropped["features"] == whole.dropped["features"] == 1
    assert all(
        np.array_equal(a.features, b.features) for a, b in zip(whole.collections, pieces.collections, strict=True)
    )


@pytest.mark.parametrize(
    ("table", "old", "new", "words"),
    [
        ("tracks.csv", "duration", "length", r"tracks.csv: column \('track', 'duration'\) is missing"),
        (
            "features.csv",
            "kurtosis,",
            "curtosis,",
            r"features.csv: column \('chroma_cens', 'kurtosis', '01'\) is missing",
        ),
        ("features.csv", "\nnumber,01,02", "\nnumber,02,02", r"features.csv: column .* is missing"),
        ("features.csv", "\n9,", "\nnine,", r"features.csv, line 6: 'nine' is not a number"),
        ("features.csv", "\n9,", "\n9,9,", r"features.csv, line 6: must have 519 cells; got 520"),
        ("features.csv", "\n9,", "\n9.5,", r"features.csv, line 6: '9.5' is not a whole number"),
        ("features.csv", "\n9,", "\n2,", r"features.csv: track 2 is there twice"),
        ("tracks.csv", "\n9,", "\n2,", r"tracks.csv: track 2 is there twice"),
        (
            "tracks.csv",
            "training",
            "trainee",
            r"tracks.csv, line 5: the split must be one of training, validation, test",
        ),
        (
            "tracks.csv",
            ",102,",
            ",long,",
            r"tracks.csv, line 5, column \('track', 'duration'\): 'long' is not a number",
        ),
    ],
)
def test_a_broken_table_is_named_with_its_line(usual, tmp_path, table, old, new, words):
    usual.write(tmp_path)
    text = (tmp_path / table).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / table).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileError, match=words) as error:
        read_fma(tmp_path)
    assert "\n" not in str(error.value)


def test_bytes_that_are_no_text_and_endless_lines_are_refused(usual, tmp_path, monkeypatch):
    usual.write(tmp_path)
    monkeypatch.setattr("fabula.sources.fma.archive._LINE", 20_000)
    with (tmp_path / "features.csv").open("ab") as file:
        file.write(b"1" * 30_000)
    with pytest.raises(FileError, match="has a line of more than 20,000 characters"):
        read_fma(tmp_path)
    (tmp_path / "tracks.csv").write_bytes(b"\xff" + (tmp_path / "tracks.csv").read_bytes())
    with pytest.raises(FileError, match=r"tracks.csv: is not a table in UTF-8"):
        read_fma(tmp_path)
    assert csv.field_size_limit() == 131072


def test_no_tracks_at_all_is_an_error(empty, tmp_path):
    with pytest.raises(FileError, match=r"tracks.csv: holds no tracks"):
        read_fma(empty.write(tmp_path))


HEADERS = [("librosa", "tracks.csv", 2), ("librosa", "features.csv", 3), ("echonest", "echonest.csv", 3)]


@pytest.mark.parametrize(("features", "table", "header"), HEADERS)
def test_a_table_that_ends_within_its_header_is_told_in_one_line(usual, tmp_path, features, table, header):
    lines = usual.tables()[table].encode().splitlines(keepends=True)
    missing = [b"", b"\n\n\n\n", b"".join(lines[:1]), b"".join(lines[: header - 1])]
    missing += [b"".join(lines[: header - 1] + lines[header + more :]) for more in (0, 1)]
    none = [b"".join(lines[:header]), b"".join(lines[: header + 1]), b"".join(lines[: header + 1]) + b"\n\n\r\n"]
    ends = dict.fromkeys(missing, f"is missing from its {header} header rows")
    ends |= dict.fromkeys(none, "holds no tracks, only its header")
    usual.write(tmp_path)
    for text, words in ends.items():
        (tmp_path / table).write_bytes(text)
        with pytest.raises(FileError) as error:
            read_fma(tmp_path, features=features)
        assert str(error.value).startswith(f"{tmp_path / table}: ")
        assert str(error.value).endswith(f"{words}; get it again with: fabula fetch fma")


@pytest.mark.parametrize(("features", "table", "header"), HEADERS)
def test_a_table_cut_anywhere_is_read_or_told(usual, tmp_path, rng, features, table, header):
    text = usual.tables()[table].encode()
    usual.write(tmp_path)
    told = []
    for end in rng.integers(0, len(text), 25):
        (tmp_path / table).write_bytes(text[:end])
        try:
            read_fma(tmp_path, features=features)
        except FileError as error:
            told.append(str(error))
    assert told
    assert all(line.startswith(str(tmp_path / table)) and "\n" not in line for line in told)


@pytest.mark.parametrize(("features", "table", "header"), HEADERS)
@pytest.mark.parametrize("number", ["1e300", "9223372036854775808", "-1e18"])
def test_a_number_beyond_measure_is_told(usual, tmp_path, features, table, header, number):
    usual.write(tmp_path)
    text = (tmp_path / table).read_text(encoding="utf-8")
    (tmp_path / table).write_text(text.replace("\n9,", f"\n{number},", 1), encoding="utf-8")
    with pytest.raises(FileError, match=rf"{table}, line \d: '{number}' is larger than any number of this table"):
        read_fma(tmp_path, features=features)


@pytest.mark.parametrize("member", ["../evil", "/evil", "a/../../evil", "C:\\evil", "..\\evil"])
def test_a_member_outside_is_refused(usual, tmp_path, member):
    path = tmp_path / "fma_metadata.zip"
    path.write_bytes(usual.zipped(extra=member))
    with pytest.raises(FileError, match="points outside"):
        read_fma(path)


def test_a_missing_or_doubled_table_is_named(usual, tmp_path):
    path = tmp_path / "fma_metadata.zip"
    path.write_bytes(usual.zipped(without="features.csv"))
    with pytest.raises(FileError, match=r"must hold features.csv once; it is there not at all"):
        read_fma(path)
    path.write_bytes(usual.zipped(extra="old/tracks.csv"))
    with pytest.raises(FileError, match=r"must hold tracks.csv once; it is there 2 times"):
        read_fma(path)


def test_an_archive_that_unpacks_beyond_measure_is_refused(usual, tmp_path, monkeypatch):
    path = tmp_path / "fma_metadata.zip"
    path.write_bytes(usual.zipped())
    monkeypatch.setattr(fma_archive, "_LARGEST", 10_000)
    with pytest.raises(FileError, match=r"features.csv would unpack to [\d,]+ bytes; at most 10,000"):
        read_fma(path)


def test_a_table_larger_than_declared_is_refused(usual, tmp_path):
    path = tmp_path / "fma_metadata.zip"
    data = usual.zipped()
    path.write_bytes(data)
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("fma_metadata/tracks.csv").file_size
    path.write_bytes(data.replace(size.to_bytes(4, "little"), (size - 50).to_bytes(4, "little")))
    with pytest.raises(FileError, match=r"tracks.csv: cannot be read \(.*CRC"):
        read_fma(path)


def test_a_damaged_archive_is_refused(usual, tmp_path):
    path = tmp_path / "fma_metadata.zip"
    path.write_bytes(b"<html>not here</html>")
    with pytest.raises(FileError, match="is not a whole zip archive"):
        read_fma(path)
    data = bytearray(usual.zipped())
    middle = data.index(b"fma_metadata/features.csv") + 2000
    data[middle : middle + 50] = bytes(50)
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"features.csv: cannot be read"):
        read_fma(path)


def test_wrong_arguments_and_places_are_told(usual, tmp_path):
    with pytest.raises(InputError, match="features of FMA must be one of librosa, echonest; got 'mfcc'"):
        read_fma(tmp_path, features="mfcc")
    with pytest.raises(
        FileError, match=r"holds neither tracks.csv nor fma_metadata.zip; get it with: fabula fetch fma"
    ):
        read_fma(tmp_path)
    with pytest.raises(FileError, match="does not exist"):
        read_fma(tmp_path / "none")
    usual.write(tmp_path)
    (tmp_path / "features.csv").unlink()
    with pytest.raises(FileError, match=r"features.csv: cannot be read"):
        read_fma(tmp_path)
