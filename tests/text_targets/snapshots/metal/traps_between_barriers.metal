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

inline bool group_any(threadgroup int* slots, bool value, int t) {
    if (t == 0) slots[0] = 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (value) slots[0] = 1;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    const bool result = slots[0] != 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
}

[[kernel, max_total_threads_per_threadgroup(64)]]
void traps_between_barriers(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device const int* p [[buffer(2)]],
    device const float* x [[buffer(3)]],
    device float* y [[buffer(4)]],
    constant int& N [[buffer(5)]],
    constant int& extent [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup float tile[64];
    threadgroup int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group = (int)group_position;
    const int lid = thread_index;
    const int gid = group * 64 + lid;
    const u64 key = group;
    tile[thread_index] = 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    bool trapped_0 = false;
    i64 t;
    i64 i;
    do {
        // 86: t = ig.lid()
        t = (i64)lid;
        // 87: i = ig.gid()
        i = (i64)gid;
        float choice_1;
        // 88: tile[t] = x[p[i]] if i < len(x) else 0.0
        if (i < N) {
            const int p_1 = p[i];
            if ((u64)p_1 >= (u64)N) {
                trap(record, (u32)key);
                trapped_0 = true;
                break;
            }
            choice_1 = x[p_1];
        } else {
            choice_1 = 0.0f;
        }
        tile[t] = choice_1;
    } while (false);
    bool leaving_0;
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 89: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 90: s = 0.0
    float s = 0.0f;
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u32)key);
        trapped_0 = true;
    } else {
        const int index_1 = p[t];
        if ((u64)index_1 >= (u64)64) {
            trap(record, (u32)key);
            trapped_0 = true;
        } else {
            s = 0.0f + tile[index_1];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u32)key);
        trapped_0 = true;
    } else {
        const i64 index_2 = (i64)p[t] + 1;
        if ((u64)index_2 >= (u64)64) {
            trap(record, (u32)key);
            trapped_0 = true;
        } else {
            s = s + tile[index_2];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u32)key);
        trapped_0 = true;
    } else {
        const i64 index_3 = (i64)p[t] + 2;
        if ((u64)index_3 >= (u64)64) {
            trap(record, (u32)key);
            trapped_0 = true;
        } else {
            s = s + tile[index_3];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 96: if i < len(y):
    if (i < N) {
        // 97: y[i] = s + tile[63 - t]
        y[i] = s + tile[(u64)63 - (u64)t];
    }
}
