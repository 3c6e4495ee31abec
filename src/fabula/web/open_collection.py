"""Opening a collection for the page: read it, keep to what may be read, measure it, remember it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from fabula.core.collection import Item
from fabula.core.display import name_some
from fabula.core.files import guard_files, move_stretch, split_stretch
from fabula.errors import FabulaError, FileError, InputError, shown
from fabula.media.extraction import Measuring
from fabula.media.registry import item_endings, medium_of_file
from fabula.session.measure import foresee_lengths
from fabula.session.open import demo_folder, load_session
from fabula.session.session import Session, source_session
from fabula.sources.folders import COMMON_NAMES, files_of, medium_of, natural_key, tell_beside
from fabula.sources.libraries.library import named_in
from fabula.sources.playlists.entries import is_address, is_relative, resolve
from fabula.sources.registry import Opening, SeveralCollectionsError, Source, list_endings, open_source
from fabula.web.file_access import ItemFile, check_list, find_file, guard_below, resolve_below, resolve_item
from fabula.web.http_errors import StatusError
from fabula.web.open_jobs import JobProgress, Listing
from fabula.web.server_store import OpenCollection, Origin, ServerStore, collection_id

if TYPE_CHECKING:
    from fabula.web.page_workspace import PageWorkspace

# Receiving files: counted while they stream in, stored under names of our own.


_LONGEST_BOUNDARY = 70  # characters, as RFC 2046 has it


@dataclass(frozen=True)
class Received:
    """A file that came in."""

    path: Path  # where it lies, under a number, with the ending of its name in small letters
    name: str  # what it was called, folders in front, without anything that leads out of them


async def receive(request: Request, store: ServerStore, *, first: bool = False) -> "Upload":
    """Store the files of a multipart request, but for what is neither an item nor a list.

    Nothing of it stays when it is too large, has too many files, or breaks off; with `first` as many files as may come
    are taken.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise StatusError(415, "files come as multipart/form-data")
    if len(options[b"boundary"]) > _LONGEST_BOUNDARY:
        raise StatusError(400, f"a boundary may have {_LONGEST_BOUNDARY} characters at most")
    upload = Upload(store, first=first)
    try:
        parser = MultipartParser(options[b"boundary"], upload.callbacks())  # type: ignore[arg-type]
        async for chunk in request.stream():
            await run_in_threadpool(parser.write, chunk)
        if not upload.whole:
            raise StatusError(400, "the upload broke off")
        if not upload.files:
            raise StatusError(400, "nothing in the upload can be opened: no file of a known kind")
    except BaseException as error:
        upload.close()
        store.drop_upload(upload.id)
        if isinstance(error, FormParserError):
            raise StatusError(400, f"the upload is not well-formed: {error}") from error
        if isinstance(error, ClientDisconnect):
            raise StatusError(400, "the upload broke off") from error
        raise
    return upload


class Upload:
    """Files that come in together, byte by byte."""

    def __init__(self, store: ServerStore, *, first: bool) -> None:
        self.store, self.first = store, first
        self.id, self.folder = store.new_upload()
        self.files: list[Received] = []
        self.others: list[str] = []  # names of what is of no known kind
        self.cut: list[str] = []  # and of what is called at too great length
        self.beyond = 0  # files after as many as may come
        self.whole = False
        self._folders: dict[str, int] = {}  # that files came from
        self._field, self._value, self._disposition = b"", b"", b""
        self._file: IO[bytes] | None = None
        self._size, self._all, self._parts = 0, 0, 0

    def callbacks(self) -> dict[str, object]:
        """What a parser is to call."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self.close,
            "on_end": self._end,
        }

    @property
    def left_out(self) -> tuple[tuple[str, str], ...]:
        """Name and why of what was not taken."""
        others = [(name, "is of no known kind") for name in self.others]
        beyond = (f"{self.beyond} more files", f"only the first {len(self.files)} were taken")
        return (*others, beyond) if self.beyond else tuple(others)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be told of files that were not taken, or not under their whole names."""
        beyond = f"only the first {len(self.files)} files were taken, not {self.beyond} more" if self.beyond else ""
        others = f"of no known kind, and left out: {name_some(self.others)}" if self.others else ""
        cut = f"called at more than {_LONGEST} characters, shown cut: {name_some(self.cut, 3)}" if self.cut else ""
        return tuple(filter(None, (beyond, others, cut)))

    def close(self) -> None:
        """End the file that is coming in."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._parts += 1
        self._field, self._value, self._disposition, self._size = b"", b"", b"", 0
        if self._parts > (20 if self.first else 2) * self.store.settings.most_files:  # what lies beside items counts
            raise self._too_many()

    def _too_many(self) -> StatusError:
        most = self.store.settings.most_files
        ways = "name their folder behind `fabula serve`, or take the first"
        return StatusError(413, f"an upload may have {most} files at most: {ways}", most=most)

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._disposition = self._value
        self._field, self._value = b"", b""

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        given = options.get(b"filename", b"").decode("utf-8", "replace")
        name = clean_name(given)
        ending = Path(name).suffix.lower()
        if ending not in item_endings() and ending not in list_endings():
            self.others += [Path(name).name] if given else []
            return
        if len(self.files) >= self.store.settings.most_files:
            if not self.first:
                raise self._too_many()
            self.beyond += 1
            return
        self.cut += [Path(name).name] if _CUT in name else []
        self._file = (path := self._choose_place(Path(name))).open("xb")
        self.files.append(Received(path, name))

    def _choose_place(self, name: Path) -> Path:
        """Where a file goes: into a folder for each that they came from, under a number, or as covers are called."""
        folder = self.folder / str(self._folders.setdefault(str(name.parent), len(self._folders)))
        folder.mkdir(exist_ok=True)
        ending, usual = name.suffix.lower(), folder / name.name.lower()
        medium = medium_of_file(ending) if name.stem.lower() in COMMON_NAMES and not usual.exists() else None
        if medium is not None and medium.preview.kind == "picture":
            return usual
        return folder / f"{len(self.files) + 1:05d}{ending}"

    def _data(self, data: bytes, start: int, end: int) -> None:
        size, limits = end - start, self.store.settings
        self._size, self._all = self._size + size, self._all + size
        if self._size > limits.most_file_bytes:
            raise StatusError(413, f"a file may have {limits.most_file_bytes:,} bytes at most")
        if self._all > limits.most_upload_bytes:
            raise StatusError(413, f"an upload may have {limits.most_upload_bytes:,} bytes at most")
        if self._file is not None:
            self.store.count(self.id, size)
            self._file.write(data[start:end])

    def _end(self) -> None:
        self.whole = True


_LONGEST = 120  # characters of a name
_CUT = "[…]"  # stands for the rest of a longer one


def clean_name(name: str) -> str:
    r"""A name that came from elsewhere, without what leads out of a folder; for people, never for opening a file.

    >>> clean_name("../../x.mp3"), clean_name("C:\\x\\a\nb.ogg"), clean_name("/")
    ('x.mp3', 'x/a\\nb.ogg', 'unnamed')
    """
    parts = [part.strip() for part in re.split(r"[\\/]", name)]
    kept = [_cut_name(shown(part)) for part in parts if part.strip(".") and not re.fullmatch(r"[A-Za-z]:", part)]
    return "/".join(kept[-4:]) or "unnamed"


def _cut_name(name: str) -> str:
    """A name of at most so many characters, the ending, which says what it is, among them."""
    ending = Path(name).suffix if len(Path(name).suffix) <= 12 else ""
    return name if len(name) <= _LONGEST else name[: _LONGEST - len(_CUT) - len(ending)] + _CUT + ending


def open_origin(store: ServerStore, origin: Origin, progress: JobProgress, by: str | None = None) -> str:
    """Open a demo, what lies below the folders named at start, or a library named there: the collection's id."""
    path, roots = origin.path, store.settings.roots
    if origin.kind == "demo":
        path = str(demo_folder(DEMOS[origin.path or "music"][0]).resolve())
        roots = (Path(path),)
    elif origin.kind == "library":
        roots = (*roots, *named_in(path))
    with guard_files(guard_below(roots)):
        if Path(path).suffix.lower() in list_endings():
            check_list(Path(path))
        opening = Opening(
            origin.collection, within=roots, progress=progress, stop=progress.stopped, medium=origin.medium
        )
        session = open_within(store, open_source([path], opening), roots, progress, by)
    source = session.source
    files = find_files(source.collection.items, source.folder, roots)
    pairs = zip(source.collection.items, files, strict=True)
    items = tuple(
        item if file is None else replace(item, path=move_stretch(item.path, str(file.path))) for item, file in pairs
    )
    playlist = source.playlist
    if playlist is not None and playlist.folder is not None:  # a browser saves it where it likes
        entries = tuple(
            replace(entry, location=resolve(entry.location, playlist.folder), raw=None)
            if entry.location and is_relative(entry.location)
            else entry
            for entry in playlist.entries
        )
        playlist = replace(playlist, entries=entries)
    placed = replace(source, collection=replace(source.collection, items=items), playlist=playlist)
    opened = replace(session, source=placed)
    whole = find_file(source.path, roots) if source.cut or source.table else None
    return store.add(OpenCollection(collection_id(opened, origin), opened, files, origin, whole=whole))


def open_within(
    store: ServerStore, source: Source, roots: Sequence[Path], progress: JobProgress, by: str | None
) -> Session:
    """A source as a session, measured where needed; of its files only those in the roots are read."""
    allowed = limit_source(source, roots)
    count, most = len(allowed.collection), store.settings.most_items
    if count > most:
        raise InputError(f"a collection may have {most} items on this page; this one has {count}")
    progress(0, count, "")
    model = store.settings.model if by is None and source.files else None  # tables have columns of their own
    files = find_files(allowed.collection.items, allowed.folder, roots)
    listing = Listing(foresee_lengths(allowed), files, allowed.left_out)
    progress.show(listing)

    def tell(done: int, total: int, path: str) -> None:
        listing.mark(path)
        progress(done, total, path)

    session = source_session(allowed, Measuring(progress=tell, stop=progress.stopped), by, model, guess=True)
    listing.measured |= set(range(count))
    listing.left_out = session.source.left_out
    progress.show(listing)
    if allowed.files and not all(file is None or file.there for file in files):
        raise FileError(f"{source.path.name}: its files changed while they were read; open it again")
    return session


def find_files(items: Sequence[Item], folder: Path, roots: Sequence[Path]) -> tuple[ItemFile | None, ...]:
    """The file of each item that may be fetched: of a known kind, and in one of the roots."""
    known = item_endings()
    found: list[ItemFile | None] = []
    for item in items:
        file = find_file(folder / item.path, roots) if item.path and not is_address(item.path) else None
        found.append(file if file and file.path.suffix.lower() in known else None)
    return tuple(found)


def limit_source(source: Source, roots: Sequence[Path]) -> Source:
    """The source without what would be measured and lies elsewhere; entries of a playlist keep their position."""
    if not source.files:
        return source
    items = source.collection.items
    inside = [i for i, item in enumerate(items) if item.path and resolve_item(item.path, roots)] if roots else []
    if not inside:
        raise FileError(f"{source.path.name}: none of the {len(items)} files it names may be read by this page")
    outside = sorted({*range(len(items))} - {*inside})
    names = [shown(Path(items[i].path).name or items[i].label) for i in outside]
    left = ((name, "may not be read by this page") for name in names)
    return replace(source.only(inside), left_out=(*source.left_out, *left))


# Files that were uploaded: they are stored under numbers, and shown under the names they came with

Names = dict[str, Path]  # where a file is stored: the name it came with
Pairs = tuple[tuple[str, str], ...]  # (name, why) of what was left out


def open_upload(
    store: ServerStore, upload: Upload, progress: JobProgress, origin: Origin, by: str | None = None
) -> str:
    """Open files that were uploaded, items or one list with or without the files it names: the collection's id."""
    names = {str(file.path): Path(file.name) for file in upload.files}
    folder = upload.folder.resolve()

    def report(done: int, total: int, file: str) -> None:
        progress(done, total, str(names.get(file, file)))

    left = upload.left_out

    def show(listing: Listing) -> None:
        listing.left_out = (*left, *_rename_pairs(listing.left_out, names))
        progress.show(listing)

    try:
        medium = origin.medium
        opening = Opening(origin.collection, within=(folder,), progress=report, stop=progress.stopped, medium=medium)
        with guard_files(guard_below([folder])):
            source, alone = _open_files(upload.files, opening)
            left = (*left, *alone)
            source = source.with_notes(*(f"left alone: {name}: {why}" for name, why in alone), *upload.notes)
            session = open_within(store, source, [folder], JobProgress(report, progress.stopped, show), by)
    except BaseException as error:
        store.drop_upload(upload.id)
        if isinstance(error, SeveralCollectionsError):
            raise SeveralCollectionsError(_rename(error.message, names), error.choices) from error
        if isinstance(error, FabulaError):
            raise FileError(_rename(str(error), names)) from error
        raise
    stored = find_files(session.collection.items, Path(), [folder])
    whole = find_file(source.path, [folder]) if source.cut or source.table else None
    notes = tuple(_rename(note, names) for note in session.notes)
    opened = replace(session, source=_with_names(session.source, names), notes=notes)
    name = collection_id(opened, origin)
    return store.add(OpenCollection(name, opened, stored, origin, upload.id, whole, left_out=left))


def _open_files(files: Sequence[Received], opening: Opening) -> tuple[Source, Pairs]:
    """One list with the files it names, or items; and what was left alone: lists that name few of the items here."""
    known = list_endings()
    lists = [file for file in files if file.path.suffix in known]
    items = sorted((file for file in files if file.path.suffix not in known), key=lambda file: natural_key(file.name))
    if not items and len(lists) > 1:
        raise InputError(f"one table or one playlist at a time; got {len(lists)}")
    medium, _ = medium_of([str(file.path) for file in items], opening)
    beside = [file for file in items if file.path.suffix in medium.companions - medium.endings]
    items = [file for file in items if file not in beside]
    alone: list[tuple[str, str]] = []
    for listed in lists:
        found = _open_list(listed, items, opening) if len(lists) == 1 else "one of several lists"
        if not isinstance(found, str):
            return found
        alone.append((Path(listed.name).name, f"{found}; drop it by itself to open it"))
    notes = tell_beside([file.name for file in beside], [file.name for file in items], medium)
    return _with_titles(open_source([file.path for file in items], opening), items).with_notes(*notes), tuple(alone)


def _open_list(listed: Received, files: Sequence[Received], opening: Opening) -> tuple[Source, Pairs] | str:
    """An uploaded table or playlist with the files it names, and those it does not name; or why it is left alone."""
    try:
        check_list(listed.path)
        source = open_source([listed.path], opening)
    except FabulaError as error:
        if not files or opening.collection is not None:
            raise
        return "a list of several" if isinstance(error, SeveralCollectionsError) else "a list that cannot be read"
    named = set(map(_file_name, _paths_in(source)))
    unnamed = [Path(file.name).name for file in files if Path(file.name).name.casefold() not in named]
    if files and 2 * len(unnamed) > len(files):
        return f"a list that names {len(files) - len(unnamed) or 'none'} of the {len(files)} files here"
    return _with_files(source, files, listed), tuple((name, f"is not on {Path(listed.name).name}") for name in unnamed)


def _file_name(path: str) -> str:
    return split_stretch(path)[0].replace("\\", "/").rpartition("/")[2].casefold()


def _paths_in(source: Source) -> list[str]:
    """The path of each item of a list as it is named there, wherever it lies."""
    items = source.collection.items
    given = source.playlist.entries if source.playlist is not None else ()
    return [given[row].location for row in source.rows] if given else [item.path for item in items]


def _with_files(source: Source, files: Sequence[Received], listed: Received) -> Source:
    """An uploaded table or playlist, its items at the uploaded files of the same name."""
    by_name = {Path(file.name).name.casefold(): file for file in files}
    items = []
    for item, path in zip(source.collection.items, _paths_in(source), strict=True):
        own = by_name.get(_file_name(path))
        title = item.title or ("" if own is None else Path(own.name).stem)
        items.append(item if own is None else replace(item, path=move_stretch(path, str(own.path)), title=title))
    if files and not source.files and source.playlist is not None:  # which were not where the list says
        source = replace(source, files=True, notes=())
    return _with_items(source, items, source.collection.title or Path(listed.name).stem)


def _with_titles(source: Source, files: Sequence[Received]) -> Source:
    """Uploaded items, called by the names they came with where their files do not say a title."""
    names = {str(file.path): Path(file.name) for file in files}
    items = []
    for item in source.collection.items:
        name = names.get(item.path)
        untitled = item.title == Path(item.path).stem
        title = source.medium.called(name.stem) if name is not None and untitled else item.title
        items.append(item if name is None else replace(item, id=str(name), title=title))  # a part of a file has no path
    folders = {str(name.parent) for name in names.values()}
    folder = Path(folders.pop()).name if len(folders) == 1 else ""
    if not source.files:  # one file, which was cut into its items
        folder = names[str(source.path)].stem
    called = "" if source.collection.title in (source.path.name, source.path.stem) else source.collection.title
    return _with_items(source, items, called or folder or "Your files")


def _with_names(source: Source, names: Names) -> Source:
    """The source with the names files came with in place of where they are stored."""
    items = []
    for item in source.collection.items:
        places = {k: str(names[v]) for k, v in item.details.items() if k in source.medium.places and v in names}
        file = split_stretch(item.path)[0]
        path = move_stretch(item.path, str(names[file])) if file in names else item.path
        items.append(replace(item, path=path, details={**item.details, **places} if places else item.details))
    changed = _with_items(source, items, source.collection.title)
    notes = tuple(_rename(note, names) for note in source.notes)
    left = _rename_pairs(source.left_out, names)
    return replace(changed, path=names.get(str(source.path), Path(source.path.name)), notes=notes, left_out=left)


def _with_items(source: Source, items: list[Item], title: str) -> Source:
    return replace(source, collection=replace(source.collection, items=tuple(items), title=title))


def _rename(text: str, names: Names) -> str:
    for stored, name in names.items():
        text = text.replace(stored, str(name)).replace(Path(stored).name, name.name)
    return text


def _rename_pairs(pairs: Pairs, names: Names) -> Pairs:
    return tuple((_rename(name, names), _rename(why, names)) for name, why in pairs)


# Demos, and what was named at start

DEMOS = {"music": ("music", "Nine Short Pieces"), "text": ("text", "The Tide Clock"), "pictures": ("images", "One Day")}
_MOST_LOOKED = 5000  # files, to know what a folder is


def list_demos() -> list[dict[str, Any]]:
    """The demos that come with the package, each with its title and how many items it has."""
    return [
        {"name": name, "title": title, "items": len(list(demo_folder(medium).iterdir()))}
        for name, (medium, title) in DEMOS.items()
    ]


def is_collection(folder: Path) -> bool:
    """Whether a folder is a collection itself, and none of several: of its files most lie in no folder within it."""
    within = (folder,)
    endings = medium_of([str(folder)], Opening(recursive=False, within=within))[0].endings
    looked = islice(files_of([str(folder)], Opening(within=within)), _MOST_LOOKED)
    items = [Path(file) for file in looked if Path(file).suffix.lower() in endings]
    return 2 * sum(item.parent == folder for item in items) > len(items)


# A collection of which a workspace is kept, again: from where it came, else as it was measured then

_GONE = "no previews: the files were sent to the page and went when it was closed; drop them again to have them here"
_ELSEWHERE = "no previews: the files are not in the folders named at start"


def reopen(store: ServerStore, workspace: "PageWorkspace", progress: JobProgress) -> str:
    """Open a collection again: its id, the same one unless what it consists of has changed since."""
    origin, settings = workspace.origin, store.settings
    named = origin.kind == "library" and origin.path in settings.libraries
    if origin.kind == "demo" or named or (origin.kind == "path" and resolve_below(origin.path, settings.roots)):
        return open_origin(store, origin, progress)
    session, _ = load_session(workspace.session, model=store.settings.model)
    return store.add(open_saved_session(store, session, origin, workspace.id))


def open_saved_session(store: ServerStore, session: Session, origin: Origin, name: str) -> OpenCollection:
    """A saved session as a collection, with those of its files that may be read, and why the others may not."""
    items = session.collection.items
    roots = (*store.settings.roots, demo_folder().resolve())
    files = find_files(items, Path(), roots) if origin.kind != "upload" else (None,) * len(items)
    named = sum(bool(item.path) for item in items)
    if named and not any(files):
        here = any(Path(item.path).is_absolute() for item in items)
        note = _ELSEWHERE if here and origin.kind != "upload" else _GONE
        return OpenCollection(name, replace(session, notes=(*session.notes, note)), files, origin, silent=note)
    return OpenCollection(name, session, files, origin)
