"""Endpoints of desks: what a person made of a collection, and its versions by name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response

from fabula.web.desks import Desk, Desks
from fabula.web.errors import StatusError
from fabula.web.jobs import Jobs
from fabula.web.reopening import reopen
from fabula.web.requests import DeskRequest, VersionRequest
from fabula.web.responses import json_response
from fabula.web.store import Store

_Name = Annotated[str, Path(min_length=1, max_length=200)]


def add_desks(router: APIRouter, store: Store, jobs: Jobs, desks: Desks) -> None:
    """Add the endpoints of desks."""

    @router.get("/desks", tags=["desks"])
    def all_desks() -> Any:
        """Every collection of which something is kept, the one changed last first."""
        there = {one.id for one in store.all()}
        return json_response([{**_summary(desk), "open": desk.id in there} for desk in desks.all()])

    @router.post("/collections/{collection}/reopen", status_code=202, tags=["desks"])
    def open_again(collection: str) -> Any:
        """Open a collection of which something is kept; a job. Its id is the same where its files are."""
        desk = desks.get(collection)
        if not desk.session:
            raise StatusError(404, "nothing is kept of such a collection here; open it again")
        return asdict(jobs.start(desk.title, lambda progress: reopen(store, desk, progress)))

    @router.get("/collections/{collection}/desk", tags=["desks"])
    def desk(collection: str) -> Any:
        """What is kept of a collection: revision 0 and no state where nothing is."""
        return json_response(_body(desks.get(collection)))

    @router.put("/collections/{collection}/desk", tags=["desks"])
    def keep(collection: str, asked: DeskRequest) -> Any:
        """Keep the page's state; 409 with what is there where it was changed by another page since `revision`."""
        return json_response(_body(desks.put(store.get(collection), asked.state, asked.revision)))

    @router.delete("/collections/{collection}/desk", status_code=204, tags=["desks"])
    def forget(collection: str) -> Response:
        """Forget what is kept of a collection, versions too."""
        desks.drop(collection)
        return Response(status_code=204)

    @router.get("/collections/{collection}/versions", tags=["desks"])
    def versions(collection: str) -> Any:
        """The versions of a collection, by name, the oldest first."""
        found = desks.get(collection).versions
        return json_response([{"name": name, "saved": kept.saved} for name, kept in found.items()])

    @router.get("/collections/{collection}/versions/{name:path}", tags=["desks"])
    def version(collection: str, name: _Name) -> Any:
        """A version by its name."""
        kept = desks.get(collection).versions.get(name)
        if kept is None:
            raise StatusError(404, f"there is no version {name[:80]!r}")
        return json_response({"name": name, "saved": kept.saved, "state": kept.state})

    @router.put("/collections/{collection}/versions/{name:path}", tags=["desks"])
    def keep_version(collection: str, name: _Name, asked: VersionRequest) -> Any:
        """Keep the page's state under a name."""
        kept = desks.put_version(store.get(collection), name, asked.state, replace=asked.replace).versions[name]
        return json_response({"name": name, "saved": kept.saved, "state": kept.state})

    @router.delete("/collections/{collection}/versions/{name:path}", status_code=204, tags=["desks"])
    def drop_version(collection: str, name: _Name) -> Response:
        """Forget a version."""
        desks.drop_version(collection, name)
        return Response(status_code=204)


def _body(desk: Desk) -> dict[str, Any]:
    kept = desk.kept
    return {
        "revision": desk.revision,
        "state": None if kept is None else kept.state,
        "saved": None if kept is None else kept.saved,
    }


def _summary(desk: Desk) -> dict[str, Any]:
    return {
        "id": desk.id,
        "title": desk.title,
        "items": len(desk.session["items"]),
        "origin": {"kind": desk.origin.get("kind"), "path": desk.origin.get("path")},
        "saved": None if desk.kept is None else desk.kept.saved,
        "versions": list(desk.versions),
    }
