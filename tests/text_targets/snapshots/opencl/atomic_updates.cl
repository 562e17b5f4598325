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
float minimum_f32(float a, float b) {
    if (is_nan_f32(a) || a < b) return a;
    if (is_nan_f32(b) || b < a) return b;
    return as_float(as_uint(a) | as_uint(b));
}

bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

float atomic_min_f32_global(__global float* place, float value) {
    u32 seen = *(volatile __global u32*)place;
    while (true) {
        const float old = as_float(seen);
        const u32 now = atomic_cmpxchg((volatile __global uint*)(__global u32*)place, seen, as_uint(minimum_f32(old, value)));
        if (now == seen) return old;
        seen = now;
    }
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

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
__attribute__((noinline)) void wrapped(volatile __global u64* watch, u64 event, u64 element) {
    const u64 number = atom_add((volatile __global ulong*)(__global u64*)&watch[0], 1);
    if (watch[1] == (u64)1 << 63) {
        atom_add((volatile __global ulong*)(__global u64*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u64)0 : 1);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void atomic_updates(
    __global volatile u64* record,
    __global volatile u64* watch,
    __global const volatile u64* guard,
    __global const int* restrict x,
    __global const float* restrict f,
    __global int* restrict bins,
    __global float* restrict low,
    __global u32* restrict seen,
    int N,
    int extent)
{
    __local int local_bins[16];
    __local int local_bins_wraps[16];
    __local int vote[1];
    __local u32 lost_total[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
    const int lid = thread_index;
    const int i = group * 256 + lid;
    const u64 key = group;
    bool sum_wrapped = false;
    if (thread_index < 16) local_bins[thread_index] = 0;
    if (thread_index < 16) local_bins_wraps[thread_index] = 0;
    if (thread_index == 0) lost_total[0] = ~(u32)0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 130: if i < len(x):
    if (i < N) {
        // 131: ig.atomic_add(local_bins, x[i] & 15, x[i])
        {
            const int at = x[i] & 15;
            const int more = x[i];
            const int old = atomic_add((volatile __local int*)&local_bins[at], more);
            if (add_overflows_i32(old, more)) {
                atomic_add((volatile __local int*)&local_bins_wraps[at], more < 0 ? -1 : 1);
                sum_wrapped = true;
            }
        }
        // 132: ig.atomic_min(low, 0, f[i])
        atomic_min_f32_global(&low[0], f[i]);
        // 133: ig.atomic_or_(seen, 0, u32(1) << (x[i] & 31))
        atomic_or((volatile __global uint*)&seen[0], 1u << (x[i] & 31));
    }
    // 134: ig.barrier()
    // A sum that left its type may have come back; the lowest element that did not traps.
    if (group_any(vote, sum_wrapped, thread_index)) {
        sum_wrapped = false;
        for (int at = thread_index; at < 16; at += 256) {
            if (local_bins_wraps[at] != 0) atomic_min((volatile __local uint*)&lost_total[0], (u32)at);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (lost_total[0] != ~(u32)0) {
            if (thread_index == 0) {
                trap(record, (u64)key);
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
            const int old = atomic_add((volatile __global int*)&bins[at], more);
            if (add_overflows_i32(old, more)) {
                wrapped(watch, 4 + (more < 0 ? 1 : 0), (u64)at);
            }
        }
    }
}
