"""Options of the cuda group: values are judged when written, and nothing inexact counts without fastmath=True."""

import re
from typing import Any

import pytest

import isogrid as ig
from isogrid import In, Out, f32, f64, u32
from isogrid.backends.cuda.nvrtc import compile_nvrtc
from isogrid.backends.cuda.options import INEXACT_OPTIONS, OTHER_WORDS, nvrtc_flags
from isogrid.backends.cuda.text import emit_cuda_text
from isogrid.cli.stages import stages_of
from isogrid.dims import N
from isogrid.launch.devices import Device
from isogrid.launch.dispatch import effective_options
from isogrid.launch.errors import OptionError


@ig.kernel(grid=N)
def chain(x: In[f32, N], y: In[f32, N], z: Out[f32, N]) -> None:
    i = ig.gid()
    z[i] = x[i] * y[i] + x[i] / y[i]


def options_of(kernel: Any, **carried: Any) -> dict[str, Any]:
    device = Device("cuda").options(**carried) if carried else Device("cuda")
    return effective_options(kernel.explicit_options, device).values()


def text_of(kernel: Any) -> str:
    return emit_cuda_text(stages_of(kernel).device, options_of(kernel)).text


@pytest.mark.parametrize("key", INEXACT_OPTIONS)
def test_inexact_options_need_fastmath(key: str) -> None:
    inexact = chain.options(cuda={key: True})
    with pytest.raises(OptionError, match=rf"`{key}` of cuda changes float results.*fastmath=True.*IG503"):
        options_of(inexact)
    with pytest.raises(OptionError, match="IG503"):
        options_of(inexact.options(fastmath=False))
    assert options_of(inexact.options(fastmath=True))["cuda"][key] is True
    assert options_of(inexact, fastmath=True)["cuda"][key] is True
    assert options_of(chain.options(cuda={key: False}))["cuda"][key] is False


@pytest.mark.parametrize("word", [*OTHER_WORDS, "--fmad", "use-fast-math", "Prec_Div"])
def test_other_words_for_them_are_refused_too(word: str) -> None:
    with pytest.raises(OptionError, match="fastmath=True"):
        chain.options(cuda={word: True})


def test_a_launch_refuses_them() -> None:
    import numpy as np

    x = np.ones(4, np.float32)
    with pytest.raises(OptionError, match="IG503"):
        chain.options(cuda={"ftz": True}).launch(x, x, x.copy(), device="interp")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("max_registers", 7, "is 8 to 255, not 7"),
        ("max_registers", 256, "is 8 to 255, not 256"),
        ("max_registers", "64", "is int, not '64'"),
        ("min_blocks_per_sm", 0, "is 1 to 32, not 0"),
        ("codegen", "nvcc", "is 'llvm' or 'nvrtc', not 'nvcc'"),
        ("arch", "hopper", "such as 'sm_90', not 'hopper'"),
        ("ftz", 1, "is bool, not 1"),
        ("max_register", 64, "did you mean `max_registers`"),
    ],
)
def test_values_are_judged(key: str, value: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        chain.options(cuda={key: value})


def test_max_threads_and_blocks_reach_the_bounds() -> None:
    assert "__launch_bounds__(256)" in text_of(chain)
    assert "__launch_bounds__(256, 4)" in text_of(chain.options(cuda={"min_blocks_per_sm": 4}))


def test_max_registers_reaches_the_machine_code() -> None:
    kernel = chain.options(cuda={"max_registers": 24})
    flags = nvrtc_flags(options_of(kernel), exact=False)
    assert flags == ["--maxrregcount=24"]
    text = text_of(kernel)
    limited, free = compile_nvrtc(text, "sm_80", flags), compile_nvrtc(text, "sm_80")
    assert limited.startswith(b"\x7fELF") and limited == compile_nvrtc(text, "sm_80", flags)
    assert limited != free


@ig.kernel(grid=N)
def beneath_zero(x: In[u32, N], y: Out[bool, N]) -> None:
    i = ig.gid()
    y[i] = f64(x[i]) / (-0.0) < 0.0


def test_a_quotient_by_minus_zero_is_asked_for_its_sign() -> None:
    """NVRTC 13 knows that the dividend is not negative and says no; random kernels on an H200 found it."""
    text = text_of(beneath_zero)
    asked = re.compile(r"setp\.\w+\.f64\s.*0d0000000000000000")
    assert asked.search(compile_nvrtc(text, "compute_80").decode())
    function = "static __device__ __forceinline__ double quotient_f64"
    bare = text.replace(function, function + "_of_before").replace("= quotient_f64(", "= __ddiv_rn(")
    assert not asked.search(compile_nvrtc(bare, "compute_80").decode()), "this NVRTC does not do it"


def test_fastmath_does_what_it_says() -> None:
    exact = compile_nvrtc(text_of(chain), "compute_80").decode()
    assert "fma.rn" not in exact
    assert "div.rn.f32" in exact
    fast = chain.options(fastmath=True)
    assert "fma.rn" in compile_nvrtc(text_of(fast), "compute_80").decode()
    kept = fast.options(cuda={"contract": False})
    assert "fma.rn" not in compile_nvrtc(text_of(kept), "compute_80").decode()
    quick = fast.options(cuda={"ftz": True, "fast_division": True})
    code = compile_nvrtc(text_of(quick), "compute_80", nvrtc_flags(options_of(quick), exact=False)).decode()
    assert ".ftz.f32" in code
    assert "div.rn" not in code
    assert nvrtc_flags(options_of(quick), exact=True) == []
