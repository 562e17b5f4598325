"""Bitonic sort: blocks of 512 in shared memory, then one launch per long stride; the host pads to a power of two."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs
from isogrid import InOut, i64, u32
from isogrid.dims import N

PAIRS = 256
SPAN = 2 * PAIRS


@ig.kernel(groups=ig.cdiv(N, SPAN), block=PAIRS)
def sort_spans(x: InOut[u32, N]) -> None:
    """Sort every span of 512 keys, rising and falling in turn."""
    keys = ig.shared(u32, SPAN)
    t = ig.lid()
    base = ig.group_id() * SPAN
    for k in range(2):
        i = t + k * PAIRS
        if base + i < len(x):
            keys[i] = x[base + i]
    ig.barrier()
    for phase in range(9):
        for step in range(phase + 1):
            stride = 1 << (phase - step)
            low = 2 * stride * (t // stride) + t % stride
            a = keys[low]
            b = keys[low + stride]
            rising = (base + low) // (2 << phase) % 2 == 0
            keys[low] = min(a, b) if rising else max(a, b)
            keys[low + stride] = max(a, b) if rising else min(a, b)
            ig.barrier()
    for k in range(2):
        i = t + k * PAIRS
        if base + i < len(x):
            x[base + i] = keys[i]


@ig.kernel(grid=N // 2, block=256)
def exchange(x: InOut[u32, N], length: i64, stride: i64) -> None:
    """One stride of the phase that merges runs of `length`."""
    ig.require(length > 0)
    ig.require(stride > 0)
    t = ig.gid()
    low = 2 * stride * (t // stride) + t % stride
    if low + stride < len(x):
        a = x[low]
        b = x[low + stride]
        rising = low // length % 2 == 0
        x[low] = min(a, b) if rising else max(a, b)
        x[low + stride] = max(a, b) if rising else min(a, b)


@ig.kernel(groups=ig.cdiv(N, SPAN), block=PAIRS)
def merge_spans(x: InOut[u32, N], length: i64) -> None:
    """The strides below 512 of the phase that merges runs of `length`."""
    ig.require(length > 0)
    keys = ig.shared(u32, SPAN)
    t = ig.lid()
    base = ig.group_id() * SPAN
    for k in range(2):
        i = t + k * PAIRS
        if base + i < len(x):
            keys[i] = x[base + i]
    ig.barrier()
    for step in range(9):
        stride = PAIRS >> step
        low = 2 * stride * (t // stride) + t % stride
        a = keys[low]
        b = keys[low + stride]
        rising = (base + low) // length % 2 == 0
        keys[low] = min(a, b) if rising else max(a, b)
        keys[low + stride] = max(a, b) if rising else min(a, b)
        ig.barrier()
    for k in range(2):
        i = t + k * PAIRS
        if base + i < len(x):
            x[base + i] = keys[i]


def make_inputs(size: int, seed: int) -> Inputs:
    return {"keys": np.random.default_rng(seed).integers(0, 1 << 32, size, dtype=np.uint32)}


def prepare(inputs: Inputs, device: str) -> Job:
    spans, far, merge = sort_spans.on(device), exchange.on(device), merge_spans.on(device)
    keys: Array = inputs["keys"]
    padded = np.full(max(SPAN, 1 << max(len(keys) - 1, 0).bit_length()), np.iinfo(np.uint32).max, np.uint32)
    result = np.empty_like(keys)

    def launch() -> None:
        padded[: len(keys)] = keys
        padded[len(keys) :] = np.iinfo(np.uint32).max
        spans(padded)
        length = 2 * SPAN
        while length <= len(padded):
            stride = length // 2
            while stride >= SPAN:
                far(padded, length, stride)
                stride //= 2
            merge(padded, length)
            length *= 2
        result[:] = padded[: len(keys)]

    return Job(launch, {"sorted": result})


def reference(inputs: Inputs) -> Outputs:
    return {"sorted": np.sort(inputs["keys"])}


EXAMPLE = Example(
    name="bitonic",
    title="bitonic sort",
    sizes=(0, 1, 511, 512, 513, 1003, 1100),
    large=100_003,
    bench=1 << 18,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: max(SPAN, 1 << max(size - 1, 0).bit_length()) // 2,
)
