import numpy as np
import pytest

from fabula.errors import FileError
from fabula.sources.fma.archive import _read_features

HEADER = "feature,a,b\nstatistics,mean,std\nnumber,01,01\ntrack_id,,\n"
WANTED = [("b", "std", "01"), ("a", "mean", "01")]


def read(folder, *rows):
    (folder / "features.csv").write_text(HEADER + "\n".join(rows))
    return _read_features(folder, "features.csv", WANTED)


def test_every_number_is_the_one_that_python_reads(rng, tmp_path):
    values = rng.normal(size=(600, 2)) * 10.0 ** rng.integers(-90, 90, (600, 2))
    values[rng.random(values.shape) < 0.1] = 0
    values[0] = -0.0, -9.9999999999e-12
    rows = [[str(i), *(f"{v:.10e}" for v in row)] for i, row in enumerate(values, 2)]
    ids, found = read(tmp_path, *map(",".join, rows))
    assert np.array_equal(ids, np.arange(2, 602))
    assert np.array_equal(found, [[float(cell) for cell in cells[:0:-1]] for cells in rows])


@pytest.mark.parametrize(
    "row",
    [
        "2,1.5,1.0000000000e+00",
        "2,nan,1.0000000000e+00",
        "2,,1.0000000000e+00",
        "2,1.0000000000e+00,",
        "2,,",
        "2,+1.0000000000e+00,1.0000000000e+00",
        "2,1.0000000000e+100,1.0000000000e+00",
        "2,1.0000000000e+00,1.0000000000E+00",
        "2.0,1.0000000000e+00,1.0000000000e+00",
        "2, 1.000000000e+00,1.0000000000e+00",
    ],
)
def test_numbers_of_any_form_are_read_and_empty_cells_are_missing(row, tmp_path):
    _, found = read(tmp_path, row)
    assert np.array_equal(found, [[float(cell or "nan") for cell in row.split(",")[:0:-1]]], equal_nan=True)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("2,1.000:000000e+00,1", r"line 6: '1.000:000000e\+00' is not a number"),
        ("2,1.0000000000e 00,1", "line 6: '1.0000000000e 00' is not a number"),
        ("3,1", "line 6: must have 3 cells; got 2"),
        ("-1.5,1,1", "line 6: '-1.5' is not a whole number"),
        ("1e18,1,1", "line 6: '1e18' is larger than any number of this table"),
    ],
)
def test_what_is_no_number_is_named_with_its_line(row, words, tmp_path):
    with pytest.raises(FileError, match=words):
        read(tmp_path, "1,2.5,1", row)
