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

// Swaps if the element is `expected`; gives what it was.
template <typename Place, typename Value>
inline Value swap_if_equal(Place place, Value expected, Value value) {
    Value seen = expected;
    while (!atomic_compare_exchange_weak_explicit(place, &seen, value, memory_order_relaxed, memory_order_relaxed)) {
        if (seen != expected) return seen;
    }
    return expected;
}

inline bool is_nan_f32(float x) {
    return (as_type<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// NaN propagates and -0 is below +0.
inline float minimum_f32(float a, float b) {
    if (is_nan_f32(a) || a < b) return a;
    if (is_nan_f32(b) || b < a) return b;
    return as_type<float>(as_type<u32>(a) | as_type<u32>(b));
}

inline bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

inline float atomic_min_f32_global(device float* place, float value) {
    u32 seen = *(volatile device u32*)place;
    while (true) {
        const float old = as_type<float>(seen);
        const u32 now = swap_if_equal((volatile device atomic_uint*)(device u32*)place, (uint)(seen), (uint)(as_type<u32>(minimum_f32(old, value))));
        if (now == seen) return old;
        seen = now;
    }
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

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
__attribute__((noinline)) void wrapped(volatile device u32* watch, u32 event, u32 element) {
    const u32 number = atomic_fetch_add_explicit((volatile device atomic_uint*)(device u32*)&watch[0], 1, memory_order_relaxed);
    if (watch[1] == (u32)1 << 31) {
        atomic_fetch_add_explicit((volatile device atomic_uint*)(device u32*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u32)0 : 1, memory_order_relaxed);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void atomic_updates(
    device volatile u32* record [[buffer(0)]],
    device volatile u32* watch [[buffer(1)]],
    device const volatile u64* guard [[buffer(2)]],
    device const int* x [[buffer(3)]],
    device const float* f [[buffer(4)]],
    device int* bins [[buffer(5)]],
    device float* low [[buffer(6)]],
    device u32* seen [[buffer(7)]],
    constant int& N [[buffer(8)]],
    constant int& extent [[buffer(9)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup int local_bins[16];
    threadgroup int local_bins_wraps[16];
    threadgroup int vote[1];
    threadgroup u32 lost_total[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group = (int)group_position;
    const int lid = thread_index;
    const int i = group * 256 + lid;
    const u64 key = group;
    bool sum_wrapped = false;
    if (thread_index < 16) local_bins[thread_index] = 0;
    if (thread_index < 16) local_bins_wraps[thread_index] = 0;
    if (thread_index == 0) lost_total[0] = ~(u32)0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 130: if i < len(x):
    if (i < N) {
        // 131: ig.atomic_add(local_bins, x[i] & 15, x[i])
        {
            const int at = x[i] & 15;
            const int more = x[i];
            const int old = atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_bins[at], more, memory_order_relaxed);
            if (add_overflows_i32(old, more)) {
                atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_bins_wraps[at], more < 0 ? -1 : 1, memory_order_relaxed);
                sum_wrapped = true;
            }
        }
        // 132: ig.atomic_min(low, 0, f[i])
        atomic_min_f32_global(&low[0], f[i]);
        // 133: ig.atomic_or_(seen, 0, u32(1) << (x[i] & 31))
        atomic_fetch_or_explicit((volatile device atomic_uint*)&seen[0], 1u << (x[i] & 31), memory_order_relaxed);
    }
    // 134: ig.barrier()
    // A sum that left its type may have come back; the lowest element that did not traps.
    if (group_any(vote, sum_wrapped, thread_index)) {
        sum_wrapped = false;
        for (int at = thread_index; at < 16; at += 256) {
            if (local_bins_wraps[at] != 0) atomic_fetch_min_explicit((volatile threadgroup atomic_uint*)&lost_total[0], (u32)at, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        if (lost_total[0] != ~(u32)0) {
            if (thread_index == 0) {
                trap(record, (u32)key);
            }
            return;
        }
    }
    // 135: if ig.lid() < 16:
    if (lid < 16) {
        // 136: ig.atomic_add(bins, ig.lid(), local_bins[ig.lid()])
        {
            const int at = lid;
            const int more = local_bins[lid];
            const int old = atomic_fetch_add_explicit((volatile device atomic_int*)&bins[at], more, memory_order_relaxed);
            if (add_overflows_i32(old, more)) {
                wrapped(watch, 4 + (more < 0 ? 1 : 0), (u32)at);
            }
        }
    }
}
