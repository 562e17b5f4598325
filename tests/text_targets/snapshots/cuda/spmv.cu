typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// Records a trap, unless one that comes before it in the order of the launch is there.
static __device__ __noinline__ void trap_2(volatile u64* record, u64 key, u64 site, u64 operand_0, u64 operand_1) {
    bool waits = true;
    while (waits && key < record[0]) {
        if (atomicCAS((u64*)&record[2], ~(u64)0, 0) == ~(u64)0) {
            __threadfence();
            if (key < record[0]) {
                record[1] = site;
                record[4] = operand_0;
                record[5] = operand_1;
                record[0] = key;
            }
            __threadfence();
            atomicExch((u64*)&record[2], ~(u64)0);
            waits = false;
        }
    }
}

extern "C" __global__ void __launch_bounds__(128)
spmv(
    volatile u64* record,
    const volatile u64* guard,
    const int* __restrict__ pointers,
    const int* __restrict__ columns,
    const float* __restrict__ values,
    const float* __restrict__ x,
    float* __restrict__ y,
    int R,
    int K,
    int M,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int row = group * 128 + lid;
    if (row >= extent) return;
    const u64 key = (u64)row;
    const i64 extent_1 = (i64)R + 1;
    // 18: acc = 0.0
    float acc = 0.0f;
    // 19: for k in range(pointers[row], pointers[row + 1]):
    const int pointers_1 = pointers[row];
    const int pointers_2 = pointers[row + 1];
    for (int k = pointers_1; k < pointers_2; ++k) {
        // 20: acc = ig.fma(values[k], x[columns[k]], acc)
        if ((u64)k >= (u64)K) {
            trap_2(record, key, 0, (u32)k, K);
            return;
        }
        const float values_1 = values[k];
        const int columns_1 = columns[k];
        if ((u64)columns_1 >= (u64)M) {
            trap_2(record, key, 1, (u32)columns_1, M);
            return;
        }
        acc = __fmaf_rn(values_1, x[columns_1], acc);
    }
    // 21: y[row] = acc
    y[row] = acc;
}
