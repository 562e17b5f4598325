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

void group_scan_i64(__local i64* slots, int t) {
    for (int step = 1; step < 256; step <<= 1) {
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

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan_blocks(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global const int* restrict x,
    __global int* restrict y,
    __global int* restrict totals,
    int N,
    int G,
    int extent)
{
    __local i64 slots_i64[256];
    __local int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group_2 = (int)get_group_id(0);
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
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    group_scan_i64(slots_i64, thread_index);
    const i64 total = slots_i64[thread_index];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap(record, (u64)key);
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
