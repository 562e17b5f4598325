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

inline float group_max_f32(threadgroup float* slots, int t) {
    for (int step = 128; step > 0; step >>= 1) {
        if (t < step) slots[t] = maximum_f32(slots[t], slots[t + step]);
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    }
    const float result = slots[0];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    return result;
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void partial_maxima(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device float* maxima [[buffer(2)]],
    constant int& N [[buffer(3)]],
    constant int& G [[buffer(4)]],
    constant int& extent [[buffer(5)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup float slots_f32[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_2 = (int)group_position;
    const int lid = thread_index;
    const int i = group_2 * 256 + lid;
    float choice_1;
    // 19: value = x[i] if i < len(x) else -math.inf
    if (i < N) {
        choice_1 = x[i];
    } else {
        choice_1 = as_type<float>(0xff800000u);
    }
    const float value = choice_1;
    float max_0;
    // 20: greatest = ig.group_max(value)
    slots_f32[thread_index] = value;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
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
