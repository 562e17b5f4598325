typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

static __device__ __forceinline__ bool is_nan_f32(float x) {
    return (__float_as_uint(x) & 0x7fffffffu) > 0x7f800000u;
}

// NaN propagates and -0 is below +0.
static __device__ __forceinline__ float maximum_f32(float a, float b) {
    if (is_nan_f32(a) || a > b) return a;
    if (is_nan_f32(b) || b > a) return b;
    return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
}

// Records a trap, unless one that comes before it in the order of the launch is there.
static __device__ __noinline__ void trap_0(volatile u64* record, u64 key, u64 site) {
    bool waits = true;
    while (waits && key < record[0]) {
        if (atomicCAS((u64*)&record[2], ~(u64)0, 0) == ~(u64)0) {
            __threadfence();
            if (key < record[0]) {
                record[1] = site;
                record[0] = key;
            }
            __threadfence();
            atomicExch((u64*)&record[2], ~(u64)0);
            waits = false;
        }
    }
}

extern "C" __global__ void __launch_bounds__(64)
warp_operations(
    volatile u64* record,
    const volatile u64* guard,
    const float* __restrict__ x,
    const int* __restrict__ k,
    float* __restrict__ y,
    u32* __restrict__ bits,
    int* __restrict__ total,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group = (int)blockIdx.x;
    const int lid = thread_index;
    const int i = group * 64 + lid;
    const u64 key = (u64)group * 64 + thread_index;
    // 118: y[i] = ig.shuffle_xor(x[i], 5) + ig.shuffle(x[i], k[i]) + ig.warp_max(x[i])
    const int lane_1 = lid & 31;
    const int source_1 = lane_1 ^ min(max(5, -64), 64);
    float shuffle_xor_0;
    shuffle_xor_0 = __shfl_sync(0xffffffffu, x[i], source_1 < 32 ? source_1 : lane_1, 32);
    float shuffle_0;
    shuffle_0 = __shfl_sync(0xffffffffu, x[i], k[i] & 31, 32);
    const float value_0 = __fadd_rn(shuffle_xor_0, shuffle_0);
    float max_0;
    float max_ = x[i];
    for (int step = 16; step > 0; step >>= 1) {
        const float other = __shfl_sync(0xffffffffu, max_, (thread_index & 31) ^ step, 32);
        max_ = maximum_f32(max_, other);
    }
    max_0 = max_;
    y[i] = __fadd_rn(value_0, max_0);
    u32 ballot_0;
    // 119: bits[i] = ig.ballot(x[i] > 0.5)
    ballot_0 = __ballot_sync(0xffffffffu, 0.5f < x[i]);
    bits[i] = ballot_0;
    // 120: if ig.warp_id() == 0:
    if ((lid >> 5) == 0) {
        int sum_0;
        // 121: total[i] = ig.warp_sum(k[i])
        i64 sum = k[i];
        for (int step = 16; step > 0; step >>= 1) {
            const i64 other_2 = __shfl_sync(0xffffffffu, sum, (thread_index & 31) ^ step, 32);
            sum = sum + other_2;
        }
        const bool is_lost = sum != (int)sum;
        if (is_lost && (thread_index & 31) == 0) {
            trap_0(record, key, 0);
        }
        if (__any_sync(0xffffffffu, is_lost)) {
            return;
        }
        sum_0 = (int)sum;
        total[i] = sum_0;
    } else {
        int scan_0;
        // 123: total[i] = ig.warp_scan(k[i])
        i64 scan = k[i];
        for (int step = 1; step < 32; step <<= 1) {
            const i64 other_3 = __shfl_sync(0xffffffffu, scan, (thread_index & 31) >= step ? (thread_index & 31) - step : (thread_index & 31), 32);
            if ((thread_index & 31) >= step) scan = other_3 + scan;
        }
        const bool is_lost_2 = scan != (int)scan;
        if (is_lost_2) {
            trap_0(record, key, 1);
        }
        if (__any_sync(0xffffffffu, is_lost_2)) {
            return;
        }
        scan_0 = (int)scan;
        total[i] = scan_0;
    }
}
