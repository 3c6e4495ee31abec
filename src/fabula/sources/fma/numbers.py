"""Fifty million numbers of one form, as FMA's features.csv has them, read all at once instead of one by one."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from fabula.core.essence import Floats
from fabula.core.ordering import Ints

_WIDTH = 17  # of a cell with its sign, or with the comma before it: -1.2345678901e+02
_DIGITS = [1, *range(3, 13), 15, 16]  # where they stand in it
_TENS = np.array([float(f"1e{power}") for power in range(110)])


def parse_regular(block: bytes, width: int) -> Floats | None:
    """Numbers (rows, width) of lines that are a whole number and then cells like ``-1.2345678901e+02``.

    The result is that of a plain parser for numbers from 1e-12 to 1e32, and within one unit of the last place beyond.

    Parameters
    ----------
    block
        Whole lines.
    width
        Cells of a line, with the whole number.

    Returns
    -------
    None when anything has another form.

    Examples
    --------
    >>> parse_regular(b"7,1.2500000000e+01,-3.0000000000e-02\\n", 3)
    array([[ 7.  , 12.5 , -0.03]])
    """
    data = np.frombuffer(block, dtype=np.uint8)
    marks = np.flatnonzero((data == ord(",")) | (data == ord("\n")))
    if not marks.size or marks.size % width or marks[-1] != data.size - 1:
        return None
    ends = marks.reshape(-1, width)
    if block.count(b"\n") != len(ends) or (data[ends[:, -1]] != ord("\n")).any():
        return None
    starts = [0, *(ends[:-1, -1] + 1).tolist()]
    firsts = [block[start:end] for start, end in zip(starts, ends[:, 0].tolist(), strict=True)]
    lengths = np.diff(ends, axis=1).reshape(-1) - 1
    if not all(first.isdigit() and len(first) <= 15 for first in firsts) or (lengths < _WIDTH - 1).any():
        return None
    values = _parse_cells(data, ends[:, 1:].reshape(-1), lengths == _WIDTH)
    return None if values is None else np.column_stack([np.array(firsts).astype(float), values.reshape(len(ends), -1)])


def _parse_cells(data: NDArray[np.uint8], ends: Ints, signed: NDArray[np.bool_]) -> Floats | None:
    """Numbers (m,) of the cells that end before ``ends``; a sign or a comma stands before each."""
    cells = sliding_window_view(data, _WIDTH)[ends - _WIDTH].T.copy()  # (17, m)
    minus = cells[14] == ord("-")
    cells[_DIGITS] -= ord("0")  # what is no digit becomes larger than 9
    regular = (
        (cells[0] == np.where(signed, ord("-"), ord(","))).all()
        and (cells[2] == ord(".")).all()
        and (cells[13] == ord("e")).all()
        and (minus | (cells[14] == ord("+"))).all()
        and cells[_DIGITS].max() <= 9
    )
    if not regular:
        return None
    mantissa = np.zeros(len(ends))
    for digit in _DIGITS[:11]:
        mantissa = mantissa * 10 + cells[digit]  # a whole number below 1e11: exact
    power = (cells[15] * 10 + cells[16]) * np.where(minus, -1, 1) - 10
    values = np.where(power < 0, mantissa / _TENS[np.maximum(-power, 0)], mantissa * _TENS[np.maximum(power, 0)])
    return np.asarray(np.where(signed, -values, values))
