typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// The value of an f16, given by its bits.
static __device__ __forceinline__ float half_value(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

// An f32 rounded to f16, halves to even; a NaN becomes the canonical one.
static __device__ __forceinline__ u16 half_bits(float x) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return x != x ? (u16)0x7e00 : bits;
}

// An f32 rounded to bf16, halves to even; a NaN becomes the canonical one.
static __device__ __forceinline__ u16 bf16_bits(float x) {
    u32 word = __float_as_uint(x);
    if ((word & 0x7fffffffu) > 0x7f800000u) return (u16)0x7fc0;
    return (u16)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
}

extern "C" __global__ void __launch_bounds__(256)
stored_floats(
    const volatile u64* guard,
    float a,
    const u16* __restrict__ x,
    const float* __restrict__ d,
    u16* __restrict__ y,
    u16* __restrict__ z,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 155: y[i] = bf16(a * x[i])
    y[i] = bf16_bits(__fmul_rn(a, half_value(x[i])));
    // 156: if d[i] > 0.0:
    if (0.0f < d[i]) {
        // 157: z[i] = f16(d[i])
        z[i] = half_bits(d[i]);
    } else {
        // 159: z[i] = f16(0.333)
        z[i] = 13652;
    }
}
