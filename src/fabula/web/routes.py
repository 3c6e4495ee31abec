"""The JSON endpoints, thin over what they call; each is in the OpenAPI description."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path as InPath, Query, Request
from fastapi.responses import Response, StreamingResponse

from fabula.core.files import guard_files, move_stretch
from fabula.errors import FileError, shown
from fabula.media.medium import Medium
from fabula.media.registry import item_endings, rivals
from fabula.session.open import dump_session, load_session
from fabula.sources.registry import list_endings
from fabula.web import requests, responses
from fabula.web.file_access import ItemFile, check_below, file_response, list_folder, refuse_file
from fabula.web.http_errors import ERROR_RESPONSES, StatusError
from fabula.web.open_collection import DEMOS, list_demos, open_origin, open_saved_session, open_upload, receive, reopen
from fabula.web.open_jobs import JobProgress, OpenJobs
from fabula.web.orders import change_essence, is_final, knows_model, order, review
from fabula.web.page_workspace import Workspaces
from fabula.web.responses import json_response
from fabula.web.server_store import OpenCollection, Origin, ServerStore, collection_id

_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {"multipart/form-data": {"schema": {"type": "object", "properties": {"files": _FILES}}}},
    }
}

router = APIRouter(prefix="/api", responses=ERROR_RESPONSES, route_class=requests.StrictRoute)


def _state(name: str) -> Any:
    """What the app holds under a name, for who asks for it."""

    async def find(request: Request) -> Any:
        return getattr(request.app.state, name)

    return Depends(find)


StoreOf = Annotated[ServerStore, _state("store")]
JobsOf = Annotated[OpenJobs, _state("jobs")]
WorkspacesOf = Annotated[Workspaces, _state("workspaces")]
FirstOf = Annotated[str | None, _state("first")]  # the job of what was named at start
Name = Annotated[str, InPath(min_length=1, max_length=200)]
Row = Annotated[int, Query(ge=0, le=1_000_000)]
Rows = Annotated[int, Query(ge=1, le=60, description="How many rows: each takes time.")]
Formats = Annotated[str, Query(pattern=r"^[a-z0-9.]+(,[a-z0-9.]+)*$", max_length=200)]
Size = Annotated[int, Query(ge=16, le=4096, description="Pixels of its longer side, as far as it can be made smaller.")]


# Opening a collection


def _start(jobs: OpenJobs, title: str, work: Callable[[JobProgress], str]) -> Response:
    return json_response(responses.job_body(jobs.start(title, work)), 202)


@router.get("/start", tags=["open"])
def start(store: StoreOf, jobs: JobsOf, first: FirstOf) -> Any:
    """What a new page shows: the job of what was named at start, null where that is no collection; and the demos.

    And how many files may be sent at once, and the library that was named alone.
    """
    job = None if first is None else jobs.find(first)
    gone = job is not None and job.state == "done" and all(one.id != job.collection for one in store.all())
    opened = None if job is None or gone else responses.job_body(job)
    named = store.settings.libraries
    alone = named[0] if len(named) == 1 and not store.settings.roots else None
    told = {"open": opened, "library": alone, "demos": list_demos(), "most_files": store.settings.most_files}
    return json_response(told)


@router.post("/demo", status_code=202, tags=["open"])
def demo(store: StoreOf, jobs: JobsOf, asked: requests.DemoRequest | None = None) -> Any:
    """Open a collection that comes with the package, by default the first of them; a job."""
    name = "music" if asked is None else asked.name
    return _start(jobs, DEMOS[name][1], partial(open_origin, store, Origin("demo", "" if name == "music" else name)))


@router.post("/uploads", status_code=202, tags=["open"], openapi_extra=_UPLOAD_BODY)
async def upload(
    request: Request,
    store: StoreOf,
    jobs: JobsOf,
    by: str | None = None,
    collection: str | None = None,
    medium: str | None = None,
    *,
    first: bool = False,
) -> Any:
    """Open files that are sent: items, or one playlist or table with the files it names; a job.

    Of more than `most_files` the `first` are taken, where that is asked for.
    """
    jobs.check()
    came = await receive(request, store, first=first)
    origin = Origin("upload", collection=collection, medium=medium)
    try:
        work = f"{len(came.files)} files" if len(came.files) > 1 else came.files[0].name
        return _start(jobs, work, lambda progress: open_upload(store, came, progress, origin, by))
    except StatusError:
        store.drop_upload(came.id)
        raise


@router.get("/folders", tags=["open"])
def folders(store: StoreOf, path: str | None = Query(None, max_length=4000)) -> Any:
    """What lies in a folder of this machine; without a path the folders and libraries named at start."""
    return json_response(list_folder(path, store.settings.roots, store.settings.libraries))


@router.get("/formats", tags=["open"])
def formats() -> Any:
    """The endings of files that can be opened, and the media that share some of them."""
    body = {"items": item_endings(), "lists": list_endings(), "rivals": rivals()}
    return json_response({name: sorted(found) for name, found in body.items()})


@router.post("/collections", status_code=202, tags=["open"])
def open_here(asked: requests.OpenRequest, store: StoreOf, jobs: JobsOf) -> Any:
    """Open a folder, a playlist or a table below the folders named at start, or a library named there; a job."""
    if asked.path in store.settings.libraries:
        title, origin = asked.path, Origin("library", asked.path, asked.collection)
    else:
        path = check_below(asked.path, store.settings.roots)
        title, origin = path.name, Origin("path", str(path), asked.collection, asked.medium)
    return _start(jobs, title, partial(open_origin, store, origin, by=asked.by))


@router.post("/sessions", status_code=201, tags=["open"])
def open_session(saved: dict[str, Any], store: StoreOf) -> Any:
    """Open a session that was saved; nothing is measured anew."""
    session, state = load_session(saved, model=store.settings.model)
    items = session.collection.items
    if len(items) > store.settings.most_items:
        raise FileError(f"a collection may have {store.settings.most_items} items on this page; got {len(items)}")
    origin = Origin("session")
    opened = open_saved_session(store, session, origin, collection_id(session, origin))
    store.add(opened)
    return json_response({"collection": _describe(opened, store), "state": state}, 201)


# Jobs


@router.get("/jobs", tags=["jobs"])
def all_jobs(jobs: JobsOf) -> Any:
    """Every job, the newest last."""
    return json_response([responses.job_body(job) for job in jobs.all()])


@router.get("/jobs/{job}", tags=["jobs"])
def one_job(job: str, jobs: JobsOf) -> Any:
    """How far a job is, its items and how long they will take; once it is done, which collection came of it."""
    return json_response(responses.job_body(jobs.get(job)))


@router.get("/jobs/{job}/preview/{item}", tags=["jobs"], response_class=Response)
def preview_early(request: Request, job: str, item: int, jobs: JobsOf) -> Response:
    """The file of an item of a job, whole or a range of it: before all are measured."""
    listing = jobs.get(job).listing
    file = listing.files[item] if listing is not None and 0 <= item < len(listing.files) else None
    if listing is None or file is None:
        raise StatusError(404, f"item {item} has no file here")
    return _send(request, file, listing.source.medium)


@router.delete("/jobs/{job}", tags=["jobs"])
def cancel(job: str, jobs: JobsOf) -> Any:
    """Stop a job; what it was at is given up."""
    return json_response(responses.job_body(jobs.cancel(job)))


# Open collections


def _describe(opened: OpenCollection, store: ServerStore) -> dict[str, Any]:
    return responses.collection_body(opened, knows_model=knows_model(opened.session, store.settings.model))


@router.get("/collections", tags=["collections"])
def collections(store: StoreOf) -> Any:
    """The collections that are open."""
    summary = responses.summary_body
    return json_response([summary(one.id, one.session.title, len(one.files), one.origin) for one in store.all()])


@router.get("/collections/{collection}", tags=["collections"])
def one(collection: str, store: StoreOf) -> Any:
    """An open collection and its items, in the order given."""
    return json_response(_describe(store.get(collection), store))


@router.delete("/collections/{collection}", status_code=204, tags=["collections"])
def forget(collection: str, store: StoreOf) -> Response:
    """Forget a collection and remove what was uploaded for it."""
    store.remove(collection)
    return Response(status_code=204)


@router.put("/collections/{collection}/essence", tags=["collections"])
def essence(collection: str, asked: requests.EssenceRequest, store: StoreOf) -> Any:
    """Choose another essence: a column, or the model's."""
    opened = store.get(collection)
    with guard_files(opened.guard):
        changed = replace(opened, session=change_essence(opened, asked.by, store.settings.model))
    store.add(changed)
    return json_response(_describe(changed, store))


# Items: how they begin and end, their files, their waves and pictures


@router.get("/collections/{collection}/ends/{item}", tags=["items"])
def ends(collection: str, item: int, store: StoreOf) -> Any:
    """How an item begins and how it ends, as plain text."""
    opened = store.get(collection)
    items, read, found = opened.session.collection.items, opened.session.medium.preview.ends, None
    if 0 <= item < len(items) and read is not None:
        file = opened.files[item]  # what the item itself names is not to be opened
        with guard_files(opened.guard):
            found = read(replace(items[item], path="" if file is None else str(file.path)))
    if found is None:
        raise StatusError(404, f"item {item} has no beginning or end that could be read")
    return json_response({"first": found[0], "last": found[1]})


def _find_item(store: ServerStore, collection: str, item: int) -> tuple[OpenCollection, ItemFile, str]:
    """The collection, the file of an item that has one, and the path of that, or of a stretch of it."""
    opened = store.get(collection)
    file = opened.files[item] if 0 <= item < len(opened.files) else None
    if file is None:
        raise StatusError(404, f"item {item} has no file here")
    return opened, file, move_stretch(opened.session.collection.items[item].path, str(file.path))


@router.get("/collections/{collection}/preview/{item}", tags=["items"], response_class=Response)
def preview(request: Request, collection: str, item: int, store: StoreOf) -> Response:
    """The file of an item, whole or a range of it; where the item is a stretch of it, ``span`` says which."""
    opened, file, _ = _find_item(store, collection, item)
    return _send(request, file, opened.session.medium)


def _send(request: Request, file: ItemFile, medium: Medium) -> Response:
    asked, kind = request.headers, responses.media_type(file.path, medium)
    return file_response(file.open(), kind, asked.get("range"), if_range=asked.get("if-range"))


@router.get("/collections/{collection}/items/{item}/wave", tags=["items"])
def wave(collection: str, item: int, store: StoreOf) -> Any:
    """What an item looks like over its length: lows and highs, and where there is something first and last."""
    opened, file, path = _find_item(store, collection, item)
    look = opened.session.medium.preview.wave
    if look is None:
        raise StatusError(404, f"{opened.session.medium.words.items} have no wave")
    with store.looking.turn(), guard_files(opened.guard):
        file.open().close()  # 404 where it is gone
        try:
            return json_response(responses.wave_body(look(path, lambda: store.closed)))
        except FileError as error:
            label = opened.session.collection.items[item].label
            raise FileError(str(error).replace(shown(path), label)) from error


@router.get("/collections/{collection}/items/{item}/cover", tags=["items"], response_class=Response)
def cover(collection: str, item: int, store: StoreOf, *, empty: bool = False, size: Size = 640) -> Response:
    """The picture that stands for an item; 404 where there is none, or 204 with `empty`."""
    opened, file, path = _find_item(store, collection, item)
    find = opened.session.medium.preview.cover
    with guard_files(opened.guard):
        found = find(path, size) if find is not None and file.there else None
    if found is None:
        if empty:
            return Response(status_code=204)
        raise StatusError(404, f"item {item} has no picture")
    return Response(found.data, media_type=found.type, headers={"Cache-Control": "private, max-age=3600"})


# Orders, and the files that are made of them


@router.get("/templates", tags=["order"])
def templates() -> Any:
    """The built-in templates with their values at 41 positions."""
    return json_response(responses.templates_body())


@router.post("/order", tags=["order"])
def order_collection(asked: requests.OrderRequest, store: StoreOf) -> Any:
    """Order a collection; answers what `fabula order --json` prints, and the id of the result."""
    with guard_files(refuse_file if asked.collection is None else store.get(asked.collection).guard):
        ordered, result = order(store, asked)
        more = {"sequence": asked.sequence, "final": is_final(asked, ordered)}
        return json_response({**responses.order_body(ordered, result, explain=asked.explain), **more})


@router.get("/collections/{collection}/reasons/{result}", tags=["order"])
def reasons(collection: str, result: str, store: StoreOf, first: Row, count: Rows = 24) -> Any:
    """Why items stand where they stand, at positions counted from 0: of rows beyond those that an order explains."""
    opened, ordered = store.get(collection), store.get_result(collection, result)
    rows = range(first, min(first + count, len(ordered.ordering)))
    with store.looking.turn(), guard_files(opened.guard):
        return json_response({"first": first, "why": ordered.reasons_at(rows) if rows else []})


@router.post("/collections/{collection}/review", tags=["order"])
def review_collection(collection: str, asked: requests.ReviewRequest, store: StoreOf) -> Any:
    """Review an order as it stands; answers what `fabula review` prints as JSON, and the same in words."""
    return json_response(responses.review_body(review(store, collection, asked)))


@router.post("/collections/{collection}/export", tags=["order"], response_class=Response)
def export(collection: str, asked: requests.ExportRequest, store: StoreOf) -> Response:
    """Write a result: a playlist, a table, JSON, a report, a picture, or numbered copies."""
    opened = store.get(collection)
    ordered = store.get_result(collection, asked.result)
    if asked.gap_s is not None:
        ordered = replace(ordered, request=replace(ordered.request, gap_s=asked.gap_s))
    if asked.format == "zip":
        name = f"{responses.file_name(ordered.session.title) or 'order'}.zip"
        chunks = responses.zip_copies(opened, ordered, store.folder)
        return StreamingResponse(chunks, media_type="application/zip", headers=_attach(name))
    with guard_files(opened.guard):
        name, data = responses.export(ordered, asked.format, store.folder)
    return Response(data, media_type="application/octet-stream", headers=_attach(name))


@router.get("/collections/{collection}/losses/{result}", tags=["order"])
def losses(collection: str, result: str, store: StoreOf, formats: Formats) -> Any:
    """What files of some formats, ``md,docx``, would not carry of what was opened: a line each, "" where all comes."""
    opened, ordered = store.get(collection), store.get_result(collection, result)
    name = responses.file_name(ordered.session.title) or "order"
    with store.looking.turn(), guard_files(opened.guard):
        return json_response({form: ordered.losses(f"{name}.{form}") for form in formats.split(",")})


@router.post("/collections/{collection}/write", tags=["order"])
def write(collection: str, asked: requests.WriteRequest, store: StoreOf) -> Any:
    """Write a result back into the library that the collection came from; answers in words what was `written`."""
    return json_response({"written": store.get_result(collection, asked.result).write_back(asked.name)})


@router.post("/collections/{collection}/session", tags=["order"], response_class=Response)
def save(collection: str, asked: requests.SaveRequest, store: StoreOf) -> Response:
    """Save the collection and the page's state in a file that opens again."""
    session = store.get(collection).session
    name = f"{responses.file_name(session.title) or 'session'}.fabula.json"
    text = json.dumps(dump_session(session, asked.state), indent=1)
    return Response(text, media_type="application/json", headers=_attach(name))


def _attach(name: str) -> dict[str, str]:
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


# Workspaces: what a person made of a collection, and its versions by name. Their addresses say desk.


@router.get("/desks", tags=["desks"])
def all_desks(store: StoreOf, workspaces: WorkspacesOf) -> Any:
    """Every collection of which something is kept, the one changed last first."""
    there, bodies = {one.id for one in store.all()}, []
    for one in workspaces.all():
        body = responses.summary_body(one.id, one.title, len(one.session["items"]), one.origin)
        saved = None if one.kept is None else one.kept.saved
        bodies.append({**body, "saved": saved, "versions": list(one.versions), "open": one.id in there})
    return json_response(bodies)


@router.post("/collections/{collection}/reopen", status_code=202, tags=["desks"])
def open_again(collection: str, store: StoreOf, jobs: JobsOf, workspaces: WorkspacesOf) -> Any:
    """Open a collection of which something is kept; a job. Its id is the same where its files are."""
    found = workspaces.get(collection)
    if not found.session:
        raise StatusError(404, "nothing is kept of such a collection here; open it again")
    return _start(jobs, found.title, lambda progress: reopen(store, found, progress))


@router.get("/collections/{collection}/desk", tags=["desks"])
def desk(collection: str, workspaces: WorkspacesOf) -> Any:
    """What is kept of a collection: revision 0 and no state where nothing is."""
    return json_response(responses.workspace_body(workspaces.get(collection)))


@router.put("/collections/{collection}/desk", tags=["desks"])
def keep(collection: str, asked: requests.DeskRequest, store: StoreOf, workspaces: WorkspacesOf) -> Any:
    """Keep the page's state; 409 with what is there where it was changed by another page since `revision`."""
    return json_response(responses.workspace_body(workspaces.put(store.get(collection), asked.state, asked.revision)))


@router.delete("/collections/{collection}/desk", status_code=204, tags=["desks"])
def forget_desk(collection: str, workspaces: WorkspacesOf) -> Response:
    """Forget what is kept of a collection, versions too."""
    workspaces.drop(collection)
    return Response(status_code=204)


@router.get("/collections/{collection}/versions", tags=["desks"])
def versions(collection: str, workspaces: WorkspacesOf) -> Any:
    """The versions of a collection, by name, the oldest first."""
    found = workspaces.get(collection).versions
    return json_response([{"name": name, "saved": kept.saved} for name, kept in found.items()])


@router.get("/collections/{collection}/versions/{name:path}", tags=["desks"])
def version(collection: str, name: Name, workspaces: WorkspacesOf) -> Any:
    """A version by its name."""
    kept = workspaces.get(collection).versions.get(name)
    if kept is None:
        raise StatusError(404, f"there is no version {name[:80]!r}")
    return json_response({"name": name, "saved": kept.saved, "state": kept.state})


@router.put("/collections/{collection}/versions/{name:path}", tags=["desks"])
def keep_version(
    collection: str, name: Name, asked: requests.VersionRequest, store: StoreOf, workspaces: WorkspacesOf
) -> Any:
    """Keep the page's state under a name."""
    kept = workspaces.put_version(store.get(collection), name, asked.state, replace=asked.replace).versions[name]
    return json_response({"name": name, "saved": kept.saved, "state": kept.state})


@router.delete("/collections/{collection}/versions/{name:path}", status_code=204, tags=["desks"])
def drop_version(collection: str, name: Name, workspaces: WorkspacesOf) -> Response:
    """Forget a version."""
    workspaces.drop_version(collection, name)
    return Response(status_code=204)
