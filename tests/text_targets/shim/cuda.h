// CUDA C's vocabulary on the host, as far as the printer uses it.
#pragma once
#include "host.h"

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __launch_bounds__(...)
#define __restrict__

struct Index { unsigned x; };
#define threadIdx (Index{host::thread})
#define blockIdx (Index{host::group})

inline void __syncthreads() { host::barrier(); }
inline void __threadfence() {}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

inline unsigned __float_as_uint(float x) { return host::bits<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return host::bits<float>(x); }
inline long long __double_as_longlong(double x) { return host::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return host::bits<double>(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
// As in CUDA, these take two numbers of one type.
#define HOST_MIN_MAX(T) \
    inline T min(T a, T b) { return b < a ? b : a; } \
    inline T max(T a, T b) { return a < b ? b : a; }
HOST_MIN_MAX(int) HOST_MIN_MAX(unsigned) HOST_MIN_MAX(long long) HOST_MIN_MAX(unsigned long long)

#define HOST_UPDATE(name, T, expression) \
    inline T name(T* place, T value) { T old = *place; *place = (T)(expression); return old; }
HOST_UPDATE(atomicAdd, int, (unsigned)old + (unsigned)value)
HOST_UPDATE(atomicAdd, unsigned, old + value)
HOST_UPDATE(atomicAdd, unsigned long long, old + value)
HOST_UPDATE(atomicAdd, float, old + value)
HOST_UPDATE(atomicAdd, double, old + value)
#define HOST_ORDERED(T) \
    HOST_UPDATE(atomicMin, T, value < old ? value : old) \
    HOST_UPDATE(atomicMax, T, old < value ? value : old)
HOST_ORDERED(int) HOST_ORDERED(unsigned) HOST_ORDERED(long long) HOST_ORDERED(unsigned long long)
#define HOST_BITS(T) \
    HOST_UPDATE(atomicAnd, T, old & value) HOST_UPDATE(atomicOr, T, old | value) \
    HOST_UPDATE(atomicXor, T, old ^ value) HOST_UPDATE(atomicExch, T, value) \
    inline T atomicCAS(T* place, T expected, T value) { T old = *place; if (old == expected) *place = value; return old; }
HOST_BITS(int) HOST_BITS(unsigned) HOST_BITS(unsigned long long)
HOST_UPDATE(atomicExch, float, value)

inline int __any_sync(unsigned mask, int value) { return (int)host::warp(0, mask, value != 0, 0); }
inline unsigned __ballot_sync(unsigned mask, int value) { return (unsigned)host::warp(1, mask, value != 0, 0); }
inline void __syncwarp(unsigned mask) { host::warp(3, mask, 0, 0); }
template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width) {
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    const int own = host::thread & 31, source = (own & ~(width - 1)) | (lane & (width - 1));
    word = host::warp(2, mask, word, source);
    memcpy(&value, &word, sizeof value);
    return value;
}

// What the instructions between f32 and f16 do, by rounding to whole numbers in f64.
namespace host {
inline float half_value(unsigned short bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float magnitude = exponent ? ldexpf((float)(1024 + fraction), exponent - 25) : ldexpf((float)fraction, -24);
    if (exponent == 31) magnitude = fraction ? NAN : INFINITY;
    return bits >> 15 ? -magnitude : magnitude;
}
inline unsigned short half_bits(float x) {
    unsigned short sign = std::signbit(x) ? 0x8000 : 0;
    if (x != x) return 0x7e00;
    if (x == 0) return sign;
    if (fabs((double)x) >= 65520) return sign | 0x7c00;
    int exponent;
    frexp(fabs((double)x), &exponent);
    exponent = exponent - 11 < -24 ? -24 : exponent - 11;
    return sign | (unsigned short)(((exponent + 24) << 10) + (int)nearbyint(ldexp(fabs((double)x), -exponent)));
}
}  // namespace host
