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

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void spmv(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global const int* restrict pointers,
    __global const int* restrict columns,
    __global const float* restrict values,
    __global const float* restrict x,
    __global float* restrict y,
    int R,
    int K,
    int M,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int row = group * 128 + lid;
    if (row >= extent) return;
    const u64 key = (u64)row;
    const i64 extent_1 = (i64)R + 1;
    // 18: acc = 0.0
    float acc = 0.0f;
    // 19: for k in range(pointers[row], pointers[row + 1]):
    const int pointers_1 = pointers[row];
    const int pointers_2 = pointers[row + 1];
    for (int k = pointers_1; k < pointers_2; ++k) {
        // 20: acc = ig.fma(values[k], x[columns[k]], acc)
        if ((u64)k >= (u64)K) {
            trap(record, (u64)key);
            return;
        }
        const float values_1 = values[k];
        const int columns_1 = columns[k];
        if ((u64)columns_1 >= (u64)M) {
            trap(record, (u64)key);
            return;
        }
        acc = fma(values_1, x[columns_1], acc);
    }
    // 21: y[row] = acc
    y[row] = acc;
}
