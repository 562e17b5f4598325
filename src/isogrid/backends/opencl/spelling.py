"""How OpenCL C says things: plain operators under a pragma that forbids fusing them, address spaces before types."""

from dataclasses import replace
from typing import Final

from isogrid.printers.c_family_spelling import Spelling
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class OpenClFacts:
    """What a device has beyond OpenCL C 1.2: `f64` is cl_khr_fp64, `atomics_64` are cl_khr_int64_base_atomics and
    cl_khr_int64_extended_atomics; `fma` is CL_FP_FMA in CL_DEVICE_SINGLE_FP_CONFIG."""

    f64: bool = True
    fma: bool = True
    atomics_64: bool = True


_PRELUDE: Final = """\
// Build with -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt, and no option that relaxes arithmetic.
#pragma OPENCL FP_CONTRACT OFF
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;"""
_F64: Final = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable"
_ATOMICS_64: Final = (
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable"
)

_FUNCTIONS: Final = {
    "fsqrt": "sqrt",
    "fma": "fma",
    "fabs": "fabs",
    "ffmod": "fmod",
    "ffloor": "floor",
    "fceil": "ceil",
    "ftrunc": "trunc",
    "froundeven": "rint",
    "fcopysign": "copysign",
    "fadd": "+",
    "fsub": "-",
    "fmul": "*",
    "fdiv": "/",
}
_INTEGERS: Final = (("s", "i32"), ("s", "i64"), ("u", "u32"), ("u", "u64"))
_OPERATIONS: Final = {
    **{f"{op}_{type}": word for op, word in _FUNCTIONS.items() for type in ("f32", "f64")},
    **{f"{sign}{op}_{type}": op for op in ("min", "max") for sign, type in _INTEGERS},
    **{f"{sign}mulhi_{type}": "mul_hi" for sign, type in _INTEGERS},
    **{f"popcount_{type}": "(int)popcount" for type in ("u32", "u64")},
    **{f"clz_{type}": "(int)clz" for type in ("u32", "u64")},
}
_BITCASTS: Final = {
    "f32_u32": "as_uint",
    "u32_f32": "as_float",
    "f64_u64": "as_ulong",
    "u64_f64": "as_double",
}
_UPDATES: Final = {"add": "add", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor", "exchange": "xchg"}
_ATOMICS: Final = {
    **{
        f"{op}_{type}": f"atomic_{word}((volatile {{s}}{c}*){{p}}, {{v}})"
        for op, word in _UPDATES.items()
        for type, c in (("i32", "int"), ("u32", "uint"))
    },
    "exchange_f32": "atomic_xchg((volatile {s}float*){p}, {v})",
    "cas_i32": "atomic_cmpxchg((volatile {s}int*){p}, {e}, {v})",
    "cas_u32": "atomic_cmpxchg((volatile {s}uint*){p}, {e}, {v})",
}
_ATOMICS_OF_64: Final = {
    **{
        f"{op}_{type}": f"atom_{word}((volatile {{s}}{c}*){{p}}, {{v}})"
        for op, word in _UPDATES.items()
        for type, c in (("i64", "long"), ("u64", "ulong"))
    },
    "cas_i64": "atom_cmpxchg((volatile {s}long*){p}, {e}, {v})",
    "cas_u64": "atom_cmpxchg((volatile {s}ulong*){p}, {e}, {v})",
}

_BASE: Final = Spelling(
    language="OpenCL C",
    prelude=(_PRELUDE,),
    operations=_OPERATIONS,
    bitcasts=_BITCASTS,
    constants={"infinity": "INFINITY", "nan": "NAN"},
    spaces={"global": "__global ", "shared": "__local ", "table": "__constant "},
    function="",
    cold="__attribute__((noinline)) ",
    restrict="restrict",
    entry="__kernel __attribute__((reqd_work_group_size({threads}, 1, 1)))\nvoid {name}(\n    {parameters})",
    pointer_parameter="{space}{qualifier}{type}* {restrict}{name}",
    value_parameter="{type} {name}",
    more_parameters=(),
    thread_index="get_local_id(0)",
    group_index="get_group_id(0)",
    shared_array="__local {type} {name}[{count}];",
    table_array="__constant {type} {name}[{count}]",
    barrier="barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    barrier_apart="",
    barrier_or="",
    atomics=_ATOMICS,
    atomic_load="*(volatile {s}{t}*){p}",
    atomic_store="*(volatile {s}{t}*){p} = {v}",
    keeps_loop="",
    warps={},
    warp_widths=frozenset(),
    key_type="u32",
    lacks={},
)


def opencl_spelling(facts: OpenClFacts, *, uses_f64: bool) -> Spelling:
    """The vocabulary for a device. Extensions are asked for only where the kernel needs them."""
    prelude = _PRELUDE.splitlines()
    extensions = ([_F64] if uses_f64 and facts.f64 else []) + ([_ATOMICS_64] if facts.atomics_64 else [])
    lacks: dict[str, str] = {}
    if not facts.f64:
        lacks["f64"] = "the device has no cl_khr_fp64"
    if not facts.fma:
        lacks["fma"] = "the device has no CL_FP_FMA: its `fma` may round twice"
    if not facts.atomics_64:
        lacks["atomics_64"] = "the device has no cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics"
    return replace(
        _BASE,
        prelude=("\n".join([*prelude[:2], *extensions, *prelude[2:]]),),
        atomics={**_ATOMICS, **_ATOMICS_OF_64} if facts.atomics_64 else _ATOMICS,
        key_type="u64" if facts.atomics_64 else "u32",
        lacks=lacks,
    )
