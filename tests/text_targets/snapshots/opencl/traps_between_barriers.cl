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

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile __global u64* record, u64 key) {
    atom_min((volatile __global ulong*)record, key);
}

bool group_any(__local int* slots, bool value, int t) {
    if (t == 0) slots[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (value) slots[0] = 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool result = slots[0] != 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void traps_between_barriers(
    __global volatile u64* record,
    __global const volatile u64* guard,
    __global const int* restrict p,
    __global const float* restrict x,
    __global float* restrict y,
    int N,
    int extent)
{
    __local float tile[64];
    __local int vote[1];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
    const int lid = thread_index;
    const int gid = group * 64 + lid;
    const u64 key = group;
    tile[thread_index] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    bool trapped_0 = false;
    i64 t;
    i64 i;
    do {
        // 86: t = ig.lid()
        t = (i64)lid;
        // 87: i = ig.gid()
        i = (i64)gid;
        float choice_1;
        // 88: tile[t] = x[p[i]] if i < len(x) else 0.0
        if (i < N) {
            const int p_1 = p[i];
            if ((u64)p_1 >= (u64)N) {
                trap(record, (u64)key);
                trapped_0 = true;
                break;
            }
            choice_1 = x[p_1];
        } else {
            choice_1 = 0.0f;
        }
        tile[t] = choice_1;
    } while (false);
    bool leaving_0;
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 89: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 90: s = 0.0
    float s = 0.0f;
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u64)key);
        trapped_0 = true;
    } else {
        const int index_1 = p[t];
        if ((u64)index_1 >= (u64)64) {
            trap(record, (u64)key);
            trapped_0 = true;
        } else {
            s = 0.0f + tile[index_1];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u64)key);
        trapped_0 = true;
    } else {
        const i64 index_2 = (i64)p[t] + 1;
        if ((u64)index_2 >= (u64)64) {
            trap(record, (u64)key);
            trapped_0 = true;
        } else {
            s = s + tile[index_2];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 92: s += tile[p[t] + k]
    if ((u64)t >= (u64)N) {
        trap(record, (u64)key);
        trapped_0 = true;
    } else {
        const i64 index_3 = (i64)p[t] + 2;
        if ((u64)index_3 >= (u64)64) {
            trap(record, (u64)key);
            trapped_0 = true;
        } else {
            s = s + tile[index_3];
        }
    }
    leaving_0 = group_any(vote, trapped_0, thread_index);
    if (leaving_0) {
        return;
    }
    // 93: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 94: tile[t] = s
    tile[t] = s;
    // 95: ig.barrier()
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // 96: if i < len(y):
    if (i < N) {
        // 97: y[i] = s + tile[63 - t]
        y[i] = s + tile[(u64)63 - (u64)t];
    }
}
