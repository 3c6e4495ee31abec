"""Tables that are in memory already: Arrow tables, frames of pandas and polars, datasets of Hugging Face.

Nothing of these is imported: what they hold is handed over by the Arrow C stream, or by a dataset's format "arrow".
"""

from __future__ import annotations

import re
from typing import Any

from fabula.errors import FileError, InputError, import_extra
from fabula.sources.tables.arrow import table_of_arrow
from fabula.sources.tables.columns import SourceTable

NAME = "table"  # what errors call it
_AT_A_TIME = 100_000  # rows of a dataset that is read through
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls row labels without a name


def read_frame(data: Any) -> SourceTable:
    """The columns of a table in memory.

    Parameters
    ----------
    data
        An Arrow table, record batch or reader of batches; a frame of pandas or polars, or whatever else has
        ``__arrow_c_stream__``; a Hugging Face ``Dataset`` or ``IterableDataset``.

    Raises
    ------
    InputError
        When it is none of these.
    """
    pa = import_extra("pyarrow", extra="tables", purpose="reading frames")
    try:
        content = _as_arrow(pa, data)
    except pa.ArrowException as error:
        raise FileError(f"{NAME}: cannot be read ({str(error).partition(chr(10))[0]})") from error
    if content is None:
        raise InputError(
            "a table must be a path, an address, an Arrow table, a frame or a dataset; "
            f"got {type(data).__module__}.{type(data).__qualname__}{_hint(data)}"
        )
    labels = [name for name in content.column_names if _INDEX.fullmatch(name)]
    return table_of_arrow(NAME, content.drop_columns(labels) if labels else content)


def _as_arrow(pa: Any, data: Any) -> Any:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "with_format") and not isinstance(data, dict):
        shaped = data.with_format("arrow")
        if hasattr(data, "__len__"):
            return shaped[:]
        return pa.concat_tables(shaped.iter(batch_size=_AT_A_TIME))
    return pa.table(data) if hasattr(data, "__arrow_c_stream__") else None


def _hint(data: Any) -> str:
    if isinstance(data, dict) and hasattr(data, "with_format"):
        return f"; choose one of its splits: {', '.join(map(repr, data))}"
    return "; collect() it first" if hasattr(data, "collect") else ""
