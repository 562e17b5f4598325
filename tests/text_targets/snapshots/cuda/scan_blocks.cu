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

static __device__ __forceinline__ void group_scan_i64(i64* slots, int t) {
    for (int step = 1; step < 256; step <<= 1) {
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

extern "C" __global__ void __launch_bounds__(256)
scan_blocks(
    volatile u64* record,
    const volatile u64* guard,
    const int* __restrict__ x,
    int* __restrict__ y,
    int* __restrict__ totals,
    int N,
    int G,
    int extent)
{
    __shared__ i64 slots_i64[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group_2 = (int)blockIdx.x;
    const int lid = thread_index;
    const int i = group_2 * 256 + lid;
    const u64 key = (u64)group_2 * 256 + thread_index;
    int choice_1;
    // 16: value = x[i] if i < len(x) else 0
    if (i < N) {
        choice_1 = x[i];
    } else {
        choice_1 = 0;
    }
    const int value = choice_1;
    int scan_0;
    // 17: inclusive = ig.group_scan(value)
    slots_i64[thread_index] = value;
    __syncthreads();
    group_scan_i64(slots_i64, thread_index);
    const i64 total = slots_i64[thread_index];
    __syncthreads();
    const bool is_lost = total != (int)total;
    if (is_lost) {
        trap_0(record, key, 0);
    }
    if (barrier_or(is_lost)) return;
    scan_0 = (int)total;
    const int inclusive = scan_0;
    // 18: if i < len(y):
    if (i < N) {
        // 19: y[i] = inclusive
        y[i] = inclusive;
    }
    // 20: group = ig.group_id()
    const int group = group_2;
    // 21: if ig.lid() == BLOCK - 1 and group < len(totals):
    if (lid == 255 && group < G) {
        // 22: totals[group] = inclusive
        totals[group] = inclusive;
    }
}
