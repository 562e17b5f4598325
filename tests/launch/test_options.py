"""Options: what is refused when they are written, who wins, and what each changes."""

import linecache
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.launch import kernels as k

import isogrid as ig
from isogrid.launch import dispatch
from isogrid.launch.backends import runtime
from isogrid.launch.options import PORTABLE

F32 = np.float32


@pytest.fixture(autouse=True)
def no_defaults() -> Iterator[None]:
    yield
    ig.default_options(**dict.fromkeys(PORTABLE), cpu=None, interp=None)


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown": (
        lambda: k.saxpy.options(colour="red"),
        "there is no option `colour`; the portable ones are fastmath, always_inline, max_threads, unroll, disable",
    ),
    "later": (
        lambda: k.saxpy.options(on_trap="poison"),
        "there is no option `on_trap` yet: a later version brings it; arrays are put back after every trap, as "
        "`explain` counts",
    ),
    "mistyped": (lambda: k.saxpy.options(fastmaths=True), "there is no option `fastmaths`; did you mean `fastmath`?"),
    "mistyped tunable": (
        lambda: k.reverse_tiles.options(TILES=8),
        "there is no option `TILES`; did you mean `TILE`?",
    ),
    "value outside a tunable": (
        lambda: k.reverse_tiles.options(TILE=5),
        "tunable `TILE` of reverse_tiles is one of 4, 8, 16, not 5",
    ),
    "hint of a wrong type": (lambda: k.saxpy.options(unroll=1), "option `unroll` is True or False, not 1"),
    "no threads": (
        lambda: k.saxpy.options(max_threads=0),
        "option `max_threads` allows 1 to 1024 threads per group, not 0",
    ),
    "1025 threads": (
        lambda: k.saxpy.options(max_threads=1025),
        "option `max_threads` allows 1 to 1024 threads per group, not 1025",
    ),
    "1025 threads in a tuple": (
        lambda: k.saxpy.options(max_threads=(5, 205)),
        "option `max_threads` allows 1 to 1024 threads per group, not (5, 205)",
    ),
    "threads as a float": (
        lambda: k.saxpy.options(max_threads=8.0),
        "option `max_threads` is an integer or a tuple of up to 3, not 8.0",
    ),
    "block over max_threads": (
        lambda: k.saxpy.options(max_threads=128),
        "saxpy(): block=256 has 256 threads, and max_threads=128 allows 128",
    ),
    "block over the max_threads of a device": (
        lambda: k.saxpy.on(ig.device("cpu").options(max_threads=(8, 8))),
        "saxpy(): block=256 has 256 threads, and max_threads=(8, 8) allows 64",
    ),
    "unknown pass": (
        lambda: k.saxpy.options(disable="unrol"),
        "there is no pass `unrol` to disable; did you mean `unroll`?",
    ),
    "group that is no dict": (
        lambda: k.saxpy.options(cpu=True),
        "the options of cpu are a dict, e.g. cpu={...}, not True",
    ),
    "unknown key of a group": (
        lambda: k.saxpy.options(interp={"ordre": 1}),
        "interp has no option `ordre`; did you mean `order`?",
    ),
    "portable key in a group": (
        lambda: k.saxpy.options(cpu={"fastmath": True}),
        "cpu has no option `fastmath`; `fastmath` is portable and stands outside the group",
    ),
    "key of a group outside it": (
        lambda: k.saxpy.options(order=3),
        "`order` is an option of interp alone: write interp={'order': ...}",
    ),
    "unknown decorator argument": (
        lambda: ig.kernel(gird=3),  # type: ignore[call-arg]
        "@ig.kernel has no argument `gird`; did you mean `grid`?",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_at_construction(name: str) -> None:
    call, message = BAD[name]
    with pytest.raises(ig.OptionError) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


def test_precedence_in_both_directions() -> None:
    for strong, weak in ((True, False), (False, True)):
        ig.default_options(fastmath=weak)
        assert k.saxpy.option_values["fastmath"] is weak
        carried = ig.device("cpu").options(fastmath=strong)
        assert k.saxpy.on(carried).option_values["fastmath"] is strong
        assert k.saxpy.on(carried).options(fastmath=weak).option_values["fastmath"] is weak
        with ig.use(carried):
            assert k.saxpy.option_values["fastmath"] is strong
    ig.default_options(fastmath=None)
    assert "fastmath" not in k.saxpy.option_values


def test_groups_merge_key_by_key_and_reach_their_backend_only() -> None:
    kernel = k.saxpy.on(ig.device("interp").options(interp={"order": 3})).options(interp={"detect_races": False})
    assert kernel.option_values == {"interp": {"order": 3, "detect_races": False}}
    assert k.saxpy.options(cuda={"max_registers": 64}).option_values == {"cuda": {"max_registers": 64}}


def test_options_make_new_values() -> None:
    other = k.saxpy.options(unroll=False)
    assert other is not k.saxpy and k.saxpy.option_values == {} and other.option_values == {"unroll": False}
    assert other.options(unroll=True).option_values == {"unroll": True}


@pytest.mark.filterwarnings("ignore::isogrid.launch.errors.OptionWarning")
def test_two_option_sets_compile_twice_and_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[dict[str, Any]] = []
    original = type(runtime("interp")).compile

    def compile(self: Any, kernel: Any, options: Any) -> Any:
        compiled.append(dict(options))
        return original(self, kernel, options)

    monkeypatch.setattr(type(runtime("interp")), "compile", compile)
    fresh = ig.kernel(grid=k.N)(k.scale.definition.function).on("interp")
    x, y = np.ones(3, F32), np.zeros(3, F32)
    for _ in range(2):
        fresh(1.0, x, y)
        fresh.options(unroll=False)(1.0, x, y)
        fresh.options(unroll=False).options(unroll=False, cuda={"max_registers": 8})(1.0, x, y)
    assert compiled == [{}, {"unroll": False}]


def test_max_threads_bounds_every_launch() -> None:
    bounded = k.open_fill.options(max_threads=64)
    out = np.zeros(100, np.int32)
    for device in ("cpu", "interp"):
        assert bounded.max_group_size(device) == 64
        bounded.on(device).launch(3, out, grid=100)
        with pytest.raises(ig.LaunchValueError, match=r"open_fill\(\): block=65 has 65 threads, and max_threads=64"):
            bounded.on(device).launch(3, out, grid=100, block=65)
    assert k.open_fill.max_group_size() == 1024
    ig.default_options(max_threads=32)
    assert k.open_fill.max_group_size() == 32
    with pytest.raises(ig.LaunchValueError, match="max_threads=32 allows 32"):
        k.saxpy(1.0, np.ones(2, F32), np.ones(2, F32))


def test_a_hint_that_does_nothing_is_noted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_SAID", type(dispatch._SAID)())
    monkeypatch.setattr(type(runtime("interp")), "ignored_hints", frozenset({"fastmath"}), raising=False)
    hinted = ig.kernel(grid=k.N)(k.scale.definition.function).on("interp").options(fastmath=True)
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        hinted(1.0, np.ones(2, F32), np.ones(2, F32))
        hinted(1.0, np.ones(2), np.ones(2))
    assert [(w.category, str(w.message)) for w in noted] == [
        (ig.OptionWarning, "the option `fastmath` does nothing on interp")
    ]
    assert noted[0].filename == __file__, "a warning points at the author's line"


def test_supported_options() -> None:
    assert set(PORTABLE) <= set(ig.supported_options("cpu")) & set(ig.supported_options())
    assert "interp.order" in ig.supported_options("interp") and "interp.order" not in ig.supported_options("cpu")


def test_tunables() -> None:
    x = np.arange(16, dtype=np.int32)
    for tile in (None, 8, 16):
        kernel = k.reverse_tiles if tile is None else k.reverse_tiles.options(TILE=tile)
        y = np.zeros(16, np.int32)
        kernel(x, y)
        assert (y == x.reshape(-1, tile or 4)[:, ::-1].reshape(-1)).all()
    assert k.reverse_tiles.options(TILE=8).option_values == {"TILE": 8}


def test_passes_switched_off_by_environment() -> None:
    name = "unroll"
    code = (
        "from isogrid.launch.dispatch import effective_options as e\n"
        "from isogrid.launch.options import Options\nfrom isogrid.launch.devices import device\n"
        "print(sorted(e(Options(), device('cpu')).get('disable')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": "src", "ISOGRID_DISABLE": name},
    )
    assert done.stdout.strip() == f"['{name}']"
    bad = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "src", "ISOGRID_DISABLE": "unrool"},
    )
    assert "OptionError: ISOGRID_DISABLE=unrool: there is no pass `unrool`" in bad.stderr


def test_two_tunables_of_one_name() -> None:
    text = "import isogrid as ig\nSIZE = ig.tunable(2, 4)\n@ig.func\ndef other(x):\n    return x + SIZE\n"
    helpers: dict[str, Any] = {"__name__": "helpers"}
    exec(compile(text, "<helpers>", "exec"), helpers)
    text = (
        "import isogrid as ig\nfrom isogrid import InOut, i32\nfrom isogrid.dims import N\nSIZE = ig.tunable(8)\n"
        "@ig.kernel(grid=N, block=SIZE)\ndef k(x: InOut[i32, N]) -> None:\n    x[ig.gid()] = other(1)\n"
    )
    linecache.cache["<two tunables>"] = (len(text), None, text.splitlines(keepends=True), "<two tunables>")
    space: dict[str, Any] = {"__name__": "two", "other": helpers["other"]}
    exec(compile(text, "<two tunables>", "exec"), space)
    with pytest.raises(ig.KernelRefused, match="`SIZE` names two different tunables that `k` reaches"):
        space["k"](np.zeros(2, np.int32))
