typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

static __device__ const float WEIGHTS[6] = {
    0.0625f, 0.25f, 0.375f, 0.25f, 0x1.99999ap-4f, (1.0f / 0.0f),
};

static __device__ __forceinline__ bool is_nan_f32(float x) {
    return (__float_as_uint(x) & 0x7fffffffu) > 0x7f800000u;
}

static __device__ __forceinline__ bool is_nan_f64(double x) {
    return ((u64)__double_as_longlong(x) & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

// NaN propagates and -0 is below +0.
static __device__ __forceinline__ double maximum_f64(double a, double b) {
    if (is_nan_f64(a) || a > b) return a;
    if (is_nan_f64(b) || b > a) return b;
    return __longlong_as_double((u64)__double_as_longlong(a) & (u64)__double_as_longlong(b));
}

// NaN propagates and -0 is below +0.
static __device__ __forceinline__ float minimum_f32(float a, float b) {
    if (is_nan_f32(a) || a < b) return a;
    if (is_nan_f32(b) || b < a) return b;
    return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
}

extern "C" __global__ void __launch_bounds__(256)
float_functions(
    const volatile u64* guard,
    const float* __restrict__ x,
    const double* __restrict__ y,
    float* __restrict__ z,
    double* __restrict__ w,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 70: v = x[i]
    const float v = x[i];
    // 71: small = min(v, -v, WEIGHTS[i % 5])
    const float small = minimum_f32(minimum_f32(v, -v), WEIGHTS[i % 5]);
    // 72: z[i] = math.sqrt(abs(v)) + small % 3.0 - math.floor(v) / 7.0 + math.copysign(1.0, v)
    const float t_1 = fmodf(small, 3.0f);
    const float t_2 = t_1 != 0.0f && t_1 < 0.0f != 3.0f < 0.0f ? __fadd_rn(t_1, 3.0f) : t_1;
    z[i] = __fadd_rn(__fsub_rn(__fadd_rn(__fsqrt_rn(fabsf(v)), t_2 == 0.0f ? copysignf(0.0f, 3.0f) : t_2), __fdiv_rn(floorf(v), 7.0f)), is_nan_f32(v) ? fabsf(1.0f) : copysignf(1.0f, v));
    // 73: w[i] = max(y[i], f64(v)) * 0.1 + y[i]
    w[i] = __dadd_rn(__dmul_rn(maximum_f64(y[i], (double)v), 0x1.999999999999ap-4), y[i]);
}
