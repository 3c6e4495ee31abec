import io

import numpy as np
import pytest

from fabula.sources.fma.archive import _parse_block
from fabula.sources.fma.numbers import parse_regular


def lines(values: np.ndarray) -> bytes:
    return "".join(",".join([str(i), *(f"{v:.10e}" for v in row)]) + "\n" for i, row in enumerate(values, 2)).encode()


def test_the_quick_way_gives_the_numbers_of_the_plain_way(rng):
    values = rng.normal(size=(60, 40)) * 10.0 ** rng.integers(-8, 20, (60, 40))
    values[rng.random(values.shape) < 0.1] = 0
    values[0, :3] = -0.0, 1, -9.9999999999e-12
    block = lines(values)
    quick = parse_regular(block, 41)
    assert np.array_equal(quick, np.loadtxt(io.BytesIO(block), delimiter=","))
    assert quick[:, 0].tolist() == list(range(2, 62))


def test_far_exponents_are_right_as_float32(rng):
    values = rng.normal(size=(50, 20)) * 10.0 ** rng.integers(-90, 90, (50, 20))
    block = lines(values)
    plain = np.loadtxt(io.BytesIO(block), delimiter=",")
    quick = parse_regular(block, 21)
    assert np.allclose(quick, plain, rtol=1e-15, atol=0)
    with np.errstate(over="ignore"):
        assert np.array_equal(quick.astype(np.float32), plain.astype(np.float32))


@pytest.mark.parametrize(
    "row",
    [
        b"2,1.5,1.0000000000e+00\n",
        b"2,nan,1.0000000000e+00\n",
        b"2,,1.0000000000e+00\n",
        b"2,+1.0000000000e+00,1.0000000000e+00\n",
        b"2,1.00000000000e+00,1.0000000000e+00\n",
        b"2,1.0000000000e+100,1.0000000000e+00\n",
        b"2,1.0000000000e+00,1.0000000000E+00\n",
        b"2.0,1.0000000000e+00,1.0000000000e+00\n",
        b"2,1.0000000000e+00,1.0000000000e+00\r\n",
        b"2,1.0000000000e+00,1.0000000000e+00",
        b"2, 1.000000000e+00,1.0000000000e+00\n",
    ],
)
def test_any_other_form_is_left_to_the_plain_way(row):
    assert parse_regular(row, 3) is None
    parsed = _parse_block(row, 3, "line ", 1)
    cells = row.decode().strip().split(",")
    assert np.array_equal(parsed, [[float(cell or "nan") for cell in cells]], equal_nan=True)


@pytest.mark.parametrize(
    "row",
    [b"2,1.0000000000e+00\n3\n", b"2,1.000:000000e+00\n", b"2,1.0000000000e 00\n", b"2\n-1.0000000000e+00\n", b""],
)
def test_what_only_looks_alike_is_not_taken(row):
    assert parse_regular(row, 2) is None
