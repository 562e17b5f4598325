typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// The lanes of this thread's warp; the last warp of a block may have fewer than 32.
static __device__ __forceinline__ u32 lanes_here() {
    const u32 rest = blockDim.x & 31u;
    return threadIdx.x < blockDim.x - rest ? 0xffffffffu : (1u << rest) - 1u;
}

// A barrier of the group that tells whether some thread says true. Lanes may come from different places.
static __device__ __forceinline__ bool barrier_or(bool value) {
    const u32 lanes = lanes_here();
    __syncwarp(lanes);
    const bool some = __any_sync(lanes, value);
    if (blockDim.x <= 32) return some;
    int result;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; barrier.cta.red.or.pred q, 0, p; selp.s32 %0, 1, 0, q; }"
                 : "=r"(result) : "r"((int)some) : "memory");
    return result != 0;
}

static __device__ __forceinline__ bool is_nan_f32(float x) {
    return (__float_as_uint(x) & 0x7fffffffu) > 0x7f800000u;
}

// NaN propagates and -0 is below +0.
static __device__ __forceinline__ float maximum_f32(float a, float b) {
    if (is_nan_f32(a) || a > b) return a;
    if (is_nan_f32(b) || b > a) return b;
    return __uint_as_float(__float_as_uint(a) & __float_as_uint(b));
}

static __device__ __forceinline__ void group_scan_i64(i64* slots, int t) {
    for (int step = 1; step < 128; step <<= 1) {
        i64 value = slots[t];
        if (t >= step) value = slots[t - step] + value;
        __syncthreads();
        slots[t] = value;
        __syncthreads();
    }
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

static __device__ __forceinline__ i64 group_sum_i64(i64* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = slots[t] + slots[t + step];
        __syncthreads();
    }
    const i64 result = slots[0];
    __syncthreads();
    return result;
}

static __device__ __forceinline__ float group_max_f32(float* slots, int t) {
    for (int step = 64; step > 0; step >>= 1) {
        if (t < step) slots[t] = maximum_f32(slots[t], slots[t + step]);
        __syncthreads();
    }
    const float result = slots[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void __launch_bounds__(128)
group_operations(
    volatile u64* record,
    const volatile u64* guard,
    const int* __restrict__ x,
    const float* __restrict__ f,
    int* __restrict__ s,
    i64* __restrict__ big,
    float* __restrict__ m,
    int N,
    int extent)
{
    __shared__ i64 slots_i64[128];
    __shared__ float slots_f32[128];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group = (int)blockIdx.x;
    const int lid = thread_index;
    const int i = group * 128 + lid;
    const u64 key = (u64)group * 128 + thread_index;
    // 103: inside = i < len(x)
    const bool inside = i < N;
    int choice_1;
    // 104: v = x[i] if inside else 0
    if (inside) {
        choice_1 = x[i];
    } else {
        choice_1 = 0;
    }
    const int v = choice_1;
    int scan_0;
    // 105: before = ig.group_scan(v, exclusive=True)
    slots_i64[thread_index] = v;
    __syncthreads();
    group_scan_i64(slots_i64, thread_index);
    const i64 total = thread_index > 0 ? slots_i64[thread_index - 1] : (i64)0;
    __syncthreads();
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap_0(record, key, 0);
    }
    if (barrier_or(is_lost)) return;
    scan_0 = (int)total;
    const int before = scan_0;
    i64 sum_0;
    // 106: all_of_it = ig.group_sum(i64(v) * 1000)
    slots_i64[thread_index] = (i64)v * 1000;
    __syncthreads();
    sum_0 = group_sum_i64(slots_i64, thread_index);
    const i64 all_of_it = sum_0;
    float choice_2;
    // 107: most = ig.group_max(f[i] if inside else -math.inf)
    if (inside) {
        choice_2 = f[i];
    } else {
        choice_2 = __uint_as_float(0xff800000u);
    }
    float max_0;
    slots_f32[thread_index] = choice_2;
    __syncthreads();
    max_0 = group_max_f32(slots_f32, thread_index);
    const float most = max_0;
    bool any_0;
    // 108: odd = ig.group_any(v % 2 == 1)
    any_0 = barrier_or((v & 1) == 1);
    const bool odd = any_0;
    // 109: if inside:
    if (inside) {
        // 110: s[i] = before
        s[i] = before;
        // 111: big[i] = all_of_it
        big[i] = all_of_it;
        // 112: m[i] = most if odd else 0.0
        m[i] = odd ? most : 0.0f;
    }
}
