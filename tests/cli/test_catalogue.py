import csv


def write(path):
    rows = [["album", "title", "duration_ms", "loudness"]]
    rows += [[album, f"{album} {i}", 180_000 + 9000 * i, -6 - i] for album in ("A", "B") for i in range(4)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_a_catalogue_is_encoded(fabula, tmp_path):
    table = write(tmp_path / "catalogue.csv")
    done = fabula("encode", table, "-o", tmp_path / "essence.csv", "--model", "audio", "--raw")
    assert done.code == 0
    assert "8 items of 2 collections" in done.out
    assert (tmp_path / "essence.csv").read_text().startswith("collection,row,id,essence\nA,1,1,")


def test_each_collection_of_a_table_is_ordered(fabula, tmp_path):
    table = write(tmp_path / "catalogue.csv")
    asked = fabula("order", table)
    assert asked.code == 2
    assert "or order each with --all" in asked.err
    done = fabula("order", table, "--all", "--likeliest", "-o", tmp_path / "orders.csv")
    assert done.code == 0
    assert "2 collections of 8 items; each the best there is" in done.out
    rows = list(csv.DictReader((tmp_path / "orders.csv").read_text().splitlines()))
    assert [row["collection"] + row["position"] for row in rows] == [f"{c}{i}" for c in "AB" for i in range(1, 5)]
    assert sorted(row["title"] for row in rows) == sorted(f"{c} {i}" for c in "AB" for i in range(4))


def test_wishes_go_with_one_collection(fabula, tmp_path):
    table = write(tmp_path / "catalogue.csv")
    refused = fabula("order", table, "--all", "--first", "A 0", "-o", tmp_path / "orders.csv")
    assert (refused.code, refused.err) == (2, "fabula: --first: goes with one collection, not with --all\n")
    refused = fabula("order", table, "--all")
    assert refused.code == 2
    assert "-o" in refused.err
    refused = fabula("encode", table, "-o", tmp_path / "essence.parquet.txt")
    assert refused.code == 2
    assert "--output" in refused.err
