// Build with -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt, and no option that relaxes arithmetic.
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;

bool is_nan_f32(float x) {
    return (as_uint(x) & 0x7fffffffu) > 0x7f800000u;
}

// NaN propagates and -0 is below +0.
float maximum_f32(float a, float b) {
    if (is_nan_f32(a) || a > b) return a;
    if (is_nan_f32(b) || b > a) return b;
    return as_float(as_uint(a) & as_uint(b));
}

float warp_exchange_f32(__local float* slots, float value, int lane, int t) {
    slots[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const float result = slots[(t & ~31) | lane];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

u32 warp_ballot(__local int* slots, bool value, int t) {
    slots[t] = value ? 1 : 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    u32 bits = 0;
    for (int lane = 0; lane < 32; ++lane) bits |= (u32)slots[(t & ~31) | lane] << lane;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return bits;
}

i64 warp_exchange_i64(__local i64* slots, i64 value, int lane, int t) {
    slots[t] = value;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const i64 result = slots[(t & ~31) | lane];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

bool group_any(__local int* slots, bool value, int t) {
    if (t == 0) slots[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (value) slots[0] = 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool result = slots[0] != 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void warp_operations(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global const int* restrict k,
    __global float* restrict y,
    __global u32* restrict bits,
    __global int* restrict total,
    int N,
    int extent)
{
    __local float slots_f32[64];
    __local int slots_i32[64];
    __local i64 slots_i64[64];
    __local int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
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
    shuffle_xor_0 = warp_exchange_f32(slots_f32, x[i], source_1 < 32 ? source_1 : lane_1, thread_index);
    float shuffle_0;
    shuffle_0 = warp_exchange_f32(slots_f32, x[i], k[i] & 31, thread_index);
    const float value_0 = shuffle_xor_0 + shuffle_0;
    float max_0;
    float max_ = x[i];
    for (int step = 16; step > 0; step >>= 1) {
        const float other = warp_exchange_f32(slots_f32, max_, (thread_index & 31) ^ step, thread_index);
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
        trap(record, (u64)key);
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
        trap(record, (u64)key);
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
