"""All shortest paths: one launch per middle vertex. Its own row and column do not change, so nobody writes them."""

import numpy as np

import isogrid as ig
from gallery import Example, Inputs, Job, Outputs, unit32
from isogrid import InOut, f32, i32
from isogrid.dims import N


@ig.kernel(grid=(N, N), block=(8, 32))
def relax(distance: InOut[f32, N, N], middle: i32) -> None:
    ig.require(middle >= 0)
    ig.require(middle < N)
    i, j = ig.gids()
    if i != middle and j != middle:
        distance[i, j] = min(distance[i, j], distance[i, middle] + distance[middle, j])


def make_inputs(size: int, seed: int) -> Inputs:
    generator = np.random.default_rng(seed)
    weights = unit32(generator, size, size)
    weights[generator.random((size, size)) < 0.5] = np.inf
    np.fill_diagonal(weights, 0)
    return {"weights": weights}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel, weights = relax.on(device), inputs["weights"]
    distance = np.empty_like(weights)

    def launch() -> None:
        distance[:] = weights
        for middle in range(len(distance)):
            kernel(distance, middle)

    return Job(launch, {"distance": distance})


def reference(inputs: Inputs) -> Outputs:
    distance = inputs["weights"].copy()
    for k in range(len(distance)):
        distance = np.minimum(distance, distance[:, k, None] + distance[None, k])
    return {"distance": distance}


EXAMPLE = Example(
    name="floyd_warshall",
    title="all shortest paths",
    sizes=(0, 1, 7, 8, 9, 17, 33),
    large=300,
    bench=512,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: size * size,
)
