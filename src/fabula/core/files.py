"""Files written whole or not at all, and the locks beside them."""

import codecs
import contextlib
import errno
import glob
import json
import math
import os
import re
import shutil
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fabula.errors import FileError, check_kind, shown

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FilePath = str | os.PathLike[str]

# Writing files so that each is complete or absent.


def write_whole(path: FilePath, data: str | bytes) -> Path:
    """Write a file under a temporary name beside it, then rename: a reader never sees half of it.

    Whatever interrupts the writing, a file that was there before stays as it was. Text is written as UTF-8, names of
    files that are none as the bytes they are; the folder must exist.
    """
    content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    with whole_file(path) as file:
        file.write(content)
    return Path(path)


@contextlib.contextmanager
def whole_file(path: FilePath) -> Iterator[BinaryIO]:
    """A file to write some at a time, under a temporary name until all is written; :func:`write_whole` for one go.

    Whatever interrupts the writing, a file that was there before stays as it was, and nothing else is left behind.
    """
    target = check_target(path)
    temporary: Path | None = None
    try:
        with tell_refusal(target, "be written"):
            # A link is followed, so that the file it points to is replaced and the link stays.
            place = target.resolve()
            start = f".{target.name[:40]}."
            sweep_folder(place.parent, start)
            handle, temporary = make_part(start, place.parent)
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if sys.platform == "win32":  # what is open cannot be renamed there
                    file.close()
                temporary.chmod(_mode(place))
                temporary.replace(place)  # while it is locked: nobody sweeps it away
    except BaseException:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


@contextlib.contextmanager
def tell_refusal(path: FilePath, what: str) -> Iterator[None]:
    """Say in one line what the system refuses, such as that a path cannot "be read"."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{shown(path)}: cannot {what} ({error.strerror or error})") from error


@contextlib.contextmanager
def refuse_odd_names(path: FilePath) -> Iterator[None]:
    """One line where names of files that are no text are to go into a table, which holds nothing else."""
    try:
        yield
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - 20, 0) : error.end]
        raise FileError(f"{path}: cannot be written ({around!r} is no text: rename that file)") from error


def json_text(
    value: Any, *, encoding: str = "utf-8", indent: int | None = None, default: Callable[[Any], Any] | None = None
) -> str:
    """A value as JSON that an encoding can hold: characters as they are where it has all of them, else escaped.

    >>> json_text("é"), json_text("caf\\udce9"), json_text("é", encoding="ascii"), json_text(float("nan"))
    ('"é"', '"caf\\\\udce9"', '"\\\\u00e9"', 'null')
    """
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=default, allow_nan=False)
    except ValueError:
        text = json.dumps(null_infinite(value, default), ensure_ascii=False, indent=indent)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:  # such as a name of a file that is no text
        return json.dumps(json.loads(text), indent=indent)
    return text


def null_infinite(value: Any, default: Callable[[Any], Any] | None = None) -> Any:
    """A value as JSON has it: lists and names alone, and None in place of NaN and infinities, which it cannot hold.

    >>> null_infinite({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    return json.loads(json.dumps(value, default=default), parse_constant=lambda _: None)


def make_part(start: str, folder: Path, *, mode: int = 0o600) -> tuple[int, Path]:
    """A new file under a temporary name, open, and its path; it is locked while open, so that none sweeps it away."""
    while True:
        path = folder / f"{start}{os.urandom(4).hex()}.part"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        except FileExistsError:
            continue
        except BaseException:  # Ctrl-C comes when it likes
            path.unlink(missing_ok=True)
            raise
        try:
            with contextlib.suppress(OSError):  # where there are no locks
                if sys.platform != "win32":
                    _lock(handle)
            if _is_same(handle, path):
                return handle, path
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        os.close(handle)  # swept before it was locked


def sweep(parts: Iterable[Path]) -> int:
    """Remove unfinished files that no process holds, left by one that was killed; how many there were."""
    swept = 0
    for part in parts:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":  # where a file that is open cannot be removed
                held, free = None, time.time() - part.stat().st_mtime > _YOUNG
            else:
                held = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                free = stat.S_ISREG(os.fstat(held).st_mode)
            try:
                if free:
                    if held is not None:
                        _lock(held)  # refused where it is held, or nobody can tell
                    part.unlink()
                    swept += 1
            finally:
                if held is not None:
                    os.close(held)
    return swept


def sweep_folder(folder: Path, start: str = "") -> int:
    """Sweep a folder of what :func:`make_part` made there under a name that begins so."""
    named = re.compile(re.escape(start) + ("" if start else r"\..*\.") + r"[0-9a-f]{8}\.part")
    return sweep(file for file in folder.glob(f"{glob.escape(start)}*.part") if named.fullmatch(file.name))


@contextlib.contextmanager
def whole_folder(path: FilePath) -> Iterator[Path]:
    """A new folder to write into, under a temporary name until all is written; nothing is left where that fails."""
    target = check_target(path)
    part = target.parent / f".{target.name[:40]}.{os.urandom(4).hex()}.part"
    try:
        with tell_refusal(target, "be written"):
            part.mkdir()
            yield part
            part.rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def check_target(path: FilePath) -> Path:
    """Refuse a place where no file can be written, before any work is done for it."""
    check_kind(path, (str, os.PathLike), "the name of a file", "path")
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target}: is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise FileError(f"{target}: the folder {target.parent} does not exist")
    return target


def cut_name(text: str, most: int = 180) -> str:
    """A text of at most so many bytes, as file systems count them, whole characters.

    >>> cut_name("naïve", 3), cut_name("naïve")
    ('na', 'naïve')
    """
    while len(text.encode("utf-8", "surrogateescape")) > most:
        text = text[:-1]
    return text


def _mode(path: Path) -> int:
    """The permissions of the file to be replaced, or those a new file would get."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


# Locks that the system holds for a process and lets go of when that ends, however it ends.

_PATIENCE = 5.0  # seconds
_YOUNG = 60.0  # seconds in which a file may be one that is just being renamed
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # as the systems say that another one holds it


def take(path: FilePath, *, mode: int = 0o600) -> int | None:
    """The lock file at a path, made and locked; None where another one holds it. Closing it lets it go.

    Not the file but the system's lock on it counts: one that a crash left there is in nobody's way. Where the file
    system knows no locks there is none.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), mode)
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _TAKEN:
                os.close(file)
                return None
        if _is_same(file, path):
            return file
        os.close(file)  # removed by the one who held it, after it was opened here


def release(file: int, remove: Path | None = None) -> None:
    """Let a lock go, and remove its file where that is named."""
    if sys.platform == "win32":  # nobody can remove a file there that is still open
        os.close(file)
    if remove is not None:
        with contextlib.suppress(OSError):
            remove.unlink()  # while it is held: who waits for it finds it gone and takes a new one
    if sys.platform != "win32":
        os.close(file)


@contextlib.contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the lock file at a path, which stays there; wait for whoever holds it, and go on without after a while."""
    until = time.monotonic() + _PATIENCE
    while (file := take(path)) is None and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield
    finally:
        if file is not None:
            release(file)


def _lock(file: int) -> None:
    """Lock an open file for this process alone; an OSError says that another holds it, or that there are no locks."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_same(file: int, path: FilePath) -> bool:
    try:
        return os.path.samestat(os.fstat(file), Path(path).stat())
    except OSError:
        return False


# Reading files: whatever a person names; but where a guard stands, as on the page, what that opens and nothing else.

Opener = Callable[[str], BinaryIO]
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for
_guard: ContextVar[Opener | None] = ContextVar("guard", default=None)


def open_file(path: FilePath) -> BinaryIO:
    """A file, open for reading: by the guard where one stands. An OSError where it cannot be read, or may not."""
    guard = _guard.get()
    if guard is not None:
        return guard(os.fspath(path))
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))


def is_file(path: FilePath) -> bool:
    """Whether a file stands at a path; none does where no file can have such a name, as lists may have them."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def guard_files(guard: Opener) -> Iterator[None]:
    """Within, :func:`open_file` gives what a guard opens, or refuses to by an OSError."""
    before = _guard.set(guard)
    try:
        yield
    finally:
        _guard.reset(before)


def own_folder(kind: str) -> Path:
    """Where fabula keeps its ``data``, or its ``cache``: ``$FABULA_DATA_DIR``, else the platform's folder for such."""
    chosen = os.environ.get(f"FABULA_{kind.upper()}_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(getattr(platformdirs, f"user_{kind}_dir")("fabula", appauthor=False))


def is_guarded() -> bool:
    """Whether a guard stands before files."""
    return _guard.get() is not None


def read_data(package: str, name: str) -> Any:
    """What a JSON file that comes with a package says."""
    from importlib.resources import files  # not loaded by commands that read none

    return json.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


# JSON of somebody else: a list takes twenty times the memory of what is written of it.

_MOST_NESTED = 4_000_000


def check_nested(text: str | bytes, where: str) -> None:
    """Refuse JSON of so many lists and objects, by a FileError, before it is parsed."""
    marks = ("[", "{") if isinstance(text, str) else (b"[", b"{")
    if sum(map(text.count, marks)) > _MOST_NESTED:  # type: ignore[arg-type]
        raise FileError(f"{where}: holds more than {_MOST_NESTED:,} lists and objects")


_MOST_SPARSE, _SPARSE = 10_000_000, 20  # cells of a table; of more, times those that are there


def check_sparse(path: FilePath, rows: int, columns: int, there: int) -> None:
    """Refuse rows that name their columns, each of them others, by a FileError: as a table they have no bound."""
    if rows * columns > max(_MOST_SPARSE, _SPARSE * there):
        raise FileError(f"{path}: {rows:,} rows have {columns:,} columns, nearly all of them empty")


# XML of somebody else: what it declares may become anything, and is refused.


def parse_xml(data: bytes | str, where: str, name: str = "") -> "Element":
    """XML that is the content of a file, or of one packed in it; a FileError where it is broken or has entities."""
    from xml.etree import ElementTree as ET

    if _declares(data):  # what an entity may become has no bound
        raise FileError(f"{shown(where)}: defines entities of its own, which are not read")
    try:
        return ET.fromstring(data)
    except (ET.ParseError, LookupError, ValueError) as error:
        raise FileError(f"{shown(where)}: is broken ({f'{name}: ' * bool(name)}{error})") from error


def _declares(data: bytes | str) -> bool:
    """Whether XML declares anything of its own, entities for example, before its first element."""
    from xml.parsers import expat

    parser, found = expat.ParserCreate(), []

    def stop(*_: object) -> None:
        raise StopIteration

    parser.StartDoctypeDeclHandler = lambda _name, _system, _public, inner: found.append(bool(inner))
    parser.EntityDeclHandler = lambda *_: found.append(True)
    parser.StartElementHandler = stop
    with contextlib.suppress(StopIteration, expat.ExpatError, LookupError, ValueError):
        parser.Parse(data, True)  # noqa: FBT003 - all of it
    return any(found)


# A stretch of a file, in seconds: its name and ``#t=12.5,200``, as media fragments have it.

_STRETCH = re.compile(r"(.+)#t=(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)?", re.DOTALL)


def split_stretch(path: str) -> tuple[str, float | None, float | None]:
    """The file of a path, and from when to when a stretch of it is meant; None, None for all of it, or to its end.

    >>> split_stretch("side a.wav#t=12.5,200"), split_stretch("side a.wav#t=200,"), split_stretch("#1.wav")
    (('side a.wav', 12.5, 200.0), ('side a.wav', 200.0, None), ('#1.wav', None, None))
    """
    found = _STRETCH.fullmatch(path)
    return (found[1], float(found[2]), float(found[3]) if found[3] else None) if found else (path, None, None)


def join_stretch(path: str, begins: float, ends: float | None) -> str:
    """The path of a stretch of a file.

    >>> join_stretch("side a.wav", 12.5, None)
    'side a.wav#t=12.5,'
    """
    return f"{path}#t={round(begins, 4):.10g},{'' if ends is None else f'{round(ends, 4):.10g}'}"


def move_stretch(path: str, file: str) -> str:
    """The same stretch of a file elsewhere, or all of it.

    >>> move_stretch("side a.wav#t=12.5,", "/music/1.wav"), move_stretch("side a.wav", "/music/1.wav")
    ('/music/1.wav#t=12.5,', '/music/1.wav')
    """
    return file + path[len(split_stretch(path)[0]) :]


# Text files as bytes and back: which encoding, which byte order mark, and what is no text at all.

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ESCAPED = re.compile("[\udc80-\udcff]+")

# What texts of encodings without a mark are told by: how likely each character is in running text.
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґў"
_COMMON = (
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着著下自之年过過发發后後作里裡用道行"
    "所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她本前开開但因只从從想实實日者意无無此把被与與使"
    "이다는을를에의가은하고한지로서사도기어나라리자시그것니있아수대인해들여일보과면만으게거었저부정마구전주오장스제안동우습"
)
_LIKELY = {
    **dict.fromkeys(_CYRILLIC + _COMMON, 1.0),
    **dict.fromkeys("。，、「」『』！？：；（）«»“”‘’„—–…№·\u3000", 0.6),
    **dict.fromkeys(_CYRILLIC.upper(), 0.4),
}
_RANGES = ((0x3041, 0x30FF, 1.0), (0x4E00, 0x9FFF, 0.4), (0xAC00, 0xD7A3, 0.3), (0xFFFD, 0xFFFD, -4.0))
_UNLIKELY = -0.5  # a character of none of these
_DOUBTFUL = 0.3  # below which a text is taken for Western European, as it always was
_TOLD_BY = 20_000  # bytes
_TORN = re.compile(rf"[{_CYRILLIC}][{_CYRILLIC.upper()}A-Za-z@\[\\\]^_{{|}}]")  # what no Cyrillic word has inside
_TYPED = re.compile("[‘’“”„—–…«»¿¡\xa0°ºª]")
_ACCENT = re.compile(  # a letter or two beside plain ones, or a word of one letter
    r"(?<=[a-zA-Z])[^\x00-\x7f]{1,2}(?![^\x00-\x7f])|(?<![^\x00-\x7f])[^\x00-\x7f]{1,2}(?=[a-zA-Z])"
    r"|(?<!\S)[àÀÉéÔôÈèóÓ](?!\S)"
)
# Letters beside a to z in languages of Europe, the commonest first, by the encoding that has them.
_LATIN = {
    "cp1252": "éàèêçâîôûùïëœ üäößé óíáéñúü èàùòìé ãçáéíõóêúâôà äöåé øåæéö ëéïèö àéèíòóúçïü íáðþéöúóæý éèïöñü",
    "cp1250": "íáěéřýčžšůúňóťď áíéýúčžšľťôňäóďŕĺ łąęóżśćńź áéöíóőüúű ăîâţş čšžćđ",
    "cp1254": "ıüşöğçâîû",
}
_LATIN["iso8859-2"] = _LATIN["cp1250"]
_LETTERS = {  # encoding -> of each language, letter -> about its share of those beside a to z, as a logarithm
    name: [{letter: -math.log(2.5 * (rank + 1)) for rank, letter in enumerate(one)} for one in letters.split()]
    for name, letters in _LATIN.items()
}
# the same of a letter that the language does not have, and of what is none in a word
_FOREIGN, _NO_LETTER = -7.0, -11.0
_SURER = 4.0  # than of cp1252, to be taken for another
_USUAL = ("utf-8", "cp1252")  # encodings that a text is tried by
_OLD = ("cp1251", "koi8-r", "koi8-u", "cp866", "iso8859-5", "cp932", "euc-jp", "gb18030", "big5", "cp949")


@dataclass(frozen=True)
class Script:
    """How a text is put into bytes."""

    encoding: str = "utf-8"
    mark: bytes = b""  # the byte order mark at the start of the file, or nothing
    errors: str = "strict"  # what to do with characters that the encoding lacks, in Python's words

    def encode(self, text: str) -> bytes:
        """The text as bytes; in UTF-8 where the encoding lacks one of its characters."""
        try:
            return self.mark + text.encode(self.encoding, self.errors)
        except UnicodeEncodeError:
            # A file name whose bytes are no text came in as surrogates, and goes out as the bytes it was.
            mark = self.mark if self.encoding == "utf-8" else b""
            return mark + text.encode("utf-8", "surrogateescape")


def readable_file(path: FilePath) -> Path:
    """The path of a file that is there."""
    file = Path(path)
    try:
        if file.is_dir():
            raise FileError(f"{path}: is a folder; give the name of a file")
        if not file.exists():
            raise FileError(f"{path}: does not exist")
        if not file.is_file():
            raise FileError(f"{path}: is not a file")
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    return file


def read_bytes(path: FilePath, *, most: int | None = None) -> bytes:
    """All the bytes of a file, which may have a size at most."""
    file = readable_file(path)
    try:
        with open_file(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            if most is not None and size > most:
                raise FileError(f"{path}: is too large: it has {size:,} bytes, and may have {most:,}")
            return opened.read()
    except FileNotFoundError:
        raise FileError(f"{path}: does not exist") from None
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_text(
    path: FilePath, what: str, encodings: Sequence[str] = _USUAL, *, any_bytes: bool = False, most: int | None = None
) -> tuple[str, Script]:
    """The text of a file and how it was encoded: by its byte order mark, else the first encoding that can be it.

    ``what`` it should be is for errors ("a table"); with ``any_bytes`` what is no text is kept as surrogates instead of
    refused, since names of files may hold any bytes; ``most`` is how many bytes it may have.
    """
    return decode(read_bytes(path, most=most), path, what, encodings, any_bytes=any_bytes)


def decode(
    data: bytes, path: FilePath, what: str, encodings: Sequence[str] = _USUAL, *, any_bytes: bool = False
) -> tuple[str, Script]:
    """The text that bytes are, and how it was encoded; takes what :func:`read_text` takes."""
    mark, encoding = find_mark(data)
    body = data[len(mark) :]
    if not encoding and b"\0" in body:
        raise FileError(f"{path}: is not {what} (it holds binary data)")
    any_bytes = any_bytes and encoding in ("", "utf-8")
    text = body.decode("utf-8", "surrogateescape") if any_bytes else ""
    # UTF-8 beside bytes that are none: text of one encoding with names of another
    if _ESCAPED.search(text) and any(c > "\x7f" and not "\udc80" <= c <= "\udcff" for c in text):
        return text, Script("utf-8", mark, "surrogateescape")
    tried = [encoding] if encoding else list(encodings)
    for name in (guess_encoding(body) if one == "cp1252" else one for one in tried):
        try:
            return body.decode(name), Script(name, mark)
        except UnicodeDecodeError as error:
            bad = error
        except LookupError:
            raise FileError(f"{path}: is not {what} that can be read (unknown encoding {name!r})") from None
    if any_bytes:
        return text, Script("utf-8", mark, "surrogateescape")
    line = body.count(b"\n", 0, bad.start) + 1
    raise FileError(f"{path}: is not {what} (line {line} is not {' or '.join(tried)} text)")


def guess_encoding(data: bytes) -> str:
    """The encoding of a text that is no UTF-8, by its letters: an East Asian, Cyrillic or European one, else cp1252.

    >>> guess_encoding("Все счастливые семьи похожи друг на друга".encode("koi8-r")), guess_encoding(b"caf\\xe9")
    ('koi8-r', 'cp1252')
    >>> guess_encoding("Příliš žluťoučký kůň".encode("cp1250")), guess_encoding("Łódź, jaźń".encode("iso8859-2"))
    ('cp1250', 'iso8859-2')
    """
    start = data[:_TOLD_BY]
    western = _TYPED.sub(" ", start.decode("cp1252", "replace"))
    odd = sum(c > "\x7f" for c in western)
    if 2 * sum(map(len, _ACCENT.findall(western))) >= odd or not re.search(rb"[\x80-\xff]{3}", start):
        return _guess_latin(start)
    likeness = {name: _likeness(start, name, final=len(start) == len(data)) for name in _OLD}
    best = max(likeness, key=lambda name: likeness[name])
    return best if likeness[best] > _DOUBTFUL else _guess_latin(start)


def _guess_latin(data: bytes) -> str:
    """The encoding of a text in Latin letters: the one in which its letters beside a to z are those of one language."""
    surety, data = dict[str, float](), re.sub(rb"[\x80-\xff](?=\d)", b"", data)  # what stands before a number is a sign
    for name, languages in _LETTERS.items():
        text = _TYPED.sub("", data.decode(name, "replace")).replace("İ", "ı").lower()
        odd = [(c, n, _FOREIGN if c.isalpha() else _NO_LETTER) for c, n in Counter(text).items() if c > "\x7f"]
        surety[name] = max(sum(n * letters.get(c, other) for c, n, other in odd) for letters in languages)
    best = max(surety, key=lambda name: surety[name])
    return best if surety[best] > surety["cp1252"] + _SURER else "cp1252"


def _likeness(data: bytes, encoding: str, *, final: bool) -> float:
    """How much bytes look like running text in an encoding: 1 where every letter is a common one."""
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data, final)
    odd = {c: n for c, n in Counter(text).items() if c > "\x7f"}
    others = {c: next((w for low, high, w in _RANGES if low <= ord(c) <= high), _UNLIKELY) for c in odd}
    likely = sum(n * _LIKELY.get(c, others[c]) for c, n in odd.items())
    return (likely - 2 * len(_TORN.findall(text))) / max(1, sum(odd.values()))


def find_mark(data: bytes) -> tuple[bytes, str]:
    """The byte order mark at the start of bytes and the encoding it stands for; nothing where there is none."""
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", ""))


def try_decode(data: bytes, encoding: str) -> str | None:
    """Bytes as text of an encoding; None where they are none, or nobody knows the encoding."""
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def legible(text: str) -> str:
    """Text for people: what was kept as bytes is taken for Windows text.

    >>> legible("caf\\udce9")
    'café'
    """
    return _ESCAPED.sub(lambda match: match[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)
