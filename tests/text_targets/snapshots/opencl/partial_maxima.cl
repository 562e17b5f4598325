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

float group_max_f32(__local float* slots, int t) {
    for (int step = 128; step > 0; step >>= 1) {
        if (t < step) slots[t] = maximum_f32(slots[t], slots[t + step]);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    const float result = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void partial_maxima(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global float* restrict maxima,
    int N,
    int G,
    int extent)
{
    __local float slots_f32[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group_2 = (int)get_group_id(0);
    const int lid = thread_index;
    const int i = group_2 * 256 + lid;
    float choice_1;
    // 19: value = x[i] if i < len(x) else -math.inf
    if (i < N) {
        choice_1 = x[i];
    } else {
        choice_1 = as_float(0xff800000u);
    }
    const float value = choice_1;
    float max_0;
    // 20: greatest = ig.group_max(value)
    slots_f32[thread_index] = value;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    max_0 = group_max_f32(slots_f32, thread_index);
    const float greatest = max_0;
    // 21: group = ig.group_id()
    const int group = group_2;
    // 22: if ig.lid() == 0 and group < len(maxima):
    if (lid == 0 && group < G) {
        // 23: maxima[group] = greatest
        maxima[group] = greatest;
    }
}
