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

[[kernel, max_total_threads_per_threadgroup(1)]]
void clear(
    device const volatile u64* guard [[buffer(0)]],
    device i64* hits [[buffer(1)]],
    constant int& extent [[buffer(2)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int gid = group;
    // 38: hits[ig.gid()] = 0
    hits[gid] = 0;
}
