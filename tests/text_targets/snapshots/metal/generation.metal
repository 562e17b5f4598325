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
void generation(
    device const volatile u64* guard [[buffer(0)]],
    device const u8* now [[buffer(1)]],
    device u8* after [[buffer(2)]],
    constant int& H [[buffer(3)]],
    constant int& W [[buffer(4)]],
    constant int& extent_y [[buffer(5)]],
    constant int& extent_x [[buffer(6)]],
    uint thread_position [[thread_index_in_threadgroup]],
    uint group_position [[threadgroup_position_in_grid]])
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)thread_position;
    const int group_number = (int)group_position;
    const int group_x = group_number % ((extent_x - 1) / 32 + 1);
    const int group_y = group_number / ((extent_x - 1) / 32 + 1);
    const int lid_y = thread_index / 32;
    const int lid_x = thread_index % 32;
    const int i = group_y * 8 + lid_y;
    const int j = group_x * 32 + lid_x;
    if (i >= extent_y || j >= extent_x) return;
    // 14: height, width = now.shape
    const int height = H;
    const int width = W;
    // 15: up = i - 1 if i > 0 else height - 1
    const int up = 0 < i ? i - 1 : height - 1;
    // 16: down = i + 1 if i < height - 1 else 0
    const int down = i < height - 1 ? i + 1 : 0;
    // 17: left = j - 1 if j > 0 else width - 1
    const int left = 0 < j ? j - 1 : width - 1;
    // 18: right = j + 1 if j < width - 1 else 0
    const int right = j < width - 1 ? j + 1 : 0;
    // 19: around = now[up, left] + now[up, j] + now[up, right] + now[i, left] + now[i, right]
    const u8 now_1 = now[(i64)up * W + left];
    const u8 now_2 = now[(i64)up * W + j];
    const u8 now_3 = now[(i64)up * W + right];
    const u8 now_4 = now[(i64)i * W + left];
    const u8 now_5 = now[i * W + right];
    int around = now_1 + now_2 + now_3 + now_4 + now_5;
    // 20: around += now[down, left] + now[down, j] + now[down, right]
    const u8 now_7 = now[down * W + j];
    const u8 now_8 = now[down * W + right];
    around = around + (now[(i64)down * W + left] + now_7 + now_8);
    // 21: after[i, j] = 1 if around == 3 or (around == 2 and now[i, j] == 1) else 0
    const u8 now_9 = now[i * W + j];
    after[i * W + j] = (u8)(i8)(around == 3 || (around == 2 && now_9 == 1) ? 1 : 0);
}
