"""Launches on arrays of a device: where their traps are raised, and what later launches on those arrays do."""

import gc
import weakref

import numpy as np
import pytest
from tests.arrays import kernels as k

import isogrid as ig

F32 = np.float32


def bad_gather(device: str) -> tuple[ig.Array, ig.Array, ig.Array]:
    """Arguments of a gather of which thread 2 traps."""
    at = ig.array(np.array([0, 1, 9, 1], np.int32), device=device)
    return at, ig.array(np.array([5, 6], F32), device=device), ig.full(4, 7, ig.f32, device=device)


def message_of(device: str) -> str:
    with pytest.raises(ig.KernelIndexError) as caught:
        k.gather.on(device)(np.array([0, 1, 9, 1], np.int32), np.array([5, 6], F32), np.zeros(4, F32))
    return str(caught.value)


def test_a_launch_on_arrays(device: str) -> None:
    x, y = ig.full(100, 2, ig.f32, device=device), ig.full(100, 1, ig.f32, device=device)
    k.saxpy(3.0, x, y)  # the device that holds the arrays takes it
    assert np.array_equal(y.numpy(), np.full(100, 7, F32))
    host = np.ones(100, F32)
    k.saxpy(1.0, x, host) if device == "cpu" else k.saxpy.on(device)(1.0, x, host)
    assert (host == 3).all()


def test_a_trap_is_raised_once_at_the_next_synchronisation(device: str) -> None:
    at, x, y = bad_gather(device)
    k.gather(at, x, y)
    with pytest.raises(ig.KernelIndexError) as caught:
        ig.synchronize()
    assert str(caught.value) == message_of("interp")
    ig.synchronize()
    assert y.tolist() == [7, 7, 7, 7]
    at[2] = 0
    k.gather(at, x, y)
    assert y.tolist() == [5, 6, 5, 6]


def test_a_pending_trap_keeps_only_what_it_stands_behind(device: str) -> None:
    at, x, y = bad_gather(device)
    read = weakref.ref(at.block)
    k.gather(at, x, y)
    if device == "cuda":
        with pytest.raises(ig.KernelIndexError):
            ig.synchronize()
    del at
    gc.collect()
    assert read() is None
    if device != "cuda":
        with pytest.raises(ig.KernelIndexError):
            ig.synchronize()


def test_launches_that_touch_its_arrays_do_nothing_meanwhile(device: str) -> None:
    at, x, y = bad_gather(device)
    z, w, free = (ig.zeros(4, ig.f32, device=device) for _ in range(3))
    k.gather(at, x, y)
    k.copy(y, z)  # reads what the trapped launch would have written
    k.saxpy(1.0, z, w)  # reads what the skipped launch would have written
    k.saxpy(1.0, ig.ones(4, ig.f32, device=device), free)
    with pytest.raises(ig.KernelIndexError):
        free.numpy()
    assert free.tolist() == [1, 1, 1, 1]
    assert z.tolist() == [0, 0, 0, 0] and w.tolist() == [0, 0, 0, 0]
    k.copy(y, z)
    assert z.tolist() == [7, 7, 7, 7]


def test_two_traps_are_raised_one_after_the_other(device: str) -> None:
    at, x, y = bad_gather(device)
    big = ig.full(3, 2**30, ig.i32, device=device)
    k.gather(at, x, y)
    k.double(big)
    sum_of_both = ig.zeros(4, ig.f32, device=device)
    k.copy(y, sum_of_both)
    with pytest.raises(ig.KernelIndexError):
        ig.synchronize(device)
    k.double(big)  # still waits for its own trap
    with pytest.raises(ig.KernelOverflowError):
        ig.synchronize(device)
    ig.synchronize(device)
    assert big.tolist() == [2**30] * 3 and sum_of_both.tolist() == [0] * 4


def test_the_host_touching_a_poisoned_array_raises_its_trap(device: str) -> None:
    for touch in (lambda a: a.fill(1), lambda a: a.copy(), lambda a: a[1:].__setitem__(..., 3)):
        at, x, y = bad_gather(device)
        k.gather(at, x, y)
        x.fill(6)  # not an array that the launch writes
        with pytest.raises(ig.KernelIndexError):
            touch(y)
        touch(y)
        ig.synchronize(device)


def test_a_launch_on_host_arrays_raises_what_was_pending(device: str) -> None:
    on = k.saxpy.on(device)
    host_x, host_y = np.ones(4, F32), np.zeros(4, F32)
    on(1.0, host_x, host_y)
    on(1.0, host_x, host_y)
    at, x, y = bad_gather(device)
    k.gather(at, x, y)
    with pytest.raises(ig.KernelIndexError):
        on(1.0, host_x, host_y)
    assert (host_y == 2).all()
    on(1.0, host_x, host_y)
    assert (host_y == 3).all()


def test_a_trap_with_a_host_array_is_raised_at_once(device: str) -> None:
    at, x, y = bad_gather(device)
    with pytest.raises(ig.KernelIndexError):
        k.gather.on(device)(at.numpy(), x, y)
    assert y.tolist() == [7, 7, 7, 7]
    ig.synchronize()


def test_what_a_launch_refuses(device: str) -> None:
    x = ig.zeros((4, 4), ig.f32, device=device)
    other = "interp" if device == "cpu" else "cpu"
    for arguments, message in (
        ((x[:, 0], x[:, 1]), "is a strided view on"),
        ((x[0, :3], x[0, 1:]), "share memory"),
        ((x[0], ig.zeros(4, ig.f32, device=other)), f"is on {other}, and the launch runs on {device}"),
        ((x[0], ig.zeros(4, ig.i32, device=device)), "holds int32"),
        ((x[0], ig.zeros(5, ig.f32, device=device)), "both are the dimension `N`"),
    ):
        with pytest.raises(ig.LaunchError, match=message):
            k.saxpy(1.0, *arguments)
    k.saxpy(1.0, x[0], x[1])
    read_only = x[2].read_only()
    with pytest.raises(ig.LaunchValueError, match="read-only"):
        k.saxpy(1.0, x[0], read_only)
    ig.synchronize()


def test_streams_and_events(device: str) -> None:
    x, y = ig.full(1000, 2, ig.f32, device=device), ig.ones(1000, ig.f32, device=device)
    one, other = ig.Stream(device), ig.Stream(device)
    k.saxpy.launch(3.0, x, y, stream=one)
    mark = one.record()
    other.wait(mark)
    k.saxpy.launch(1.0, x, y, stream=other)
    later = other.record()
    other.synchronize()
    assert mark.is_done and later.is_done and (y.numpy() == 9).all()
    if device == "cuda":
        assert later.seconds_since(mark) >= 0
    at, small, z = bad_gather(device)
    k.gather.launch(at, small, z, stream=one)
    with pytest.raises(ig.KernelIndexError):
        one.synchronize()
    elsewhere = "interp" if device == "cpu" else "cpu"
    with pytest.raises(ig.LaunchValueError, match=f"the stream is of {elsewhere}, and the launch runs on {device}"):
        k.saxpy.launch(3.0, x, y, stream=ig.Stream(elsewhere))


def test_a_skipped_launch_that_may_trap_leaves_nothing_behind(device: str) -> None:
    at, x, y = bad_gather(device)
    good = ig.array(np.array([0, 1, 1, 0], np.int32), device=device)
    z, w = ig.zeros(4, ig.f32, device=device), ig.zeros(4, ig.f32, device=device)
    k.gather(at, x, y)
    k.gather(good, y, z)  # skipped, and might have trapped itself
    with pytest.raises(ig.KernelIndexError):
        z.fill(1)
    z.fill(1)
    for _ in range(3):
        k.gather(good, x, z)
        k.copy(z, w)
    assert w.tolist() == [5, 6, 6, 5]
