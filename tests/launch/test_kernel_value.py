"""Kernels as values: immutable, picklable, shared by threads; bind, defaults, optional arrays, generics, constants."""

import contextlib
import copy
import gc
import linecache
import os
import pickle
import subprocess
import sys
import threading
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.launch import kernels as k

import isogrid as ig
from isogrid import InOut, f32, i32
from isogrid.dims import N
from isogrid.launch import devices, dispatch, observe
from isogrid.launch.kernel_value import Kernel
from isogrid.launch.native import NativeCalls

F32 = np.float32


def test_repr() -> None:
    assert repr(k.saxpy) == "<isogrid kernel saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) grid=N block=256>"
    changed = k.reverse_tiles.on("interp").options(TILE=8, unroll=False)
    assert repr(changed).endswith("groups=ig.cdiv(N, TILE) block=TILE on interp unroll=False TILE=8>")
    assert repr(k.saxpy.bind(2.0)).endswith("block=256 a bound>")


def test_immutable() -> None:
    with pytest.raises(AttributeError, match="a kernel is immutable"):
        k.saxpy.device = ig.device("cpu")  # type: ignore[misc]
    with pytest.raises(AttributeError, match="a kernel is immutable"):
        del k.saxpy.device
    assert copy.copy(k.saxpy) is k.saxpy and copy.deepcopy([k.saxpy])[0] is k.saxpy
    assert k.saxpy.__name__ == "saxpy" and k.saxpy.__module__ == "tests.launch.kernels"


def test_decorator_misuse() -> None:
    with pytest.raises(TypeError, match="written with parentheses"):
        ig.kernel(lambda x: None)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="decorates a plain function"):
        ig.kernel(grid=N)(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="decorates a plain function"):
        ig.kernel(grid=N)(k.saxpy)


def test_launching_reads_nothing_before_first_use() -> None:
    @ig.kernel(grid=N)
    def wrong(x: InOut[f32, N]) -> None:
        x[ig.gid()] = undefined_name  # type: ignore[name-defined]  # noqa: F821

    reports = wrong.check()
    assert reports and reports[0].primary.span.file == __file__
    with pytest.raises(ig.KernelRefused):
        wrong(np.ones(2, F32))


def test_functions_of_the_language_outside_a_kernel() -> None:
    for call in (lambda: ig.gid(), lambda: ig.f32(3), lambda: ig.In(), lambda: range(N), lambda: ig.barrier()):
        with pytest.raises(ig.OutsideKernelError):
            call()
    assert ig.cdiv(10, 4) == 3 and repr(ig.cdiv(N, 4) * 2) == "cdiv(N, 4) * 2"


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_keywords_defaults_and_optional_arrays(device: str) -> None:
    kernel = k.add_bias.on(device)
    x, y = np.arange(3, dtype=F32), np.zeros(3, F32)
    kernel(x, y)
    assert (y == [0, 1, 2]).all()
    kernel(y=y, x=x, a=2.0)
    assert (y == [0, 2, 4]).all()
    kernel(x, y, np.ones(3, F32))
    assert (y == [1, 2, 3]).all()
    kernel(x, y, None, 3.0)
    assert (y == [0, 3, 6]).all()


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_bind(device: str) -> None:
    x, y = np.ones(3, F32), np.zeros(3, F32)
    triple = k.saxpy.on(device).bind(3.0)
    triple(x, y)
    triple.bind(y=y)(x)
    assert (y == 6).all()
    with pytest.raises(ig.LaunchTypeError, match="which was bound before"):
        triple(x, y, a=1.0)
    with pytest.raises(ig.LaunchTypeError, match="takes 2 arguments but 3"):
        triple(1.0, x, y)
    with pytest.raises(ig.LaunchTypeError, match="already has argument `a`"):
        triple.bind(a=1.0)


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_generics_follow_the_arrays(device: str) -> None:
    for dtype in (np.float32, np.float64, np.float32):
        y = np.zeros(2, dtype)
        k.scale.on(device)(0.1, np.ones(2, dtype), y)
        assert y[0] == dtype(0.1)


def fresh(kernel: Any) -> Any:
    """A value of its own, whose calls nobody has made ready."""
    return Kernel(kernel.definition, kernel.compiled)


def held() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_types_in_turn_make_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native callable of each type stays, and takes its calls when another's has refused them."""
    call = k.scale.on("cpu")
    pairs = [(np.ones(2, dtype), np.zeros(2, dtype)) for dtype in (np.float32, np.float64)]
    for x, y in pairs * 2:
        call(0.1, x, y)
    monkeypatch.setattr(dispatch, "launch", lambda *_: pytest.fail("the slow path"))
    before = held()
    for _ in range(2000):
        for x, y in pairs:
            call(0.1, x, y)
    assert held() - before < 1 << 20
    assert [y[0] for _, y in pairs] == [np.float32(0.1), 0.1]


def test_sizes_in_turn_stay_within_bounds() -> None:
    call = k.row_sums.on("cpu")
    given = [(np.ones((2, width), F32), np.zeros(2, F32)) for width in range(1, 80)]
    for _ in range(2):
        for x, y in given:
            call(x, y)
            assert y[1] == x.shape[1]


def test_blocks_of_a_device_in_turn_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was made within a block is not used outside it, and the other way around; it is made once."""
    call, x, y = fresh(k.scale), np.ones(2, F32), np.zeros(2, F32)
    slow: list[str] = []
    run: Any = dispatch._run

    def noted(definition: Any, device: str, *more: Any) -> Any:
        slow.append(device)
        return run(definition, device, *more)

    monkeypatch.setattr(dispatch, "_run", noted)
    for _ in range(3):
        for device in ("interp", "cpu"):
            with ig.use(device):
                call(0.1, x, y)
        call(0.1, x, y)
    assert slow == ["interp", "cpu", "cpu", "interp", "interp"]


@pytest.mark.parametrize("change", ["defaults", "record", "scope"])
def test_what_changes_while_a_launch_runs_holds_for_the_next_one(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may change it: a callable made under what held before must not serve calls from then on."""
    call, x, y = fresh(k.scale), np.ones(2, F32), np.zeros(2, F32)
    opened = contextlib.ExitStack()

    def changing(original: Any) -> Any:
        def run(*arguments: Any, **keywords: Any) -> Any:
            result = original(*arguments, **keywords)
            match change:
                case "defaults":
                    ig.default_options(unroll=False)
                case "record":
                    opened.enter_context(observe.watching())
                case _:
                    devices.SCOPES.add(0)
            return result

        return run

    def reset() -> None:
        ig.default_options(unroll=None)
        opened.close()
        devices.SCOPES.alive.discard(0)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "_run", changing(dispatch._run))
            call(0.1, x, y)
        assert not isinstance(call.__call__, types.BuiltinFunctionType)
        reset()
        for _ in range(3):
            call(0.1, x, y)
            call(a=0.1, x=x, y=y)
        assert isinstance(call.__call__, types.BuiltinFunctionType)
        object.__setattr__(call, "__call__", call._call)
        with monkeypatch.context() as patch:
            patch.setattr(NativeCalls, "take", changing(NativeCalls.take))
            call(0.1, x, y)
        assert not isinstance(call.__call__, types.BuiltinFunctionType)
        assert change == "scope" or not call.natives.by_place
    finally:
        reset()


def test_values_that_go_leave_nothing_behind() -> None:
    x, y = np.ones(2, F32), np.zeros(2, F32)
    for _ in range(200):
        k.scale.on("cpu").bind(0.1)(x, y)
    gc.collect()
    before = held()
    for _ in range(3000):
        k.scale.on("cpu").bind(0.1)(x, y)
    gc.collect()
    assert held() - before < 2 << 20


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_constant_dimensions(device: str) -> None:
    for width in (1, 3, 5, 3):
        x, y = np.arange(2 * width, dtype=F32).reshape(2, width), np.zeros(2, F32)
        k.row_sums.on(device)(x, y)
        assert (y == x.sum(1)).all()


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_dimensions_derived_from_derived_ones(device: str) -> None:
    """The signature names them before those that they follow from."""
    kernel = k.chained.on(device)
    for rows, step, tile in ((3, 1, 4), (5, 2, 8), (0, 3, 16)):
        padded = 2 * (rows + 1) * tile + step
        out = np.zeros(padded, np.int64)
        for _ in range(2):  # the second time by the native stub, where there is one
            kernel.options(TILE=tile)(np.zeros(rows, np.int32), np.zeros(step, np.int32), out)
        assert (out == padded * 10_000 + 200 * (rows + 1) + 10 * (rows + 1) + rows).all()
        with pytest.raises(ig.LaunchValueError, match=r"`Padded` = \(Twice \* TILE\) \+ D is"):
            kernel(np.zeros(rows, np.int32), np.zeros(step, np.int32), np.zeros(padded + 1, np.int64))


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_open_geometry(device: str) -> None:
    for given in ({"grid": 7}, {"groups": 2, "block": 4}, {"grid": 8, "block": 3}, {"grid": (np.int64(9),)}):
        out = np.zeros(8, np.int32)
        k.open_fill.on(device).launch(1, out, **given)
        assert out.sum() == min(8, given["groups"] * 4 if "groups" in given else int(np.ravel(given["grid"])[0]))
    out = np.zeros(6, np.int32)
    k.open_block.on(device).launch(np.arange(6, dtype=np.int32), out, block=4)
    assert out.tolist() == [6, 6, 6, 6, 9, 9]


def test_constants_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    space: dict[str, Any] = {"FACTOR": 2.0}
    text = (
        "import isogrid as ig\nfrom isogrid import InOut, f32\nfrom isogrid.dims import N\n"
        "@ig.kernel(grid=N)\ndef times(x: InOut[ig.Real, N]) -> None:\n    x[ig.gid()] *= FACTOR\n"
    )
    linecache.cache["<constants>"] = (len(text), None, text.splitlines(keepends=True), "<constants>")
    exec(compile(text, "<constants>", "exec"), space)
    x = np.ones(2, F32)
    space["times"](x)
    space["FACTOR"] = 3.0
    space["times"](x)
    y = np.ones(2)
    space["times"](y)
    assert (x == 4).all() and (y == 2).all()
    assert space["times"].constants == {"FACTOR": "2.0"}


def test_missing_source() -> None:
    space: dict[str, Any] = {}
    head = "import isogrid as ig\nfrom isogrid import InOut, f32\nfrom isogrid.dims import N\n"
    text = head + "@ig.kernel(grid=N)\ndef f(x: InOut[f32, N]) -> None: ..."
    # Not "<string>": from 3.13 on `linecache` knows the text of `python -c` by that name.
    with pytest.raises(ig.KernelRefused, match="the source of `f` cannot be read"):
        exec(compile(text, "<nowhere>", "exec"), space)


def test_string_annotations_see_locals() -> None:
    class Mine(ig.Dim):
        pass

    @ig.kernel(grid=Mine)
    def ones(x: "InOut[i32, Mine]") -> None:
        x[ig.gid()] = 1

    x = np.zeros(3, np.int32)
    ones(x)
    assert (x == 1).all()


def test_pickle_by_name() -> None:
    again = pickle.loads(pickle.dumps(k.saxpy.on("interp").options(unroll=False).bind(2.0)))
    assert again.definition is k.saxpy.definition and again.compiled is k.saxpy.compiled
    assert (
        again.device == ig.device("interp") and again.option_values == {"unroll": False} and again.fixed == {"a": 2.0}
    )
    assert pickle.loads(pickle.dumps(k.saxpy)) is k.saxpy


def test_pickle_of_a_local_kernel_carries_its_source(tmp_path: Path) -> None:
    amount = 5

    @ig.func
    def twice(v):  # type: ignore[no-untyped-def]
        return v + v

    @ig.kernel(grid=N)
    def local(x: InOut[i32, N]) -> None:
        x[ig.gid()] += twice(amount)

    (tmp_path / "kernel.pickle").write_bytes(pickle.dumps(local))
    code = (
        "import pickle, sys, numpy as np\nk = pickle.load(open(sys.argv[1], 'rb'))\n"
        "x = np.ones(3, np.int32)\nk(x)\nprint(x.tolist(), k)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "kernel.pickle")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "src"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[11, 11, 11] <isogrid kernel local(x: InOut[i32, N]) grid=N>"


def test_tracebacks_show_the_authors_line_and_one_of_ours() -> None:
    def outside(x: InOut[i32, N]) -> None:
        x[ig.gid() + 1] = 1

    good = np.zeros(2, np.int32)
    trapping = ig.kernel(grid=N)(outside)
    for call in (
        lambda: trapping(good),
        lambda: trapping.on("interp")(good),
        lambda: trapping([1]),
        lambda: k.open_fill.launch(1, good, grid=-1),
        lambda: ig.kernel(grid="N")(outside),
    ):
        with pytest.raises((ig.Trap, ig.LaunchError, ig.KernelRefused)) as caught:
            call()
        frames = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
        assert len([file for file in frames if file != __file__]) <= 1, frames
        assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_threads_share_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = ig.kernel(grid=k.N)(k.scale.definition.function)
    results = [np.zeros(1000, F32) for _ in range(8)]
    barrier = threading.Barrier(8)

    def work(y: "np.ndarray[Any, Any]") -> None:
        barrier.wait()
        for _ in range(5):
            fresh(3.0, np.ones(1000, F32), y)

    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((y == 3).all() for y in results)
    assert len(fresh.compiled.artifacts) == 1


def test_import_loads_no_compiler() -> None:
    code = (
        "import sys, isogrid\nfrom isogrid.dims import N\n"
        "heavy = [m for m in ('isogrid.pipeline', 'isogrid.frontend.build') if m in sys.modules]\n"
        "print(heavy)"
    )
    env = {**os.environ, "PYTHONPATH": "src"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"
