"""What f16 and bf16 elements keep of every f32, by digests of all inputs: by the target's instructions and without."""

import numpy as np
import pytest
from tools.mathlib.stored_floats import kept, kept_bits

from isogrid.backends.cpu.target import HostTarget
from isogrid.cli.device_digests import GROUP, STORED, device_digests, digest_kernel
from isogrid.ir.types import Scalar
from isogrid.mathlib.digests import BLOCK, digest_of, known
from tests.builtins.exact import near_ties, rounded
from tests.conformance.support import bits, kernel

#: One of so many blocks of 2^22 inputs is run here; `isogrid numerics f16 bf16` runs all.
EVERY = 16


@pytest.mark.parametrize("name", STORED)
def test_digests_of_a_sixteenth_of_all_inputs(name: str, device: str) -> None:
    expected = known(name)
    wrong = [block for block, digest in device_digests(name, device, EVERY) if digest != int(expected[block])]
    assert wrong == []


@pytest.mark.parametrize("name", STORED)
def test_the_sequence_for_processors_without_instructions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks around the subnormal results, the overflow and NaN, vectors and single lanes."""
    monkeypatch.setenv("ISOGRID_CACHE_DIR", "")
    monkeypatch.setattr(HostTarget, "converts_halves", property(lambda self: False))
    blocks = [0, 102, 203, 204, 205, 224, 284, 285, 510, 511, 512, 716, 797, 1023]
    run = digest_kernel(STORED[name]).on("cpu")
    for made, some in ((run, blocks), (run.options(disable="vectorise"), blocks[2:5])):
        for block in some:
            out = np.zeros(BLOCK // GROUP, np.uint64)
            made(block * BLOCK, out)
            assert int(out.sum(dtype=np.uint64)) == int(known(name)[block]), block


@pytest.mark.parametrize("name", STORED)
def test_the_program_of_the_digests_agrees_with_rationals(name: str) -> None:
    type = Scalar(name)
    values = np.array([float(tie) for tie in near_ties(type, 3, 40)])
    with np.errstate(all="ignore"):
        want = np.array([float(rounded(type, tie)) for tie in near_ties(type, 3, 40)])
        exact = np.array([float(tie) == tie for tie in near_ties(type, 3, 40)])
        assert np.array_equal(kept(name, values)[exact], want[exact]) and exact.sum() > 300
    inputs = np.arange(5 << 22, (5 << 22) + 4096, dtype=np.uint32)
    assert digest_of(inputs, kept_bits(name, inputs)) != digest_of(inputs, kept_bits(name, inputs) + np.uint32(1))


@pytest.mark.parametrize("name", STORED)
def test_f64_rounds_once(name: str, device: str) -> None:
    """10^6 values of every exponent that the type has, and others beside ties, against rounding in f64 alone."""
    type = Scalar(name)
    made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.f64, N], z: ig.Out[ig.{name}, N]) -> None:
    i = ig.gid()
    z[i] = ig.{name}(x[i])
""")
    random = np.random.default_rng(5)
    least, top = (-26, 17) if name == "f16" else (-136, 129)
    x = np.ldexp(random.uniform(1.0, 2.0, 1_000_000), random.integers(least, top, 1_000_000))
    x[::2] = np.ldexp(np.rint(np.ldexp(x[::2], 12 - np.frexp(x[::2])[1])), np.frexp(x[::2])[1] - 12)
    x[::4] *= 1 + np.ldexp(random.choice([-1.0, 1.0], x[::4].size), -random.integers(20, 53, x[::4].size))
    x *= random.choice([-1.0, 1.0], x.size)
    z = np.zeros(x.size, type.numpy)
    made.on(device)(x, z)
    with np.errstate(all="ignore"):
        assert np.array_equal(bits(z), bits(kept(name, x).astype(np.float32).astype(type.numpy)))


@pytest.mark.parametrize("name", STORED)
def test_a_stored_nan_is_canonical(name: str, device: str) -> None:
    words = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7FA12345], np.uint32)
    wide = np.array([0x7FF8000000000000, 0xFFF0000000000001, 0x7FFFFFFFFFFFFFFF], np.uint64)
    for x, type in ((words.view(np.float32), "f32"), (wide.view(np.float64), "f64")):
        made = kernel(f"""
@ig.kernel(grid=N)
def k(x: ig.In[ig.{type}, N], z: ig.Out[ig.{name}, N]) -> None:
    i = ig.gid()
    z[i] = ig.{name}(x[i])
""")
        for where in (device, "interp"):
            z = np.zeros(x.size, Scalar(name).numpy)
            made.on(where)(x, z)
            assert set(z.view(np.uint16).tolist()) == {0x7E00 if name == "f16" else 0x7FC0}
