"""Emitted code against the interpreter: control flow, regions, collectives, atomics, traps."""

import numpy as np
import pytest
from tests.cpu.agree import agree

MANDELBROT = """
kernel mandelbrot
  dims H, W
  scalar limit: i32
  Out out: i32[#H, #W]
  grid #H, #W
  block 1, 64
  body:
    row:i64 = gid(0)
    col:i64 = gid(1)
    cx:f32 = (f32(col) * 0.25:f32) - 2.0:f32
    cy:f32 = (f32(row) * 0.25:f32) - 1.0:f32
    x:f32 = 0.0:f32
    y:f32 = 0.0:f32
    n:i32 = 0:i32
    while (n < $limit) and (((x * x) + (y * y)) <= 4.0:f32):
      t:f32 = ((x * x) - (y * y)) + cx
      y = ((2.0:f32 * x) * y) + cy
      x = t
      n = n +! 1:i32
    out[row!, col!] = n
"""


@pytest.mark.parametrize("shape", [(1, 1), (3, 16), (5, 37)])
def test_divergent_loop(shape: tuple[int, int]) -> None:
    out, _ = agree(MANDELBROT, {"out": np.zeros(shape, np.int32)}, {"H": shape[0], "W": shape[1]}, shape, {"limit": 30})
    assert out["out"].max() <= 30


REDUCE = """
kernel reduce grouped
  dims N, G
  In x: f32[#N]
  Out out: f32[#G]
  groups #G
  block 32
  shared s: f32[32]
  body:
    l:i64 = lid(0)
    i:i64 = gid(0)
    if i < #N:
      s[l!] = x[i!]
    barrier
    h:i64 = 16
    while h > 0:
      if l < h:
        s[l!] = s[l!] + s[(l +! h)!]
      barrier
      h = h //! 2
    if l == 0:
      out[group_id(0)!] = s[0!]
"""


@pytest.mark.parametrize("n", [1, 32, 33, 95])
def test_tree_reduction(n: int) -> None:
    groups = -(-n // 32)
    x = np.random.default_rng(0).random(n, np.float32)
    agree(REDUCE, {"x": x, "out": np.zeros(groups, np.float32)}, {"N": n, "G": groups}, (groups,))


MATMUL = """
kernel matmul grouped
  dims N
  In a: f32[#N, #N]
  In b: f32[#N, #N]
  Out c: f32[#N, #N]
  grid #N, #N
  block 8, 8
  shared p: f32[8, 8]
  shared q: f32[8, 8]
  body:
    ty:i64 = lid(0)
    tx:i64 = lid(1)
    row:i64 = gid(0)
    col:i64 = gid(1)
    acc:f32 = 0.0:f32
    for t:i64 in range(0, (#N +! 7) //! 8, 1):
      k:i64 = t *! 8
      p[ty!, tx!] = a[row!, (k +! tx)!] if ((row < #N) and ((k +! tx) < #N)) else 0.0:f32
      q[ty!, tx!] = b[(k +! ty)!, col!] if ((col < #N) and ((k +! ty) < #N)) else 0.0:f32
      barrier
      for j:i64 in range(0, 8, 1):
        acc = acc + (p[ty!, j!] * q[j!, tx!])
      barrier
    if (row < #N) and (col < #N):
      c[row!, col!] = acc
"""


@pytest.mark.parametrize("n", [1, 8, 13])
def test_tiled_matmul(n: int) -> None:
    r = np.random.default_rng(1)
    a, b = r.random((n, n), np.float32), r.random((n, n), np.float32)
    agree(MATMUL, {"a": a, "b": b, "c": np.zeros((n, n), np.float32)}, {"N": n}, (n, n))


LOOPS = """
kernel loops
  dims N
  In x: i64[#N]
  Out out: i64[#N]
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    s:i64 = 0
    for j:i64 in range(0, x[i!], 1):
      if (j %! 3) == 1:
        continue
      if j > 20:
        break
      for k:i64 in range(j, 0, -1):
        if k == 7:
          break
        s = s +! k
      if s > 500:
        out[i!] = -1
        return
    out[i!] = s
"""


def test_breaks_and_continues() -> None:
    x = np.random.default_rng(2).integers(0, 40, 77)
    agree(LOOPS, {"x": x, "out": np.zeros(77, np.int64)}, {"N": 77}, (77,))


SCOPES = """
kernel scopes
  dims N
  In x: i32[#N]
  InOut out: i32[#N]
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    r:i32 = 0:i32
    scope find:
      for j:i32 in range(0:i32, 10:i32, 1:i32):
        if (x[i!] +! j) == 12:i32:
          r = j
          leave find
      r = -1:i32
    if r < 0:i32:
      return
    out[i!] = r
"""


def test_leave_from_loops() -> None:
    x = np.arange(50, dtype=np.int32)
    agree(SCOPES, {"x": x, "out": np.full(50, 99, np.int32)}, {"N": 50}, (50,))


TRAPS = """
kernel traps
  dims N
  In x: i32[#N]
  In at: i64[#N]
  InOut out: i32[#N]
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    v:i32 = x[at[i!]!] +! 1:i32
    if v > 5:i32:
      out[i!] = (100:i32 //! (v -! 50:i32)) *! v
"""


@pytest.mark.parametrize(
    ("place", "at", "value"),
    [(40, 40, 5), (17, 99, 0), (17, -1, 0), (30, 30, 2**31 - 1), (0, 0, 49), (69, 69, -(2**31)), (5, 5, 200)],
)
def test_first_trap(place: int, at: int, value: int) -> None:
    n = 70
    x, index = np.arange(n, dtype=np.int32) % 40, np.arange(n)
    x[place], index[place] = value, at
    agree(TRAPS, {"x": x, "at": index, "out": np.zeros(n, np.int32)}, {"N": n}, (n,))


GROUP_TRAPS = """
kernel group_traps grouped
  dims N
  In x: i32[#N]
  InOut out: i32[#N]
  groups 3
  block 24
  shared s: i32[24]
  body:
    l:i64 = lid(0)
    i:i64 = gid(0)
    s[l!] = x[i!] +! 1:i32
    u:i64 = group_id(0)
    if l < 10:
      s[l!] = 7:i32 //! s[l!]
    barrier
    out[i!] = s[(23 -! l)!] *! x[i!]
"""


@pytest.mark.parametrize(
    "faults", [{}, {30: -1, 45: 2**31 - 1}, {45: 2**31 - 1}, {47: 2**31 - 1, 26: -1}, {2: 100000, 21: 100000}, {71: -1}]
)
def test_first_trap_of_a_group(faults: dict[int, int]) -> None:
    x = np.arange(72, dtype=np.int32) + 3
    for place, value in faults.items():
        x[place] = value
    agree(GROUP_TRAPS, {"x": x, "out": np.zeros(72, np.int32)}, {"N": 72}, (3,))


COLLECT = """
kernel collect grouped
  dims N
  In x: {t}[#N]
  InOut out: {t}[4, #N]
  InOut all: bool[2]
  groups 1
  block {block}
  body:
    i:i64 = lid(0)
    v:{t} = x[i!]
    a:{t} = group_sum!(v)
    b:{t} = group_max(v)
    c:{t} = group_scan!(v)
    e:{t} = group_scan!(v, exclusive)
    f:bool = group_any(i == 3)
    g:bool = group_all(i < #N)
    out[0!, i!] = a
    out[1!, i!] = b
    out[2!, i!] = c
    out[3!, i!] = e
    if i == 0:
      all[0!] = f
      all[1!] = g
"""


@pytest.mark.parametrize(
    ("kind", "block"),
    [
        ("f32", 1),
        ("f32", 33),
        ("f32", 100),
        ("f64", 7),
        ("i32", 16),
        ("i64", 33),
        ("u32", 1),
        ("u64", 100),
        ("w32", 33),
        ("w64", 7),
    ],
)
def test_collectives(kind: str, block: int) -> None:
    type = np.dtype({"w": "u", "f": "f", "i": "i", "u": "u"}[kind[0]] + str(int(kind[1:]) // 8))
    x = (np.random.default_rng(3).random(block) * 1000 - (500 if kind[0] in "fi" else 0)).astype(type)
    if kind[0] == "w":
        x *= type.type(2**31 - 1)
    text = COLLECT.format(t=kind, block=block)
    arrays = {"x": x, "out": np.zeros((4, block), type), "all": np.zeros(2, np.bool_)}
    agree(text, arrays, {"N": block}, (1,), widths=(None, 4), optimised=(True,))


@pytest.mark.parametrize("kind", ["i32", "i64", "u32", "u64"])
@pytest.mark.parametrize("sign", [1, -1])
def test_collective_totals(kind: str, sign: int) -> None:
    type = np.dtype(kind[0] + str(int(kind[1:]) // 8))
    if kind[0] == "u" and sign < 0:
        return
    x = np.full(20, sign * (np.iinfo(type).max // 7), type)
    arrays = {"x": x, "out": np.zeros((4, 20), type), "all": np.zeros(2, np.bool_)}
    text = COLLECT.format(t=kind, block=20)
    _, words = agree(text, arrays, {"N": 20}, (1,), widths=(None, 1))
    assert "group_sum" in words
    _, words = agree(text.replace("group_sum!(v)", "v"), arrays, {"N": 20}, (1,), widths=(None,))
    assert "group_scan" in words
    if sign > 0:
        x[:] = 0
        x[17:19] = np.iinfo(type).max
        scan = COLLECT.format(t=kind, block=20).replace("group_sum!(v)", "v").replace("group_scan!(v)\n", "v\n")
        _, words = agree(scan, arrays, {"N": 20}, (1,), widths=(None, 1), optimised=(True,))
        assert "thread 19" in words
        x[18], x[19] = 0, np.iinfo(type).max
        _, words = agree(scan, arrays, {"N": 20}, (1,), widths=(None, 1), optimised=(True,))
        assert not words


HISTOGRAM = """
kernel histogram grouped
  dims N
  In x: i32[#N]
  InOut out: {t}[8]
  groups 2
  block 40
  shared s: {t}[8]
  body:
    l:i64 = lid(0)
    i:i64 = gid(0)
    atomic_add!(s[x[i!]!], {v}:{t})
    barrier
    if l < 8:
      atomic_add!(out[l!], s[l!])
"""


@pytest.mark.parametrize(
    ("kind", "value"), [("i32", "1"), ("i32", "2000000000"), ("u64", "9000000000000000000"), ("i64", "-4")]
)
def test_atomics(kind: str, value: str) -> None:
    x = (np.arange(80, dtype=np.int32) * 7) % 8
    out = np.zeros(8, np.dtype(kind[0] + str(int(kind[1:]) // 8)))
    agree(HISTOGRAM.format(t=kind, v=value).replace("max!", "max"), {"x": x, "out": out}, {"N": 80}, (2,))


RETURNS = """
kernel returns grouped
  dims N
  In x: i32[#N]
  InOut out: i32[#N]
  groups 2
  block 40
  shared s: i32[40]
  body:
    l:i64 = lid(0)
    i:i64 = gid(0)
    s[l!] = x[i!]
    barrier
    total:i32 = 0:i32
    for j:i64 in range(0, 5, 1):
      v:i32 = s[((l +! j) %! 40)!]
      if v == 7:i32:
        return
      total = total +! v
    out[i!] = total
    if l == 3:
      out[i!] = -1:i32
    if l < 20:
      out[i!] = out[i!] +! 1:i32
"""


def test_return_from_a_loop_behind_a_barrier() -> None:
    x = np.arange(80, dtype=np.int32) % 23
    agree(RETURNS, {"x": x, "out": np.full(80, 99, np.int32)}, {"N": 80}, (2,))


QUOTIENTS = """
kernel quotients
  dims N
  In x: i64[#N]
  Out out: i64[#N]
  scalar span: i64
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    q:i64 = i //! $span
    r:i64 = i %! $span
    far:i64 = x[((r + q) %! #N)!]
    out[i!] = ((far *! 3) +! (x[i!] //! 7)) +! (i //! 32)
"""


@pytest.mark.parametrize("span", [1, 3, 16, 20, 64, 1000])
def test_quotients_of_lanes(span: int) -> None:
    x = np.random.default_rng(6).integers(-(2**52), 2**60, 150)
    x[::2] &= 0xFFFF
    agree(QUOTIENTS, {"x": x, "out": np.zeros(150, np.int64)}, {"N": 150}, (150,), {"span": span}, optimised=(True,))


LOCALS = """
kernel locals grouped
  dims N
  In x: f32[#N]
  InOut out: f32[#N]
  groups 2
  block 2, 20
  body:
    l:i64 = lid(1) +! (lid(0) *! 20)
    i:i64 = l +! (group_id(0) *! 40)
    local a: f32[4]
    k:i64 = 0
    while k < 4:
      a[((k +! l) %! 4)!] = x[i!] + f32(k)
      k = k +! 1
    barrier
    s:f32 = 0.0:f32
    for j:i64 in range(0, 4, 1):
      s = (s * 2.0:f32) + a[j!]
    out[i!] = s
"""


def test_local_arrays() -> None:
    x = np.random.default_rng(5).random(80, np.float32)
    text = LOCALS.replace("groups 2", "groups 2, 1").replace("group_id(0) *! 40", "group_id(0) *! 40")
    agree(text, {"x": x, "out": np.zeros(80, np.float32)}, {"N": 80}, (2, 1))


WRAPPING = """
kernel wrapping
  dims N
  Out out: w32[#N]
  scalar shift: w32
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    k:w32 = w32(i) + $shift
    out[i!] = ((k // 100:w32) * 1000:w32) + ((k % 48:w32) ^ (k >>! 5:w32))
"""


def test_quotients_of_lanes_that_wrap() -> None:
    out = np.zeros(200, np.uint32)
    agree(WRAPPING, {"out": out}, {"N": 200}, (200,), {"shift": 2**32 - 75}, optimised=(True,))


SPACED = """
kernel spaced
  dims N, M
  In x: {t}[#M]
  Out out: {t}[#N]
  grid #N
  block 64
  body:
    i:i64 = gid(0)
    out[i!] = x[((i *! {s}) +! 1)!]
"""


@pytest.mark.parametrize(("kind", "stride"), [("f32", 2), ("w64", 3), ("bool", 4)])
def test_spaced_loads(kind: str, stride: int) -> None:
    type = {"f32": np.float32, "w64": np.uint64, "bool": np.bool_}[kind]
    n = 53
    x = (np.random.default_rng(7).random((n - 1) * stride + 2) * 2).astype(type)
    text = SPACED.format(t=kind, s=stride)
    agree(text, {"x": x, "out": np.zeros(n, type)}, {"N": n, "M": len(x)}, (n,))
