// OpenCL C's vocabulary on the host, as far as the printer uses it. Shared arrays are made `static` before compiling.
#pragma once
#include "numbers.h"

#define __kernel
#define __global
#define __local
#define __constant static const
#define restrict
#define reqd_work_group_size(...) unused
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

inline size_t get_local_id(int) { return host::thread; }
inline size_t get_group_id(int) { return host::group; }
inline void barrier(int fences) {
    if (fences != 3) host::fail("a barrier that does not order both memories");
    host::barrier();
}

inline uint as_uint(float x) { return host::bits<uint>(x); }
inline float as_float(uint x) { return host::bits<float>(x); }
inline ulong as_ulong(double x) { return host::bits<ulong>(x); }
inline double as_double(ulong x) { return host::bits<double>(x); }
#define mul_hi host_high

// The language's own overloads: nothing widens to double.
inline float fmod(float a, float b) { return fmodf(a, b); }
inline float sqrt(float x) { return sqrtf(x); }
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline float fabs(float x) { return fabsf(x); }
inline float floor(float x) { return floorf(x); }
inline float ceil(float x) { return ceilf(x); }
inline float trunc(float x) { return truncf(x); }
inline float rint(float x) { return rintf(x); }
inline float copysign(float a, float b) { return copysignf(a, b); }

#define HOST_UPDATE(name, T, expression) \
    inline T name(volatile T* place, T value) { T old = *place; *place = (T)(expression); return old; }
#define HOST_UPDATES(prefix, T) \
    HOST_UPDATE(prefix##_add, T, (ulong)old + (ulong)value) \
    HOST_UPDATE(prefix##_min, T, value < old ? value : old) HOST_UPDATE(prefix##_max, T, old < value ? value : old) \
    HOST_UPDATE(prefix##_and, T, old & value) HOST_UPDATE(prefix##_or, T, old | value) \
    HOST_UPDATE(prefix##_xor, T, old ^ value) HOST_UPDATE(prefix##_xchg, T, value) \
    inline T prefix##_cmpxchg(volatile T* place, T expected, T value) { \
        T old = *place; if (old == expected) *place = value; return old; }
HOST_UPDATES(atomic, int) HOST_UPDATES(atomic, uint) HOST_UPDATES(atom, long) HOST_UPDATES(atom, ulong)
HOST_UPDATE(atomic_xchg, float, value)
