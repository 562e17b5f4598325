typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(128)
accelerations(
    const volatile u64* guard,
    const float* __restrict__ x,
    const float* __restrict__ y,
    const float* __restrict__ z,
    const float* __restrict__ mass,
    float* __restrict__ ax,
    float* __restrict__ ay,
    float* __restrict__ az,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int i = group * 128 + lid;
    if (i >= extent) return;
    // 18: xi, yi, zi = x[i], y[i], z[i]
    const float xi = x[i];
    const float yi = y[i];
    const float zi = z[i];
    // 19: sx, sy, sz = 0.0, 0.0, 0.0
    float sx = 0.0f;
    float sy = 0.0f;
    float sz = 0.0f;
    // 20: for j in range(len(x)):
    for (int j = 0; j < N; ++j) {
        // 21: dx = x[j] - xi
        const float dx = __fsub_rn(x[j], xi);
        // 22: dy = y[j] - yi
        const float dy = __fsub_rn(y[j], yi);
        // 23: dz = z[j] - zi
        const float dz = __fsub_rn(z[j], zi);
        // 24: square = ig.fma(dx, dx, ig.fma(dy, dy, ig.fma(dz, dz, 0.01)))
        const float square = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmaf_rn(dz, dz, 0x1.47ae14p-7f)));
        // 25: pull = mass[j] / (square * math.sqrt(square))
        const float pull = __fdiv_rn(mass[j], __fmul_rn(square, __fsqrt_rn(square)));
        // 26: sx = ig.fma(dx, pull, sx)
        sx = __fmaf_rn(dx, pull, sx);
        // 27: sy = ig.fma(dy, pull, sy)
        sy = __fmaf_rn(dy, pull, sy);
        // 28: sz = ig.fma(dz, pull, sz)
        sz = __fmaf_rn(dz, pull, sz);
    }
    // 29: ax[i] = sx
    ax[i] = sx;
    // 30: ay[i] = sy
    ay[i] = sy;
    // 31: az[i] = sz
    az[i] = sz;
}
