"""Inclusive scan: scan every block, scan the blocks' totals, add to each block what precedes it."""

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs
from isogrid import In, InOut, Out, i32
from isogrid.dims import G, N

BLOCK = 256


@ig.kernel(groups=ig.cdiv(N, BLOCK), block=BLOCK)
def scan_blocks(x: In[i32, N], y: Out[i32, N], totals: Out[i32, G]) -> None:
    i = ig.gid()
    value = x[i] if i < len(x) else 0
    inclusive = ig.group_scan(value)
    if i < len(y):
        y[i] = inclusive
    group = ig.group_id()
    if ig.lid() == BLOCK - 1 and group < len(totals):
        totals[group] = inclusive


@ig.kernel(grid=N, block=BLOCK)
def add_preceding(y: InOut[i32, N], totals: In[i32, G]) -> None:
    i = ig.gid()
    block = i // BLOCK
    if 0 < block <= len(totals):
        y[i] += totals[block - 1]


def make_inputs(size: int, seed: int) -> Inputs:
    return {"x": np.random.default_rng(seed).integers(-1000, 1000, size, dtype=np.int32)}


def prepare(inputs: Inputs, device: str) -> Job:
    blocks, fix = scan_blocks.on(device), add_preceding.on(device)
    levels: list[tuple[Array, Array, Array]] = []
    source: Array = inputs["x"]
    while not levels or len(source) > 1:
        target = np.zeros_like(source)
        totals = np.zeros(-(-len(source) // BLOCK), np.int32)
        levels.append((source, target, totals))
        source = totals

    def launch() -> None:
        for x, y, totals in levels:
            blocks(x, y, totals)
        for (_, y, _), (_, preceding, _) in zip(levels[-2::-1], levels[:0:-1], strict=True):
            fix(y, preceding)

    return Job(launch, {"y": levels[0][1]})


def reference(inputs: Inputs) -> Outputs:
    return {"y": np.cumsum(inputs["x"], dtype=np.int32)}


EXAMPLE = Example(
    name="scan",
    title="inclusive scan with fix-up",
    sizes=(0, 1, 255, 256, 257, 1003, 2048),
    large=1_000_003,
    bench=1 << 20,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: 2 * size,
)
