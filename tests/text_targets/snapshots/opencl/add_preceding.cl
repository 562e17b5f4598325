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

bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void add_preceding(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global int* restrict y,
    __global const int* restrict totals,
    int N,
    int G,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    const u64 key = (u64)i;
    // 28: block = i // BLOCK
    const int block = i >> 8;
    // 29: if 0 < block <= len(totals):
    if (0 < block && block <= G) {
        // 30: y[i] += totals[block - 1]
        const int y_1 = y[i];
        const int totals_1 = totals[block - 1];
        if (add_overflows_i32(y_1, totals_1)) {
            trap(record, (u64)key);
            return;
        }
        y[i] = (int)((u32)y_1 + totals_1);
    }
}
