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

static __device__ __forceinline__ bool add_overflows_i64(i64 a, i64 b) {
    i64 sum = (i64)((u64)a + (u64)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

static __device__ __forceinline__ bool mul_overflows_i64(i64 a, i64 b) {
    return __mul64hi(a, b) != (i64)((u64)a * (u64)b) >> 63;
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
loops(
    volatile u64* record,
    const volatile u64* guard,
    i64 n,
    const int* __restrict__ x,
    i64* __restrict__ y,
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
    // 43: s = i64(0)
    i64 s = 0;
    // 44: for a in range(n):
    for (int a = 0; a < (int)n; ++a) {
        // 45: s = (s * 3 + a) % 1000003
        if (mul_overflows_i64(s, (i64)3)) {
            trap_2(record, key, 0, s, 3);
            return;
        }
        const i64 t_1 = (i64)((u64)s * (u64)3);
        if (add_overflows_i64(t_1, (i64)a)) {
            trap_2(record, key, 1, t_1, a);
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
            trap_2(record, key, 2, s, 2);
            return;
        }
        const i64 t_4 = (i64)((u64)s * (u64)2);
        const int t_5 = b;
        if (add_overflows_i64(t_4, (i64)t_5)) {
            trap_2(record, key, 3, t_4, t_5);
            return;
        }
        const int t_7 = (int)((i64)((u64)t_4 + t_5) % 1000003);
        s = (i64)(t_7 + (t_7 < 0 ? 1000003 : 0));
    }
    // 50: for c in range(x[i], x[i] + 100, x[i]):
    const int x_2 = x[i];
    const int x_3 = x[i];
    if (add_overflows_i32(x_3, 100)) {
        trap_2(record, key, 4, (u32)x_3, 100u);
        return;
    }
    const int stop_1 = (int)((u32)x_3 + 100u);
    const int x_4 = x[i];
    if (x_4 == 0) {
        trap_1(record, key, 5, (u32)x_4);
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
            trap_2(record, key, 6, s, t_12);
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
