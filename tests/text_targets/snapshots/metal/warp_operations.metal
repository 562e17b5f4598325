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

inline u32 warp_ballot(threadgroup int* slots, bool value, int t) {
    slots[t] = value ? 1 : 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    u32 bits = 0;
    for (int lane = 0; lane < 32; ++lane) bits |= (u32)slots[(t & ~31) | lane] << lane;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return bits;
}

inline i64 warp_exchange_i64(threadgroup i64* slots, i64 value, int lane, int t) {
    slots[t] = value;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    const i64 result = slots[(t & ~31) | lane];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
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

[[kernel, max_total_threads_per_threadgroup(64)]]
void warp_operations(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    device const float* x [[buffer(2)]],
    device const int* k [[buffer(3)]],
    device float* y [[buffer(4)]],
    device u32* bits [[buffer(5)]],
    device int* total [[buffer(6)]],
    constant int& N [[buffer(7)]],
    constant int& extent [[buffer(8)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup int slots_i32[64];
    threadgroup i64 slots_i64[64];
    threadgroup int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group = (int)group_position;
    const int lid = thread_index;
    const int i = group * 64 + lid;
    const u64 key = group;
    int k_2 = 0;
    int sum_0 = 0;
    int k_3 = 0;
    int scan_0 = 0;
    // 118: y[i] = ig.shuffle_xor(x[i], 5) + ig.shuffle(x[i], k[i]) + ig.warp_max(x[i])
    const int lane_1 = lid & 31;
    const int source_1 = lane_1 ^ min(max(5, -64), 64);
    float shuffle_xor_0;
    shuffle_xor_0 = simd_shuffle(x[i], (ushort)(source_1 < 32 ? source_1 : lane_1));
    float shuffle_0;
    shuffle_0 = simd_shuffle(x[i], (ushort)(k[i] & 31));
    const float value_0 = shuffle_xor_0 + shuffle_0;
    float max_0;
    float max_ = x[i];
    for (int step = 16; step > 0; step >>= 1) {
        const float other = simd_shuffle(max_, (ushort)((thread_index & 31) ^ step));
        max_ = maximum_f32(max_, other);
    }
    max_0 = max_;
    y[i] = value_0 + max_0;
    u32 ballot_0;
    // 119: bits[i] = ig.ballot(x[i] > 0.5)
    ballot_0 = warp_ballot(slots_i32, 0.5f < x[i], thread_index);
    bits[i] = ballot_0;
    bool then_mask_0 = false;
    bool else_mask_1 = false;
    if (true) {
        // 120: if ig.warp_id() == 0:
        if ((lid >> 5) == 0) {
            then_mask_0 = true;
        } else {
            else_mask_1 = true;
        }
    }
    if (then_mask_0) {
        // 121: total[i] = ig.warp_sum(k[i])
        k_2 = k[i];
    }
    int given_mask_3 = 0;
    if (then_mask_0) {
        given_mask_3 = k_2;
    }
    int result_mask_4;
    i64 sum = given_mask_3;
    for (int step = 16; step > 0; step >>= 1) {
        const i64 other_2 = warp_exchange_i64(slots_i64, sum, (thread_index & 31) ^ step, thread_index);
        sum = sum + other_2;
    }
    const bool is_lost = then_mask_0 && sum != (int)sum;
    if (is_lost && (thread_index & 31) == 0) {
        trap(record, (u32)key);
    }
    if (group_any(vote, is_lost, thread_index)) return;
    result_mask_4 = (int)sum;
    if (then_mask_0) {
        sum_0 = result_mask_4;
    }
    if (then_mask_0) {
        total[i] = sum_0;
    }
    if (else_mask_1) {
        // 123: total[i] = ig.warp_scan(k[i])
        k_3 = k[i];
    }
    int given_mask_6 = 0;
    if (else_mask_1) {
        given_mask_6 = k_3;
    }
    int result_mask_7;
    i64 scan = given_mask_6;
    for (int step = 1; step < 32; step <<= 1) {
        const i64 other_3 = warp_exchange_i64(slots_i64, scan, (thread_index & 31) >= step ? (thread_index & 31) - step : (thread_index & 31), thread_index);
        if ((thread_index & 31) >= step) scan = other_3 + scan;
    }
    const bool is_lost_2 = else_mask_1 && scan != (int)scan;
    if (is_lost_2) {
        trap(record, (u32)key);
    }
    if (group_any(vote, is_lost_2, thread_index)) return;
    result_mask_7 = (int)scan;
    if (else_mask_1) {
        scan_0 = result_mask_7;
    }
    if (else_mask_1) {
        total[i] = scan_0;
    }
}
