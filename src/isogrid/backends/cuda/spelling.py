"""How CUDA C says things. Every float operation names its rounding, so that no compiler fuses any two: named products
alone would not do, since a quotient by a power of two becomes a product that has no name."""

from dataclasses import replace
from typing import Final

from isogrid.printers.c_family_spelling import Spelling

#: A vote at a barrier for lanes that come from different places of the text, which `__syncthreads_or` is not for. A
#: block's barrier may count a warp when the first of its lanes is there, so the warp waits for all of them first; the
#: barrier of a block of one warp asks only the lanes that are together.
_BARRIER_OR: Final = """\
// The lanes of this thread's warp; the last warp of a block may have fewer than 32.
static __device__ __forceinline__ u32 lanes_here() {
    const u32 rest = blockDim.x & 31u;
    return threadIdx.x < blockDim.x - rest ? 0xffffffffu : (1u << rest) - 1u;
}

// A barrier of the group that tells whether some thread says true. Lanes may come from different places.
static __device__ __forceinline__ bool barrier_or(bool value) {
    const u32 lanes = lanes_here();
    __syncwarp(lanes);
    const bool some = __any_sync(lanes, value);
    if (blockDim.x <= 32) return some;
    int result;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.or.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(result) : "r"((int)some) : "memory");
    return result != 0;
}"""
_BARRIER_APART: Final = """\
// A barrier of the group for lanes that need not be together.
static __device__ __forceinline__ void barrier_apart() {
    if (blockDim.x <= 32) __syncwarp(lanes_here());
    else asm volatile("barrier.cta.sync 0;" : : : "memory");
}"""

_HALF_VALUE: Final = """\
// The value of an f16, given by its bits.
static __device__ __forceinline__ float half_value(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}"""
_HALF_BITS: Final = """\
// An f32 rounded to f16, halves to even; a NaN becomes the canonical one.
static __device__ __forceinline__ u16 half_bits(float x) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return x != x ? (u16)0x7e00 : bits;
}"""

_QUOTIENT: Final = """\
// A quotient that no compiler looks into: NVRTC 13 takes x / -0.0 for positive where x is.
static __device__ __forceinline__ double quotient_f64(double a, double b) {
    double quotient = __ddiv_rn(a, b);
    asm("" : "+d"(quotient));
    return quotient;
}"""

_PRELUDE: Final = (
    "typedef signed char i8;",
    "typedef unsigned char u8;",
    "typedef short i16;",
    "typedef unsigned short u16;",
    "typedef unsigned int u32;",
    "typedef long long i64;",
    "typedef unsigned long long u64;",
)

_EXACT: Final = {
    "fadd_f32": "__fadd_rn",
    "fsub_f32": "__fsub_rn",
    "fmul_f32": "__fmul_rn",
    "fdiv_f32": "__fdiv_rn",
    "fsqrt_f32": "__fsqrt_rn",
    "fma_f32": "__fmaf_rn",
    "fadd_f64": "__dadd_rn",
    "fsub_f64": "__dsub_rn",
    "fmul_f64": "__dmul_rn",
    "fdiv_f64": "quotient_f64",
    "fsqrt_f64": "__dsqrt_rn",
    "fma_f64": "__fma_rn",
}
_OPERATIONS: Final = {
    "fabs_f32": "fabsf",
    "fabs_f64": "fabs",
    "ffmod_f32": "fmodf",
    "ffmod_f64": "fmod",
    "ffloor_f32": "floorf",
    "ffloor_f64": "floor",
    "fceil_f32": "ceilf",
    "fceil_f64": "ceil",
    "ftrunc_f32": "truncf",
    "ftrunc_f64": "trunc",
    "froundeven_f32": "rintf",
    "froundeven_f64": "rint",
    "fcopysign_f32": "copysignf",
    "fcopysign_f64": "copysign",
    "f16_value": "half_value",
    "f16_bits": "half_bits",
    "popcount_u32": "__popc",
    "popcount_u64": "__popcll",
    "clz_u32": "__clz",
    "clz_u64": "__clzll",
    "smulhi_i32": "__mulhi",
    "umulhi_u32": "__umulhi",
    "smulhi_i64": "__mul64hi",
    "umulhi_u64": "__umul64hi",
    **{
        f"{sign}{op}_{type}": op
        for op in ("min", "max")
        for sign, type in (("s", "i32"), ("s", "i64"), ("u", "u32"), ("u", "u64"))
    },
}
_BITCASTS: Final = {
    "f32_u32": "__float_as_uint",
    "u32_f32": "__uint_as_float",
    "f64_u64": "(u64)__double_as_longlong",
    "u64_f64": "__longlong_as_double",
}
_ATOMICS: Final = {
    **{f"add_{t}": "atomicAdd({p}, {v})" for t in ("i32", "u32", "u64", "f32", "f64")},
    "add_i64": "(i64)atomicAdd((u64*){p}, (u64)({v}))",
    **{f"{op}_{t}": f"atomic{op.title()}({{p}}, {{v}})" for op in ("min", "max") for t in ("i32", "u32", "i64", "u64")},
    **{f"{op}_{t}": f"atomic{op.title()}({{p}}, {{v}})" for op in ("and", "or", "xor") for t in ("i32", "u32", "u64")},
    **{f"{op}_i64": f"(i64)atomic{op.title()}((u64*){{p}}, (u64)({{v}}))" for op in ("and", "or", "xor")},
    **{f"exchange_{t}": "atomicExch({p}, {v})" for t in ("i32", "u32", "u64", "f32")},
    "exchange_i64": "(i64)atomicExch((u64*){p}, (u64)({v}))",
    "exchange_f64": "__longlong_as_double((i64)atomicExch((u64*){p}, (u64)__double_as_longlong({v})))",
    **{f"cas_{t}": "atomicCAS({p}, {e}, {v})" for t in ("i32", "u32", "u64")},
    "cas_i64": "(i64)atomicCAS((u64*){p}, (u64)({e}), (u64)({v}))",
}
_WARPS: Final = {
    "any": "__any_sync({mask}, {v})",
    "ballot": "__ballot_sync({mask}, {v})",
    "barrier": "__syncwarp({mask});",
    "fence": "__threadfence();",
    **{f"shuffle_{t}": "__shfl_sync({mask}, {v}, {lane}, {width})" for t in ("i32", "u32", "i64", "u64", "f32", "f64")},
}

CUDA: Final = Spelling(
    language="CUDA C",
    prelude=("\n".join(_PRELUDE),),
    operations={**_EXACT, **_OPERATIONS},
    bitcasts=_BITCASTS,
    constants={"infinity": "(1.0f / 0.0f)", "nan": "(0.0f / 0.0f)"},
    spaces={"global": "", "shared": "", "table": ""},
    function="static __device__ __forceinline__ ",
    cold="static __device__ __noinline__ ",
    restrict="__restrict__",
    entry='extern "C" __global__ void __launch_bounds__({bounds})\n{name}(\n    {parameters})',
    pointer_parameter="{qualifier}{type}* {restrict}{name}",
    value_parameter="{type} {name}",
    more_parameters=(),
    thread_index="threadIdx.x",
    group_index="blockIdx.x",
    shared_array="__shared__ {type} {name}[{count}];",
    table_array="static __device__ const {type} {name}[{count}]",
    barrier="__syncthreads();",
    barrier_apart="barrier_apart();",
    barrier_or="barrier_or({ok})",
    atomics=_ATOMICS,
    atomic_load="*(volatile {t}*){p}",
    atomic_store="*(volatile {t}*){p} = {v}",
    keeps_loop='asm volatile("");',
    warps=_WARPS,
    warp_widths=frozenset({4, 8, 16, 32}),
    key_type="u64",
    lacks={},
)

_SIGNS: Final = {"fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/"}
#: With `fastmath=True` the compiler may fuse products into sums.
CUDA_FAST: Final = replace(
    CUDA,
    operations={
        **CUDA.operations,
        **{f"{op}_{type}": sign for op, sign in _SIGNS.items() for type in ("f32", "f64")},
    },
)

#: Functions that stand in the text where something calls them.
SUPPORT: Final = {
    "barrier_or(": _BARRIER_OR,
    "barrier_apart(": _BARRIER_APART,
    "half_value(": _HALF_VALUE,
    "half_bits(": _HALF_BITS,
    "quotient_f64(": _QUOTIENT,
}
