// Build with -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt, and no option that relaxes arithmetic.
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef char i8;
typedef uchar u8;
typedef short i16;
typedef ushort u16;
typedef uint u32;
typedef long i64;
typedef ulong u64;

bool add_overflows_i64(i64 a, i64 b) {
    i64 sum = (i64)((u64)a + (u64)b);
    return ((a ^ sum) & (b ^ sum)) < 0;
}

int group_sum_i32(__local int* slots, int t) {
    for (int step = 128; step > 0; step >>= 1) {
        if (t < step) slots[t] = slots[t] + slots[t + step];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    const int result = slots[0];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return result;
}

// Notes that a sum left its type: the array and direction, and the element. Where the room is the top bit, every
// element has a count; else events are listed.
__attribute__((noinline)) void wrapped(volatile __global u64* watch, u64 event, u64 element) {
    const u64 number = atom_add((volatile __global ulong*)(__global u64*)&watch[0], 1);
    if (watch[1] == (u64)1 << 63) {
        atom_add((volatile __global ulong*)(__global u64*)&watch[watch[2 + (event >> 1)] + element], (event & 1) != 0 ? ~(u64)0 : 1);
    } else if (number < watch[1]) {
        watch[2 + 2 * number] = event;
        watch[3 + 2 * number] = element;
    }
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void throw_(
    __global volatile u64* record,
    __global volatile u64* watch,
    __global const volatile u64* guard,
    u32 seed,
    __global int* restrict found,
    __global i64* restrict hits,
    int N,
    int extent)
{
    __local int slots_i32[256];
    // Nothing is done while a trap of an earlier launch waits to be raised.
    if (guard != 0 && *guard != ~(u64)0) return;
    const int thread_index = (int)get_local_id(0);
    const int group = (int)get_group_id(0);
    const int lid = thread_index;
    const int i = group * 256 + lid;
    // 44: inside = i32(0)
    int inside = 0;
    // 45: if i < len(found):
    if (i < N) {
        // 47: a, b = philox(w32(dart), w32(i), seed)
        const int hoisted_1 = i;
        // 46: for dart in range(DARTS):
        for (int dart = 0; dart < 32; ++dart) {
            // 47: a, b = philox(w32(dart), w32(i), seed)
            const int philox_counter = dart;
            const int philox_stream = hoisted_1;
            // 18: left = counter
            u32 philox_left = (u32)philox_counter;
            // 19: right = stream
            int philox_right = philox_stream;
            // 20: bump = key
            u32 philox_bump = seed;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u1 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u1 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u1 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u1;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u2 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u2 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u2 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u2;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u3 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u3 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u3 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u3;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u4 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u4 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u4 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u4;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u5 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u5 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u5 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u5;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u6 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u6 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u6 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u6;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u7 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u7 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u7 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u7;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u8 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u8 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u8 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u8;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 22: high = ig.mulhi(left, w32(0xD256D193))
            const u32 philox_high_u9 = mul_hi(philox_left, 3528905107u);
            // 23: low = left * w32(0xD256D193)
            const int philox_low_u9 = (int)(philox_left * 3528905107u);
            // 24: left = high ^ bump ^ right
            philox_left = philox_high_u9 ^ philox_bump ^ (u32)philox_right;
            // 25: right = low
            philox_right = philox_low_u9;
            // 26: bump += w32(0x9E3779B9)
            philox_bump = philox_bump + 2654435769u;
            // 47: a, b = philox(w32(dart), w32(i), seed)
            const u32 a = philox_left;
            const int b = philox_right;
            // 48: x = unit(a)
            const float x = (float)(a >> 8) * 0x1p-24f;
            // 49: y = unit(b)
            const float y = (float)((u32)b >> 8) * 0x1p-24f;
            // 50: if ig.fma(x, x, y * y) < 1.0:
            if (fma(x, x, y * y) < 1.0f) {
                // 51: inside += 1
                inside = (int)((u32)inside + 1u);
            }
        }
        // 52: found[i] = inside
        found[i] = inside;
    }
    int sum_0;
    // 53: total = ig.group_sum(inside)
    slots_i32[thread_index] = inside;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    sum_0 = group_sum_i32(slots_i32, thread_index);
    const int total = sum_0;
    // 54: if ig.lid() == 0:
    if (lid == 0) {
        // 55: ig.atomic_add(hits, 0, i64(total))
        {
            const int at = 0;
            const i64 more = (i64)total;
            const i64 old = atom_add((volatile __global long*)&hits[at], more);
            if (add_overflows_i64(old, more)) {
                wrapped(watch, 4 + (more < 0 ? 1 : 0), (u64)at);
            }
        }
    }
}
