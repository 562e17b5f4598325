typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

static __device__ __forceinline__ bool add_overflows_i32(int a, int b) {
    int sum = (int)((u32)a + (u32)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

static __device__ __forceinline__ bool mul_overflows_i32(int a, int b) {
    i64 product = (i64)a * b;
    return product != (int)product;
}

static __device__ __forceinline__ bool sub_overflows_i32(int a, int b) {
    int difference = (int)((u32)a - (u32)b);
    return ((a ^ b) & (a ^ difference)) < 0;
}

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

// Records a trap, unless one that comes before it in the order of the launch is there.
static __device__ __noinline__ void trap_0(volatile u64* record, u64 key, u64 site) {
    bool waits = true;
    while (waits && key < record[0]) {
        if (atomicCAS((u64*)&record[2], ~(u64)0, 0) == ~(u64)0) {
            __threadfence();
            if (key < record[0]) {
                record[1] = site;
                record[0] = key;
            }
            __threadfence();
            atomicExch((u64*)&record[2], ~(u64)0);
            waits = false;
        }
    }
}

// Records a trap, unless one that comes before it in the order of the launch is there.
static __device__ __noinline__ void trap_1(volatile u64* record, u64 key, u64 site, u64 operand_0) {
    bool waits = true;
    while (waits && key < record[0]) {
        if (atomicCAS((u64*)&record[2], ~(u64)0, 0) == ~(u64)0) {
            __threadfence();
            if (key < record[0]) {
                record[1] = site;
                record[4] = operand_0;
                record[0] = key;
            }
            __threadfence();
            atomicExch((u64*)&record[2], ~(u64)0);
            waits = false;
        }
    }
}

extern "C" __global__ void __launch_bounds__(256)
checked_arithmetic(
    volatile u64* record,
    const volatile u64* guard,
    int n,
    const int* __restrict__ x,
    int* __restrict__ y,
    u8* __restrict__ z,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
    const int i = group * 256 + lid;
    if (i >= extent) return;
    const u64 key = (u64)i;
    // 26: total = x[i] * n + y[i]
    const int x_1 = x[i];
    if (mul_overflows_i32(x_1, n)) {
        trap_2(record, key, 0, (u32)x_1, (u32)n);
        return;
    }
    const int y_1 = y[i];
    const int t_1 = (int)((u32)x_1 * n);
    if (add_overflows_i32(t_1, y_1)) {
        trap_2(record, key, 1, (u32)t_1, (u32)y_1);
        return;
    }
    const int total = (int)((u32)t_1 + y_1);
    // 27: assert total != 13, "thirteen"
    if (total == 13) {
        trap_0(record, key, 2);
        return;
    }
    // 28: y[i] = total // x[i] - total % 7
    const int x_2 = x[i];
    if (x_2 == 0) {
        trap_1(record, key, 3, (u32)total);
        return;
    }
    if (!(total != (-2147483647 - 1) || x_2 != -1)) {
        trap_2(record, key, 4, (u32)total, (u32)x_2);
        return;
    }
    const int t_2 = total / x_2;
    const int t_3 = (int)((u32)total - (u32)t_2 * x_2);
    const int t_4 = total % 7;
    const int t_5 = (int)((u32)t_2 - (t_3 != 0 && (t_3 ^ x_2) < 0 ? 1 : 0));
    const int t_6 = t_4 + (t_4 < 0 ? 7 : 0);
    if (sub_overflows_i32(t_5, t_6)) {
        trap_2(record, key, 5, (u32)t_5, (u32)t_6);
        return;
    }
    y[i] = (int)((u32)t_5 - t_6);
    // 29: z[i] = abs(total) >> (x[i] & 3)
    if (total == (-2147483647 - 1)) {
        trap_1(record, key, 6, (u32)total);
        return;
    }
    const int t_8 = max(total, (int)(0u - (u32)total)) >> (x[i] & 3);
    if (!(0 <= t_8 && t_8 <= 255)) {
        trap_1(record, key, 7, (u32)t_8);
        return;
    }
    z[i] = (u8)(i8)t_8;
}
