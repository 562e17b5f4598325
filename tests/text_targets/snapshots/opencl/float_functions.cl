// Build with -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt, and no option that relaxes arithmetic.
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;

__constant float WEIGHTS[6] = {
    0.0625f, 0.25f, 0.375f, 0.25f, 0x1.99999ap-4f, INFINITY,
};

bool is_nan_f32(float x) {
    return (as_uint(x) & 0x7fffffffu) > 0x7f800000u;
}

bool is_nan_f64(double x) {
    return (as_ulong(x) & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

// NaN propagates and -0 is below +0.
double maximum_f64(double a, double b) {
    if (is_nan_f64(a) || a > b) return a;
    if (is_nan_f64(b) || b > a) return b;
    return as_double(as_ulong(a) & as_ulong(b));
}

// NaN propagates and -0 is below +0.
float minimum_f32(float a, float b) {
    if (is_nan_f32(a) || a < b) return a;
    if (is_nan_f32(b) || b < a) return b;
    return as_float(as_uint(a) | as_uint(b));
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void float_functions(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global const double* restrict y,
    __global float* restrict z,
    __global double* restrict w,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 70: v = x[i]
    const float v = x[i];
    // 71: small = min(v, -v, WEIGHTS[i % 5])
    const float small = minimum_f32(minimum_f32(v, -v), WEIGHTS[i % 5]);
    // 72: z[i] = math.sqrt(abs(v)) + small % 3.0 - math.floor(v) / 7.0 + math.copysign(1.0, v)
    const float t_1 = fmod(small, 3.0f);
    const float t_2 = t_1 != 0.0f && t_1 < 0.0f != 3.0f < 0.0f ? t_1 + 3.0f : t_1;
    z[i] = sqrt(fabs(v)) + (t_2 == 0.0f ? copysign(0.0f, 3.0f) : t_2) - floor(v) / 7.0f + (is_nan_f32(v) ? fabs(1.0f) : copysign(1.0f, v));
    // 73: w[i] = max(y[i], f64(v)) * 0.1 + y[i]
    w[i] = maximum_f64(y[i], (double)v) * 0x1.999999999999ap-4 + y[i];
}
