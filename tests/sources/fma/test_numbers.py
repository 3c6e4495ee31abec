import numpy as np
import pytest

from fabula.errors import FileError
from fabula.sources.fma.archive import _parse_rows


def test_every_number_is_the_one_that_python_reads(rng):
    values = rng.normal(size=(60, 40)) * 10.0 ** rng.integers(-90, 90, (60, 40))
    values[rng.random(values.shape) < 0.1] = 0
    values[0, :3] = -0.0, 1, -9.9999999999e-12
    rows = [[str(i), *(f"{v:.10e}" for v in row)] for i, row in enumerate(values, 2)]
    found = _parse_rows([(i, ",".join(cells)) for i, cells in enumerate(rows, 5)], 41, "features.csv")
    assert np.array_equal(found, [[float(cell) for cell in cells] for cells in rows])


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
def test_numbers_of_any_form_are_read_and_empty_cells_are_missing(row):
    found = _parse_rows([(5, row)], 3, "features.csv")
    assert np.array_equal(found, [[float(cell or "nan") for cell in row.split(",")]], equal_nan=True)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("2,1.000:000000e+00", "line 6: '1.000:000000e.00' is not a number"),
        ("2,1.0000000000e 00", "line 6: '1.0000000000e 00' is not a number"),
        ("3", "line 6: must have 2 cells; got 1"),
        ("-1.5,1", "line 6: '-1.5' is not a whole number"),
        ("1e18,1", "line 6: '1e18' is larger than any number of this table"),
    ],
)
def test_what_is_no_number_is_named_with_its_line(row, words):
    with pytest.raises(FileError, match=words):
        _parse_rows([(5, "1,2.5"), (6, row)], 2, "features.csv")
