"""What columns that are added to a table are called."""

from fabula.sources.tables.write_table import _extra_headings


def test_a_column_of_the_table_keeps_its_name() -> None:
    headings = _extra_headings(["position", "title"], ["position", "essence"])
    assert headings == {"position": "fabula position", "essence": "essence"}


def test_columns_that_were_added_before_are_replaced() -> None:
    headings = _extra_headings(["position", "title", "essence"], ["position", "essence"])
    assert headings == {"position": "position", "essence": "essence"}
