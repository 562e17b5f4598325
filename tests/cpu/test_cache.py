"""The disk cache: verified entries, keys that miss nothing, processes side by side, folders that are not private."""

import os
import shutil
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import InOut, i32, i64
from isogrid.backends.cpu.objectcache import cached_object
from isogrid.dims import N
from isogrid.launch.sourcekey import NotStorable, canonical, source_fingerprint
from isogrid.support.diskcache import DiskCache, default_cache, digest

ROOT = Path(__file__).parents[2]

SOURCE = """
import numpy as np
import isogrid as ig
from isogrid import f32, In, InOut
from isogrid.dims import N

SCALE = 2.0

@ig.func
def scaled(v: f32) -> f32:
    return v * SCALE

@ig.kernel(grid=N, block=256)
def saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) -> None:
    i = ig.gid()
    y[i] = a * scaled(x[i]) + y[i]

if __name__ == "__main__":
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, np.float32)
    saxpy(3.0, x, y)
    print(y[10])
    import sys
    print("front end" if "isogrid.frontend.build" in sys.modules else "cache")
"""


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A copy of the package that nobody edits while the tests run: an edited compiler rightly misses every entry."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(ROOT / "src" / "isogrid", folder / "isogrid", ignore=shutil.ignore_patterns("__pycache__"))
    SETTINGS["PYTHONPATH"] = str(folder)


#: Environment of every process that these tests start.
SETTINGS = {"ISOGRID_DEVICE": "cpu", "PYTHONDONTWRITEBYTECODE": ""}


def run(folder: Path, source: str = SOURCE, **environment: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(source))
    settings = SETTINGS | {"ISOGRID_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(file)], env=dict(os.environ) | settings | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / "cache").rglob("*") if path.is_file())


# --- whole kernels ---------------------------------------------------------------------------------------------------


def test_second_process_skips_the_front_end(tmp_path: Path) -> None:
    assert run(tmp_path) == ["61.0", "front end"]
    assert run(tmp_path) == ["61.0", "cache"]


def test_what_a_kernel_says_is_in_its_key(tmp_path: Path) -> None:
    run(tmp_path)
    for old, new, result in [
        ("SCALE = 2.0", "SCALE = 4.0", "121.0"),
        ("return v * SCALE", "return v + SCALE", "37.0"),
        ("a * scaled(x[i]) + y[i]", "a * scaled(x[i]) - y[i]", "59.0"),
        ("block=256", "block=128", "61.0"),
    ]:
        assert run(tmp_path, SOURCE.replace(old, new)) == [result, "front end"]
    assert run(tmp_path) == ["61.0", "cache"]


def test_options_are_in_the_key(tmp_path: Path) -> None:
    run(tmp_path)
    assert run(tmp_path, SOURCE.replace("    saxpy(3.0", "    saxpy.options(fastmath=True)(3.0"))[1] == "front end"
    assert run(tmp_path, ISOGRID_DISABLE="")[1] == "cache"


def test_damaged_entries_are_compiled_anew(tmp_path: Path) -> None:
    run(tmp_path)
    for damage in (truncated, flipped, lambda content: b"", lambda content: bytes(16) + content[16:]):
        for path in entries(tmp_path):
            path.write_bytes(damage(path.read_bytes()))
        assert run(tmp_path) == ["61.0", "front end"]
    assert run(tmp_path) == ["61.0", "cache"]


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    changed = bytearray(content)
    changed[-len(changed) // 3] ^= 0x40
    return bytes(changed)


def test_processes_share_the_cache_at_once(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(SOURCE)
    settings = SETTINGS | {"ISOGRID_CACHE_DIR": str(tmp_path / "cache")}
    processes = [
        subprocess.Popen(
            [sys.executable, str(file)], env=dict(os.environ) | settings, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    for process in processes:
        text, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert text.splitlines()[0] == "61.0"
    assert not [path for path in entries(tmp_path) if path.name.startswith("writing-")]
    assert run(tmp_path) == ["61.0", "cache"]


def test_a_constant_that_changes_after_the_first_use_is_not_stored_wrongly(tmp_path: Path) -> None:
    """The second specialisation keeps the old constant, and a later process with the new one must not get it."""
    generic = SOURCE.replace("from isogrid import f32", "from isogrid import Real as T, f32")
    generic = generic.replace("v: f32) -> f32", "v) ").replace(
        "a: f32, x: In[f32, N], y: InOut[f32, N]", "x: In[T, N], y: InOut[T, N]"
    )
    generic = generic.replace("return v * SCALE", "return v + v if SCALE == 2.0 else v").replace("a * scaled", "scaled")
    (tmp_path / "program.py").write_text(generic)
    first = """
import numpy as np
import program
def go(kind):
    x, y = np.full(10, 3, kind), np.zeros(10, kind)
    program.saxpy(x, y)
    return y[0]
"""
    change = first + "a = go(np.float32); program.SCALE = 1.0; b = go(np.float64); print(a, b)"
    device = first + "a = go(np.float32); program.SCALE = 1.0\nwith program.ig.use('interp'): print(a, go(np.float32))"
    fresh = first + "program.SCALE = 1.0; print(go(np.float64))"
    settings = SETTINGS | {"ISOGRID_CACHE_DIR": str(tmp_path / "cache")}
    settings["PYTHONPATH"] += os.pathsep + str(tmp_path)

    def script(text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", text], env=dict(os.environ) | settings, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert script(change) == "6.0 6.0"
    assert script(change) == "6.0 6.0", "the first one from disk, the second not"
    assert script(device) == "6.0 6.0", "the first one from disk, the other device never stores"
    assert script(fresh) == "3.0"


# --- files -----------------------------------------------------------------------------------------------------------


def test_entries_survive_and_damage_is_noticed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    key = digest(["a", b"b"])
    assert cache.load(key) is None
    cache.store(key, b"payload")
    assert cache.load(key) == b"payload"
    [path] = [p for p in tmp_path.rglob("*") if p.is_file()]
    path.write_bytes(path.read_bytes()[:-1] + b"X")
    assert cache.load(key) is None
    assert not path.exists()


def test_parts_do_not_run_together() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])


def test_an_unwritable_folder_is_no_error(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "file" / "below")
    (tmp_path / "file").write_text("no folder")
    cache.store("0" * 64, b"payload")
    assert cache.load("0" * 64) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access modes are POSIX's")
def test_a_folder_that_others_can_write_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("ISOGRID_CACHE_DIR", str(folder))
    with pytest.warns(RuntimeWarning, match="other users can write it"):
        assert default_cache().folder is None


def test_an_empty_name_switches_the_cache_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    assert default_cache().folder is None


def test_default_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGRID_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default_cache().folder == tmp_path / "isogrid"
    assert (tmp_path / "isogrid").stat().st_mode & 0o777 == 0o700


def test_objects_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path)
    text = "define i64 @f() {\n  ret i64 7\n}"
    first = cached_object(text, "plain", cache)
    monkeypatch.setattr("isogrid.backends.cpu.objectcache.compile_object", lambda *_: pytest.fail("compiled again"))
    assert cached_object(text, "plain", cache) == first


# --- fingerprints ----------------------------------------------------------------------------------------------------

NUMBER = 1
TABLE = np.arange(3)
OTHER: Any = object()


def uses_number() -> int:
    return NUMBER


def uses_table() -> Any:
    return TABLE[0]


def uses_object() -> Any:
    return OTHER


def calls_another() -> Any:
    return uses_number()


@pytest.mark.parametrize(
    ("name", "function", "values"),
    [
        ("NUMBER", uses_number, [1, 1.0, True, -0.0, 0.0, "1", (1,), np.float32(1), np.float64(1)]),
        ("NUMBER", calls_another, [1, 2]),
        ("TABLE", uses_table, [np.arange(3), np.arange(4), np.arange(3.0), np.array([0, 1, 3])]),
    ],
)
def test_values_are_told_apart(name: str, function: Any, values: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for value in values:
        monkeypatch.setitem(globals(), name, value)
        seen.add(source_fingerprint(function))
        seen.add(source_fingerprint(function))
    assert len(seen) == len(values)


def adding(amount: int, default: int = 1, kind: Any = i32) -> Any:
    @ig.func
    def add(v: kind, more=default):  # type: ignore[no-untyped-def, valid-type]
        return v + amount + more

    return add


def made(first: Any, second: Any, kind: Any = i32) -> Any:
    def kernel(x: InOut[i32, N]) -> None:
        size: kind = 1  # type: ignore[valid-type]
        x[0] = first(x[0]) + second(x[0]) + i32(size)

    return kernel


def test_what_one_def_made_several_times_is_told_apart() -> None:
    """Closures, defaults and annotations: equal text and equal code, and yet other kernels."""
    once = adding(1)
    kernels = [
        made(once, once),
        made(once, adding(2)),
        made(adding(2), once),
        made(once, adding(1, default=2)),
        made(once, adding(1, kind=i64)),
        made(once, adding(1, kind=tuple[i32, i32])),
        made(once, once, kind=i64),
    ]
    assert len({source_fingerprint(kernel) for kernel in kernels}) == len(kernels)
    assert source_fingerprint(made(once, adding(2))) == source_fingerprint(made(once, adding(2)))


def test_objects_without_faithful_text_are_not_stored() -> None:
    with pytest.raises(NotStorable):
        source_fingerprint(uses_object)


def test_canonical_text_ignores_the_order_of_sets() -> None:
    assert canonical({"a": frozenset("xyz"), "b": (1, {2, 3})}) == canonical({"b": (1, {3, 2}), "a": frozenset("zyx")})


def test_a_compiler_that_is_edited_meanwhile_stores_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What old code in memory compiled must not be found by the new code on disk."""
    from isogrid.launch import stored

    monkeypatch.setenv("ISOGRID_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(stored, "_key", lambda *_: "0" * 64)
    monkeypatch.setattr(stored.SourceMemory, "still_holds", lambda *_: True)

    class Runtime:
        def to_bytes(self, artifact: object) -> bytes:
            return b"code"

    arguments: Any = (None, stored.SourceMemory(), None, Runtime(), None, None, None)
    assert stored._stamp() is not None  # read before it changes
    monkeypatch.setattr(stored, "compiler_stamp", lambda *since: "another")
    stored.remember(*arguments)
    assert default_cache().load("0" * 64) is None
    monkeypatch.setattr(stored, "compiler_stamp", lambda *since: stored._stamp())
    stored.remember(*arguments)
    assert default_cache().load("0" * 64) == b"code"


def test_a_compiler_edited_between_import_and_first_kernel_has_no_stamp(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The stamp is read late. By then a file may be another than the one in memory, with an older time of its own."""
    from isogrid.support import diskcache

    (tmp_path / "inner").mkdir()
    monkeypatch.setattr(diskcache, "__file__", str(tmp_path / "support" / "diskcache.py"))
    file = tmp_path / "inner" / "a.py"
    file.write_text("a = 1\n")
    before = diskcache.compiler_stamp(time.time_ns() + 1_000_000_000)
    assert before == diskcache.compiler_stamp() != diskcache.digest([])
    began = time.time_ns()
    time.sleep(0.05)  # clocks of file systems have steps of some milliseconds
    other = tmp_path / "b"
    other.write_text("a = 2\n")
    os.utime(other, (1, 1))
    other.replace(file)
    assert diskcache.compiler_stamp(began) is None
    assert diskcache.compiler_stamp() != before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
def test_a_folder_within_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    key = digest(["a"])
    cache.store(key, b"made here")
    assert cache.load(key) == b"made here"
    inner = next(tmp_path.iterdir())
    inner.chmod(0o777)
    assert cache.load(key) is None
    other = digest(["b"])
    (tmp_path / other[:2]).mkdir(exist_ok=True)
    (tmp_path / other[:2]).chmod(0o770)
    cache.store(other, b"made here")
    assert list((tmp_path / other[:2]).iterdir()) == []
    inner.chmod(0o700)
    assert cache.load(key) == b"made here"


def test_a_folder_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "~/kept")
    assert default_cache().folder == tmp_path / "kept"
