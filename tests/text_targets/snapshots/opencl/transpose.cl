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

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void transpose(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global float* restrict y,
    int H,
    int W,
    int extent_y,
    int extent_x)
{
    __local float tile[1056];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group_number = (int)get_group_id(0);
    const int gx = group_number % extent_x;
    const int gy = group_number / extent_x;
    const int ly = thread_index / 32;
    const int lx = thread_index % 32;
    for (int at = thread_index; at < 1056; at += 256) tile[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 20: i = gy * TILE + ly + k
    i64 i = (i64)(gy * 32 + ly);
    // 21: j = gx * TILE + lx
    i64 j = (i64)(gx * 32 + lx);
    // 22: if i < x.shape[0] and j < x.shape[1]:
    if (i < H && j < W) {
        // 23: tile[ly + k, lx] = x[i, j]
        tile[ly * 33 + lx] = x[i * W + j];
    }
    // 20: i = gy * TILE + ly + k
    i = (i64)(gy * 32 + ly + 8);
    // 21: j = gx * TILE + lx
    j = (i64)(gx * 32 + lx);
    // 22: if i < x.shape[0] and j < x.shape[1]:
    if (i < H && j < W) {
        // 23: tile[ly + k, lx] = x[i, j]
        tile[(ly + 8) * 33 + lx] = x[i * W + j];
    }
    // 20: i = gy * TILE + ly + k
    i = (i64)(gy * 32 + ly + 16);
    // 21: j = gx * TILE + lx
    j = (i64)(gx * 32 + lx);
    // 22: if i < x.shape[0] and j < x.shape[1]:
    if (i < H && j < W) {
        // 23: tile[ly + k, lx] = x[i, j]
        tile[(ly + 16) * 33 + lx] = x[i * W + j];
    }
    // 20: i = gy * TILE + ly + k
    i = (i64)(gy * 32 + ly + 24);
    // 21: j = gx * TILE + lx
    j = (i64)(gx * 32 + lx);
    // 22: if i < x.shape[0] and j < x.shape[1]:
    if (i < H && j < W) {
        // 23: tile[ly + k, lx] = x[i, j]
        tile[(ly + 24) * 33 + lx] = x[i * W + j];
    }
    // 24: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 26: i = gx * TILE + ly + k
    i = (i64)(gx * 32 + ly);
    // 27: j = gy * TILE + lx
    j = (i64)(gy * 32 + lx);
    // 28: if i < y.shape[0] and j < y.shape[1]:
    if (i < W && j < H) {
        // 29: y[i, j] = tile[lx, ly + k]
        y[i * H + j] = tile[lx * 33 + ly];
    }
    // 26: i = gx * TILE + ly + k
    i = (i64)(gx * 32 + ly + 8);
    // 27: j = gy * TILE + lx
    j = (i64)(gy * 32 + lx);
    // 28: if i < y.shape[0] and j < y.shape[1]:
    if (i < W && j < H) {
        // 29: y[i, j] = tile[lx, ly + k]
        y[i * H + j] = tile[lx * 33 + (ly + 8)];
    }
    // 26: i = gx * TILE + ly + k
    i = (i64)(gx * 32 + ly + 16);
    // 27: j = gy * TILE + lx
    j = (i64)(gy * 32 + lx);
    // 28: if i < y.shape[0] and j < y.shape[1]:
    if (i < W && j < H) {
        // 29: y[i, j] = tile[lx, ly + k]
        y[i * H + j] = tile[lx * 33 + (ly + 16)];
    }
    // 26: i = gx * TILE + ly + k
    i = (i64)(gx * 32 + ly + 24);
    // 27: j = gy * TILE + lx
    j = (i64)(gy * 32 + lx);
    // 28: if i < y.shape[0] and j < y.shape[1]:
    if (i < W && j < H) {
        // 29: y[i, j] = tile[lx, ly + k]
        y[i * H + j] = tile[lx * 33 + (ly + 24)];
    }
}
