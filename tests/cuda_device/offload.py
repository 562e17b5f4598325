"""Offloaded loops on a real GPU: random loops with the interpreter's bits, large reductions with the CPU's, PyTorch's
tensors in streams of their own. Examples, handed loops and trees are in tests/offload, which runs on this GPU too.

`... [first seed] [how many]`
"""

import multiprocessing
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import isogrid as ig
from isogrid import In, InOut, Out, f32, f64, i32
from isogrid.dims import M, N
from tests.offload import generator
from tests.offload.written import called, same

warnings.simplefilter("ignore", ig.OffloadWarning)


def one(seed: int) -> tuple[int, str, bool]:
    """A random loop on `cuda` and `interp`: what is wrong, and whether it was accepted."""
    loop = generator.judged(seed)
    f = ig.offload(loop.function)
    arguments = generator.arguments(seed)
    if loop.analysis is None:
        return seed, "", False
    try:
        expected = called(f.reference, arguments)
        if not same(called(f.on("cuda"), arguments), expected):
            return seed, f"host arrays differ\n{loop.text}", loop.accepted
        held = {n: ig.array(v, device="cuda") if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
        result, error = None, None
        try:
            result = f(**held)
        except (ig.LaunchError, ig.Trap) as raised:
            error = raised
        found = {n: v.numpy() if isinstance(v, ig.Array) else v for n, v in held.items()}
        if not same((result, found, [], error), expected):
            return seed, f"arrays on the GPU differ\n{loop.text}", loop.accepted
    except Exception as failure:  # every loop is looked at
        return seed, f"{type(failure).__name__}: {failure}\n{loop.text}", loop.accepted
    return seed, "", loop.accepted


@ig.offload(parallel="require")
def statistics(x: In[f32, N], d: In[f64, N], k: In[i32, N], y: Out[f32, N]) -> tuple[f32, f64, i32, i32, f32, f32]:
    s = 0.0
    t = f64(0)
    total = i32(0)
    bits = i32(0)
    low = f32(1e30)
    p = f32(1)
    for i in range(len(x)):
        s += x[i]
        t += d[i] * d[i]
        total += k[i]
        bits ^= k[i]
        low = min(low, x[i])
        p *= 1.0 + x[i] * 1e-8
        y[i] = x[i] * 2.0
    return s, t, total, bits, low, p


def large() -> None:
    """Several reductions at once over sizes with one, two, three and four levels of the tree."""
    for n in (1, 255, 256, 257, 65536, 65537, 1 << 20, (1 << 24) + 7):
        random = np.random.default_rng(n)
        x, d = random.normal(0, 1, n).astype(np.float32), random.normal(0, 1, n)
        k, y = random.integers(-9, 9, n).astype(np.int32), np.zeros(n, np.float32)
        z = ig.zeros(n, ig.f32, device="cuda")
        expected = statistics.on("cpu")(x, d, k, y)
        held = [ig.array(a, device="cuda") for a in (x, d, k)]
        for _ in range(3):
            assert statistics(*held, z) == expected, n
        assert statistics.on("cuda")(x, d, k, np.zeros_like(y)) == expected, n
        assert np.array_equal(z.numpy(), y)


def together() -> None:
    """Threads that sum arrays of the same sizes and of others at once."""
    import threading

    arrays = [np.random.default_rng(n).normal(0, 1, n) for n in (3, 70000, 70000, 300000, 1 << 20, 70000)]
    expected = [squares.on("cpu")(values) for values in arrays]
    found: list[bool] = []

    def work(number: int) -> None:
        x = ig.array(arrays[number], device="cuda")
        found.extend(squares(x) == expected[number] for _ in range(200))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(arrays))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * (200 * len(arrays))


@ig.offload(parallel="require")
def squares(x: In[f64, N]) -> tuple[f64, f64]:
    s = f64(0)
    high = f64(0)
    for v in x:
        s += v * v
        high = max(high, v)
    return s, high


@ig.offload
def scanned(y: InOut[f32, N]) -> None:
    for i in range(1, len(y)):
        y[i] = y[i - 1] + y[i]


@ig.offload(parallel="require")
def two_stages(x: In[f32, N], y: InOut[f32, N], z: Out[f32, N]) -> f32:
    s = 0.0
    for i in range(len(x)):
        y[i] = x[i] + 1.0
    for i in range(len(x)):
        z[i] = y[i] * 2.0
        s += y[i]
    return s


@ig.offload(parallel="require")
def late_trap(x: In[i32, N], y: InOut[i32, N], z: Out[i32, N]) -> None:
    for i in range(len(x)):
        y[i] = x[i] + 1
    for i in range(len(x)):
        z[i] = x[i] << 28


@ig.offload(parallel="require")
def counted(x: In[i32, N], bins: InOut[i32, M]) -> None:
    for i in range(len(x)):
        bins[x[i]] += 1


def tensors() -> None:
    """PyTorch's tensors: the default stream and one of their own, behind work that takes long."""
    import torch

    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for _ in range(3):
                slow = torch.randn(4096, 4096, device="cuda")
                for _ in range(10):
                    slow = slow @ slow * 1e-3
                x = torch.zeros(1 << 20, device="cuda") + 3
                y, z = torch.zeros_like(x), torch.zeros_like(x)
                assert two_stages(x, y, z) == 4.0 * (1 << 20)
                z += 1
                assert (z == 9).all()
                x = x + slow.sum() * 0
                scanned(x)
                assert x[4].item() == 15 and x[-1].item() == 3.0 * (1 << 20)
                a = torch.full((1000,), 9, dtype=torch.int32, device="cuda")
                b, c = a.clone(), a.clone()
                try:
                    late_trap(a, b, c)
                except ig.KernelOverflowError:
                    assert (b == 9).all() and (c == 9).all()
                else:
                    raise AssertionError("no trap")
                bins = torch.zeros(16, dtype=torch.int32, device="cuda")
                counted(torch.arange(1 << 20, dtype=torch.int32, device="cuda") % 16, bins)
                assert (bins == 1 << 16).all()


def main() -> int:
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    bad = 0
    for step in (large, tensors, together):
        started = time.perf_counter()
        try:
            step()
            print(f"{step.__name__}: ok, {time.perf_counter() - started:.1f} s", flush=True)
        except Exception as failure:
            import traceback

            traceback.print_exc()
            bad += 1
            print(f"{step.__name__}: {type(failure).__name__}: {failure}", flush=True)
    started = time.perf_counter()
    accepted = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(15, os.cpu_count() or 1), mp_context=context) as pool:
        for seed, trouble, taken in pool.map(one, range(first, first + count), chunksize=10):
            accepted += taken
            bad += bool(trouble)
            if trouble:
                print(f"seed {seed}: {trouble[:1500]}", flush=True)
    print(f"{count} random loops, {accepted} accepted, {bad} troubles, {time.perf_counter() - started:.1f} s")
    return bad


if __name__ == "__main__":
    sys.exit(main())
