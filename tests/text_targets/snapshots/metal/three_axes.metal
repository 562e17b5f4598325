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

[[kernel, max_total_threads_per_threadgroup(64)]]
void three_axes(
    device const volatile u64* guard [[buffer(0)]],
    device const u8* on [[buffer(1)]],
    device const i8* x [[buffer(2)]],
    device u16* y [[buffer(3)]],
    device u8* any_on [[buffer(4)]],
    constant int& D [[buffer(5)]],
    constant int& H [[buffer(6)]],
    constant int& W [[buffer(7)]],
    constant int& extent_z [[buffer(8)]],
    constant int& extent_y [[buffer(9)]],
    constant int& extent_x [[buffer(10)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_number = (int)group_position;
    const int group_x = group_number % ((extent_x - 1) / 8 + 1);
    const int group_y = group_number / ((extent_x - 1) / 8 + 1) % ((extent_y - 1) / 4 + 1);
    const int group_z = group_number / ((extent_x - 1) / 8 + 1) / ((extent_y - 1) / 4 + 1);
    const int lid_z = thread_index / 32;
    const int lid_y = thread_index / 8 % 4;
    const int lid_x = thread_index % 8;
    const int d = group_z * 2 + lid_z;
    const int h = group_y * 4 + lid_y;
    const int w = group_x * 8 + lid_x;
    if (d >= extent_z || h >= extent_y || w >= extent_x) return;
    // 79: if on[d, h, w] or x[d, h, w] < 0:
    const i8 x_1 = x[(u64)((i64)d * H + h) * W + w];
    if (on[(u64)((i64)d * H + h) * W + w] != 0 || x_1 < 0) {
        // 80: y[d, h, w] = u32(x[d, h, w] & 127) * 3
        const i8 x_2 = x[(u64)((i64)d * H + h) * W + w];
        y[(u64)((i64)d * H + h) * W + w] = (u16)(i16)((x_2 & 127) * 3);
    }
}
