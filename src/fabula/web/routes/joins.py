"""The endpoint of how items begin and end, so that a join can be read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter

from fabula.web.errors import StatusError
from fabula.web.responses import json_response
from fabula.web.store import Store


def add_joins(router: APIRouter, store: Store) -> None:
    """Add the endpoint of beginnings and ends."""

    @router.get("/collections/{collection}/ends/{item}", tags=["items"])
    def ends(collection: str, item: int) -> Any:
        """How an item begins and how it ends, as plain text."""
        opened = store.get(collection)
        items, read = opened.session.collection.items, opened.session.medium.preview.ends
        if not 0 <= item < len(items) or read is None:
            raise StatusError(404, f"item {item} has no beginning or end that could be read")
        file = opened.files[item]  # what the item itself names is not to be opened
        found = read(replace(items[item], path=str(file.path) if file is not None and file.there else ""))
        if found is None:
            raise StatusError(404, f"item {item} has no beginning or end that could be read")
        return json_response({"first": found[0], "last": found[1]})
