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
void local_arrays(
    __global const volatile u64* guard,
    __global const float* restrict x,
    __global float* restrict y,
    int N,
    int extent)
{
    float kept[4];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)get_group_id(0);
    const int lid = (int)get_local_id(0);
    const int i = group * 256 + lid;
    if (i >= extent) return;
    // 142: kept = ig.local(f32, 4)
    for (int at = 0; at < 4; ++at) kept[at] = 0;
    // 144: kept[k] = x[(i + k) % len(x)]
    kept[0] = x[i % N];
    kept[1] = x[(i + 1) % N];
    kept[2] = x[((i64)i + 2) % N];
    kept[3] = x[((i64)i + 3) % N];
    float value_0;
    float value_1;
    // 146: for j in range(3 - k):
    for (int j = 0; j < 3; ++j) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j + 1] < kept[j]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j + 1];
            value_1 = kept[j];
            kept[j] = value_0;
            kept[j + 1] = value_1;
        }
    }
    // 146: for j in range(3 - k):
    for (int j_1 = 0; j_1 < 2; ++j_1) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j_1 + 1] < kept[j_1]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j_1 + 1];
            value_1 = kept[j_1];
            kept[j_1] = value_0;
            kept[j_1 + 1] = value_1;
        }
    }
    // 146: for j in range(3 - k):
    for (int j_2 = 0; j_2 < 1; ++j_2) {
        // 147: if kept[j] > kept[j + 1]:
        if (kept[j_2 + 1] < kept[j_2]) {
            // 148: kept[j], kept[j + 1] = kept[j + 1], kept[j]
            value_0 = kept[j_2 + 1];
            value_1 = kept[j_2];
            kept[j_2] = value_0;
            kept[j_2 + 1] = value_1;
        }
    }
    // 149: y[i] = kept[1]
    y[i] = kept[1];
}
