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

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void early_returns(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global const float* restrict limits,
    __global i64* restrict y,
    int M,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 62: if limits[i] < 0.0:
    if (limits[i] < 0.0f) {
        // 63: return
        return;
    }
    // 64: y[i] = first_above(x, limits[i])
    const float first_above_limit = limits[i];
    i64 first_above_return;
    // 16: def first_above(x: In[f32, N], limit: f32) -> i64:
    do {
        bool leaves_1 = false;
        // 17: for k in range(len(x)):
        for (int first_above_k = 0; first_above_k < M; ++first_above_k) {
            // 18: if x[k] > limit:
            if (first_above_limit < x[first_above_k]) {
                // 19: return k
                first_above_return = (i64)first_above_k;
                leaves_1 = true;
                break;
            }
        }
        // 17: for k in range(len(x)):
        if (leaves_1) {
            // 19: return k
            break;
        }
        // 20: return -1
        first_above_return = -1;
    } while (false);
    // 64: y[i] = first_above(x, limits[i])
    y[i] = first_above_return;
}
