"""Endpoints of open collections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from fabula.web.ordering import change_essence, knows_model
from fabula.web.requests import EssenceRequest
from fabula.web.responses import collection_body, json_response
from fabula.web.store import OpenCollection, Store


def add_collections(router: APIRouter, store: Store) -> None:
    """Add the endpoints of open collections."""

    def body(opened: OpenCollection) -> Response:
        known = knows_model(opened.session, store.settings.model)
        return json_response(collection_body(opened, knows_model=known))

    @router.get("/collections", tags=["collections"])
    def collections() -> Any:
        """The collections that are open."""
        return json_response(
            [
                {
                    "id": one.id,
                    "title": one.session.title,
                    "items": len(one.files),
                    "origin": {"kind": one.origin.kind, "path": one.origin.path},
                }
                for one in store.all()
            ]
        )

    @router.get("/collections/{collection}", tags=["collections"])
    def one(collection: str) -> Any:
        """An open collection and its items, in the order given."""
        return body(store.get(collection))

    @router.delete("/collections/{collection}", status_code=204, tags=["collections"])
    def forget(collection: str) -> Response:
        """Forget a collection and remove what was uploaded for it."""
        store.remove(collection)
        return Response(status_code=204)

    @router.put("/collections/{collection}/essence", tags=["collections"])
    def essence(collection: str, asked: EssenceRequest) -> Any:
        """Choose another essence: a column, or the model's."""
        opened = store.get(collection)
        changed = replace(opened, session=change_essence(opened, asked.by, store.settings.model))
        store.add(changed)
        return body(changed)
