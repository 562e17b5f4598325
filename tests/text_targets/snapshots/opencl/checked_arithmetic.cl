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

bool mul_overflows_i32(int a, int b) {
    i64 product = (i64)a * b;
    return product != (int)product;
}

bool sub_overflows_i32(int a, int b) {
    int difference = (int)((u32)a - (u32)b);
    return ((a ^ b) & (a ^ difference)) < 0;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void checked_arithmetic(
    __global volatile u64* record,
    __global const volatile u64* guard,
    int n,
    __global const int* restrict x,
    __global int* restrict y,
    __global u8* restrict z,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    const u64 key = (u64)i;
    // 26: total = x[i] * n + y[i]
    const int x_1 = x[i];
    if (mul_overflows_i32(x_1, n)) {
        trap(record, (u64)key);
        return;
    }
    const int y_1 = y[i];
    const int t_1 = (int)((u32)x_1 * n);
    if (add_overflows_i32(t_1, y_1)) {
        trap(record, (u64)key);
        return;
    }
    const int total = (int)((u32)t_1 + y_1);
    // 27: assert total != 13, "thirteen"
    if (total == 13) {
        trap(record, (u64)key);
        return;
    }
    // 28: y[i] = total // x[i] - total % 7
    const int x_2 = x[i];
    if (x_2 == 0) {
        trap(record, (u64)key);
        return;
    }
    if (!(total != (-2147483647 - 1) || x_2 != -1)) {
        trap(record, (u64)key);
        return;
    }
    const int t_2 = total / x_2;
    const int t_3 = (int)((u32)total - (u32)t_2 * x_2);
    const int t_4 = total % 7;
    const int t_5 = (int)((u32)t_2 - (t_3 != 0 && (t_3 ^ x_2) < 0 ? 1 : 0));
    const int t_6 = t_4 + (t_4 < 0 ? 7 : 0);
    if (sub_overflows_i32(t_5, t_6)) {
        trap(record, (u64)key);
        return;
    }
    y[i] = (int)((u32)t_5 - t_6);
    // 29: z[i] = abs(total) >> (x[i] & 3)
    if (total == (-2147483647 - 1)) {
        trap(record, (u64)key);
        return;
    }
    const int t_8 = max(total, (int)(0u - (u32)total)) >> (x[i] & 3);
    if (!(0 <= t_8 && t_8 <= 255)) {
        trap(record, (u64)key);
        return;
    }
    z[i] = (u8)(i8)t_8;
}
