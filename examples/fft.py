"""Fast Fourier transform by Stockham butterflies: each launch is one stage, between two buffers, with no reordering."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import isogrid as ig
from gallery import Array, Example, Inputs, Job, Outputs
from isogrid import In, Out, f32, i64
from isogrid.dims import H, N


@ig.kernel(grid=H, block=256)
def butterflies(
    re: In[f32, N],
    im: In[f32, N],
    cos: In[f32, H],
    sin: In[f32, H],
    to_re: Out[f32, N],
    to_im: Out[f32, N],
    stride: i64,
) -> None:
    """`H = N / 2` butterflies; `stride` doubles from stage to stage."""
    ig.require(stride > 0)
    t = ig.gid()
    if t + len(cos) < len(re):
        p = t // stride
        q = t % stride
        low = q + 2 * stride * p
        a_re, a_im = re[t], im[t]
        b_re, b_im = re[t + len(cos)], im[t + len(cos)]
        d_re = a_re - b_re
        d_im = a_im - b_im
        c = cos[stride * p]
        s = sin[stride * p]
        if low + stride < len(to_re):
            to_re[low] = a_re + b_re
            to_im[low] = a_im + b_im
            to_re[low + stride] = ig.fma(d_re, c, -(d_im * s))
            to_im[low + stride] = ig.fma(d_re, s, d_im * c)


def make_inputs(size: int, seed: int) -> Inputs:
    """`size` is cut down to a power of two (0 stays 0)."""
    length = 1 << size.bit_length() - 1 if size else 0
    generator = np.random.default_rng(seed)
    return {name: generator.standard_normal(length, dtype=np.float32) for name in ("re", "im")}


def prepare(inputs: Inputs, device: str) -> Job:
    kernel = butterflies.on(device)
    length = len(inputs["re"])
    angles = -2 * np.pi * np.arange(length // 2) / max(length, 1)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    buffers = [[np.empty_like(inputs["re"]) for _ in range(2)] for _ in range(2)]
    stages = max(length.bit_length() - 1, 0)
    result = {"re": buffers[stages % 2][0], "im": buffers[stages % 2][1]}

    def launch() -> None:
        buffers[0][0][:], buffers[0][1][:] = inputs["re"], inputs["im"]
        for stage in range(stages):
            source, target = buffers[stage % 2], buffers[1 - stage % 2]
            kernel(source[0], source[1], cos, sin, target[0], target[1], 1 << stage)

    return Job(launch, result)


def reference(inputs: Inputs) -> Outputs:
    both = transform(inputs)
    return {"re": np.real(both).astype(np.float32), "im": np.imag(both).astype(np.float32)}


def transform(inputs: Inputs) -> Array:
    signal: Array = inputs["re"].astype(np.float64) + 1j * inputs["im"].astype(np.float64)
    return np.fft.fft(signal) if len(signal) else signal


def allowed(inputs: Inputs) -> Mapping[str, Any]:
    stages = max(len(inputs["re"]).bit_length() - 1, 0)
    unit = 2.0**-24
    per_stage = unit + 4 * unit / (1 - 4 * unit) * (np.sqrt(2) + unit)
    growth = stages * per_stage / (1 - stages * per_stage)
    norm = float(np.linalg.norm(transform(inputs)))
    limit = growth * norm + unit * norm
    return {"re": limit, "im": limit}


EXAMPLE = Example(
    name="fft",
    title="FFT by Stockham butterflies",
    sizes=(0, 1, 2, 16, 256, 512, 1024),
    large=1 << 15,
    bench=1 << 18,
    make_inputs=make_inputs,
    prepare=prepare,
    reference=reference,
    threads=lambda size: (1 << size.bit_length() - 1) // 2 if size else 0,
    bound="Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2, in the 2-norm with "
    "twiddles rounded to f32 (mu = u): log2(n) eta / (1 - log2(n) eta) |y|, eta = u + gamma_4 (sqrt 2 + u); plus the "
    "reference's own rounding",
    allowed=allowed,
)
