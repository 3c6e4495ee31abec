"""Tables of a study, once as rows: for HTML and for CSV alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from fabula.sources.tables.text_tables import csv_text
from fabula.studies.reproduce.run import Reproduced

SHOWN = ("edit", "spearman", "kendall", "first", "last", "neighbours", "position", "lcs", "perfect")


@dataclass(frozen=True)
class Table:
    """A table: its file's name, the names of its columns, and rows of texts and numbers (None is unknown)."""

    name: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def csv(self) -> str:
        """Numbers in full."""
        return csv_text(self.columns, self.rows)

    def html(self, *, digits: int = 3) -> str:
        """Numbers to so many digits, on the right."""
        numeric = [all(isinstance(row[i], int | float | None) for row in self.rows) for i in range(len(self.columns))]
        head = "".join(_cell("th", name, right=n) for name, n in zip(self.columns, numeric, strict=True))
        rows = [
            "".join(_cell("td", shown(cell, digits), right=n) for cell, n in zip(row, numeric, strict=True))
            for row in self.rows
        ]
        body = "".join(f"<tr>{cells}</tr>" for cells in rows)
        return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(tag: str, words: str, *, right: bool) -> str:
    return f"<{tag}{' class=' + chr(34) + 'n' + chr(34) if right else ''}>{escape(words)}</{tag}>"


def shown(value: Any, digits: int = 3) -> str:
    """A cell as a person reads it; small probabilities keep their exponent.

    Examples
    --------
    >>> shown(0.12345), shown(1e-9), shown(None), shown("a")
    ('0.123', '1e-09', '', 'a')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1g}" if 0 < abs(value) < 0.5 * 10**-digits else f"{value:.{digits}f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def tables(results: Reproduced) -> dict[str, Table]:
    """Every table of a study by name."""
    found = [
        _table1(results),
        _plain("controls", ("data", "scorer", "bits", "low", "high"), results.controls),
        _plain("more-data", ("collections", "bits", "low", "high"), results.more_data),
        _figure2(results),
        _tests("significance", results.significance["rows"]),
        _recovery(results),
        _tests("recovery-tests", results.recovery["tests"]),
    ]
    if results.figure1 is not None:
        columns = ("name", "dimensions", "bits", "low", "high", "correlation")
        found.append(_plain("figure1", columns, results.figure1))
    return {table.name: table for table in found}


def _table1(results: Reproduced) -> Table:
    rows = [
        (r["dimensions"], r["bits"], r["low"], r["high"], min(r["seeds"]), max(r["seeds"]), len(r["seeds"]), r["paper"])
        for r in results.table1
    ]
    columns = ("dimensions", "bits", "low", "high", "lowest seed", "highest seed", "seeds", "published")
    return Table("table1", columns, rows)


def _figure2(results: Reproduced) -> Table:
    columns = ("name", "k", "metric", "mean", "low", "high", "n")
    rows = _plain("figure2", columns, results.figure2["rows"]).rows
    gained = [{**row, "name": f"{row['name']}, gain over shuffled"} for row in results.figure2["gains"]]
    return Table("figure2", columns, rows + _plain("", columns, gained).rows)


def _recovery(results: Reproduced) -> Table:
    rows = []
    for row in results.recovery["rows"]:
        cells = [row["metrics"][name] for name in SHOWN]
        rows.append((row["method"], row["n"], *(cell[end] for cell in cells for end in ("mean", "low", "high"))))
    columns = tuple(f"{name}{end}" for name in SHOWN for end in ("", " low", " high"))
    return Table("recovery", ("method", "n", *columns), rows)


def recovery_means(results: Reproduced) -> Table:
    """The table of all methods with means alone, as the page shows it."""
    rows = [(r["method"], r["n"], *(r["metrics"][name]["mean"] for name in SHOWN)) for r in results.recovery["rows"]]
    return Table("recovery-means", ("method", "n", *SHOWN), rows)


def _tests(name: str, rows: Sequence[dict[str, Any]]) -> Table:
    columns = ("metric", "a", "b", "n", "difference", "low", "high", "effect", "p", "adjusted")
    return _plain(name, columns, rows)


def _plain(name: str, columns: tuple[str, ...], rows: Sequence[dict[str, Any]]) -> Table:
    return Table(name, columns, [tuple(_clean(column, row[column]) for column in columns) for row in rows])


def _clean(column: str, value: Any) -> Any:
    """Bits that differ from zero by rounding alone are zero."""
    tiny = column in ("bits", "low", "high") and isinstance(value, float) and abs(value) < 1e-9
    return 0.0 if tiny else value
