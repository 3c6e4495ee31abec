"""Files are parsed in child processes: a few, kept warm, each with limits of time and memory, killed when not wanted.

A child is forked from this Python started anew, and led by a socket: it knows functions by where they stand, so that
neither the main module of a program nor anything else of it is imported again. Where files are guarded it opens none
itself but asks its parent, whose guard opens it or refuses. What comes back is plain data, never code.
"""

import atexit
import contextlib
import gc
import json
import math
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fabula.core.files import guard_files, is_guarded, open_file
from fabula.errors import FabulaError, FileError, InputError, MissingExtraError, shown

_CODE = "import json, sys; sys.path[:] = json.loads(sys.argv[2]); from {} import nurse; nurse(int(sys.argv[1]))"
_MOST = min(8, (os.cpu_count() or 1) + 1)  # children at a time
_LOOK = 0.05  # seconds between two looks at whether to give up
_START = 60.0  # seconds in which one must have started, or taken what is sent
_SLOW = 12  # times its limit of computing that a child may take on a busy machine
_TOGETHER, _SOON = 16, 0.1  # answers for small files that go into one message; seconds after which one goes
_AGAIN = 2.0  # seconds of computing when it is looked for which file was too much: those before it took less than that
_CYCLES = 20_000  # things made in a child between two looks for cycles: some megabytes
_ANSWER = 1 << 30  # bytes of one answer
_BLOCK, _BLOCKS = 1 << 16, 1 << 22  # bytes that are received at a time: where few are due, and where many
_ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    # Address space is what is limited: no allocator sets gigabytes of it aside that nothing ever lies in.
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

_PLACE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_]\w*")

Stop = Callable[[], bool]


class Stopped(Exception):  # noqa: N818 - not an error: what was asked for
    """Measuring was given up because it was asked to."""


def load(place: str) -> Any:
    """What stands at ``"package.module:name"``."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def explain(error: Exception, function: object) -> str:
    """What went wrong in one line: the package whose function failed, where it is none of ours, and the error.

    >>> explain(KeyError("motion"), load), explain(ValueError("too short"), load)
    ("KeyError: 'motion'", 'too short')
    """
    package = (place_of(function) or getattr(function, "__module__", None) or "").replace(":", ".").partition(".")[0]
    ours = package in ("fabula", "") or isinstance(error, OSError | MemoryError)
    kind = "" if ours and isinstance(error, OSError | ValueError | MemoryError) else type(error).__name__
    words = (
        getattr(error, "strerror", None)
        or str(error)
        or "it needs more memory than it may take" * isinstance(error, MemoryError)
    )
    return shown(": ".join(filter(None, ("" if ours else package, kind, " ".join(words.split())))))


def run_program(command: Sequence[str], files: Sequence[str] = (), stop: Stop = lambda: False) -> bytes:
    """What a program such as ffmpeg writes to its output.

    Where a word of the command is one of the files, it is handed that file open, so that it reads what it may and
    nothing else. A FileError where it fails, by the last line that it says, or is not installed; `Stopped` where
    ``stop``, asked ten times a second, says True.

    >>> run_program(["cat", __file__], [__file__]) == Path(__file__).read_bytes()
    True
    """
    with contextlib.ExitStack() as stack:
        try:
            handles = {name: stack.enter_context(open_file(name)) for name in files}
            by_handle = sys.platform == "linux"  # which opens the very file anew
            names = {name: f"/proc/self/fd/{file.fileno()}" for name, file in handles.items() if by_handle}
            given = subprocess.Popen(
                [names.get(word, word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[file.fileno() for file in handles.values()] if by_handle else (),
            )
        except OSError as error:
            absent = isinstance(error, FileNotFoundError) and error.filename == command[0]
            why = f"needs {command[0]}, which is not installed" if absent else f"cannot be read ({error.strerror})"
            raise FileError(": ".join((*map(shown, files[:1]), why))) from error
        stack.enter_context(given)  # waits for it
        stack.callback(given.kill)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                output, said = given.communicate(timeout=0.1)
                break
            if stop():
                raise Stopped
    if given.returncode == 0:
        return output
    lines = said.decode("utf-8", "replace").strip().splitlines() or [f"status {given.returncode}"]
    told = re.sub(r"^/proc/self/fd/\d+: ", "", lines[-1])
    raise FileError(": ".join((*map(shown, files[:1]), f"{command[0]} fails ({shown(told)})")))


_stop: ContextVar[Stop] = ContextVar("stop", default=lambda: False)
_inside = False  # whether this process is such a child


@dataclass(frozen=True)
class Limits:
    """What a child may take for one answer."""

    seconds: float = 10.0  # of computing
    memory: int = 1 << 30  # bytes beyond what it has when it begins


LIMITS = Limits()


@contextlib.contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """Within, a child that is waited for is killed as soon as ``stop`` says True, and `Stopped` raised."""
    before = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(before)


def call(function: Callable[..., Any], path: str, *more: Any, limits: Limits = LIMITS) -> Any:
    """What a function gives for a file, called in a child: plain data, arrays, items, collections, documents.

    A FileError, one line that names the file, where the child takes too long, needs too much memory or dies; errors of
    the function come through. Called here where there can be no child (Windows, frozen programs, within a child), or
    where the function cannot be found by its name.

    >>> from fabula.media.text.passages import read_document
    >>> call(read_document, "no such file.txt")
    Traceback (most recent call last):
    fabula.errors.FileError: no such file.txt: does not exist
    """
    return next(stream(function, path, *more, limits=limits))


def shield(function: Callable[..., Any], path: str, *more: Any) -> Any:
    """The same where files are guarded, as on the page; elsewhere the function is called here."""
    return call(function, path, *more) if is_guarded() else function(path, *more)


def stream(function: Callable[..., Any], path: str, *more: Any, limits: Limits = LIMITS) -> Iterator[Any]:
    """What a generator function yields for a file, one by one as it comes; the limits count for each anew."""
    yield from _stream(function, (path, *more), limits, lambda: path)


def call_all(
    function: Callable[..., Any], paths: Sequence[str], *more: Any, limits: Limits = LIMITS
) -> Iterator[Any | FileError]:
    """What a function gives for each of many files in their order, or the FileError of one; asked for at once."""
    left, place, why = list(paths), place_of(function), ""
    brief = Limits(min(_AGAIN, limits.seconds), limits.memory)
    while left:
        given = (place or function, left[: _TOGETHER if why else None], more, 1 if why else _TOGETHER)
        try:
            for found in _stream(_each, given, brief if why else limits, lambda: left[0]):
                for one in found:
                    left.pop(0)
                    yield FileError(one["error"]) if "error" in one else one["value"]
            why = ""
        except FileError as error:  # the child is gone that was at one of them: one by one it shows at which
            name = shown(left[0])
            told, sure = why or str(error).removeprefix(f"{name}: "), bool(why) or len(given[1]) == 1
            if sure:
                left.pop(0)
                yield FileError(f"{name}: {told}")
            why = "" if sure else told


def _each(
    place: str | Callable[..., Any], paths: list[str], more: Sequence[Any], together: int
) -> Iterator[list[dict[str, Any]]]:
    """What a function gives for each of many files, or what is wrong with it, as many at a time as are quickly done."""
    function, found, start = load(place) if isinstance(place, str) else place, [], time.monotonic()
    for path in paths:
        try:
            found.append({"value": function(path, *more)})
        except FileError as error:
            found.append({"error": str(error)})
        except (FabulaError, MemoryError, Stopped):
            raise
        except Exception as error:
            found.append({"error": f"{shown(path)}: cannot be read ({explain(error, function)})"})
        if len(found) >= together or time.monotonic() - start > _SOON:
            yield found
            found, start = [], time.monotonic()
    yield found


def measure_at(path: str, place: str) -> Any:
    """What is measured of a file by the function at ``"package.module:name"``: what a child is asked for."""
    found = measure_here(path, load(place), lambda: False)
    if isinstance(found, FileError):
        raise found
    return found


def measure_here(name: str, measure: Callable[[str, Stop], Any], stop: Stop) -> Any:
    """What is measured of a file, or the FileError that says why nothing is."""
    try:
        if stop():
            raise Stopped
        return measure(name, stop)
    except FileError as error:
        return error
    except (Stopped, FabulaError):
        raise
    except Exception as error:  # the file went away while it was read, or a medium of another package fails
        return FileError(f"{shown(name)}: cannot be measured ({explain(error, measure)})")


def _stream(
    function: Callable[..., Any], given: tuple[Any, ...], limits: Limits, name: Callable[[], str]
) -> Iterator[Any]:
    """What a function gives or yields, in a child where it can; ``name`` is the file it is at."""
    place = None if any(map(callable, given)) else place_of(function)
    child = None if place is None or _inside else _pool.take(_modules(place, given))
    if child is None or place is None:
        found = function(*given)
        yield from found if isinstance(found, Iterator) else [found]
        return
    ended = False
    try:
        for answer in child.ask(place, given, limits, name):
            if answer.get("error") is not None:
                ended = True
                raise _error(answer["error"], name(), limits)
            ended = bool(answer.get("last"))
            if "value" in answer:
                yield answer["value"]
    finally:  # also when nobody wants the rest, or Ctrl-C comes
        _pool.give_back(child, whole=ended)


def place_of(function: object) -> str | None:
    """Where a function stands, ``"package.module:name"``; None where it cannot be found by that."""
    known = getattr(function, "place", None)
    if isinstance(known, str):
        return known
    place = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', '')}"
    module = sys.modules.get(place.partition(":")[0])
    reachable = module is not None and module.__name__ != "__main__"
    return place if reachable and getattr(module, place.partition(":")[2], None) is function else None


def _modules(place: str, given: tuple[Any, ...]) -> frozenset[str]:
    """The modules that a call needs: of its function, and of functions that it is given by where they stand."""
    flat = [one for part in (place, *given) for one in (part if isinstance(part, tuple) else [part])]
    return frozenset(found[1] for one in flat if isinstance(one, str) and (found := _PLACE.fullmatch(one)))


def _error(told: list[str], path: str, limits: Limits) -> Exception:
    """The error that a child told, as ours."""
    kind, message = told
    if kind == "MemoryError":
        return FileError(f"{shown(path)}: needs more than {limits.memory >> 20} MB of memory to be read")
    if kind == "Stopped":
        return Stopped()
    for known in (FileError, InputError, MissingExtraError):
        if kind == known.__name__:
            return known(message)
    return FileError(f"{shown(path)}: cannot be read ({shown(message) or kind})")


# The children of this process, all forked from one that has loaded what they need and opens no file


class _Nursery:
    """The process that children are forked from: this Python started anew."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: frozenset[str] = frozenset()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(_START)
        with theirs, contextlib.ExitStack() as stack:
            stack.callback(self._socket.close)
            command = [sys.executable, "-c", _CODE.format(__name__), str(theirs.fileno()), json.dumps(sys.path)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for us
                env={**os.environ, **_ENVIRONMENT},
            )
            stack.pop_all()

    def fork(self, modules: frozenset[str]) -> "_Child":
        """A new child, which has loaded some modules and those of all children before it."""
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                socket.send_fds(self._socket, [b"+"], [theirs.fileno()])
                _send(self._socket, sorted(modules - self._loaded))
                self._loaded |= modules
                return _Child(int(_receive(partial(_read_all, self._socket))), ours, self, self._loaded)
        except BaseException:
            ours.close()
            raise

    def wait(self, pid: int) -> int:
        """How a child ended: its status, or its signal below 0."""
        with self._lock:
            self._socket.sendall(b"-")
            _send(self._socket, pid)
            return int(_receive(partial(_read_all, self._socket)))

    def close(self) -> None:
        """End it, when none of its children is left."""
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Let go of it in a process that was forked from ours."""
        self._socket.close()
        self._process.returncode = 0  # it is not ours to wait for


class _Child:
    """A child, and the socket that leads to it."""

    def __init__(self, pid: int, connection: socket.socket, nursery: _Nursery, loaded: frozenset[str]) -> None:
        self.pid, self.socket, self._nursery, self.loaded = pid, connection, nursery, loaded
        self.socket.settimeout(_LOOK)
        self._came = bytearray()  # and is not asked for yet

    @property
    def lives(self) -> bool:
        """Whether it still waits for work."""
        self.socket.settimeout(0)
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            self.socket.settimeout(_LOOK)

    def ask(
        self, place: str, given: tuple[Any, ...], limits: Limits, name: Callable[[], str]
    ) -> Iterator[dict[str, Any]]:
        """Its answers, the last one marked so; ``name`` is the file it is at."""
        asked = {"place": place, "given": given, "seconds": limits.seconds, "memory": limits.memory}
        asked |= {"guarded": is_guarded(), "folder": ""}
        with contextlib.suppress(OSError):  # where relative paths start, unless that is gone
            asked["folder"] = str(Path.cwd())
        last = False
        try:
            _send(self.socket, asked)
            while not last:
                answer = _receive(partial(self._read, time.monotonic() + _SLOW * limits.seconds))
                if "open" in answer:
                    self._hand_over(answer["open"])
                    continue
                last = bool(answer.get("last"))
                yield answer
        except TimeoutError as error:
            raise FileError(f"{shown(name())}: takes more than {limits.seconds:.0f} s to be read") from error
        except (EOFError, OSError, ValueError) as error:
            code = self.kill()
            ended = f"signal {-code}" if code < 0 else f"status {code}"
            told = f"is broken: it breaks the program that reads it ({ended})"
            told = f"takes more than {limits.seconds:.0f} s to be read" if code == -signal.SIGXCPU else told
            raise FileError(f"{shown(name())}: {told}") from error

    def _hand_over(self, path: str) -> None:
        """Open a file for it, or say why not."""
        try:
            with open_file(path) as file:
                socket.send_fds(self.socket, [b"+"], [file.fileno()])
        except OSError as error:
            self.socket.sendall(b"-")
            _send(self.socket, [error.errno or 0, error.strerror or str(error)])

    def _read(self, until: float, size: int) -> bytearray:
        """So many bytes; gives up when that is wanted, or too late."""
        stop = _stop.get()
        while len(self._came) < size:
            try:
                data = self.socket.recv(max(_BLOCK, min(size - len(self._came), _BLOCKS)))
            except TimeoutError:
                if stop():
                    raise Stopped from None
                if time.monotonic() > until:
                    raise
                continue
            if not data:
                raise EOFError
            self._came += data
        if len(self._came) == size:
            found, self._came = self._came, bytearray()
            return found
        found = self._came[:size]
        del self._came[:size]
        return found

    def kill(self) -> int:
        """End it, and what it has started, and say how it had ended; nothing of it stays."""
        self.socket.close()
        if not self.pid:
            return 0
        pid, self.pid = self.pid, 0
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(OSError, EOFError):
            return self._nursery.wait(pid)
        return 0


class _Pool:
    """Children that wait for work, and those at work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(_MOST)
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._able = hasattr(socket, "send_fds") and bool(sys.executable) and not getattr(sys, "frozen", False)
        self._nursery: _Nursery | None = None
        self._proven = False

    def take(self, modules: frozenset[str]) -> _Child | None:
        """A child for one call that needs some modules; None where there can be none."""
        if not self._able:
            return None
        while not self._room.acquire(timeout=_LOOK):
            if _stop.get()():
                raise Stopped
        try:
            while self._idle:
                with contextlib.suppress(IndexError):  # another thread was quicker
                    child = self._idle.pop()
                    if modules <= child.loaded and child.lives:
                        return child
                    self._drop(child)  # to fork one that has loaded them takes less than to load them
            found = self._fork(modules)
        except BaseException:
            self._room.release()
            raise
        if found is None:
            self._room.release()
        return found

    def _fork(self, modules: frozenset[str]) -> _Child | None:
        """A new child; None where this system lets us have none."""
        with self._lock:
            for _ in range(2):  # a nursery that somebody has killed is made anew
                try:
                    self._nursery = self._nursery or _Nursery()
                    child = self._nursery.fork(modules)
                    self._all.add(child)
                    self._proven = True
                    return child
                except (OSError, EOFError, ValueError) as error:
                    known, self._nursery, why = self._nursery, None, error
                    if known is not None:
                        known.close()
            if self._proven:
                raise FileError("no process could be started to read files in; try again") from why
            self._able = False
            return None

    def give_back(self, child: _Child, *, whole: bool) -> None:
        """Keep a child that has answered; end one that has not."""
        if whole:
            self._idle.append(child)
        else:
            self._drop(child)
        self._room.release()

    def _drop(self, child: _Child) -> None:
        with self._lock:
            self._all.discard(child)
        child.kill()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            known, self._all, self._idle = list(self._all), set(), []
            nursery, self._nursery = self._nursery, None
        for child in known:
            child.kill()
        if nursery is not None:
            nursery.close()

    def forget(self) -> None:
        """Let go of the children of the process that this one was forked from."""
        for child in self._all:
            child.socket.close()
        if self._nursery is not None:
            self._nursery.forget()
        self.__init__()  # type: ignore[misc]


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


# In the child


def nurse(descriptor: int) -> None:
    """Fork children as the program asks through a socket, until it is closed; tell how each has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    gc.disable()
    with socket.socket(fileno=descriptor) as program, contextlib.suppress(EOFError, OSError):
        while True:
            mark, given, _, _ = socket.recv_fds(program, 1, 1)
            asked = _receive(partial(_read_all, program))
            if mark == b"-":
                _send(program, os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]))
                continue
            for name in asked:
                with contextlib.suppress(Exception):  # it is told when it is asked for
                    import_module(name)
            gc.freeze()
            pid = os.fork()
            if not pid:
                program.close()
                with contextlib.suppress(OSError):
                    _serve(given[0])
                os._exit(0)
            os.close(given[0])
            with contextlib.suppress(OSError):
                os.setpgid(pid, pid)
            _send(program, pid)


def _serve(descriptor: int) -> None:
    """Answer what the parent asks through a socket, until it is closed: what a child does all its life."""
    global _inside
    _inside = True
    os.setpgid(0, 0)  # whatever it starts goes with it
    gc.set_threshold(_CYCLES)
    gc.enable()
    _bound(CORE=0, FSIZE=0)  # it leaves no traces: no file can be written
    with socket.socket(fileno=descriptor) as parent, contextlib.suppress(EOFError, OSError):
        while True:
            asked = _receive(partial(_read_all, parent))
            with guard_files(partial(_ask_for, parent)) if asked["guarded"] else contextlib.nullcontext():
                _answer(parent, asked)


def _answer(parent: socket.socket, asked: dict[str, Any]) -> None:
    try:
        if asked["folder"]:
            os.chdir(asked["folder"])
        function = load(asked["place"])
        _limit(asked["seconds"], asked["memory"])
        found = function(*asked["given"])
        if not isinstance(found, Iterator):
            _send(parent, {"value": found, "last": True})
            return
        for one in found:
            _send(parent, {"value": one})
            del one
            _limit(asked["seconds"])
        _send(parent, {"last": True})
    except (BrokenPipeError, ConnectionError):
        raise
    except MemoryError:
        _send(parent, {"error": ["MemoryError", ""], "last": True})
    except Exception as error:
        words = getattr(error, "strerror", None) or str(error)
        _send(parent, {"error": [type(error).__name__, words], "last": True})


def _limit(seconds: float, memory: int | None = None) -> None:
    """Let the system end this process where it computes longer, or takes more memory, from now on."""
    used = os.times()
    _bound(CPU=math.ceil(used.user + used.system + seconds))
    if memory is not None:
        _bound(AS=_address_space() + memory)


def _bound(**most: int) -> None:
    """Set limits of the system, by their names there; those it does not know are left."""
    import resource

    for name, value in most.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            which = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(which)[1]
            resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _address_space() -> int:
    """Bytes of this process's address space; 0 where the system does not say, as its limit then is none."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return sys.maxsize >> 2


def _ask_for(parent: socket.socket, path: str) -> BinaryIO:
    """A file, opened by the parent."""
    _send(parent, {"open": path})
    mark, descriptors, _, _ = socket.recv_fds(parent, 1, 1)
    if mark == b"+":
        return os.fdopen(descriptors[0], "rb")
    number, words = _receive(partial(_read_all, parent))
    raise OSError(number, words, path)


def _read_all(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while len(view):
        count = connection.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return data


# What goes through the socket: JSON, and behind it the bytes and arrays that it speaks of


def _send(connection: socket.socket, value: Any) -> None:
    blobs: list[Any] = []
    text = json.dumps([_pack(value, blobs), [memoryview(one).nbytes for one in blobs]]).encode()
    timeout = connection.gettimeout()
    connection.settimeout(_START)  # it reads at once, or never
    connection.sendall(struct.pack(">Q", len(text)) + text)
    for blob in blobs:
        connection.sendall(blob)
    connection.settimeout(timeout)


def _receive(read: Callable[[int], bytearray]) -> Any:
    (size,) = struct.unpack(">Q", read(8))
    if size > _ANSWER:
        raise ValueError("the answer is too long")
    value, sizes = json.loads(bytes(read(size)))
    if sum(sizes) > _ANSWER:
        raise ValueError("the answer is too long")
    return _unpack(value, [read(one) for one in sizes])


def _pack(value: Any, blobs: list[Any]) -> Any:
    """A value as JSON has it; what JSON has no form for as a list that begins with what it is."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytes | bytearray | memoryview):
        blobs.append(value)
        return ["bytes" if isinstance(value, bytes) else "room"]
    if isinstance(value, np.ndarray):
        blobs.append(np.ascontiguousarray(value).data.cast("B") if value.size else b"")
        return ["array", value.dtype.str, *value.shape]
    if isinstance(value, Mapping):
        return {str(name): _pack(one, blobs) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(_pack(one, blobs) for one in value)]
    if is_dataclass(value) and not isinstance(value, type):
        rows = {one.name: _pack(getattr(value, one.name), blobs) for one in fields(value) if one.init}
        return ["object", f"{type(value).__module__}:{type(value).__name__}", rows]
    raise TypeError(f"{type(value).__name__} is no plain data")


def _unpack(value: Any, blobs: list[bytearray]) -> Any:
    """The way back; ``blobs`` are taken in their order."""
    if isinstance(value, dict):
        return {name: _unpack(one, blobs) for name, one in value.items()}
    if not isinstance(value, list):
        return value
    kind, *inner = value
    if kind in ("bytes", "room"):  # the latter as it came, not copied: it may be large
        return bytes(blobs.pop(0)) if kind == "bytes" else blobs.pop(0)
    if kind == "array":
        return np.frombuffer(blobs.pop(0), np.dtype(inner[0])).reshape(inner[1:])
    if kind == "object":
        made = load(inner[0]) if inner[0].startswith("fabula.") else None
        if not (isinstance(made, type) and is_dataclass(made)):
            raise ValueError(f"{inner[0]} is no plain data")
        return made(**_unpack(inner[1], blobs))
    found = [_unpack(one, blobs) for one in inner]
    return tuple(found) if kind == "tuple" else found
