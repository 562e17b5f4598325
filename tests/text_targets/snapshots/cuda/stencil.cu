typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
stencil(
    const volatile u64* guard,
    const float* __restrict__ x,
    float* __restrict__ y,
    int H,
    int W,
    int extent_y,
    int extent_x)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group_number = (int)blockIdx.x;
    const int group_x = group_number % ((extent_x - 1) / 32 + 1);
    const int group_y = group_number / ((extent_x - 1) / 32 + 1);
    const int lid_y = thread_index / 32;
    const int lid_x = thread_index % 32;
    const int i = group_y * 8 + lid_y;
    const int j = group_x * 32 + lid_x;
    if (i >= extent_y || j >= extent_x) return;
    // 14: if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
    if (0 < i && i < H - 1 && (0 < j && j < W - 1)) {
        // 15: y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
        const float x_1 = x[(i - 1) * W + j];
        const float x_2 = x[(i + 1) * W + j];
        const float x_3 = x[i * W + (j - 1)];
        const float x_4 = x[i * W + (j + 1)];
        y[i * W + j] = __fmul_rn(0.25f, __fadd_rn(__fadd_rn(__fadd_rn(x_1, x_2), x_3), x_4));
    }
}
