typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
matmul(
    const volatile u64* guard,
    const float* __restrict__ a,
    const float* __restrict__ b,
    float* __restrict__ c,
    int M,
    int K,
    int N,
    int extent_y,
    int extent_x)
{
    __shared__ float ta[256];
    __shared__ float tb[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)threadIdx.x;
    const int group_number = (int)blockIdx.x;
    const int group_x = group_number % extent_x;
    const int group_y = group_number / extent_x;
    const int y = thread_index / 16;
    const int x = thread_index % 16;
    const int row = group_y * 16 + y;
    const int col = group_x * 16 + x;
    ta[thread_index] = 0;
    tb[thread_index] = 0;
    __syncthreads();
    // 20: rows, inner = a.shape
    const int rows = M;
    const int inner = K;
    // 21: cols = b.shape[1]
    const int cols = N;
    // 22: acc = 0.0
    float acc = 0.0f;
    // 24: ta[y, x] = a[row, t * TILE + x] if row < rows and t * TILE + x < inner else 0.0
    const bool hoisted_1 = row < rows;
    // 25: tb[y, x] = b[t * TILE + y, col] if t * TILE + y < inner and col < cols else 0.0
    const bool hoisted_2 = col < cols;
    // 23: for t in range(ig.cdiv(inner, TILE)):
    const int stop_1 = (int)(((i64)inner + 15) >> 4);
    float choice_1;
    float choice_2;
    for (int t = 0; t < stop_1; ++t) {
        // 24: ta[y, x] = a[row, t * TILE + x] if row < rows and t * TILE + x < inner else 0.0
        if (hoisted_1 && t * 16 + x < inner) {
            choice_1 = a[row * K + (t * 16 + x)];
        } else {
            choice_1 = 0.0f;
        }
        ta[y * 16 + x] = choice_1;
        // 25: tb[y, x] = b[t * TILE + y, col] if t * TILE + y < inner and col < cols else 0.0
        if (t * 16 + y < inner && hoisted_2) {
            choice_2 = b[(t * 16 + y) * N + col];
        } else {
            choice_2 = 0.0f;
        }
        tb[y * 16 + x] = choice_2;
        // 26: ig.barrier()
        __syncthreads();
        // 28: acc = ig.fma(ta[y, k], tb[k, x], acc)
        acc = __fmaf_rn(ta[y * 16 + 0], tb[0 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 1], tb[1 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 2], tb[2 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 3], tb[3 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 4], tb[4 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 5], tb[5 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 6], tb[6 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 7], tb[7 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 8], tb[8 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 9], tb[9 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 10], tb[10 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 11], tb[11 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 12], tb[12 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 13], tb[13 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 14], tb[14 * 16 + x], acc);
        acc = __fmaf_rn(ta[y * 16 + 15], tb[15 * 16 + x], acc);
        // 29: ig.barrier()
        __syncthreads();
    }
    // 30: if row < rows and col < cols:
    if (row < rows && col < cols) {
        // 31: c[row, col] = acc
        c[row * N + col] = acc;
    }
}
