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

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void accelerations(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global const float* restrict y,
    __global const float* restrict z,
    __global const float* restrict mass,
    __global float* restrict ax,
    __global float* restrict ay,
    __global float* restrict az,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
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
        const float dx = x[j] - xi;
        // 22: dy = y[j] - yi
        const float dy = y[j] - yi;
        // 23: dz = z[j] - zi
        const float dz = z[j] - zi;
        // 24: square = ig.fma(dx, dx, ig.fma(dy, dy, ig.fma(dz, dz, 0.01)))
        const float square = fma(dx, dx, fma(dy, dy, fma(dz, dz, 0x1.47ae14p-7f)));
        // 25: pull = mass[j] / (square * math.sqrt(square))
        const float pull = mass[j] / (square * sqrt(square));
        // 26: sx = ig.fma(dx, pull, sx)
        sx = fma(dx, pull, sx);
        // 27: sy = ig.fma(dy, pull, sy)
        sy = fma(dy, pull, sy);
        // 28: sz = ig.fma(dz, pull, sz)
        sz = fma(dz, pull, sz);
    }
    // 29: ax[i] = sx
    ax[i] = sx;
    // 30: ay[i] = sy
    ay[i] = sy;
    // 31: az[i] = sz
    az[i] = sz;
}
