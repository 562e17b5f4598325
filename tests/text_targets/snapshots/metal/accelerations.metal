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

[[kernel, max_total_threads_per_threadgroup(128)]]
void accelerations(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device const float* y [[buffer(2)]],
    device const float* z [[buffer(3)]],
    device const float* mass [[buffer(4)]],
    device float* ax [[buffer(5)]],
    device float* ay [[buffer(6)]],
    device float* az [[buffer(7)]],
    constant int& N [[buffer(8)]],
    constant int& extent [[buffer(9)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
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
        const float pull = mass[j] / (square * precise::sqrt(square));
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
