typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

static __device__ __forceinline__ bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
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
histogram(
    volatile u64* record,
    volatile u64* watch,
    const volatile u64* guard,
    const u8* __restrict__ x,
    int* __restrict__ bins,
    int N,
    int extent)
{
    __shared__ int local_[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int t = (int)threadIdx.x;
    const int group = (int)blockIdx.x;
    local_[t] = 0;
    __syncthreads();
    // 25: first = ig.group_id() * CHUNK
    const int first = group * 4096;
    // 27: i = first + k * BLOCK + t
    const int i = first + t;
    // 28: if i < len(x):
    if (i < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u1 = first + 256 + t;
    // 28: if i < len(x):
    if (i_u1 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u1]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u2 = first + 512 + t;
    // 28: if i < len(x):
    if (i_u2 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u2]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u3 = first + 768 + t;
    // 28: if i < len(x):
    if (i_u3 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u3]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u4 = first + 1024 + t;
    // 28: if i < len(x):
    if (i_u4 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u4]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u5 = first + 1280 + t;
    // 28: if i < len(x):
    if (i_u5 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u5]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u6 = first + 1536 + t;
    // 28: if i < len(x):
    if (i_u6 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u6]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u7 = first + 1792 + t;
    // 28: if i < len(x):
    if (i_u7 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u7]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u8 = first + 2048 + t;
    // 28: if i < len(x):
    if (i_u8 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u8]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u9 = first + 2304 + t;
    // 28: if i < len(x):
    if (i_u9 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u9]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u10 = first + 2560 + t;
    // 28: if i < len(x):
    if (i_u10 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u10]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u11 = first + 2816 + t;
    // 28: if i < len(x):
    if (i_u11 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u11]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u12 = first + 3072 + t;
    // 28: if i < len(x):
    if (i_u12 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u12]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u13 = first + 3328 + t;
    // 28: if i < len(x):
    if (i_u13 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u13]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u14 = first + 3584 + t;
    // 28: if i < len(x):
    if (i_u14 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u14]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u15 = first + 3840 + t;
    // 28: if i < len(x):
    if (i_u15 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomicAdd(&local_[x[i_u15]], 1);
    }
    // 30: ig.barrier()
    __syncthreads();
    // 31: ig.atomic_add(bins, t, local[t])
    {
        const int at = t;
        const int more = local_[t];
        const int old = atomicAdd(&bins[at], more);
        if (add_overflows_i32(old, more)) {
            wrapped(watch, 2 + (more < 0 ? 1 : 0), (u64)at);
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
        for (u64 i = watch[2] + threadIdx.x; i < watch[4]; i += 256) {
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
