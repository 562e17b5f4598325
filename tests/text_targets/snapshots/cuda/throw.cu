typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

static __device__ __forceinline__ bool add_overflows_i64(i64 a, i64 b) {
    i64 sum = (i64)((u64)a + (u64)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

static __device__ __forceinline__ int group_sum_i32(int* slots, int t) {
    for (int step = 128; step > 0; step >>= 1) {
        if (t < step) slots[t] = slots[t] + slots[t + step];
        __syncthreads();
    }
    const int result = slots[0];
    __syncthreads();
    return result;
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
throw_(
    volatile u64* record,
    volatile u64* watch,
    const volatile u64* guard,
    u32 seed,
    int* __restrict__ found,
    i64* __restrict__ hits,
    int N,
    int extent)
{
    __shared__ int slots_i32[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group = (int)blockIdx.x;
    const int lid = thread_index;
    const int i = group * 256 + lid;
    // 44: inside = i32(0)
    int inside = 0;
    // 45: if i < len(found):
    if (i < N) {
        // 47: a, b = philox(w32(dart), w32(i), seed)
        const int hoisted_1 = i;
        // 46: for dart in range(DARTS):
        for (int dart = 0; dart < 32; ++dart) {
            // 47: a, b = philox(w32(dart), w32(i), seed)
            const int philox_counter = dart;
            const int philox_stream = hoisted_1;
            // 18: left = counter
            u32 philox_left = (u32)philox_counter;
            // 19: right = stream
            int philox_right = philox_stream;
            // 20: bump = key
            u32 philox_bump = seed;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u1 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u1 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u1 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u1;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u2 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u2 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u2 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u2;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u3 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u3 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u3 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u3;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u4 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u4 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u4 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u4;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u5 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u5 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u5 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u5;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u6 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u6 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u6 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u6;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u7 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u7 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u7 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u7;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u8 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u8 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u8 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u8;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u9 = __umulhi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u9 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u9 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u9;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 47: a, b = philox(w32(dart), w32(i), seed)
            const u32 a = philox_left;
            const int b = philox_right;
            // 48: x = unit(a)
            const float x = __fmul_rn((float)(a >> 8), 0x1p-24f);
            // 49: y = unit(b)
            const float y = __fmul_rn((float)((u32)b >> 8), 0x1p-24f);
            // 50: if ig.fma(x, x, y * y) < 1.0:
            if (__fmaf_rn(x, x, __fmul_rn(y, y)) < 1.0f) {
                // 51: inside += 1
                inside = (int)((u32)inside + 1u);
            }
        }
        // 52: found[i] = inside
        found[i] = inside;
    }
    int sum_0;
    // 53: total = ig.group_sum(inside)
    slots_i32[thread_index] = inside;
    __syncthreads();
    sum_0 = group_sum_i32(slots_i32, thread_index);
    const int total = sum_0;
    // 54: if ig.lid() == 0:
    if (lid == 0) {
        // 55: ig.atomic_add(hits, 0, i64(total))
        {
            const int at = 0;
            const i64 more = (i64)total;
            const i64 old = (i64)atomicAdd((u64*)&hits[at], (u64)(more));
            if (add_overflows_i64(old, more)) {
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
        for (u64 i = watch[2] + threadIdx.x; i < watch[5]; i += 256) {
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
        record[1] = 0;
        record[4] = lowest & (u64)0xffffffffffff;
        record[0] = (u64)0x8000000000000000;
    }
}
