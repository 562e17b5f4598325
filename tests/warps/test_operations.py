"""Warp operations from Python source on both devices, against NumPy and exact integers; traps; the race detector."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32, i64, u32, u64, w32, w64
from isogrid.backends.interp.findings import DynamicFault
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.dims import N
from isogrid.ir.types import Scalar

DEVICES = ("interp", "cpu")


def on_both(kernel: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    """The last arrays after a launch on each device, which must agree bit for bit."""
    seen: list[list[np.ndarray]] = []
    for device in DEVICES:
        copies = [a.copy() for a in arrays]
        kernel.on(device)(*copies)
        seen.append(copies)
    for a, b in zip(*seen, strict=True):
        assert a.tobytes() == b.tobytes()
    return seen[1]


@ig.kernel(groups=N // 64, block=64, warp=16)
def shuffled(
    x: In[i32, N], m: In[i64, N], y: Out[i32, N], up: Out[i32, N], down: Out[i32, N], xor: Out[i32, N]
) -> None:
    i = ig.gid()
    y[i] = ig.shuffle(x[i], m[i])
    up[i] = ig.shuffle_up(x[i], m[i])
    down[i] = ig.shuffle_down(x[i], d=m[i])
    xor[i] = ig.shuffle_xor(m=m[i], value=x[i])


EDGES = [0, 1, -1, 3, 15, 16, 17, -16, -15, 2**31, -(2**31), 2**63 - 1, -(2**63), 63, 64, 2**32 + 5]


def expected_shuffle(x: np.ndarray, m: list[int], source: Callable[[int, int], int]) -> list[int]:
    result: list[int] = []
    for i, operand in enumerate(m):
        base, own = i // 16 * 16, i % 16
        lane = source(own, operand)
        result.append(int(x[base + lane if 0 <= lane < 16 else i]))
    return result


def test_every_lane_operand_counts_by_its_exact_value() -> None:
    count = 64 * 4
    x = np.arange(100, 100 + count, dtype=np.int32)
    m = [EDGES[(i * 7 + i // 16) % len(EDGES)] for i in range(count)]
    zeros = [np.zeros(count, np.int32) for _ in range(4)]
    _, _, y, up, down, xor = on_both(shuffled, x, np.array(m, np.int64), *zeros)
    assert y.tolist() == expected_shuffle(x, m, lambda own, k: k % 16)
    assert up.tolist() == expected_shuffle(x, m, lambda own, k: own - k)
    assert down.tolist() == expected_shuffle(x, m, lambda own, k: own + k)
    assert xor.tolist() == expected_shuffle(x, m, lambda own, k: own ^ k)


@ig.kernel(groups=1, block=64, warp=4)
def unsigned(x: In[f64, N], m: In[u64, N], n: In[u32, N], h: In[w32, N], y: Out[f64, N]) -> None:
    i = ig.gid()
    y[i] = ig.shuffle_up(x[i], m[i]) + 2.0 * ig.shuffle_down(x[i], n[i]) + 4.0 * ig.shuffle(x[i], h[i])


def test_unsigned_and_modular_operands() -> None:
    x = np.arange(64, dtype=np.float64)
    m = np.array([0, 1, 2**64 - 1, 2**63, 3, 2**32, 2**32 + 1, 5] * 8, np.uint64)
    n = np.array([2**32 - 1, 0, 1, 2**31] * 16, np.uint32)
    h = np.array([2**32 - 1, 5, 0, 2] * 16, np.uint32)
    y = on_both(unsigned, x, m, n, h, np.zeros(64))[-1]
    for i in range(64):
        base, own = i // 4 * 4, i % 4
        up, down = own - int(m[i]), own + int(n[i])
        want = x[base + up] if 0 <= up < 4 else x[i]
        want += 2 * (x[base + down] if 0 <= down < 4 else x[i])
        assert y[i] == want + 4 * x[base + int(h[i]) % 4]


@ig.kernel(groups=(1, 2), block=(2, 64), warp=64)
def votes(x: In[f32, N], b: Out[w64, N], a: Out[i32, N], s: Out[f32, N], p: Out[f32, N], e: Out[f32, N]) -> None:
    i = ig.group_id(1) * 128 + ig.lid()
    v = x[i]
    b[i] = ig.ballot(v > 0.0)
    a[i] = i32(ig.warp_any(v > 2.5)) + 2 * i32(ig.warp_all(v > -2.5)) + 4 * i32(ig.warp_id()) + 8 * i32(ig.lane_id())
    s[i] = ig.warp_sum(v) + ig.warp_max(v) * ig.warp_min(v)
    p[i] = ig.warp_scan(v)
    e[i] = ig.warp_scan(v, exclusive=True)


def test_votes_and_reductions_of_the_widest_warp() -> None:
    x = np.random.default_rng(1).normal(size=256).astype(np.float32)
    empty = [np.zeros(256, t) for t in (np.uint64, np.int32, np.float32, np.float32, np.float32)]
    _, b, a, s, p, e = on_both(votes, x, *empty)
    for first in range(0, 256, 64):
        v = list(x[first : first + 64])
        assert b[first] == sum(1 << k for k in range(64) if v[k] > 0)
        sums, scan = WARP_OPERATIONS["sum"], WARP_OPERATIONS["scan"]
        total = sums.meaning(Scalar.F32, v, [], False)[0] + max(v) * min(v)
        assert s[first + 9] == total
        assert p[first : first + 64].tolist() == [float(k) for k in scan.meaning(Scalar.F32, v, [], False)]
        assert e[first : first + 64].tolist() == [float(k) for k in scan.meaning(Scalar.F32, v, [], True)]
        assert a[first + 3] & 7 == (max(v) > 2.5) + 2 * (min(v) > -2.5) + 4 * (first // 64 % 2)
        assert a[first + 3] >> 3 == 3


@ig.kernel(groups=1, block=128)
def block_sum(x: In[i32, N], y: InOut[i32, N]) -> None:
    """The classic: sums of warps, then one warp sums them."""
    partial = ig.shared(i32, 32)
    t = ig.lid()
    s = ig.warp_sum(x[t])
    if ig.lane_id() == 0:
        partial[ig.warp_id()] = s
    ig.barrier()
    if ig.warp_id() == 0:
        v = partial[t] if t < ig.group_size() // ig.warp_size() else 0
        s = ig.warp_sum(v)
    if t == 0:
        y[0] = s


def test_a_block_sum_in_two_steps() -> None:
    x = np.arange(128, dtype=np.int32) * 3
    assert on_both(block_sum, x, np.zeros(128, np.int32))[1][0] == x.sum()


@ig.kernel(groups=2, block=64, warp=8)
def totals(x: In[i32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    v = x[i] + 1
    if ig.warp_id() != 1:
        v = ig.warp_scan(v)
    v = v * 2
    y[i] = ig.warp_sum(v)


def words(kernel: Any, *arrays: np.ndarray) -> list[str]:
    found: list[str] = []
    for device in DEVICES:
        copies = [a.copy() for a in arrays]
        with pytest.raises(ig.Trap) as caught:
            kernel.on(device)(*copies)
        found.append(f"{type(caught.value).__name__}: {caught.value}")
        assert all((a == b).all() for a, b in zip(copies, arrays, strict=True))
    assert found[0] == found[1]
    return found


MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("changes", "thread", "what"),
    [
        ({20: MOST}, 20, f"{MOST} + 1"),
        ({20: MOST, 9: 2**30}, 9, f"{2**30 + 1} * 2"),  # warp 1 gets there later, but comes first
        ({17: MOST - 1, 16: 5}, 17, "the total of `warp_scan`"),
        ({16: MOST, 17: MOST - 1}, 16, f"{MOST} + 1"),  # an earlier operation of the same warp
        ({22: MOST - 1, 18: MOST}, 18, f"{MOST} + 1"),
        ({8: 2**29, 9: 2**29, 10: 2**29}, 8, "the total of `warp_sum`"),
        ({64: MOST, 9: 2**30 - 2}, 8, "the total of `warp_sum`"),
        ({23: MOST - 8, 40: MOST}, 23, f"{MOST - 7 + 7} * 2"),
    ],
)
def test_the_first_trap_is_the_lowest_warps_earliest_operation(changes: dict[int, int], thread: int, what: str) -> None:
    x = np.zeros(128, np.int32)
    for at, value in changes.items():
        x[at] = value
    text = words(totals, x, np.zeros(128, np.int32))[0]
    assert what in text
    assert f", thread {thread}\n" in text


@ig.kernel(groups=1, block=64, races=ig.trust("the test looks for the race itself"))
def ordered(x: InOut[i32, N], y: Out[i32, N]) -> None:
    t, lane, base = ig.lid(), ig.lane_id(), ig.warp_id() * ig.warp_size()
    x[t] = i32(t)
    ig.warp_barrier()
    y[t] = x[base + (lane + 1) % 32]


@ig.kernel(groups=1, block=64, races=ig.trust("the test looks for the race itself"))
def between_warps(x: InOut[i32, N], y: Out[i32, N]) -> None:
    t = ig.lid()
    x[t] = i32(t)
    ig.warp_barrier()
    y[t] = x[(t + 1) % 64]


@ig.kernel(groups=1, block=64, races=ig.trust("the test looks for the race itself"))
def by_shuffle(x: InOut[i32, N], y: Out[i32, N]) -> None:
    t = ig.lid()
    x[t] = i32(ig.shuffle_xor(t, 1))
    y[t] = x[t ^ 1]


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_the_detector_knows_what_orders_a_warp(order: int) -> None:
    x = np.zeros(64, np.int32)
    option = {"order": order} if order else {}
    ordered.on("interp").options(interp=option)(x.copy(), x.copy())
    for kernel in (between_warps, by_shuffle):
        with pytest.raises(DynamicFault, match="data race on `x`"):
            kernel.on("interp").options(interp=option)(x.copy(), x.copy())
