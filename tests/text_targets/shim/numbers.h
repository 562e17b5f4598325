// What OpenCL C and Metal have in common on the host: names of types, and functions over several of them.
#pragma once
#include "host.h"

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// As in both languages, these take numbers of one type.
#define HOST_INTEGER(T, U, BITS) \
    inline T min(T a, T b) { return b < a ? b : a; } \
    inline T max(T a, T b) { return a < b ? b : a; }
HOST_INTEGER(int, uint, 32) HOST_INTEGER(uint, uint, 32) HOST_INTEGER(long, ulong, 64) HOST_INTEGER(ulong, ulong, 64)

inline uint popcount(uint x) { return (uint)__builtin_popcount(x); }
inline ulong popcount(ulong x) { return (ulong)__builtin_popcountl(x); }
inline uint clz(uint x) { return x ? (uint)__builtin_clz(x) : 32; }
inline ulong clz(ulong x) { return x ? (ulong)__builtin_clzl(x) : 64; }

inline int host_high(int a, int b) { return (int)(((long)a * b) >> 32); }
inline uint host_high(uint a, uint b) { return (uint)(((ulong)a * b) >> 32); }
inline long host_high(long a, long b) { return (long)(((__int128)a * b) >> 64); }
inline ulong host_high(ulong a, ulong b) { return (ulong)(((unsigned __int128)a * b) >> 64); }
