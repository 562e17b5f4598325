typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(64)
three_axes(
    const volatile u64* guard,
    const u8* __restrict__ on,
    const i8* __restrict__ x,
    u16* __restrict__ y,
    u8* __restrict__ any_on,
    int D,
    int H,
    int W,
    int extent_z,
    int extent_y,
    int extent_x)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group_number = (int)blockIdx.x;
    const int group_x = group_number % ((extent_x - 1) / 8 + 1);
    const int group_y = group_number / ((extent_x - 1) / 8 + 1) % ((extent_y - 1) / 4 + 1);
    const int group_z = group_number / ((extent_x - 1) / 8 + 1) / ((extent_y - 1) / 4 + 1);
    const int lid_z = thread_index / 32;
    const int lid_y = thread_index / 8 % 4;
    const int lid_x = thread_index % 8;
    const int d = group_z * 2 + lid_z;
    const int h = group_y * 4 + lid_y;
    const int w = group_x * 8 + lid_x;
    if (d >= extent_z || h >= extent_y || w >= extent_x) return;
    // 79: if on[d, h, w] or x[d, h, w] < 0:
    const i8 x_1 = x[(u64)((i64)d * H + h) * W + w];
    if (on[(u64)((i64)d * H + h) * W + w] != 0 || x_1 < 0) {
        // 80: y[d, h, w] = u32(x[d, h, w] & 127) * 3
        const i8 x_2 = x[(u64)((i64)d * H + h) * W + w];
        y[(u64)((i64)d * H + h) * W + w] = (u16)(i16)((x_2 & 127) * 3);
    }
}
