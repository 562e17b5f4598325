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

[[kernel, max_total_threads_per_threadgroup(256)]]
void stencil(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant int& H [[buffer(3)]],
    constant int& W [[buffer(4)]],
    constant int& extent_y [[buffer(5)]],
    constant int& extent_x [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_number = (int)group_position;
    const int group_x = group_number % ((extent_x - 1) / 32 + 1);
    const int group_y = group_number / ((extent_x - 1) / 32 + 1);
    const int lid_y = thread_index / 32;
    const int lid_x = thread_index % 32;
    const int i = group_y * 8 + lid_y;
    const int j = group_x * 32 + lid_x;
    if (i >= extent_y || j >= extent_x) return;
    // 14: if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
    if (0 < i && i < H - 1 && (0 < j && j < W - 1)) {
        // 15: y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
        const float x_1 = x[(i - 1) * W + j];
        const float x_2 = x[(i + 1) * W + j];
        const float x_3 = x[i * W + (j - 1)];
        const float x_4 = x[i * W + (j + 1)];
        y[i * W + j] = 0.25f * (x_1 + x_2 + x_3 + x_4);
    }
}
