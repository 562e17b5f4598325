// Compile with the math mode "safe": infinities, NaN, signed zeros and each rounding count.
#include <metal_stdlib>
using namespace metal;
#pragma clang fp contract(off)
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;

inline bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
__attribute__((noinline)) void wrapped(volatile device u32* watch, u32 event, u32 element) {
    const u32 number = atomic_fetch_add_explicit((volatile device atomic_uint*)(device u32*)&watch[0], 1, memory_order_relaxed);
    if (watch[1] == (u32)1 << 31) {
        atomic_fetch_add_explicit((volatile device atomic_uint*)(device u32*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u32)0 : 1, memory_order_relaxed);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void histogram(
    device volatile u32* record [[buffer(0)]],
    device volatile u32* watch [[buffer(1)]],
    device const volatile u64* guard [[buffer(2)]],
    device const u8* x [[buffer(3)]],
    device int* bins [[buffer(4)]],
    constant int& N [[buffer(5)]],
    constant int& extent [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    threadgroup int local_[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int t = (int)thread_position;
    const int group = (int)group_position;
    local_[t] = 0;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 25: first = ig.group_id() * CHUNK
    const int first = group * 4096;
    // 27: i = first + k * BLOCK + t
    const int i = first + t;
    // 28: if i < len(x):
    if (i < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u1 = first + 256 + t;
    // 28: if i < len(x):
    if (i_u1 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u1]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u2 = first + 512 + t;
    // 28: if i < len(x):
    if (i_u2 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u2]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u3 = first + 768 + t;
    // 28: if i < len(x):
    if (i_u3 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u3]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u4 = first + 1024 + t;
    // 28: if i < len(x):
    if (i_u4 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u4]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u5 = first + 1280 + t;
    // 28: if i < len(x):
    if (i_u5 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u5]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u6 = first + 1536 + t;
    // 28: if i < len(x):
    if (i_u6 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u6]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u7 = first + 1792 + t;
    // 28: if i < len(x):
    if (i_u7 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u7]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u8 = first + 2048 + t;
    // 28: if i < len(x):
    if (i_u8 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u8]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u9 = first + 2304 + t;
    // 28: if i < len(x):
    if (i_u9 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u9]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u10 = first + 2560 + t;
    // 28: if i < len(x):
    if (i_u10 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u10]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u11 = first + 2816 + t;
    // 28: if i < len(x):
    if (i_u11 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u11]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u12 = first + 3072 + t;
    // 28: if i < len(x):
    if (i_u12 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u12]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u13 = first + 3328 + t;
    // 28: if i < len(x):
    if (i_u13 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u13]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u14 = first + 3584 + t;
    // 28: if i < len(x):
    if (i_u14 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u14]], 1, memory_order_relaxed);
    }
    // 27: i = first + k * BLOCK + t
    const int i_u15 = first + 3840 + t;
    // 28: if i < len(x):
    if (i_u15 < N) {
        // 29: ig.atomic_add(local, x[i], 1)
        atomic_fetch_add_explicit((volatile threadgroup atomic_int*)&local_[x[i_u15]], 1, memory_order_relaxed);
    }
    // 30: ig.barrier()
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    // 31: ig.atomic_add(bins, t, local[t])
    {
        const int at = t;
        const int more = local_[t];
        const int old = atomic_fetch_add_explicit((volatile device atomic_int*)&bins[at], more, memory_order_relaxed);
        if (add_overflows_i32(old, more)) {
            wrapped(watch, 2 + (more < 0 ? 1 : 0), (u32)at);
        }
    }
}
