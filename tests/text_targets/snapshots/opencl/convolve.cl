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
void convolve(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global const float* restrict mask,
    __global float* restrict y,
    int H,
    int W,
    int extent_y,
    int extent_x)
{
    __local float tile[400];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group_number = (int)get_group_id(0);
    const int gx = group_number % extent_x;
    const int gy = group_number / extent_x;
    const int ly = thread_index / 16;
    const int lx = thread_index % 16;
    const int gid_y = gy * 16 + ly;
    const int gid_x = gx * 16 + lx;
    for (int at = thread_index; at < 400; at += 256) tile[at] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 21: height, width = x.shape
    const int height = H;
    const int width = W;
    // 22: for t in range(ig.lid(), SIDE * SIDE, TILE * TILE):
    const int start_1 = ly * 16 + lx;
    for (int t = start_1; t < 400; t += 256) {
        // 23: row = ig.clamp(gy * TILE + t // SIDE - 2, 0, height - 1)
        const int row = min(max(gy * 16 + t / 20 - 2, 0), height - 1);
        // 24: column = ig.clamp(gx * TILE + t % SIDE - 2, 0, width - 1)
        const int column = min(max(gx * 16 + t % 20 - 2, 0), width - 1);
        // 25: tile[t // SIDE, t % SIDE] = x[row, column]
        tile[t / 20 * 20 + t % 20] = x[(i64)row * W + column];
    }
    // 26: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 27: i, j = ig.gids()
    const int i = gid_y;
    const int j = gid_x;
    // 28: if i < height and j < width:
    if (i < height && j < width) {
        // 29: acc = 0.0
        float acc = 0.0f;
        // 32: acc = ig.fma(mask[r, c], tile[ly + r, lx + c], acc)
        acc = fma(mask[0 * 5 + 0], tile[ly * 20 + lx], 0.0f);
        const float tile_2 = tile[ly * 20 + (lx + 1)];
        acc = fma(mask[0 * 5 + 1], tile_2, acc);
        const float tile_3 = tile[ly * 20 + (lx + 2)];
        acc = fma(mask[0 * 5 + 2], tile_3, acc);
        const float tile_4 = tile[ly * 20 + (lx + 3)];
        acc = fma(mask[0 * 5 + 3], tile_4, acc);
        const float tile_5 = tile[ly * 20 + (lx + 4)];
        acc = fma(mask[0 * 5 + 4], tile_5, acc);
        const float tile_6 = tile[(ly + 1) * 20 + lx];
        acc = fma(mask[1 * 5 + 0], tile_6, acc);
        const float tile_7 = tile[(ly + 1) * 20 + (lx + 1)];
        acc = fma(mask[1 * 5 + 1], tile_7, acc);
        const float tile_8 = tile[(ly + 1) * 20 + (lx + 2)];
        acc = fma(mask[1 * 5 + 2], tile_8, acc);
        const float tile_9 = tile[(ly + 1) * 20 + (lx + 3)];
        acc = fma(mask[1 * 5 + 3], tile_9, acc);
        const float tile_10 = tile[(ly + 1) * 20 + (lx + 4)];
        acc = fma(mask[1 * 5 + 4], tile_10, acc);
        const float tile_11 = tile[(ly + 2) * 20 + lx];
        acc = fma(mask[2 * 5 + 0], tile_11, acc);
        const float tile_12 = tile[(ly + 2) * 20 + (lx + 1)];
        acc = fma(mask[2 * 5 + 1], tile_12, acc);
        const float tile_13 = tile[(ly + 2) * 20 + (lx + 2)];
        acc = fma(mask[2 * 5 + 2], tile_13, acc);
        const float tile_14 = tile[(ly + 2) * 20 + (lx + 3)];
        acc = fma(mask[2 * 5 + 3], tile_14, acc);
        const float tile_15 = tile[(ly + 2) * 20 + (lx + 4)];
        acc = fma(mask[2 * 5 + 4], tile_15, acc);
        const float tile_16 = tile[(ly + 3) * 20 + lx];
        acc = fma(mask[3 * 5 + 0], tile_16, acc);
        const float tile_17 = tile[(ly + 3) * 20 + (lx + 1)];
        acc = fma(mask[3 * 5 + 1], tile_17, acc);
        const float tile_18 = tile[(ly + 3) * 20 + (lx + 2)];
        acc = fma(mask[3 * 5 + 2], tile_18, acc);
        const float tile_19 = tile[(ly + 3) * 20 + (lx + 3)];
        acc = fma(mask[3 * 5 + 3], tile_19, acc);
        const float tile_20 = tile[(ly + 3) * 20 + (lx + 4)];
        acc = fma(mask[3 * 5 + 4], tile_20, acc);
        const float tile_21 = tile[(ly + 4) * 20 + lx];
        acc = fma(mask[4 * 5 + 0], tile_21, acc);
        const float tile_22 = tile[(ly + 4) * 20 + (lx + 1)];
        acc = fma(mask[4 * 5 + 1], tile_22, acc);
        const float tile_23 = tile[(ly + 4) * 20 + (lx + 2)];
        acc = fma(mask[4 * 5 + 2], tile_23, acc);
        const float tile_24 = tile[(ly + 4) * 20 + (lx + 3)];
        acc = fma(mask[4 * 5 + 3], tile_24, acc);
        const float tile_25 = tile[(ly + 4) * 20 + (lx + 4)];
        acc = fma(mask[4 * 5 + 4], tile_25, acc);
        // 33: y[i, j] = acc
        y[i * W + j] = acc;
    }
}
