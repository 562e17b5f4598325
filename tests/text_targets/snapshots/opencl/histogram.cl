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

bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
__attribute__((noinline)) void wrapped(volatile __global u64* watch, u64 event, u64 element) {
    const u64 number = atom_add((volatile __global ulong*)(__global u64*)&watch[0], 1);
    if (watch[1] == (u64)1 << 63) {
        atom_add((volatile __global ulong*)(__global u64*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u64)0 : 1);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(
    __global volatile u64* record,
    __global volatile u64* watch,
    __global const volatile u64* guard,
    __global const u8* restrict x,
    __global int* restrict bins,
    int N,
    int extent)
{
    __local int local_[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int t = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
    local_[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 25: first = ig.group_id() * CHUNK
    const int first = group * 4096;
    // 27: i = first + k * BLOCK + t
    const int i = first + t;
    // 28: if i < len(x):
    if (i < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u1 = first + 256 + t;
    // 28: if i < len(x):
    if (i_u1 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u1]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u2 = first + 512 + t;
    // 28: if i < len(x):
    if (i_u2 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u2]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u3 = first + 768 + t;
    // 28: if i < len(x):
    if (i_u3 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u3]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u4 = first + 1024 + t;
    // 28: if i < len(x):
    if (i_u4 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u4]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u5 = first + 1280 + t;
    // 28: if i < len(x):
    if (i_u5 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u5]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u6 = first + 1536 + t;
    // 28: if i < len(x):
    if (i_u6 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u6]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u7 = first + 1792 + t;
    // 28: if i < len(x):
    if (i_u7 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u7]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u8 = first + 2048 + t;
    // 28: if i < len(x):
    if (i_u8 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u8]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u9 = first + 2304 + t;
    // 28: if i < len(x):
    if (i_u9 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u9]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u10 = first + 2560 + t;
    // 28: if i < len(x):
    if (i_u10 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u10]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u11 = first + 2816 + t;
    // 28: if i < len(x):
    if (i_u11 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u11]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u12 = first + 3072 + t;
    // 28: if i < len(x):
    if (i_u12 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u12]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u13 = first + 3328 + t;
    // 28: if i < len(x):
    if (i_u13 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u13]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u14 = first + 3584 + t;
    // 28: if i < len(x):
    if (i_u14 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u14]], 1);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u15 = first + 3840 + t;
    // 28: if i < len(x):
    if (i_u15 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_add((volatile __local int*)&local_[x[i_u15]], 1);
    }
    // 30: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 31: ig.atomic_add(bins, t, local[t])
    {
        const int at = t;
        const int more = local_[t];
        const int old = atomic_add((volatile __global int*)&bins[at], more);
        if (add_overflows_i32(old, more)) {
            wrapped(watch, 2 + (more < 0 ? 1 : 0), (u64)at);
        }
    }
}
