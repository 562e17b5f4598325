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
void local_arrays(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant int& N [[buffer(3)]],
    constant int& extent [[buffer(4)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    float kept[4];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 142: kept = ig.local(f32, 4)
    for (int at = 0; at < 4; ++at) kept[at] = 0;
    // 144: kept[k] = x[(i + k) % len(x)]
    kept[0] = x[i % N];
    kept[1] = x[(i + 1) % N];
    kept[2] = x[((i64)i + 2) % N];
    kept[3] = x[((i64)i + 3) % N];
    float value_0;
    float value_1;
    // 146: for j in range(3 - k):
    for (int j = 0; j < 3; ++j) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j + 1] < kept[j]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j + 1];
            value_1 = kept[j];
            kept[j] = value_0;
            kept[j + 1] = value_1;
        }
    }
    // 146: for j in range(3 - k):
    for (int j_1 = 0; j_1 < 2; ++j_1) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j_1 + 1] < kept[j_1]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j_1 + 1];
            value_1 = kept[j_1];
            kept[j_1] = value_0;
            kept[j_1 + 1] = value_1;
        }
    }
    // 146: for j in range(3 - k):
    for (int j_2 = 0; j_2 < 1; ++j_2) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j_2 + 1] < kept[j_2]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j_2 + 1];
            value_1 = kept[j_2];
            kept[j_2] = value_0;
            kept[j_2 + 1] = value_1;
        }
    }
    // 149: y[i] = kept[1]
    y[i] = kept[1];
}
