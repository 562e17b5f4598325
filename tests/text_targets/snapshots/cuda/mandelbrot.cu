typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
mandelbrot(
    const volatile u64* guard,
    float left,
    float top,
    float step,
    int limit,
    int* __restrict__ count,
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
    // 14: cx = ig.fma(step, f32(j), left)
    const float cx = __fmaf_rn(step, (float)j, left);
    // 15: cy = ig.fma(step, f32(i), top)
    const float cy = __fmaf_rn(step, (float)i, top);
    // 16: x, y = 0.0, 0.0
    float x = 0.0f;
    float y = 0.0f;
    // 17: k = i32(0)
    int k = 0;
    // 18: while k < limit and ig.fma(x, x, y * y) <= 4.0:
    while (k < limit && __fmaf_rn(x, x, __fmul_rn(y, y)) <= 4.0f) {
        asm volatile("");
        // 19: shifted = ig.fma(x, x, ig.fma(-y, y, cx))
        const float shifted = __fmaf_rn(x, x, __fmaf_rn(-y, y, cx));
        // 20: y = ig.fma(2.0 * x, y, cy)
        y = __fmaf_rn(__fmul_rn(2.0f, x), y, cy);
        // 21: x = shifted
        x = shifted;
        // 22: k += 1
        k = k + 1;
    }
    // 23: count[i, j] = k
    count[i * W + j] = k;
}
