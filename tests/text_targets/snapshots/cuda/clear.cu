typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
clear(
    const volatile u64* guard,
    int* __restrict__ bins,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int gid = group * 256 + lid;
    if (gid >= extent) return;
    // 18: bins[ig.gid()] = 0
    bins[gid] = 0;
}
