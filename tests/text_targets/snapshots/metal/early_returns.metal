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

[[kernel, max_total_threads_per_threadgroup(256)]]
void early_returns(
    device const volatile u64* guard [[buffer(0)]],
    device const float* x [[buffer(1)]],
    device const float* limits [[buffer(2)]],
    device i64* y [[buffer(3)]],
    constant int& M [[buffer(4)]],
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
    // 62: if limits[i] < 0.0:
    if (limits[i] < 0.0f) {
        // 63: return
        return;
    }
    // 64: y[i] = first_above(x, limits[i])
    const float first_above_limit = limits[i];
    i64 first_above_return;
    // 16: def first_above(x: In[f32, N], limit: f32) -> i64:
    do {
        bool leaves_1 = false;
        // 17: for k in range(len(x)):
        for (int first_above_k = 0; first_above_k < M; ++first_above_k) {
            // 18: if x[k] > limit:
            if (first_above_limit < x[first_above_k]) {
                // 19: return k
                first_above_return = (i64)first_above_k;
                leaves_1 = true;
                break;
            }
        }
        // 17: for k in range(len(x)):
        if (leaves_1) {
            // 19: return k
            break;
        }
        // 20: return -1
        first_above_return = -1;
    } while (false);
    // 64: y[i] = first_above(x, limits[i])
    y[i] = first_above_return;
}
