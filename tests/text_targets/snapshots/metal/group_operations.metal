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

inline bool is_nan_f32(float x) {
    return (as_type<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// NaN propagates and -0 is below +0.
inline float maximum_f32(float a, float b) {
    if (is_nan_f32(a) || a > b) return a;
    if (is_nan_f32(b) || b > a) return b;
    return as_type<float>(as_type<u32>(a) & as_type<u32>(b));
}

inline void group_scan_i64(threadgroup i64* slots, int t) {
    for (int step = 1; step < 128; step <<= 1) {
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

inline i64 group_sum_i64(threadgroup i64* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = slots[t] + slots[t + step];
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    }
    const i64 result = slots[0];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
}

inline float group_max_f32(threadgroup float* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = maximum_f32(slots[t], slots[t + step]);
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    }
    const float result = slots[0];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
}

[[kernel, max_total_threads_per_threadgroup(128)]]
void group_operations(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device const int* x [[buffer(2)]],
    device const float* f [[buffer(3)]],
    device int* s [[buffer(4)]],
    device i64* big [[buffer(5)]],
    device float* m [[buffer(6)]],
    constant int& N [[buffer(7)]],
    constant int& extent [[buffer(8)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup i64 slots_i64[128];
    threadgroup int vote[1];
    threadgroup float slots_f32[128];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group = (int)group_position;
    const int lid = thread_index;
    const int i = group * 128 + lid;
    const u64 key = group;
    // 103: inside = i < len(x)
    const bool inside = i < N;
    int choice_1;
    // 104: v = x[i] if inside else 0
    if (inside) {
        choice_1 = x[i];
    } else {
        choice_1 = 0;
    }
    const int v = choice_1;
    int scan_0;
    // 105: before = ig.group_scan(v, exclusive=True)
    slots_i64[thread_index] = v;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    group_scan_i64(slots_i64, thread_index);
    const i64 total = thread_index > 0 ? slots_i64[thread_index - 1] : (i64)0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap(record, (u32)key);
    }
    if (group_any(vote, is_lost, thread_index)) return;
    scan_0 = (int)total;
    const int before = scan_0;
    i64 sum_0;
    // 106: all_of_it = ig.group_sum(i64(v) * 1000)
    slots_i64[thread_index] = (i64)v * 1000;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    sum_0 = group_sum_i64(slots_i64, thread_index);
    const i64 all_of_it = sum_0;
    float choice_2;
    // 107: most = ig.group_max(f[i] if inside else -math.inf)
    if (inside) {
        choice_2 = f[i];
    } else {
        choice_2 = as_type<float>(0xff800000u);
    }
    float max_0;
    slots_f32[thread_index] = choice_2;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    max_0 = group_max_f32(slots_f32, thread_index);
    const float most = max_0;
    bool any_0;
    // 108: odd = ig.group_any(v % 2 == 1)
    any_0 = group_any(vote, (v & 1) == 1, thread_index);
    const bool odd = any_0;
    // 109: if inside:
    if (inside) {
        // 110: s[i] = before
        s[i] = before;
        // 111: big[i] = all_of_it
        big[i] = all_of_it;
        // 112: m[i] = most if odd else 0.0
        m[i] = odd ? most : 0.0f;
    }
}
