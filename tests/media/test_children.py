"""Files parsed in children: what they may take, how they end, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from fabula.core.files import guard_files, open_file
from fabula.errors import FileError, InputError
from fabula.media import children
from fabula.media.children import Limits, call, call_all, place_of, shield, stopping, stream
from fabula.media.medium import Stopped, lazy
from tests.media import planted_readers as readers

ROOT = Path(__file__).resolve().parents[2]
SOON = Limits(seconds=1.0, memory=512 << 20)


def alive(pid: int) -> bool:
    """Whether a process runs; one that nobody has waited for yet counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid: int) -> bool:
    """Whether a process ends soon."""
    until = time.monotonic() + 30
    while alive(pid) and time.monotonic() < until:
        state = Path(f"/proc/{pid}/stat")
        if state.is_file() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return os.getppid() != pid and not is_ours(pid)
        time.sleep(0.02)
    return not alive(pid)


def is_ours(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())


def test_a_child_is_another_process_and_stays_warm():
    first = call(readers.tell_process, "x")
    assert first != os.getpid()
    assert [call(readers.tell_process, "x") for _ in range(3)] == [first] * 3


def test_what_comes_back_is_what_was_there():
    found, wanted = call(readers.give_all, "/a\udcff/b"), readers.give_all("/a\udcff/b")
    assert found["c"].items == wanted["c"].items
    assert np.array_equal(found["c"].features, wanted["c"].features, equal_nan=True)
    assert (found["c"].feature_names, found["c"].title) == (("p", "q"), "T")
    assert {name: found[name] for name in "bnt"} == {"b": b"\0\1", "n": None, "t": (1, [2.5, "x"])}
    assert (found["a"].shape, found["a"].dtype) == ((0, 3), np.uint8)


def test_code_does_not_come_back():
    with pytest.raises(FileError, match=r"^x: cannot be read \(function is no plain data\)$"):
        call(readers.give_function, "x")


def test_an_answer_that_names_anything_else_is_refused():
    for place in ("os:system", "subprocess:Popen", "fabula.media.children:call"):
        with pytest.raises(ValueError, match="no plain data"):
            children._unpack(["object", place, {}], [])


def test_errors_come_through_in_one_line():
    for kind, error in (("file", FileError), ("input", InputError)):
        with pytest.raises(error, match=r"^x: one line$"):
            call(readers.refuse, "a", kind)
    with pytest.raises(FileError, match=r"^a\\nb: cannot be read \('x: one line'\)$"):
        call(readers.refuse, "a\nb", "key")
    with pytest.raises(FileError, match=r"^no such: cannot be read"):
        call(readers.size_of, "no such")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reader", "words"),
    [
        (readers.spin, "takes more than 1 s to be read"),
        (readers.eat, "needs more than 512 MB of memory to be read"),
        (readers.die, r"is broken: it breaks the program that reads it \(signal 11\)"),
        (readers.leave, r"is broken: it breaks the program that reads it \(status 7\)"),
    ],
    ids=["time", "memory", "a crash", "an exit"],
)
def test_a_file_that_is_too_much_gives_one_line_and_others_go_on(reader, words):
    before = call(readers.tell_process, "x")
    start = time.monotonic()
    with pytest.raises(FileError, match=f"^a\\.docx: {words}$"):
        call(reader, "a.docx", limits=SOON)
    assert time.monotonic() - start < 60  # of a busy machine; it computes for a second
    after = call(readers.tell_process, "x")
    assert (after == before) is (reader is readers.eat)  # memory that is refused kills nobody
    assert after == before or gone(before)


@pytest.mark.parametrize(("names", "times"), [(["a"], 1), (["a", "b"], 3)])
def test_a_file_that_was_asked_for_alone_is_not_asked_for_again(names, times, monkeypatch):
    asked = []

    def fail(*given):
        asked.append(given[1][1])
        raise FileError("takes too long")

    monkeypatch.setattr(children, "_stream", fail)
    assert [str(one) for one in call_all(readers.size_of, names)] == [f"{name}: takes too long" for name in names]
    assert len(asked) == times


def test_a_child_writes_no_file(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        call(readers.write, str(tmp_path / "x"))
    assert not (tmp_path / "x").exists() or (tmp_path / "x").stat().st_size == 0


def test_memory_and_time_count_for_each_call_anew():
    for _ in range(3):
        assert call(readers.size_of, __file__, limits=SOON) == Path(__file__).stat().st_size


def test_no_library_sets_address_space_aside_that_counts_against_the_limit():
    pytest.importorskip("pyarrow")
    assert call(readers.reserve_by_arrow, "") < 400 << 20  # mimalloc alone sets 1 GB aside


def test_what_is_cancelled_is_killed_at_once(tmp_path):
    stopped = threading.Event()
    mark = tmp_path / "began"

    def cancel() -> None:
        until = time.monotonic() + 20
        while not mark.exists() and time.monotonic() < until:
            time.sleep(0.01)
        stopped.set()

    threading.Thread(target=cancel, daemon=True).start()
    with stopping(stopped.is_set):
        found = stream(readers.count_slowly, str(mark), 10)
        assert [next(found) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(Stopped):
            next(found)
    assert stopped.is_set()


def test_who_takes_only_the_beginning_leaves_nothing_behind():
    with ThreadPoolExecutor(1) as pool:  # a generator that is dropped is closed
        program = pool.submit(lambda: next(stream(readers.start_program, "x"))).result()
    assert gone(program)


def test_a_child_opens_only_what_the_guard_opens(tmp_path):
    inside, outside = tmp_path / "inside.txt", tmp_path / "outside.txt"
    inside.write_text("12345")
    outside.write_text("secret")
    asked = []

    def guard(path: str):
        asked.append(path)
        if path != str(inside):
            raise PermissionError(13, "may not be read here")
        with guard_off():
            return open_file(path)

    with guard_files(guard):
        assert call(readers.size_of, str(inside)) == 5
        with pytest.raises(FileError, match="may not be read here"):
            call(readers.size_of, str(outside))
        assert shield(readers.tell_process, "x") != os.getpid()
    assert asked == [str(inside), str(outside)]
    assert shield(readers.tell_process, "x") == os.getpid()
    assert call(readers.size_of, str(outside)) == 6


def guard_off():
    return guard_files(lambda path: Path(path).open("rb"))


def test_relative_paths_start_where_the_parent_is(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("123")
    monkeypatch.chdir(tmp_path)
    assert call(readers.size_of, "a.txt") == 3


def test_many_at_a_time_wait_for_each_other():
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda _: call(readers.tell_process, "x"), range(60)))
    assert len(set(found)) <= children._MOST
    assert os.getpid() not in found


def test_many_files_are_asked_for_together_and_one_that_fails_is_named(tmp_path):
    names = []
    for k in range(6):
        names.append(str(tmp_path / f"{k}.txt"))
        (tmp_path / f"{k}.txt").write_text("x" * k)
    (tmp_path / "4.txt").unlink()
    names[2:2] = [str(tmp_path / "die.txt")]
    found = list(call_all(readers.size_or_death, names))
    assert [one for one in found if not isinstance(one, FileError)] == [0, 1, 2, 3, 5]
    dead, gone = (str(one) for one in found if isinstance(one, FileError))
    assert dead == f"{names[2]}: is broken: it breaks the program that reads it (signal 11)"
    assert gone == f"{names[5]}: cannot be read (No such file or directory)"
    assert list(call_all(lambda path: path.upper(), ["a", "b"])) == ["A", "B"]


def test_children_have_loaded_what_was_asked_for_before():
    assert "fabula.media.images.picture_measures" not in children._modules("a.b:c", ("x:y.z", "1:2"))
    assert children._modules("a.b:c", ("d.e:f", ("g:h",))) == {"a.b", "d.e", "g"}


def test_functions_are_known_by_where_they_stand():
    assert place_of(readers.eat) == "tests.media.planted_readers:eat"
    assert place_of(lazy("fabula.media.images.prints:thumbnail")) == "fabula.media.images.prints:thumbnail"
    assert place_of(lambda path: path) is None
    assert call(lambda path: os.getpid(), "x") == os.getpid()  # what has no name is called here


@pytest.mark.parametrize("how", ["it ends", "there is none"])
def test_where_there_can_be_no_child_files_are_read_here(monkeypatch, how):
    pool = children._Pool()
    monkeypatch.setattr(children, "_pool", pool)
    if how == "it ends":
        monkeypatch.setattr(children, "_CODE", "raise SystemExit  # {}")
    else:
        monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert call(readers.tell_process, "x") == os.getpid()
    assert call(readers.tell_process, "x") == os.getpid()


SCRIPT = """
    import os, sys
    from fabula.media.children import call
    from fabula.media.text.passages import read_document
    open("a.txt", "w").write("It rained.")
    print(call(read_document, "a.txt").text, flush=True)  # a program without a guard for its main part
    if "fork" in sys.argv:
        child = os.fork()
        print(call(read_document, "a.txt").text, flush=True)
        if child:
            os.waitpid(child, 0)
        else:
            os._exit(0)
    if "kill" in sys.argv:
        os.kill(os.getpid(), 9)
    if "wait" in sys.argv:
        from fabula.media.children import stream
        from tests.media.planted_readers import count_slowly
        list(stream(count_slowly, "began", 5))
"""


@pytest.mark.parametrize("how", ["file", "-c", "fork", "kill"])
def test_a_program_needs_no_main_guard_and_leaves_no_process(tmp_path, how):
    code = textwrap.dedent(SCRIPT)
    (tmp_path / "program.py").write_text(code)
    command = [sys.executable, "-c", code] if how == "-c" else [sys.executable, "program.py", how]
    marked = {**os.environ, "FABULA_MARK": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, env=marked, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["It rained."] * (3 if how == "fork" else 1)
    assert (done.stderr, done.returncode) == ("", -9 if how == "kill" else 0)
    until = time.monotonic() + 30
    while (left := marked_processes(str(tmp_path))) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []


def test_what_is_interrupted_ends_at_once_with_its_children(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(SCRIPT))
    where = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "FABULA_MARK": str(tmp_path), "PYTHONPATH": where}
    command = [sys.executable, "program.py", "wait"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while not (tmp_path / "began").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert time.monotonic() - start < 15
    assert marked_processes(str(tmp_path)) == []


def marked_processes(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"FABULA_MARK={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:
            continue
    return found
