"""How Metal says things. It has neither 64-bit floats nor, on every device, 64-bit atomics."""

from typing import Final

from isogrid.printers.c_family_spelling import Spelling

_PRELUDE: Final = """\
// Compile with the math mode "safe": infinities, NaN, signed zeros and each rounding count.
#include <metal_stdlib>
using namespace metal;
#pragma clang fp contract(off)
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;"""

#: Stands in the text where something compares and swaps.
_SWAP: Final = """\
// Swaps if the element is `expected`; gives what it was.
template <typename Place, typename Value>
inline Value swap_if_equal(Place place, Value expected, Value value) {
    Value seen = expected;
    while (!atomic_compare_exchange_weak_explicit(place, &seen, value, memory_order_relaxed, memory_order_relaxed)) {
        if (seen != expected) return seen;
    }
    return expected;
}"""
SUPPORT: Final = {"swap_if_equal(": _SWAP}

_FUNCTIONS: Final = {
    "fsqrt": "precise::sqrt",
    "fma": "fma",
    "fabs": "fabs",
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
_UPDATES: Final = {
    "add": "fetch_add",
    "min": "fetch_min",
    "max": "fetch_max",
    "and": "fetch_and",
    "or": "fetch_or",
    "xor": "fetch_xor",
    "exchange": "exchange",
}
_WORDS: Final = (("i32", "atomic_int", "int"), ("u32", "atomic_uint", "uint"))

METAL: Final = Spelling(
    language="Metal",
    prelude=(_PRELUDE,),
    operations={
        **{f"{op}_f32": word for op, word in _FUNCTIONS.items()},
        **{f"{sign}{op}_{type}": op for op in ("min", "max") for sign, type in _INTEGERS},
        "smulhi_i32": "mulhi",
        "umulhi_u32": "mulhi",
        "popcount_u32": "(int)popcount",
        "clz_u32": "(int)clz",
    },
    bitcasts={"f32_u32": "as_type<u32>", "u32_f32": "as_type<float>"},
    constants={"infinity": "INFINITY", "nan": "NAN"},
    spaces={"global": "device ", "shared": "threadgroup ", "table": "constant "},
    function="inline ",
    cold="__attribute__((noinline)) ",
    restrict="",
    entry="[[kernel, max_total_threads_per_threadgroup({threads})]]\nvoid {name}(\n    {parameters})",
    pointer_parameter="{space}{qualifier}{type}* {name} [[buffer({k})]]",
    value_parameter="constant {type}& {name} [[buffer({k})]]",
    more_parameters=(
        "uint thread_position [[thread_index_in_threadgroup]]",
        "uint group_position [[threadgroup_position_in_grid]]",
    ),
    thread_index="thread_position",
    group_index="group_position",
    shared_array="threadgroup {type} {name}[{count}];",
    table_array="constant {type} {name}[{count}]",
    barrier="threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);",
    barrier_apart="",
    barrier_or="",
    atomics={
        **{
            f"{op}_{type}": f"atomic_{word}_explicit((volatile {{s}}{atomic}*){{p}}, {{v}}, memory_order_relaxed)"
            for op, word in _UPDATES.items()
            for type, atomic, _ in _WORDS
        },
        **{
            f"cas_{type}": f"swap_if_equal((volatile {{s}}{atomic}*){{p}}, ({c})({{e}}), ({c})({{v}}))"
            for type, atomic, c in _WORDS
        },
    },
    atomic_load="*(volatile {s}{t}*){p}",
    atomic_store="*(volatile {s}{t}*){p} = {v}",
    keeps_loop="{ volatile int still = 0; (void)still; }",
    warps={f"shuffle_{type}": "simd_shuffle({v}, (ushort)({lane}))" for type in ("i32", "u32", "f32")},
    warp_widths=frozenset({32}),
    key_type="u32",
    lacks={
        "f64": "Metal has no 64-bit floats",
        "atomics_64": "Metal has 64-bit atomics only on some devices, and no addition among them",
    },
)
