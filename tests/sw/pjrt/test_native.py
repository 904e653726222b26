"""The library of C: its functions, how it is built, and the same under sanitisers."""

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from celosia.pjrt import native
from celosia.pjrt.native import FLAGS, SOURCE, Native, build, load
from celosia.storage import ToolchainError, compiler

#: With Python's lock and without, as jaxlib calls.
LOCKED = ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
UNLOCKED = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
ERROR = 0xE0


class Stop(Exception):
    """What a handler raises."""


def adopt(raised=None):
    pass


def function(library, call, adopt=adopt, kind=LOCKED):
    (place,) = library.functions([call], adopt, ERROR)
    return kind(place)


# Calls

@pytest.mark.parametrize("kind", [LOCKED, UNLOCKED])
@pytest.mark.parametrize("error", [0, 0x7FFF12345678, (1 << 64) - 1])
def test_a_call_and_its_result(library, kind, error):
    called = []

    def call(address):
        called.append(address)
        return error, 0

    assert function(library, call, kind=kind)(0x7FFF00001234) == error
    assert called == [0x7FFF00001234]


def test_each_function_calls_its_own(library):
    def numbered(i):
        return lambda address: (1000 + i, 0)

    places = library.functions([numbered(i) for i in range(128)], adopt, ERROR)
    assert len(set(places)) == 128
    assert [LOCKED(place)(0) for place in places] == list(range(1000, 1128))


def test_room_for_functions(library):
    with pytest.raises(ValueError, match=r"^there must be at most 128 functions, not 129$"):
        library.functions([lambda address: (0, 0)] * 129, adopt, ERROR)


def test_calls_of_threads(library):
    known, seen = threading.get_ident(), []

    def call(address):
        seen.append(threading.get_ident())
        return address, 0

    called, results = function(library, call, kind=UNLOCKED), []
    threads = [threading.Thread(target=lambda i=i: results.extend(
        called(1000 * i + j) for j in range(1000))) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(results) == list(range(4000))
    assert known not in seen


@pytest.mark.parametrize("times", [1, 3, 999])
def test_what_is_raised_before_a_call_comes_to_who_adopts(library, times):
    given = []

    def handlers_raise(raised=None):
        given.append(raised)
        if len(given) <= times:
            raise Stop(len(given))

    assert function(library, lambda address: (0, 0), handlers_raise)(0) == 0
    assert given[0] is None
    assert {str(error) for error in given[1:]} == {"1"}  # the first
    assert given[1].__traceback__ is not None
    assert len(given) == times + 1


def test_handlers_that_never_cease(library):
    count = 0

    def handlers_raise(raised=None):
        nonlocal count
        count += 1
        raise Stop

    called = function(library, lambda address: pytest.fail("it must not be called"),
                      handlers_raise)
    assert called(0) == ERROR
    assert count == 1000


@pytest.mark.parametrize("answer", [None, 0, (), (0,), (0, 0, 0), ("0", 0), (0, 1 << 40)])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_wrong_answer_is_no_result(library, answer):
    assert function(library, lambda address: answer)(0) == ERROR


def test_what_leaves_a_call_is_reported_and_is_no_result(library, monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda it: seen.append((it.exc_type, it.object)))

    def call(address):
        raise Stop

    assert function(library, call)(0) == ERROR
    assert seen == [(Stop, call)]


def test_an_exception_on_its_way_stays(library):
    """Whatever C destroys while an exception leaves a frame may ask the plugin."""
    called = []

    def call(address):
        called.append(sys.exc_info()[0])
        return 0, 0

    capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
    (place,) = library.functions([call], adopt, ERROR)

    def stop():
        raise Stop("on its way")

    with pytest.raises(Stop, match="^on its way$"):
        called.append((capsule(1, None, place), stop()))  # the capsule's destructor is the call
    assert called == [None]


def test_silence(library):
    called = function(library, lambda address: pytest.fail("it must not be called"))
    library.silence()
    assert called(0) == 0
    assert LOCKED(library.nothing)(1) is not None


# Building

@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder with nothing in it."""
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    for variable in ("CELOSIA_CC", "CELOSIA_CXX"):
        monkeypatch.delenv(variable, raising=False)
    compiler.cache_clear()
    yield tmp_path / "cache"
    compiler.cache_clear()


def works(library):
    return function(library, lambda address: (address, 0))(77) == 77


def test_it_is_built_once(folder, monkeypatch):
    path = build()
    assert path.is_relative_to(folder / "pjrt")
    assert sorted(each.name for each in path.parent.iterdir()) == ["manifest.json", "native.so"]
    monkeypatch.setattr("celosia.storage.libraries.run_tool", lambda *_, **__: pytest.fail("it is"))
    assert build() == path
    assert works(load())


def test_what_a_build_depends_on(folder, monkeypatch, tmp_path):
    paths = {build()}
    monkeypatch.setattr(native, "FLAGS", (*FLAGS, "-g"))
    paths.add(build())
    monkeypatch.setattr(platform, "machine", lambda: "another")
    paths.add(build())
    source = tmp_path / "native.c"
    source.write_text(SOURCE.read_text() + "// changed\n")
    monkeypatch.setattr(native, "SOURCE", source)
    paths.add(build())
    monkeypatch.setenv("CELOSIA_CC", f"{compiler('C').command[0]} cc")
    compiler.cache_clear()
    paths.add(build())
    assert len(paths) == 5


@pytest.mark.parametrize("damage", [
    lambda path: path.write_bytes(path.read_bytes()[:1000]),
    lambda path: path.write_bytes(b""),
    lambda path: path.unlink(),
    lambda path: (path.parent / "manifest.json").write_text("{"),
])
def test_a_damaged_library_is_built_again(folder, damage):
    path = build()
    content = path.read_bytes()
    damage(path)
    assert build() == path
    assert path.read_bytes() == content
    assert works(load())


PROCESS = """
from celosia.pjrt.native import native
(place,) = native().functions([lambda address: (address, 0)], lambda raised=None: None, 1)
import ctypes
assert ctypes.PYFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)(place)(77) == 77
"""


def test_processes_that_use_it_first_at_once(folder):
    processes = [subprocess.Popen([sys.executable, "-c", PROCESS], stderr=subprocess.PIPE)
                 for _ in range(4)]
    assert [process.communicate(timeout=60)[1] for process in processes] == [b""] * 4
    assert [process.returncode for process in processes] == [0] * 4
    assert len(list(folder.glob("pjrt/*/native.so"))) == 1
    assert not list(folder.rglob("*.tmp"))


def test_without_a_compiler(folder, monkeypatch):
    monkeypatch.setattr("celosia.storage.compilers.package_folder", lambda name: None)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(ToolchainError, match="^there is no C compiler: pip install ziglang, or "
                                             "set CELOSIA_CC$"):
        load()


def test_a_compiler_that_refuses_says_what_and_where(folder, monkeypatch, tmp_path):
    source = tmp_path / "native.c"
    source.write_text(SOURCE.read_text() + "int wrong(void) { int unused; return 0; }\n")
    monkeypatch.setattr(native, "SOURCE", source)
    with pytest.raises(ToolchainError) as caught:
        load()
    (log,) = (folder / "failed").iterdir()
    first, *rest = str(caught.value).splitlines()
    assert first == f"cc failed with status 1; the log is {log}"
    assert f"{source}:" in rest[0]
    assert "unused variable 'unused' [-Werror,-Wunused-variable]" in rest[0]
    assert not list(folder.rglob("*.tmp"))
    assert not list(folder.rglob("native.so"))


def test_a_folder_that_cannot_be_used(folder):
    """As of a user without a home, or a read-only one: nothing is kept."""
    folder.write_text("a file")
    assert works(load())
    assert folder.read_text() == "a file"


def test_without_a_folder_of_the_compilers_own(folder, monkeypatch):
    for variable in ("HOME", "XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.setenv(variable, "/nowhere/at/all")
    assert works(load())


def test_a_read_only_folder_with_the_library_is_enough(folder, monkeypatch):
    path = build()
    opened = Path.open

    def read_only(self, mode="r", *rest, **more):
        if self.is_relative_to(folder) and set(mode) & set("wax+"):
            raise OSError(30, "Read-only file system", str(self))
        return opened(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr("celosia.storage.libraries.run_tool", lambda *_, **__: pytest.fail("it is"))
    assert build() == path


def test_a_folder_that_nothing_can_be_loaded_from(folder, monkeypatch):
    def not_there(path):
        if path.is_relative_to(folder):
            raise OSError("failed to map segment from shared object")
        return Native(path)

    monkeypatch.setattr(native, "Native", not_there)
    assert works(load())


def test_no_place_to_load_from(folder, monkeypatch):
    def nowhere(path):
        raise OSError("cannot map it" if path.is_relative_to(folder) else "nor here")

    monkeypatch.setattr(native, "Native", nowhere)
    with pytest.raises(RuntimeError) as caught:
        load()
    assert str(caught.value) == (
        f"CELOSIA_CACHE must name a folder for libraries that can be loaded, not "
        f"{str(folder)!r}: cannot map it; and in a temporary one: nor here")


def test_another_system(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(RuntimeError, match="^the system must be Linux or macOS for celosia to be "
                                           "a device of JAX, not Windows$"):
        load()


@pytest.mark.parametrize("target", ["aarch64-linux-gnu", "x86_64-linux-musl", "aarch64-macos",
                                    "x86_64-macos"])
def test_it_compiles_for_other_systems(folder, tmp_path, target):
    link = ("-Wl,-undefined,dynamic_lookup",) if target.endswith("macos") else ()
    ended = subprocess.run(
        [*zig(), *compiler("C").portable, *FLAGS, "-shared", *link, "-target", target, SOURCE,
         "-o", tmp_path / "native.so"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_it_is_small_enough_to_check():
    assert len(SOURCE.read_text().splitlines()) <= 300


# Sanitisers, of which zig has none for addresses

CHECK = Path(__file__).with_name("native_check.c")


def sanitised(command, sanitisers, folder):
    """Compile the check; None if the compiler does not have the sanitisers."""
    flags = ["-std=c11", "-g", "-O1", "-pthread", "-Wall", "-Wextra", "-Werror",
             f"-fsanitize={sanitisers}", "-fno-sanitize-recover=all"]
    program, empty = folder / "check", folder / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    if subprocess.run([*command, *flags, empty, "-o", program], capture_output=True).returncode:
        return None
    subprocess.run([*command, *flags, SOURCE, CHECK, "-o", program], check=True)
    return program


def run_check(program):
    environment = {name: value for name, value in os.environ.items()
                   if not name.endswith("SAN_OPTIONS")}
    ended = subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment)
    assert (ended.returncode, ended.stdout + ended.stderr) == (0, "")


def zig():
    return compiler("C").command


def test_addresses_and_undefined_behaviour(folder, tmp_path):
    """By the machine's compiler; where there is none with the sanitiser, by zig, without it."""
    system = shutil.which("gcc") or shutil.which("clang")
    program = sanitised([system], "address,undefined", tmp_path) if system else None
    run_check(program or sanitised(zig(), "undefined", tmp_path))


@pytest.mark.slow  # zig builds the sanitiser's library first: a minute
@pytest.mark.parametrize("sanitiser", ["undefined", "thread"])
def test_threads_and_undefined_behaviour(folder, tmp_path, sanitiser):
    run_check(sanitised(zig(), sanitiser, tmp_path))


def test_a_cell_that_nothing_destroys_is_the_largest():
    assert native.STAYS == ctypes.c_size_t(-1).value
