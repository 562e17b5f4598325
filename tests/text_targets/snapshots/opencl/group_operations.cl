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

void group_scan_i64(__local i64* slots, int t) {
    for (int step = 1; step < 128; step <<= 1) {
        i64 value = slots[t];
        if (t >= step) value = slots[t - step] + value;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        slots[t] = value;
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
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

i64 group_sum_i64(__local i64* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = slots[t] + slots[t + step];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    const i64 result = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

float group_max_f32(__local float* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = maximum_f32(slots[t], slots[t + step]);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    const float result = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void group_operations(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global const int* restrict x,
    __global const float* restrict f,
    __global int* restrict s,
    __global i64* restrict big,
    __global float* restrict m,
    int N,
    int extent)
{
    __local i64 slots_i64[128];
    __local int vote[1];
    __local float slots_f32[128];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
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
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    group_scan_i64(slots_i64, thread_index);
    const i64 total = thread_index > 0 ? slots_i64[thread_index - 1] : (i64)0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap(record, (u64)key);
    }
    if (group_any(vote, is_lost, thread_index)) return;
    scan_0 = (int)total;
    const int before = scan_0;
    i64 sum_0;
    // 106: all_of_it = ig.group_sum(i64(v) * 1000)
    slots_i64[thread_index] = (i64)v * 1000;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    sum_0 = group_sum_i64(slots_i64, thread_index);
    const i64 all_of_it = sum_0;
    float choice_2;
    // 107: most = ig.group_max(f[i] if inside else -math.inf)
    if (inside) {
        choice_2 = f[i];
    } else {
        choice_2 = as_float(0xff800000u);
    }
    float max_0;
    slots_f32[thread_index] = choice_2;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
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
