"""Kernels whose values stand at the edges of the types that the text computes in."""

import isogrid as ig
from isogrid import In, Out, f16, f32, i32, i64, u8, u32, w64
from isogrid.dims import N


@ig.kernel(grid=N)
def widened(x: In[i32, N], y: Out[i64, N], z: Out[i64, N], w: Out[i64, N]) -> None:
    i = ig.gid()
    v = i64(x[i])
    y[i] = -v
    z[i] = v * 2 - v
    w[i] = abs(v) + (v // -1) + (v % -7) + (v << 5)


@ig.kernel(grid=N)
def far_shifts(k: In[u8, N], y: Out[w64, N], z: Out[i64, N]) -> None:
    """Numbers that an `int` holds, shifted as far as 64-bit numbers may be."""
    i = ig.gid()
    amount = k[i] & 63
    y[i] = (w64(i) >> amount) + (w64(i) >> 40) + (w64(7) << amount)
    z[i] = ((i - 5) >> amount) + ((i - 5) >> 33) + ((i & 0) << amount)


@ig.kernel(grid=N)
def steps(x: In[i32, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    s = i64(0)
    for k in range(0, x[i], x[i]):
        s += k + 1
    for up in range(i32(2147483600), i32(2147483647), i32(40)):
        s += up
    for down in range(i32(-2147483600), i32(-2147483648), i32(-40)):
        s += down
    y[i] = s


@ig.kernel(grid=N)
def unsigned_counters(x: In[u32, N], y: Out[i64, N]) -> None:
    i = ig.gid()
    s = i64(0)
    for k in range(x[i], u32(4294967295), u32(7)):
        s += i64(k)
        if s > 100000000000:
            break
    for m in range(u32(3), u32(0) if x[i] > 5 else u32(9)):
        s += i64(m)
    y[i] = s


@ig.kernel(grid=N)
def bits_of(x: In[f32, N], b: In[u8, N], y: Out[w64, N]) -> None:
    i = ig.gid()
    h = w64(ig.bitcast(u32, x[i])) << 32
    y[i] = (h ^ ig.rotate(h, b[i])) + w64(ig.clz(b[i])) - ig.mulhi(h, h)


@ig.kernel(grid=N)
def remainders(x: In[f32, N], y: In[f32, N], z: Out[f32, N], w: Out[f32, N]) -> None:
    i = ig.gid()
    z[i] = x[i] % y[i]
    w[i] = x[i] // y[i]


@ig.kernel(grid=N)
def compared(x: In[i32, N], u: In[u32, N], y: Out[i32, N]) -> None:
    i = ig.gid()
    a = i64(x[i])
    b = i64(u[i])
    n = i32(0)
    if a < b:
        n += 1
    if a - 1 < b - 4294967295:
        n += 2
    if min(a, b) == a and max(a, b) != a:
        n += 4
    if -5 <= a < 5 or (a & b) == 3:
        n += 8
    y[i] = n


@ig.kernel(grid=N)
def hidden(half_bits: In[f32, N], is_nan_f32: In[f32, N], half_value: Out[f16, N], minimum_f32: Out[f32, N]) -> None:
    """Names of functions that the text has."""
    i = ig.gid()
    add_overflows_i32 = min(half_bits[i], is_nan_f32[i])
    f16_bits = i32(i) + 7
    half_value[i] = f16(add_overflows_i32)
    minimum_f32[i] = f32(f16_bits) + add_overflows_i32
