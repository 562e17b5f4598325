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

u64 rotate_left_u64(u64 x, u64 count) {
    u32 left = (u32)count & 63u;
    return (x << left) | (x >> ((0u - left) & 63u));
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void modular_arithmetic(
    __global const volatile u64* guard,
    u32 seed,
    __global const u64* restrict x,
    __global u64* restrict y,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 35: h = x[i] * 0x9E3779B97F4A7C15 + ig.w64(seed)
    u64 h = x[i] * (u64)0x9e3779b97f4a7c15 + (i64)seed;
    // 36: h ^= h >> 31
    h = h ^ (h >> 31);
    // 37: y[i] = ig.rotate(h, 7) + ig.mulhi(h, x[i]) - ig.w64(ig.popcount(h))
    y[i] = rotate_left_u64(h, (u64)7) + mul_hi(h, x[i]) - (int)popcount(h);
}
