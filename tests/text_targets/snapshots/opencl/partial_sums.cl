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
void partial_sums(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global float* restrict sums,
    int N,
    int G,
    int extent)
{
    __local float tile[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int t = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
    tile[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 21: acc = 0.0
    float acc = 0.0f;
    // 23: i = group * CHUNK + k * BLOCK + t
    const int i = group * 1024 + t;
    // 24: if i < len(x):
    if (i < N) {
        // 25: acc += x[i]
        acc = 0.0f + x[i];
    }
    // 23: i = group * CHUNK + k * BLOCK + t
    const int i_u1 = group * 1024 + 256 + t;
    // 24: if i < len(x):
    if (i_u1 < N) {
        // 25: acc += x[i]
        acc = acc + x[i_u1];
    }
    // 23: i = group * CHUNK + k * BLOCK + t
    const int i_u2 = group * 1024 + 512 + t;
    // 24: if i < len(x):
    if (i_u2 < N) {
        // 25: acc += x[i]
        acc = acc + x[i_u2];
    }
    // 23: i = group * CHUNK + k * BLOCK + t
    const int i_u3 = group * 1024 + 768 + t;
    // 24: if i < len(x):
    if (i_u3 < N) {
        // 25: acc += x[i]
        acc = acc + x[i_u3];
    }
    // 26: tile[t] = acc
    tile[t] = acc;
    // 27: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 128) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 128];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 64) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 64];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 32) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 32];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 16) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 16];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 8) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 8];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 4) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 4];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 2) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 2];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 30: if t < half:
    if (t < 1) {
        // 31: tile[t] += tile[t + half]
        tile[t] = tile[t] + tile[t + 1];
    }
    // 32: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 33: if t == 0 and group < len(sums):
    if (t == 0 && group < G) {
        // 34: sums[group] = tile[0]
        sums[group] = tile[0];
    }
}
