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

inline bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void add_preceding(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device int* y [[buffer(2)]],
    device const int* totals [[buffer(3)]],
    constant int& N [[buffer(4)]],
    constant int& G [[buffer(5)]],
    constant int& extent [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    const u64 key = (u64)i;
    // 28: block = i // BLOCK
    const int block = i >> 8;
    // 29: if 0 < block <= len(totals):
    if (0 < block && block <= G) {
        // 30: y[i] += totals[block - 1]
        const int y_1 = y[i];
        const int totals_1 = totals[block - 1];
        if (add_overflows_i32(y_1, totals_1)) {
            trap(record, (u32)key);
            return;
        }
        y[i] = (int)((u32)y_1 + totals_1);
    }
}
