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

inline void group_scan_i64(threadgroup i64* slots, int t) {
    for (int step = 1; step < 256; step <<= 1) {
        i64 value = slots[t];
        if (t >= step) value = slots[t - step] + value;
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        slots[t] = value;
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    }
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

inline bool group_any(threadgroup int* slots, bool value, int t) {
    if (t == 0) slots[0] = 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (value) slots[0] = 1;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    const bool result = slots[0] != 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void scan_blocks(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device const int* x [[buffer(2)]],
    device int* y [[buffer(3)]],
    device int* totals [[buffer(4)]],
    constant int& N [[buffer(5)]],
    constant int& G [[buffer(6)]],
    constant int& extent [[buffer(7)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup i64 slots_i64[256];
    threadgroup int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_2 = (int)group_position;
    const int lid = thread_index;
    const int i = group_2 * 256 + lid;
    const u64 key = group_2;
    int choice_1;
    // 16: value = x[i] if i < len(x) else 0
    if (i < N) {
        choice_1 = x[i];
    } else {
        choice_1 = 0;
    }
    const int value = choice_1;
    int scan_0;
    // 17: inclusive = ig.group_scan(value)
    slots_i64[thread_index] = value;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    group_scan_i64(slots_i64, thread_index);
    const i64 total = slots_i64[thread_index];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap(record, (u32)key);
    }
    if (group_any(vote, is_lost, thread_index)) return;
    scan_0 = (int)total;
    const int inclusive = scan_0;
    // 18: if i < len(y):
    if (i < N) {
        // 19: y[i] = inclusive
        y[i] = inclusive;
    }
    // 20: group = ig.group_id()
    const int group = group_2;
    // 21: if ig.lid() == BLOCK - 1 and group < len(totals):
    if (lid == 255 && group < G) {
        // 22: totals[group] = inclusive
        totals[group] = inclusive;
    }
}
