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
static __device__ __forceinline__ float minimum_f32(float a, float b) {
    if (is_nan_f32(a) || a < b) return a;
    if (is_nan_f32(b) || b < a) return b;
    return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
}

static __device__ __forceinline__ bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

static __device__ __forceinline__ float atomic_min_f32(float* place, float value) {
    u32 seen = *(volatile u32*)place;
    while (true) {
        const float old = __uint_as_float(seen);
        const u32 now = atomicCAS((u32*)place, seen, __float_as_uint(minimum_f32(old, value)));
        if (now == seen) return old;
        seen = now;
    }
}

// Records a trap, unless one that comes before it in the order of the launch is there.
static __device__ __noinline__ void trap_1(volatile u64* record, u64 key, u64 site, u64 operand_0) {
    bool waits = true;
    while (waits && key < record[0]) {
        if (atomicCAS((u64*)&record[2], ~(u64)0, 0) == ~(u64)0) {
            __threadfence();
            if (key < record[0]) {
                record[1] = site;
                record[4] = operand_0;
                record[0] = key;
            }
            __threadfence();
            atomicExch((u64*)&record[2], ~(u64)0);
            waits = false;
        }
    }
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
static __device__ __noinline__ void wrapped(volatile u64* watch, u64 event, u64 element) {
    const u64 number = atomicAdd((u64*)&watch[0], 1);
    if (watch[1] == (u64)1 << 63) {
        atomicAdd((u64*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u64)0 : 1);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

extern "C" __global__ void __launch_bounds__(256)
atomic_updates(
    volatile u64* record,
    volatile u64* watch,
    const volatile u64* guard,
    const int* __restrict__ x,
    const float* __restrict__ f,
    int* __restrict__ bins,
    float* __restrict__ low,
    u32* __restrict__ seen,
    int N,
    int extent)
{
    __shared__ int local_bins[16];
    __shared__ int local_bins_wraps[16];
    __shared__ u64 lost_total[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group = (int)blockIdx.x;
    const int lid = thread_index;
    const int i = group * 256 + lid;
    const u64 key = (u64)group * 256 + thread_index;
    bool sum_wrapped = false;
    if (thread_index < 16) local_bins[thread_index] = 0;
    if (thread_index < 16) local_bins_wraps[thread_index] = 0;
    if (thread_index == 0) lost_total[0] = ~(u64)0;
    __syncthreads();
    // 130: if i < len(x):
    if (i < N) {
        // 131: ig.atomic_add(local_bins, x[i] & 15, x[i])
        {
            const int at = x[i] & 15;
            const int more = x[i];
            const int old = atomicAdd(&local_bins[at], more);
            if (add_overflows_i32(old, more)) {
                atomicAdd(&local_bins_wraps[at], more < 0 ? -1 : 1);
                sum_wrapped = true;
            }
        }
        // 132: ig.atomic_min(low, 0, f[i])
        atomic_min_f32(&low[0], f[i]);
        // 133: ig.atomic_or_(seen, 0, u32(1) << (x[i] & 31))
        atomicOr(&seen[0], 1u << (x[i] & 31));
    }
    // 134: ig.barrier()
    // A sum that left its type may have come back; the lowest element that did not traps.
    if (barrier_or(sum_wrapped)) {
        if (barrier_or(false)) return;
        sum_wrapped = false;
        for (int at = thread_index; at < 16; at += 256) {
            if (local_bins_wraps[at] != 0) atomicMin(&lost_total[0], (u64)at);
        }
        __syncthreads();
        if (lost_total[0] != ~(u64)0) {
            if (thread_index == 0) {
                trap_1(record, key, 0, (lost_total[0] & 0xffffffff));
            }
            return;
        }
    }
    // 135: if ig.lid() < 16:
    if (lid < 16) {
        // 136: ig.atomic_add(bins, ig.lid(), local_bins[ig.lid()])
        {
            const int at = lid;
            const int more = local_bins[lid];
            const int old = atomicAdd(&bins[at], more);
            if (add_overflows_i32(old, more)) {
                wrapped(watch, 4 + (more < 0 ? 1 : 0), (u64)at);
            }
        }
    }
}

// Finds the first sum that is out of its type for good, if no thread has trapped.
extern "C" __global__ void __launch_bounds__(256)
settle(volatile u64* record, volatile u64* watch)
{
    const bool trapped = record[0] != ~(u64)0;
    const u64 count = watch[0];
    if (count == 0) return;
    if (watch[1] == (u64)0x8000000000000000) {
        // Every element has a count, which goes back to zero for the next launch.
        for (u64 i = watch[2] + threadIdx.x; i < watch[7]; i += 256) {
            if (watch[i] == 0) continue;
            watch[i] = 0;
            u64 array = 0;
            while (watch[3 + array] <= i) ++array;
            if (!trapped) atomicMin((u64*)&record[3], array << 48 | (i - watch[2 + array]));
        }
        __syncthreads();
        watch[0] = 0;
    }
    if (trapped) return;
    if (watch[1] != (u64)0x8000000000000000 && count > watch[1]) {
        if (threadIdx.x == 0) {
            record[1] = (u64)0x100000000;
            record[0] = (u64)0x8000000000000000;
        }
        return;
    }
    for (u64 i = threadIdx.x; watch[1] != (u64)0x8000000000000000 && i < count; i += 256) {
        const u64 array = watch[2 + 2 * i] >> 1;
        const u64 element = watch[3 + 2 * i];
        int times = 0;
        for (u64 j = 0; j < count; ++j) {
            const u64 event = watch[2 + 2 * j];
            if (event >> 1 == array && watch[3 + 2 * j] == element) times += (event & 1) != 0 ? -1 : 1;
        }
        if (times != 0) atomicMin((u64*)&record[3], array << 48 | element);
    }
    __syncthreads();
    const u64 lowest = record[3];
    if (threadIdx.x == 0 && lowest != ~(u64)0) {
        const u64 array = lowest >> 48;
        record[1] = 1;
        record[4] = lowest & (u64)0xffffffffffff;
        record[0] = (u64)0x8000000000000000;
    }
}
