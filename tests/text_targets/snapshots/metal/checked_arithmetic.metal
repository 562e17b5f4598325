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

inline bool mul_overflows_i32(int a, int b) {
    i64 product = (i64)a * b;
    return product != (int)product;
}

inline bool sub_overflows_i32(int a, int b) {
    int difference = (int)((u32)a - (u32)b);
    return ((a ^ b) & (a ^ difference)) < 0;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void checked_arithmetic(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    constant int& n [[buffer(2)]],
    device const int* x [[buffer(3)]],
    device int* y [[buffer(4)]],
    device u8* z [[buffer(5)]],
    constant int& N [[buffer(6)]],
    constant int& extent [[buffer(7)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)group_position;
    const int lid = (int)thread_position;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    const u64 key = (u64)i;
    // 26: total = x[i] * n + y[i]
    const int x_1 = x[i];
    if (mul_overflows_i32(x_1, n)) {
        trap(record, (u32)key);
        return;
    }
    const int y_1 = y[i];
    const int t_1 = (int)((u32)x_1 * n);
    if (add_overflows_i32(t_1, y_1)) {
        trap(record, (u32)key);
        return;
    }
    const int total = (int)((u32)t_1 + y_1);
    // 27: assert total != 13, "thirteen"
    if (total == 13) {
        trap(record, (u32)key);
        return;
    }
    // 28: y[i] = total // x[i] - total % 7
    const int x_2 = x[i];
    if (x_2 == 0) {
        trap(record, (u32)key);
        return;
    }
    if (!(total != (-2147483647 - 1) || x_2 != -1)) {
        trap(record, (u32)key);
        return;
    }
    const int t_2 = total / x_2;
    const int t_3 = (int)((u32)total - (u32)t_2 * x_2);
    const int t_4 = total % 7;
    const int t_5 = (int)((u32)t_2 - (t_3 != 0 && (t_3 ^ x_2) < 0 ? 1 : 0));
    const int t_6 = t_4 + (t_4 < 0 ? 7 : 0);
    if (sub_overflows_i32(t_5, t_6)) {
        trap(record, (u32)key);
        return;
    }
    y[i] = (int)((u32)t_5 - t_6);
    // 29: z[i] = abs(total) >> (x[i] & 3)
    if (total == (-2147483647 - 1)) {
        trap(record, (u32)key);
        return;
    }
    const int t_8 = max(total, (int)(0u - (u32)total)) >> (x[i] & 3);
    if (!(0 <= t_8 && t_8 <= 255)) {
        trap(record, (u32)key);
        return;
    }
    z[i] = (u8)(i8)t_8;
}
