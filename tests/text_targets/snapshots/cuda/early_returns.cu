typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

extern "C" __global__ void __launch_bounds__(256)
early_returns(
    const volatile u64* guard,
    const float* __restrict__ x,
    const float* __restrict__ limits,
    i64* __restrict__ y,
    int M,
    int N,
    int extent)
{
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int group = (int)blockIdx.x;
    const int lid = (int)threadIdx.x;
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
