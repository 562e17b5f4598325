"""Helper functions that a text may need, written once in what all C-like languages share, and the order they stand in.

A name in braces is a word of the language: `{f32_u32}` is its bit cast, `{popcount_u32}` its function.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import PRECEDENCE

_FLOATS: Final = (
    ("f32", "float", "u32", "0x7fffffffu", "0x7f800000u"),
    ("f64", "double", "u64", "0x7fffffffffffffff", "0x7ff0000000000000"),
)
_INTEGERS: Final = (("i32", "int", "u32", 31), ("i64", "i64", "u64", 63))


def _float_helpers() -> dict[str, str]:
    made: dict[str, str] = {}
    for s, type, word, magnitude, infinity in _FLOATS:
        made[f"fisnan_{s}"] = f"""
bool is_nan_{s}({type} x) {{
    return ({{{s}_{word}}}(x) & {magnitude}) > {infinity};
}}"""
        for name, sign, join in (("minimum", "<", "|"), ("maximum", ">", "&")):
            made[f"f{name[:3]}_{s}"] = f"""
// NaN propagates and -0 is below +0.
{type} {name}_{s}({type} a, {type} b) {{
    if ({{fisnan_{s}}}(a) || a {sign} b) return a;
    if ({{fisnan_{s}}}(b) || b {sign} a) return b;
    return {{{word}_{s}}}({{{s}_{word}}}(a) {join} {{{s}_{word}}}(b));
}}"""
    made["ffmod_f32"] = _FMOD
    return made


#: Exact, by subtracting multiples of the divisor from the highest down.
_FMOD: Final = """
// The exact remainder with the sign of the dividend.
float exact_fmod_f32(float a, float b) {
    u32 x = {f32_u32}(a) & 0x7fffffffu, y = {f32_u32}(b) & 0x7fffffffu, sign = {f32_u32}(a) & 0x80000000u;
    if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) return {u32_f32}(0x7fc00000u);
    if (x < y) return a;
    int xe = (int)(x >> 23), ye = (int)(y >> 23);
    u32 xm = xe == 0 ? x : (x & 0x7fffffu) | 0x800000u, ym = ye == 0 ? y : (y & 0x7fffffu) | 0x800000u;
    // Subnormal numbers get an exponent below 1, so that both have their highest bit in the same place.
    for (xe = xe == 0 ? 1 : xe; xm < 0x800000u; --xe) xm <<= 1;
    for (ye = ye == 0 ? 1 : ye; ym < 0x800000u; --ye) ym <<= 1;
    for (; xe > ye; --xe) {
        xm = xm >= ym ? (xm - ym) << 1 : xm << 1;
    }
    xm = xm >= ym ? xm - ym : xm;
    for (; xm != 0u && xm < 0x800000u && xe > 1; --xe) xm <<= 1;
    for (; xe < 1; ++xe) xm >>= 1;
    return {u32_f32}(sign | (xm < 0x800000u ? xm : ((u32)xe << 23) + (xm - 0x800000u)));
}"""


def _integer_helpers() -> dict[str, str]:
    made: dict[str, str] = {}
    for s, type, word, top in _INTEGERS:
        u = word
        made[f"sadd_overflows_{s}"] = f"""
bool add_overflows_{s}({type} a, {type} b) {{
    {type} sum = ({type})(({word})a + ({word})b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}}"""
        made[f"ssub_overflows_{s}"] = f"""
bool sub_overflows_{s}({type} a, {type} b) {{
    {type} difference = ({type})(({word})a - ({word})b);
    return ((a ^ b) & (a ^ difference)) < 0;
}}"""
        made[f"uadd_overflows_{u}"] = f"""
bool add_overflows_{u}({word} a, {word} b) {{
    return a + b < a;
}}"""
        made[f"usub_overflows_{u}"] = f"""
bool sub_overflows_{u}({word} a, {word} b) {{
    return a < b;
}}"""
        made[f"rotl_{u}"] = f"""
{word} rotate_left_{u}({word} x, {word} count) {{
    u32 left = (u32)count & {top}u;
    return (x << left) | (x >> ((0u - left) & {top}u));
}}"""
        made[f"ctz_{u}"] = f"""
int trailing_zeros_{u}({word} x) {{
    return {{popcount_{u}}}(~x & (x - 1));
}}"""
    made["smul_overflows_i32"] = """
bool mul_overflows_i32(int a, int b) {
    i64 product = (i64)a * b;
    return product != (int)product;
}"""
    made["umul_overflows_u32"] = """
bool mul_overflows_u32(u32 a, u32 b) {
    return (u64)a * b > 0xffffffffu;
}"""
    made["smul_overflows_i64"] = """
bool mul_overflows_i64(i64 a, i64 b) {
    return {smulhi_i64}(a, b) != (i64)((u64)a * (u64)b) >> 63;
}"""
    made["umul_overflows_u64"] = """
bool mul_overflows_u64(u64 a, u64 b) {
    return {umulhi_u64}(a, b) != 0;
}"""
    made["umulhi_u32"] = """
u32 mul_high_u32(u32 a, u32 b) {
    return (u32)((u64)a * b >> 32);
}"""
    made["smulhi_i32"] = """
int mul_high_i32(int a, int b) {
    return (int)((i64)a * b >> 32);
}"""
    made["umulhi_u64"] = """
u64 mul_high_u64(u64 a, u64 b) {
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32);
    u64 other = a0 * b1 + (u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}"""
    made["smulhi_i64"] = """
i64 mul_high_i64(i64 a, i64 b) {
    return (i64)({umulhi_u64}((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}"""
    made.update(_bit_counts())
    return made


def _bit_counts() -> dict[str, str]:
    """For languages that count only the bits of 32-bit numbers."""
    return {
        "popcount_u64": """
int popcount_u64(u64 x) {
    return {popcount_u32}((u32)x) + {popcount_u32}((u32)(x >> 32));
}""",
        "clz_u64": """
int leading_zeros_u64(u64 x) {
    u32 high = (u32)(x >> 32);
    return high != 0u ? {clz_u32}(high) : 32 + {clz_u32}((u32)x);
}""",
    }


#: f16 and bf16 as their bits, in integers: no language promises more of its own conversions on every device.
_STORED_FLOATS: Final = {
    "f16_value": """
// The value of an f16. A subnormal one is a count of 2^-24.
float f16_value(u16 bits) {
    u32 magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    if (magnitude < 0x400u) {
        return {u32_f32}(sign | {f32_u32}((float)magnitude * 0x1p-24f));
    }
    return {u32_f32}(sign | ((magnitude << 13) + (magnitude < 0x7c00u ? 0x38000000u : 0x70000000u)));
}""",
    "f16_bits": """
// An f32 rounded to f16, halves to even; a NaN becomes the canonical one.
u16 f16_bits(float x) {
    u32 magnitude = {f32_u32}(x) & 0x7fffffffu, sign = ({f32_u32}(x) >> 16) & 0x8000u;
    if (magnitude > 0x7f800000u) return (u16)0x7e00;
    if (magnitude >= 0x477ff000u) return (u16)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) {
        return (u16)(sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13));
    }
    if (magnitude <= 0x33000000u) return (u16)sign;
    u32 shift = 126u - (magnitude >> 23), whole = (magnitude & 0x7fffffu) | 0x800000u;
    u32 kept = whole >> shift, half = 1u << (shift - 1u), rest = whole & ((half << 1) - 1u);
    return (u16)(sign | (kept + (rest > half || (rest == half && (kept & 1u) != 0u) ? 1u : 0u)));
}""",
    "bf16_value": """
// The value of a bf16: the upper half of an f32.
float bf16_value(u16 bits) {
    return {u32_f32}((u32)bits << 16);
}""",
    "bf16_bits": """
// An f32 rounded to bf16, halves to even; a NaN becomes the canonical one.
u16 bf16_bits(float x) {
    u32 word = {f32_u32}(x);
    if ((word & 0x7fffffffu) > 0x7f800000u) return (u16)0x7fc0;
    return (u16)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}""",
}

HELPERS: Final[Mapping[str, str]] = {**_float_helpers(), **_integer_helpers(), **_STORED_FLOATS}


def _name_of(helper: str) -> str:
    head = next(line for line in helper.splitlines() if line and not line.startswith("//"))
    return head.partition("(")[0].split()[-1]


#: Names of functions that a text may hold, which nothing of the author's may hide.
HELPER_NAMES: Final = frozenset(_name_of(helper) for helper in HELPERS.values())


def function_name(spelling: Spelling, key: str) -> str:
    """The function to call for an operation or bit cast: the language's or a helper's."""
    if key in spelling.operations and spelling.operations[key] not in PRECEDENCE:
        return spelling.operations[key]
    if key in spelling.bitcasts:
        return spelling.bitcasts[key]
    return _name_of(HELPERS[key])


def helper_texts(spelling: Spelling, needed: Iterable[str]) -> list[str]:
    """The helper functions for these keys and for what they call, each before its first use."""
    order: list[str] = []

    def add(key: str) -> None:
        if key in order or key not in HELPERS or key in spelling.operations or key in spelling.bitcasts:
            return
        for other in _calls(HELPERS[key]):
            add(other)
        order.append(key)

    for key in sorted(needed):
        add(key)
    return [_written(spelling, HELPERS[key]) for key in order]


def _calls(text: str) -> list[str]:
    parts = text.split("{")[1:]
    words = [part.partition("}")[0] for part in parts if "}" in part]
    return [word for word in words if word.replace("_", "").isalnum()]


def _written(spelling: Spelling, text: str) -> str:
    for key in _calls(text):
        text = text.replace(f"{{{key}}}", function_name(spelling, key))
    lines = text.strip("\n").splitlines()
    head = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    lines[head] = spelling.function + lines[head]
    return "\n".join(lines)
