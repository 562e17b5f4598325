"""Text of both IRs: exact on examples, read back to an equal kernel on random ones, faults with the line."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, seed, settings

from isogrid.ir import device as d
from isogrid.ir import kernel as k
from isogrid.ir.parse import parse_device, parse_kernel
from isogrid.ir.text import kernel_lines, print_kernel
from isogrid.ir.text_lines import float_bits, float_text
from isogrid.ir.tokens import IRSyntaxError
from isogrid.ir.types import Scalar
from isogrid.ir.verify import verify
from isogrid.ir.walk import visit
from tests.ir.examples import device_saxpy, saxpy
from tests.ir.strategies import device_kernels, kernels

RANDOM = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_kernel_ir_of_saxpy() -> None:
    assert (
        print_kernel(saxpy())
        == """\
kernel saxpy
  dims N
  scalar a: f32
  In x: f32[#N]
  InOut y: f32[#N]
  grid #N
  block 256
  body:
    i:i64 = gid(0)
    y[i!] = ($a * x[i!]) + y[i!]
"""
    )


def test_device_ir_of_saxpy() -> None:
    assert (
        print_kernel(device_saxpy())
        == """\
kernel saxpy
  dims N
  scalar a: f32
  In x: f32[#N]
  InOut y: f32[#N]
  grid #N
  block 256
  buffer x: f32 global In
  buffer y: f32 global InOut
  site 0: index "x" "0" (i64, i64) at "saxpy.py":9:7-9:8
  body:
    let i:i64 = thread(0)
    check ult(i, #N) site 0 (i, #N)
    let t:f32 = fmul($a, x[i])
    y[i] = fadd(t, y[i])
"""
    )


@RANDOM
@given(kernels())
def test_random_kernel_ir_is_well_formed_and_read_back(kernel: k.Kernel) -> None:
    verify(kernel)
    text = print_kernel(kernel)
    assert parse_kernel(text) == kernel, text


@RANDOM
@given(device_kernels())
def test_random_device_ir_is_well_formed_and_read_back(kernel: d.Kernel) -> None:
    verify(kernel)
    text = print_kernel(kernel)
    assert parse_device(text) == kernel, text


def test_empty_blocks_are_read_back() -> None:
    true = k.Const(1, Scalar.BOOL)
    body = (k.If(true, (), (k.Barrier(),)), k.If(true, ()), k.While((), true, ()), k.Scope("s", ()), k.Return())
    kernel = replace(saxpy(), body=body)
    assert parse_kernel(print_kernel(kernel)) == kernel


def test_the_random_kernels_hold_every_node_kind() -> None:
    """The two tests above prove nothing about a node that their generators never make. Rounds until all were made."""
    missing = set(get_args(k.Node) + get_args(d.Node))
    for number in range(12):

        @seed(number)
        @settings(RANDOM, max_examples=50, derandomize=False, database=None)
        @given(kernels(), device_kernels())
        def collect(kernel: k.Kernel, device: d.Kernel) -> None:
            missing.difference_update(type(node) for node in visit(kernel.body))
            missing.difference_update(type(node) for node in visit(device.body))

        collect()
        if not missing:
            return
    assert missing == set()


@pytest.mark.parametrize(
    ("bits", "width", "text"),
    [
        (0x3F800000, 32, "1.0"),
        (0x80000000, 32, "-0.0"),
        (0x7F800000, 32, "+inf"),
        (0x7FC00000, 32, "0x7fc00000"),
        (0x3DCCCCCD, 32, "0.1"),
        (0x7F7FFFFF, 32, "3.4028235e+38"),
        (0x00000001, 32, "1e-45"),
        (0x7FEFFFFFFFFFFFFF, 64, "1.7976931348623157e+308"),
        (0x3FB999999999999A, 64, "0.1"),
    ],
)
def test_floats_are_the_shortest_decimal_that_gives_their_bits(bits: int, width: int, text: str) -> None:
    assert float_text(bits, width) == text
    if not text.startswith("0x"):
        assert float_bits(text, width) == bits


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    i = 1", "line 9: the local 'i' has no type yet"),
        ("    i:i64 = $b", "no scalar parameter 'b'"),
        ("    i:i64 = 1.5:f32", "'i' is i64 and its value f32"),
        ("    i:i64 = sqrt(1)", "a function shows its type"),
        ("    q[0] = 1", "no array 'q'"),
        ("      break", "indented too far"),
        ("    break 3", "did not expect '3'"),
        ("    i:i64 = ?", "a character that is no token: '?'"),
        ("    whatever", "no statement starts with 'whatever'"),
        ("    y[0] = 1.5:bf16", "a bf16 is written as its bits"),
    ],
)
def test_faults_in_text_are_named(body: str, message: str) -> None:
    head = print_kernel(saxpy()).split("    i:i64")[0]
    with pytest.raises(IRSyntaxError, match=message.replace("'", ".").replace("?", r"\?")):
        parse_kernel(head + body + "\n")


def test_lines_know_their_place() -> None:
    assert [line.text for line in kernel_lines(saxpy())][-1] == "    y[i!] = ($a * x[i!]) + y[i!]"
    assert len(kernel_lines(device_saxpy())) == 15
