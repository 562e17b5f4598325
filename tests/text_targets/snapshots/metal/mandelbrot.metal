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
void mandelbrot(
    device const volatile u64* guard [[buffer(0)]],
    constant float& left [[buffer(1)]],
    constant float& top [[buffer(2)]],
    constant float& step [[buffer(3)]],
    constant int& limit [[buffer(4)]],
    device int* count [[buffer(5)]],
    constant int& H [[buffer(6)]],
    constant int& W [[buffer(7)]],
    constant int& extent_y [[buffer(8)]],
    constant int& extent_x [[buffer(9)]],
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
    // 14: cx = ig.fma(step, f32(j), left)
    const float cx = fma(step, (float)j, left);
    // 15: cy = ig.fma(step, f32(i), top)
    const float cy = fma(step, (float)i, top);
    // 16: x, y = 0.0, 0.0
    float x = 0.0f;
    float y = 0.0f;
    // 17: k = i32(0)
    int k = 0;
    // 18: while k < limit and ig.fma(x, x, y * y) <= 4.0:
    while (k < limit && fma(x, x, y * y) <= 4.0f) {
        { volatile int still = 0; (void)still; }
        // 19: shifted = ig.fma(x, x, ig.fma(-y, y, cx))
        const float shifted = fma(x, x, fma(-y, y, cx));
        // 20: y = ig.fma(2.0 * x, y, cy)
        y = fma(2.0f * x, y, cy);
        // 21: x = shifted
        x = shifted;
        // 22: k += 1
        k = k + 1;
    }
    // 23: count[i, j] = k
    count[i * W + j] = k;
}
