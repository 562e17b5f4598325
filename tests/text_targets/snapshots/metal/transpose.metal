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

[[kernel, max_total_threads_per_threadgroup(256)]]
void transpose(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device float* y [[buffer(2)]],
    constant int& H [[buffer(3)]],
    constant int& W [[buffer(4)]],
    constant int& extent_y [[buffer(5)]],
    constant int& extent_x [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup float tile[1056];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_number = (int)group_position;
    const int gx = group_number % extent_x;
    const int gy = group_number / extent_x;
    const int ly = thread_index / 32;
    const int lx = thread_index % 32;
    for (int at = thread_index; at < 1056; at += 256) tile[at] = 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
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
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
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
