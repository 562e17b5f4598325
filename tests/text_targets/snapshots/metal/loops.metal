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

inline bool add_overflows_i64(i64 a, i64 b) {
    i64 sum = (i64)((u64)a + (u64)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

inline u64 mul_high_u64(u64 a, u64 b) {
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32);
    u64 other = a0 * b1 + (u32)middle;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

inline i64 mul_high_i64(i64 a, i64 b) {
    return (i64)(mul_high_u64((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}

inline bool mul_overflows_i64(i64 a, i64 b) {
    return mul_high_i64(a, b) != (i64)((u64)a * (u64)b) >> 63;
}

// Notes the first thread, or the first group, that trapped.
__attribute__((noinline)) void trap(volatile device u32* record, u32 key) {
    atomic_fetch_min_explicit((volatile device atomic_uint*)record, key, memory_order_relaxed);
}

[[kernel, max_total_threads_per_threadgroup(256)]]
void loops(
    device volatile u32* record [[buffer(0)]],
    device const volatile u64* guard [[buffer(1)]],
    constant i64& n [[buffer(2)]],
    device const int* x [[buffer(3)]],
    device i64* y [[buffer(4)]],
    constant int& N [[buffer(5)]],
    constant int& extent [[buffer(6)]],
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
    // 43: s = i64(0)
    i64 s = 0;
    // 44: for a in range(n):
    for (int a = 0; a < (int)n; ++a) {
        // 45: s = (s * 3 + a) % 1000003
        if (mul_overflows_i64(s, (i64)3)) {
            trap(record, (u32)key);
            return;
        }
        const i64 t_1 = (i64)((u64)s * (u64)3);
        if (add_overflows_i64(t_1, (i64)a)) {
            trap(record, (u32)key);
            return;
        }
        s = (i64)(((u64)t_1 + a) % (u64)1000003);
    }
    // 46: for b in range(10, x[i], -3):
    const int x_1 = x[i];
    const int trips = (int)(x_1 < 10 ? (u64)((i64)10 - x_1 - 1) / (u64)3 + (u64)1 : (u64)0);
    for (int trip = 0; trip < trips; ++trip) {
        const int b = (int)((u32)10 + (u32)trip * (u32)(-3));
        // 47: if b == 4:
        if (b == 4) {
            // 48: continue
            continue;
        }
        // 49: s = (s * 2 + b) % 1000003
        if (mul_overflows_i64(s, (i64)2)) {
            trap(record, (u32)key);
            return;
        }
        const i64 t_4 = (i64)((u64)s * (u64)2);
        const int t_5 = b;
        if (add_overflows_i64(t_4, (i64)t_5)) {
            trap(record, (u32)key);
            return;
        }
        const int t_7 = (int)((i64)((u64)t_4 + t_5) % 1000003);
        s = (i64)(t_7 + (t_7 < 0 ? 1000003 : 0));
    }
    // 50: for c in range(x[i], x[i] + 100, x[i]):
    const int x_2 = x[i];
    const int x_3 = x[i];
    if (add_overflows_i32(x_3, 100)) {
        trap(record, (u32)key);
        return;
    }
    const int stop_1 = (int)((u32)x_3 + 100u);
    const int x_4 = x[i];
    if (x_4 == 0) {
        trap(record, (u32)key);
        return;
    }
    const bool t_8 = 0 < x_4;
    const int t_9 = t_8 ? x_2 : stop_1;
    const int t_10 = t_8 ? stop_1 : x_2;
    const u64 t_11 = (u64)((i64)t_10 - t_9 - 1) / (u64)(t_8 ? x_4 : -(i64)x_4);
    const u64 trips_3 = t_9 < t_10 ? t_11 + (u64)1 : (u64)0;
    const u64 trips_4 = trips_3;
    for (u64 trip_2 = 0; trip_2 < trips_4; ++trip_2) {
        const int c = (int)((u32)x_2 + (u32)trip_2 * (u32)x_4);
        // 51: if s % 11 == 3:
        if ((u64)s % (u64)11 == (u64)3) {
            // 52: break
            break;
        }
        // 53: s = (s + c) % 1000003
        const int t_12 = c;
        if (add_overflows_i64(s, (i64)t_12)) {
            trap(record, (u32)key);
            return;
        }
        const int t_14 = (int)((i64)((u64)s + t_12) % 1000003);
        s = (i64)(t_14 + (t_14 < 0 ? 1000003 : 0));
    }
    // 54: while s > 100 and s % 2 == 0:
    while (100 < s && (s & 1) == 0) {
        // 55: s //= 2
        s = s >> 1;
    }
    // 56: y[i] = s
    y[i] = s;
}
