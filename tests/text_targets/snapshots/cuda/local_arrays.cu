typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
local_arrays(
    const volatile u64* guard,
    const float* __restrict__ x,
    float* __restrict__ y,
    int N,
    int extent)
{
    float kept[4];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
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
