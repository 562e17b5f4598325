"""Host facts, both compile pipelines, and loading of object code."""

import ctypes

import pytest

from isogrid.backends.cpu.loader import compile_object, compile_text, load_object
from isogrid.backends.cpu.target import host_target
from isogrid.support.errors import CompilerBug

SUM = """
define i64 @sum(ptr %values, i64 %count) {
entry:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %total = phi i64 [0, %entry], [%more, %loop]
  %place = getelementptr i64, ptr %values, i64 %i
  %value = load i64, ptr %place
  %more = add i64 %total, %value
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %count
  br i1 %again, label %loop, label %done
done:
  %result = phi i64 [0, %entry], [%more, %loop]
  ret i64 %result
}
"""


def test_target_facts_are_consistent() -> None:
    target = host_target()
    assert target is host_target()
    assert target.f32_lanes * 32 == target.vector_bits
    assert "e-" in target.data_layout


@pytest.mark.parametrize("pipeline", ["vectorise", "plain"])
def test_compile_and_load(pipeline: str) -> None:
    code = load_object(compile_object(SUM, pipeline), ("sum",))  # pyright: ignore[reportArgumentType]
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(code["sum"])
    values = (ctypes.c_int64 * 100)(*range(100))
    assert call(ctypes.addressof(values), 100) == 4950


def test_only_the_vectorising_pipeline_vectorises() -> None:
    assert " x i64>" in compile_text(SUM, "vectorise", assembly=False)
    assert " x i64>" not in compile_text(SUM, "plain", assembly=False)


def test_strict_floats_are_not_contracted() -> None:
    text = """
    define double @f(double %a, double %b, double %c) {
      %p = fmul double %a, %b
      %s = fadd double %p, %c
      ret double %s
    }"""
    assert "fmadd" not in compile_text(text, "vectorise", assembly=True)


def test_rejected_text_is_a_compiler_bug() -> None:
    with pytest.raises(CompilerBug, match="LLVM rejects"):
        compile_object("define i64 @f() { ret i32 0 }", "plain")


def test_unresolved_symbol_is_a_compiler_bug() -> None:
    code = compile_object(
        "declare i64 @no_such_thing()\ndefine i64 @f() {\n %r = call i64 @no_such_thing()\n ret i64 %r\n}", "plain"
    )
    with pytest.raises(CompilerBug, match="does not load"):
        load_object(code, ("f",))
