"""Reductions in the 256-wide tree, bit for bit on every tier, and each recorded wrong order told apart."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from isogrid import In, f32, f64, i32, i64, u64, w32
from isogrid.dims import N
from isogrid.traps import KernelOverflowError

_CASES = json.loads((Path(__file__).parent / "data" / "tree_reduction_cases.json").read_text())


@ig.offload(parallel="require")
def plus(x: In[f32, N], s: f32) -> f32:
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def times(x: In[f32, N], s: f32) -> f32:
    for v in x:
        s *= v
    return s


@ig.offload(parallel="require")
def least(x: In[f32, N], s: f32) -> f32:
    for i in range(len(x)):
        s = min(s, x[i])
    return s


@ig.offload(parallel="require")
def most(x: In[f32, N], s: f32) -> f32:
    for i in range(len(x)):
        s = max(x[i], s)
    return s


def _function(op: str, device: str) -> Any:
    return {"+": plus, "*": times, "min": least, "max": most}[op].on(device)


def _u24(i: Any) -> Any:
    h = (i.astype(np.uint64) * 2654435761 + 12345) % 2**32
    h ^= h >> np.uint64(16)
    h = (h * 2246822519) % 2**32
    h ^= h >> np.uint64(13)
    return h >> np.uint64(8)


@cache
def _input(name: str) -> Any:
    u = _u24(np.arange(65537)).astype(np.float64)
    value = u * 2000 / 16777216 - 1000 if name == "x" else 1 + (u / 16777216 - 0.5) / 64
    return value.astype(np.float32)


def _hex(value: float) -> str:
    return np.float32(value).view(np.uint32).item().to_bytes(4, "big").hex()


def _from_hex(text: str | list[str]) -> Any:
    many = [text] if isinstance(text, str) else text
    return np.array([int(t, 16) for t in many], np.uint32).view(np.float32)


def test_the_inputs_are_those_of_the_cases() -> None:
    check = _CASES["check_inputs"]
    assert [_hex(v) for v in _input("x")[:8]] == check["x0_7"]
    assert [_hex(v) for v in _input("y")[:8]] == check["y0_7"]
    assert (_hex(_input("x")[65536]), _hex(_input("y")[65536])) == (check["x65536"], check["y65536"])


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
@pytest.mark.parametrize("case", _CASES["cases"], ids=lambda c: f"{c['n']}{c['op']}{c['init_kind']}")
def test_float_trees(case: dict[str, Any], device: str) -> None:
    values = _input(case["input"])[: case["n"]]
    result = _hex(_function(case["op"], device)(values, _from_hex(case["init_hex"])[0]))
    assert result == case["result_hex"]
    for name, wrong in case["wrong_orders"].items():
        assert wrong == case["result_hex"] or result != wrong, name


def test_every_wrong_order_is_told_apart_somewhere() -> None:
    told = {n for c in _CASES["cases"] for n, wrong in c["wrong_orders"].items() if wrong != c["result_hex"]}
    assert told == set(_CASES["cases"][0]["wrong_orders"])


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
@pytest.mark.parametrize("case", [c for c in _CASES["special"] if "contributions_hex" in c], ids=lambda c: c["name"])
def test_special_contributions(case: dict[str, Any], device: str) -> None:
    values, start = _from_hex(case["contributions_hex"]), _from_hex(case["init_hex"])[0]
    assert _hex(_function(case["op"], device)(values, start)) == case["result_hex"]


@ig.offload(parallel="require")
def two_statements_per_iteration(x: In[f32, N], s: f32, n: i64) -> f32:
    for i in range(n):
        s += x[i]
        s += x[1000 + i]
    return s


@ig.offload(parallel="require")
def conditional(x: In[f32, N], s: f32, n: i64) -> f32:
    for i in range(n):
        if x[i] > 0:
            s += x[i]
    return s


@ig.offload(parallel="require")
def nested_loop(x: In[f32, N], s: f32, n: i64) -> f32:
    for i in range(n):
        for j in range(3):
            s += x[3 * i + j]
    return s


@ig.offload(parallel="require")
def reverse_range(x: In[f32, N], s: f32, n: i64) -> f32:
    for i in range(n - 1, -1, -1):
        s += x[i]
    return s


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
@pytest.mark.parametrize("case", [c for c in _CASES["special"] if "body" in c], ids=lambda c: c["name"])
def test_special_bodies(case: dict[str, Any], device: str) -> None:
    functions = [two_statements_per_iteration, conditional, nested_loop, reverse_range]
    f = {g.definition.name: g for g in functions}[case["name"]].on(device)
    result = _hex(f(_input("x")[:2000], _from_hex(case["init_hex"])[0], case["n"]))
    assert result == case["result_hex"]
    assert result != case["wrong_hex"]


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
@pytest.mark.parametrize("op", ["+", "*", "min", "max"])
def test_no_iteration_leaves_every_start_value_alone(op: str, device: str) -> None:
    for text in ("80000000", "7f800000", "ff800000", "000116c2"):
        assert _hex(_function(op, device)(np.empty(0, np.float32), _from_hex(text)[0])) == text
    assert np.isnan(_function(op, device)(np.empty(0, np.float32), np.float32("nan")))


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
def test_nan_wins_and_minus_zero_is_less(device: str) -> None:
    values = np.array([1, np.nan, 2], np.float32)
    assert np.isnan(_function("min", device)(values, 5.0))
    assert np.isnan(_function("max", device)(values, 5.0))
    zeros = np.array([0.0, -0.0], np.float32)
    assert _hex(_function("min", device)(zeros, 0.0)) == "80000000"
    assert _hex(_function("max", device)(zeros, -0.0)) == "00000000"


# --- integers --------------------------------------------------------------------------------------------------------


@ig.offload(parallel="require")
def modular(x: In[w32, N]) -> tuple[w32, w32, w32, w32, w32]:
    total = w32(0)
    product = w32(1)
    both = w32(4294967295)
    any_bit = w32(0)
    odd = w32(0)
    for i in range(len(x)):
        total += x[i]
        product *= x[i] | w32(1)
        both &= x[i]
        any_bit |= x[i]
        odd ^= x[i]
    return total, product, both, any_bit, odd


@ig.offload(parallel="require")
def extremes(x: In[i32, N]) -> tuple[i32, i32, i32, i32, i32]:
    low = i32(2147483647)
    high = i32(-2147483648)
    both = i32(-1)
    any_bit = i32(0)
    odd = i32(0)
    for i in range(len(x)):
        low = min(low, x[i])
        high = max(high, x[i])
        both &= x[i]
        any_bit |= x[i]
        odd ^= x[i]
    return low, high, both, any_bit, odd


@ig.offload(parallel="require")
def checked_sum(x: In[i32, N], s: i32) -> i32:
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def checked_product(x: In[i32, N], s: i32) -> i32:
    for i in range(len(x)):
        s *= x[i]
    return s


@ig.offload(parallel="require")
def wide_sum(x: In[i64, N], s: i64) -> i64:
    for i in range(len(x)):
        s += x[i]
    return s


@ig.offload(parallel="require")
def unsigned_product(x: In[u64, N], s: u64) -> u64:
    for i in range(len(x)):
        s *= x[i]
    return s


@ig.offload(parallel="require")
def double_sum(x: In[f64, N], s: f64) -> f64:
    for i in range(len(x)):
        s += x[i]
    return s


def _integers(n: int) -> Any:
    i = np.arange(n, dtype=np.int64)
    return ((_u24(i).astype(np.int64) * 257 + i) % 2**32).astype(np.uint32).view(np.int32)


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
@pytest.mark.parametrize("case", [c for c in _CASES["integer_cases"] if c["n"] <= 1000], ids=lambda c: str(c["n"]))
def test_integer_cases(case: dict[str, Any], device: str) -> None:
    values = _integers(case["n"])
    expected = [case[name] % 2**32 for name in ("add", "mul_of_odd", "and", "or", "xor")]
    assert list(modular.on(device)(values.view(np.uint32))) == expected
    names = ("min", "max", "and", "or", "xor")
    assert list(extremes.on(device)(values)) == [case[name] for name in names]
    exact = int(values.astype(np.int64).sum())
    if -(2**31) <= exact < 2**31:
        assert checked_sum.on(device)(values, 0) == exact
    else:
        with pytest.raises(KernelOverflowError, match="the total of `s` does not fit i32"):
            checked_sum.on(device)(values, 0)


def test_large_integer_cases() -> None:
    (case,) = [c for c in _CASES["integer_cases"] if c["n"] == 65537]
    assert next(iter(modular.on("cpu")(_integers(65537).view(np.uint32)))) == case["add"] % 2**32


@pytest.mark.parametrize("device", ["cpu", "interp", "cuda"])
def test_only_the_true_total_counts(device: str) -> None:
    most, least_ = 2**31 - 1, -(2**31)
    add = checked_sum.on(device)
    assert add(np.array([most, 1, -1], np.int32), 0) == most
    assert add(np.array([1] * 300, np.int32), most - 300) == most
    assert add(np.array([most] * 300 + [-most] * 300, np.int32), -5) == -5
    for values, start in (([1], most), ([-1], least_), ([most] * 300, 0)):
        with pytest.raises(KernelOverflowError):
            add(np.array(values, np.int32), start)
    multiply = checked_product.on(device)
    assert multiply(np.array([65536] * 40 + [0], np.int32), 7) == 0
    assert multiply(np.array([-2] * 31, np.int32), 1) == least_
    assert multiply(np.array([1, -1, 3], np.int32), 5) == -15
    for values in ([2] * 31, [65536, -65536], [-2] * 32):
        with pytest.raises(KernelOverflowError, match="the total of `s` does not fit i32"):
            multiply(np.array(values, np.int32), 1)
    wide = wide_sum.on(device)
    assert wide(np.array([2**62] * 3 + [-(2**62)] * 3, np.int64), 9) == 9
    assert wide(np.array([-(2**62)] * 2, np.int64), 0) == -(2**63)
    with pytest.raises(KernelOverflowError):
        wide(np.array([2**62, 2**62], np.int64), 0)
    big = unsigned_product.on(device)
    assert big(np.array([2**32, 2**31, 1], np.uint64), 1) == 2**63
    assert big(np.array([3, 5], np.uint64), 2**60) == 15 * 2**60
    with pytest.raises(KernelOverflowError):
        big(np.array([2**32, 2**32], np.uint64), 1)


@pytest.mark.parametrize("n", [1, 255, 256, 257, 700])
def test_double_sums_agree_with_the_rule(n: int) -> None:
    values = np.random.default_rng(n).normal(0, 1e6, n)
    expected = 0.25 + _tree(values)
    assert double_sum.on("cpu")(values, 0.25) == expected
    assert double_sum.reference(values, 0.25) == expected


def _tree(values: Any) -> float:
    """The rule in NumPy."""
    while True:
        blocks = -(-len(values) // 256)
        padded = np.full(blocks * 256, -0.0)
        padded[: len(values)] = values
        slots = padded.reshape(blocks, 256)
        stride = 128
        while stride:
            slots = slots[:, :stride] + slots[:, stride : 2 * stride]
            stride //= 2
        values = slots[:, 0]
        if blocks == 1:
            return float(values[0])
