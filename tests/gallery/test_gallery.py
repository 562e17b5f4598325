"""Every gallery kernel: equal bits on interpreter and CPU, and what its NumPy reference says on large inputs."""

import numpy as np
import pytest

import gallery

SMALL = [(name, size) for name in gallery.NAMES for size in gallery.load(name).sizes]


@pytest.mark.parametrize(("name", "size"), SMALL)
def test_interpreter_and_cpu_agree(name: str, size: int) -> None:
    example = gallery.load(name)
    inputs = example.make_inputs(size, seed=3)
    before = {key: value.copy() for key, value in inputs.items() if isinstance(value, np.ndarray)}
    interpreted = example.run(inputs, "interp")
    compiled = example.run(inputs, "cpu")
    for output, want in interpreted.items():
        assert not gallery.difference(compiled[output], want), output
    assert not example.complaint(inputs, compiled, example.reference(inputs))
    for key, value in before.items():
        assert np.array_equal(gallery.canonical(inputs[key]), gallery.canonical(value)), f"input `{key}` changed"


@pytest.mark.parametrize("name", gallery.NAMES)
def test_cpu_agrees_with_numpy(name: str) -> None:
    example = gallery.load(name)
    inputs = example.make_inputs(example.large, seed=5)
    job = example.prepare(inputs, "cpu")
    job.launch()
    assert not example.complaint(inputs, job.outputs, example.reference(inputs))
    if name not in ("saxpy",):
        first = {key: value.copy() for key, value in job.outputs.items()}
        job.launch()
        assert all(not gallery.difference(job.outputs[key], first[key]) for key in first), "a second launch differs"


@pytest.mark.parametrize("name", gallery.NAMES)
def test_sizes_cover_the_edges(name: str) -> None:
    """Empty, one, and sizes around some block extent are among those that the interpreter runs."""
    sizes = gallery.load(name).sizes
    assert sizes[:2] == (0, 1)
    assert any({size - 1, size, size + 1} <= set(sizes) for size in sizes) or name == "fft"


@pytest.mark.parametrize("name", gallery.NAMES)
def test_check_accepts(name: str) -> None:
    kernels = gallery.kernels_of(name)
    assert kernels
    for kernel in kernels:
        kernel.check()


def test_difference_sees_one_bit_and_one_nan() -> None:
    good = np.array([1.0, np.nan, -0.0], np.float32)
    other_nan = np.array([0x3F800000, 0xFFC00001, 0x80000000], np.uint32).view(np.float32)
    assert not gallery.difference(good, other_nan)
    assert gallery.difference(good, np.array([1.0, np.nan, 0.0], np.float32))
    assert gallery.difference(good, np.array([np.nextafter(np.float32(1), np.float32(2)), np.nan, -0.0], np.float32))


def test_fma_of_the_references_rounds_once() -> None:
    from fractions import Fraction

    random = np.random.default_rng(1)
    bits = random.integers(0, 1 << 32, (3, 4000), dtype=np.uint32)
    a, b, c = bits.view(np.float32)
    a[:2000], b[:2000] = random.standard_normal((2, 2000))
    c[:1000] = -(a[:1000].astype(np.float64) * b[:1000]).astype(np.float32)
    with np.errstate(all="ignore"):
        found = gallery.fma32(a, b, c)
        for x, y, z, got in zip(a, b, c, found, strict=True):
            if np.isfinite([x, y, z]).all():
                exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
                near = [got, np.nextafter(got, np.float32(np.inf)), np.nextafter(got, np.float32(-np.inf))]
                finite = [Fraction(float(v)) for v in near if np.isfinite(v)]
                if np.isfinite(got):
                    assert abs(Fraction(float(got)) - exact) == min(abs(v - exact) for v in finite)
