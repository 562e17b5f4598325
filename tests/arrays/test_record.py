"""Recorded launches: nothing runs while they are taken down, and each call of the graph runs them all."""

import gc
import threading
import types

import numpy as np
import pytest
from tests.arrays import kernels as k

import isogrid as ig
from isogrid.launch import observe

F32 = np.float32


def test_a_graph_replays_its_launches(device: str) -> None:
    x, y, z = (ig.full(100, v, ig.f32, device=device) for v in (2, 1, 0))
    with ig.record() as graph:
        k.saxpy(3.0, x, y)
        k.copy(y, z)
        k.saxpy(1.0, z, y)
    assert len(graph) == 3 and y.numpy()[0] == 1 and z.numpy()[0] == 0
    graph()
    assert z.numpy()[0] == 7 and y.numpy()[0] == 14
    y.fill(0)
    graph()
    graph()
    assert z.numpy()[99] == 18 and y.numpy()[99] == 36


def test_calls_beside_a_recording_run(device: str) -> None:
    x, y = ig.ones(64, ig.f32, device=device), ig.zeros(64, ig.f32, device=device)
    for _ in range(3):
        k.saxpy(1.0, x, y)
    bound = k.saxpy.bind(1.0, x, y)
    bound()
    bound()
    with ig.record() as graph:
        k.saxpy(1.0, x, y)
        bound()
    assert y.numpy()[0] == 5
    for _ in range(3):
        k.saxpy(1.0, x, y)
    graph()
    assert y.numpy()[0] == 10


def test_a_graph_keeps_its_arrays(device: str) -> None:
    x, y = ig.ones(64, ig.f32, device=device), ig.zeros(64, ig.f32, device=device)
    with ig.record() as graph:
        k.saxpy(2.0, x, y)
    del x
    gc.collect()
    ig.zeros(64, ig.f32, device=device)
    graph()
    assert (y.numpy() == 2).all()
    with ig.record() as nothing:
        pass
    nothing()


def test_traps_and_graphs(device: str) -> None:
    at, x = ig.array(np.array([0, 9, 0, 0], np.int32), device=device), ig.ones(4, ig.f32, device=device)
    y, z = ig.full(4, 7, ig.f32, device=device), ig.zeros(4, ig.f32, device=device)
    with ig.record() as graph:
        k.copy(y, z)
    k.gather(at, x, y)
    graph()  # y is poisoned, so nothing happens, and z is too
    w = ig.zeros(4, ig.f32, device=device)
    k.copy(z, w)
    with pytest.raises(ig.KernelIndexError):
        ig.synchronize()
    assert z.tolist() == [0] * 4 and w.tolist() == [0] * 4
    graph()
    assert z.tolist() == [7] * 4


def test_what_a_recording_refuses(device: str) -> None:
    x = ig.ones(4, ig.f32, device=device)
    with ig.record() as graph:
        with pytest.raises(ig.LaunchValueError, match="`y` is an array on the host"):
            k.copy.on(device)(x, np.zeros(4, F32))
        with pytest.raises(ig.LaunchValueError, match="do not nest"), ig.record():
            pass
        with pytest.raises(ig.LaunchValueError, match="after its `with` block"):
            graph()


def test_recorded_launches_that_may_trap(device: str) -> None:
    """Each replay is what the calls would be: it puts arrays back, and what needs them is skipped until the raise."""
    at, x = ig.array(np.array([0, 1, 2, 3], np.int32), device=device), ig.array(np.arange(4, dtype=F32), device=device)
    y, z, w = (ig.full(4, 7, ig.f32, device=device) for _ in range(3))
    with ig.record() as graph:
        k.saxpy(1.0, x, w)
        k.gather(at, x, y)
        k.copy(y, z)
    graph()
    assert y.tolist() == z.tolist() == [0, 1, 2, 3] and w.tolist() == [7, 8, 9, 10]
    at[2] = 9
    x.fill(5)
    graph()
    graph()
    with pytest.raises(ig.KernelIndexError, match="index 9 is out of range"):
        ig.synchronize()
    ig.synchronize()
    assert y.tolist() == z.tolist() == [0, 1, 2, 3] and w.tolist() == [17, 18, 19, 20]
    at[2] = 0
    graph()
    assert y.tolist() == z.tolist() == [5] * 4


def test_a_watcher_that_goes_and_one_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In two threads: the devices are told in the order in which it happens."""
    told: list[bool] = []
    going, coming = threading.Event(), threading.Event()

    def forget() -> None:
        if observe.WATCHING.count == 0 and not going.is_set():
            going.set()
            coming.wait(0.05)

    def watch() -> None:
        with observe.watching():
            pass

    def watch_too() -> None:
        assert going.wait(10)
        with observe.watching():
            coming.set()
            first.join()
            last.append(told[-1])

    last: list[bool] = []
    monkeypatch.setattr(observe, "forget_native_callables", forget)
    monkeypatch.setattr(observe, "made_runtimes", lambda: ["any"])
    monkeypatch.setattr(observe, "runtime", lambda name: types.SimpleNamespace(watch=told.append))
    first, second = threading.Thread(target=watch), threading.Thread(target=watch_too)
    first.start()
    second.start()
    second.join()
    assert last == [True] and told == [True, False, True, False]
