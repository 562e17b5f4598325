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

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

[[kernel, max_total_threads_per_threadgroup(128)]]
void spmv(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device const int* pointers [[buffer(2)]],
    device const int* columns [[buffer(3)]],
    device const float* values [[buffer(4)]],
    device const float* x [[buffer(5)]],
    device float* y [[buffer(6)]],
    constant int& R [[buffer(7)]],
    constant int& K [[buffer(8)]],
    constant int& M [[buffer(9)]],
    constant int& extent [[buffer(10)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int row = group * 128 + lid;
    if (row >= extent) return;
    const u64 key = (u64)row;
    const i64 extent_1 = (i64)R + 1;
    // 18: acc = 0.0
    float acc = 0.0f;
    // 19: for k in range(pointers[row], pointers[row + 1]):
    const int pointers_1 = pointers[row];
    const int pointers_2 = pointers[row + 1];
    for (int k = pointers_1; k < pointers_2; ++k) {
        // 20: acc = ig.fma(values[k], x[columns[k]], acc)
        if ((u64)k >= (u64)K) {
            trap(record, (u32)key);
            return;
        }
        const float values_1 = values[k];
        const int columns_1 = columns[k];
        if ((u64)columns_1 >= (u64)M) {
            trap(record, (u32)key);
            return;
        }
        acc = fma(values_1, x[columns_1], acc);
    }
    // 21: y[row] = acc
    y[row] = acc;
}
