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
typedef ulong u64;

inline int popcount_u64(u64 x) {
    return (int)popcount((u32)x) + (int)popcount((u32)(x >> 32));
}

inline u64 rotate_left_u64(u64 x, u64 count) {
    u32 left = (u32)count & 63u;
    return (x << left) | (x >> ((0u - left) & 63u));
}

inline u64 mul_high_u64(u64 a, u64 b) {
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32);
    u64 other = a0 * b1 + (u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void modular_arithmetic(
    device const volatile u64* guard [[buffer(0)]],
    constant u32& seed [[buffer(1)]],
    device const u64* x [[buffer(2)]],
    device u64* y [[buffer(3)]],
    constant int& N [[buffer(4)]],
    constant int& extent [[buffer(5)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 35: h = x[i] * 0x9E3779B97F4A7C15 + ig.w64(seed)
    u64 h = x[i] * (u64)0x9e3779b97f4a7c15 + (i64)seed;
    // 36: h ^= h >> 31
    h = h ^ (h >> 31);
    // 37: y[i] = ig.rotate(h, 7) + ig.mulhi(h, x[i]) - ig.w64(ig.popcount(h))
    y[i] = rotate_left_u64(h, (u64)7) + mul_high_u64(h, x[i]) - popcount_u64(h);
}
