"""Hand-written range functions that obey the argument block, for tests of what is below the emitter."""

import ctypes
from typing import Any

import numpy as np

from isogrid.backends.cpu.loader import compile_object, load_object
from isogrid.backends.cpu.pool import Context

#: counts[i] += 1 for every unit, so that a unit that runs twice or never shows; unit `slot 3` traps if it is >= 0.
COUNT = """
define i64 @run(ptr %args, i64 %lo, i64 %hi) {
entry:
  %counts.slot = getelementptr ptr, ptr %args, i64 2
  %counts = load ptr, ptr %counts.slot
  %bad.slot = getelementptr i64, ptr %args, i64 3
  %bad = load i64, ptr %bad.slot
  br label %head
head:
  %i = phi i64 [ %lo, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %body, label %done
body:
  %place = getelementptr i32, ptr %counts, i64 %i
  %count = load i32, ptr %place
  %up = add i32 %count, 1
  store i32 %up, ptr %place
  %next = add i64 %i, 1
  br label %head
done:
  %below = icmp sle i64 %lo, %bad
  %above = icmp slt i64 %bad, %hi
  %inside = and i1 %below, %above
  %flag = zext i1 %inside to i64
  ret i64 %flag
}
"""

#: Divides in a chain for `slot 2` steps in every unit; out[i] (slot 3) is the result.
SLOW = """
define i64 @run(ptr %args, i64 %lo, i64 %hi) {
entry:
  %steps.slot = getelementptr i64, ptr %args, i64 2
  %steps = load i64, ptr %steps.slot
  %out.slot = getelementptr ptr, ptr %args, i64 3
  %out = load ptr, ptr %out.slot
  br label %head
head:
  %i = phi i64 [ %lo, %entry ], [ %i.next, %unit.done ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %step, label %done
step:
  %k = phi i64 [ 0, %head ], [ %k.next, %step ]
  %v = phi double [ 1.0, %head ], [ %v.next, %step ]
  %v.next = fdiv double %v, 1.0000001
  %k.next = add i64 %k, 1
  %again = icmp slt i64 %k.next, %steps
  br i1 %again, label %step, label %unit.done
unit.done:
  %place = getelementptr double, ptr %out, i64 %i
  store double %v.next, ptr %place
  %i.next = add i64 %i, 1
  br label %head
done:
  ret i64 0
}
"""

#: Never ends by itself; looks at the interrupt flag.
ENDLESS = """
define i64 @run(ptr %args, i64 %lo, i64 %hi) {
entry:
  %flag.slot = getelementptr ptr, ptr %args, i64 1
  %flag = load ptr, ptr %flag.slot
  br label %loop
loop:
  %stop = load volatile i32, ptr %flag
  %stopped = icmp ne i32 %stop, 0
  br i1 %stopped, label %out, label %loop
out:
  ret i64 -1
}
"""

#: out[i] (slot 2) = the smallest subnormal double * 1, which is 0 where subnormals are flushed.
SUBNORMAL = """
define i64 @run(ptr %args, i64 %lo, i64 %hi) {
entry:
  %out.slot = getelementptr ptr, ptr %args, i64 2
  %out = load ptr, ptr %out.slot
  br label %head
head:
  %i = phi i64 [ %lo, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %hi
  br i1 %more, label %body, label %done
body:
  %place = getelementptr double, ptr %out, i64 %i
  %old = load double, ptr %place
  %half = fmul double %old, 0.5
  store double %half, ptr %place
  %next = add i64 %i, 1
  br label %head
done:
  ret i64 0
}
"""


def context(text: str, *, alignment: int = 64, polls: bool = False) -> Context:
    """Compile and load; the context is all that the pool wants."""
    code = load_object(compile_object(text, "vectorise"), ("run",))
    return Context(run=code["run"], precise=None, ticks_per_unit=0.0, alignment=alignment, polls=polls)


def block(*slots: Any) -> Any:
    """An argument block: arrays by address, numbers as they are."""
    values = [s.ctypes.data if isinstance(s, np.ndarray) else s for s in slots]
    return (ctypes.c_int64 * (2 + len(values)))(0, 0, *values)
