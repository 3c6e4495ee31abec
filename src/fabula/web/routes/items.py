"""Endpoints of the items of a collection: their files, what they look like over their length, their pictures."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from fabula.errors import FileError
from fabula.web.errors import StatusError
from fabula.web.guard.files import ItemFile
from fabula.web.guard.ranges import file_response
from fabula.web.responses import json_response, media_type, wave_body
from fabula.web.store import OpenCollection, Store

_COVER = 640  # pixels of a picture's longer side, where nothing else is asked for
Size = Annotated[int, Query(ge=16, le=4096, description="Pixels of its longer side, as far as it can be made smaller.")]


def add_items(router: APIRouter, store: Store) -> None:
    """Add the endpoints of items."""

    def file_of(collection: str, item: int) -> tuple[OpenCollection, ItemFile]:
        opened = store.get(collection)
        file = opened.files[item] if 0 <= item < len(opened.files) else None
        if file is None:
            raise StatusError(404, f"item {item} has no file here")
        return opened, file

    @router.get("/collections/{collection}/preview/{item}", tags=["items"], response_class=Response)
    def preview(request: Request, collection: str, item: int) -> Response:
        """The file of an item, whole or a range of it."""
        opened, file = file_of(collection, item)
        kind = media_type(file.path, opened.session.medium)
        asked = request.headers
        return file_response(file.open(), kind, asked.get("range"), if_range=asked.get("if-range"))

    @router.get("/collections/{collection}/items/{item}/wave", tags=["items"])
    def wave(collection: str, item: int) -> Any:
        """What an item looks like over its length: lows and highs, and where there is something first and last."""
        opened, file = file_of(collection, item)
        look = opened.session.medium.preview.wave
        if look is None:
            raise StatusError(404, f"{opened.session.medium.words.items} have no wave")
        with store.looking.turn(), file.as_path() as path:
            try:
                return json_response(wave_body(look(path, lambda: store.closed)))
            except FileError as error:
                label = opened.session.collection.items[item].label
                raise FileError(str(error).replace(path, label)) from error

    @router.get("/collections/{collection}/items/{item}/cover", tags=["items"], response_class=Response)
    def cover(collection: str, item: int, *, empty: bool = False, size: Size = _COVER) -> Response:
        """The picture that stands for an item; 404 where there is none, or 204 with `empty`."""
        opened, file = file_of(collection, item)
        find = opened.session.medium.preview.cover
        found = find(str(file.path), size) if find is not None and file.there else None
        if found is None or not file.there:
            if empty:
                return Response(status_code=204)
            raise StatusError(404, f"item {item} has no picture")
        return Response(found.data, media_type=found.type, headers={"Cache-Control": "private, max-age=3600"})
