"""What every launch stub has around its own code: the words that `self` holds, the way in, and the ways out.

    stub(self = (words, slow, ...), arguments, given, names)   ->   nothing new to see   ->   own code   ->   None

The machine code of a text is kept on disk, so no text holds an address: they are all words.
"""

import sys
from typing import Final

#: Words of the description that `self` holds, by name: those of a bound launch first, in as few lines of the cache.
WORDS: Final = (
    "busy",
    "launch",
    "function",
    "packed",
    "blocks",
    "threads",
    "shared",
    "array",
    "pending",
    "none",
    "exchange",
    "context",
    "enter",
    "current",
)


def frame_text(count: int, slots: int, body: str) -> str:
    """The function around the code that reads `count` arguments and starts a launch with so many parameters. What the
    driver does empties the nearest cache, so the way there touches little and calls nothing."""
    return _FRAME.format(
        count=count,
        slots=slots,
        passed=2 + count,
        body=body,
        busy=WORDS.index("busy"),
        item=first_item_offset(),
        content=bytes_offset(),
        none=_count_none(),
        elsewhere=_elsewhere_text(),
    )


def first_item_offset() -> int:
    """Bytes from a tuple's start to its items."""
    return tuple.__basicsize__


def bytes_offset() -> int:
    """Bytes from the start of a `bytes` object to its content; a zero stands behind it."""
    return bytes.__basicsize__ - 1


def _count_none() -> str:
    """One more reference to None, which needs none where it is immortal."""
    if sys.version_info >= (3, 12):
        return ""
    return """  %count = load i64, ptr @_Py_NoneStruct
  %more = add i64 %count, 1
  store i64 %more, ptr @_Py_NoneStruct"""


_FRAME: Final = """@PyFloat_Type = external global i8
@PyLong_Type = external global i8
@_Py_NoneStruct = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8
@_Py_NotImplementedStruct = external global i8
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare ptr @PyLong_FromLongLong(i64)
declare void @Py_DecRef(ptr)
declare {{i64, i1}} @llvm.sadd.with.overflow.i64(i64, i64)
declare {{i64, i1}} @llvm.ssub.with.overflow.i64(i64, i64)
declare {{i64, i1}} @llvm.smul.with.overflow.i64(i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)

define ptr @stub(ptr %self, ptr %arguments, i64 %given, ptr %keywords) {{
entry:
  %slots = alloca [{slots} x i64], align 16
  %pointers = alloca [{slots} x ptr], align 16
  %over = alloca i32
  %out = alloca [6 x i64], align 16
  %passed = alloca [{passed} x ptr], align 16
  %stream = alloca ptr
  %item = getelementptr i8, ptr %self, i64 {item}
  %description = load ptr, ptr %item
  %words = getelementptr i8, ptr %description, i64 {content}
  %positional = icmp eq ptr %keywords, null
  %all = icmp eq i64 %given, {count}
  %usual = and i1 %positional, %all
  br i1 %usual, label %quiet, label %slow, !prof !0
quiet:
  %busy.place = getelementptr i64, ptr %words, i64 {busy}
  %busy.pointer = load ptr, ptr %busy.place
  %busy = load volatile i64, ptr %busy.pointer
  %free = icmp eq i64 %busy, 0
  br i1 %free, label %read, label %slow, !prof !0
read:
{body}
{none}
  ret ptr @_Py_NoneStruct
slow:
  %slow.callable = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %result = call ptr @PyObject_Vectorcall(ptr %slow.callable, ptr %arguments, i64 %given, ptr %keywords)
  ret ptr %result
}}
{elsewhere}
!0 = !{{!"branch_weights", i32 2000, i32 1}}
"""


def _elsewhere_text() -> str:
    """A launch that the driver has refused, once more in the context of the device if the thread is in another one,
    where it then is again. A thread that was in none stays, as everywhere. Asking for the context before each launch
    would cost every launch of a machine with several devices what this costs those that change."""
    return f"""
define internal i1 @elsewhere(ptr %words, i32 %grid, i32 %threads, i32 %shared, ptr %stream, ptr %pointers) noinline {{
entry:
  %before = alloca ptr
{_words_read("context", "enter", "current", "launch", "function")}
  %only = icmp eq ptr %context, null
  br i1 %only, label %no, label %ask
ask:
  %asked = call i32 %current(ptr %before)
  %told = icmp eq i32 %asked, 0
  %there = load ptr, ptr %before
  %other = icmp ne ptr %there, %context
  %away = and i1 %told, %other
  br i1 %away, label %go, label %no
go:
  %entered = call i32 %enter(ptr %context)
  %here = icmp eq i32 %entered, 0
  br i1 %here, label %again, label %no
again:
  %rc = call i32 %launch(ptr %function, i32 %grid, i32 1, i32 1, i32 %threads, i32 1, i32 1, i32 %shared, ptr %stream,
                         ptr %pointers, ptr null)
  %done = icmp eq i32 %rc, 0
  %none = icmp eq ptr %there, null
  br i1 %none, label %stay, label %back
back:
  %left = call i32 %enter(ptr %there)
  br label %stay
stay:
  ret i1 %done
no:
  ret i1 false
}}"""


def _words_read(*names: str) -> str:
    return "\n".join(
        f"  %{name}.at = getelementptr i64, ptr %words, i64 {WORDS.index(name)}\n"
        f"  %{name} = load {'i32' if name in _NUMBERS else 'ptr'}, ptr %{name}.at"
        for name in names
    )


#: Words that are no addresses.
_NUMBERS: Final = ("blocks", "threads", "shared")


def bound_text() -> str:
    """A call without arguments: only the state of the device is looked at. The same text serves every kernel."""
    sizes = "i32 %blocks, i32 1, i32 1, i32 %threads, i32 1, i32 1, i32 %shared"
    body = f"""{_words_read("launch", "function", *_NUMBERS, "packed")}
  %rc = call i32 %launch(ptr %function, {sizes}, ptr null, ptr %packed, ptr null)
  %done = icmp eq i32 %rc, 0
  br i1 %done, label %fine, label %refused, !prof !0
refused:
  %again = call i1 @elsewhere(ptr %words, i32 %blocks, i32 %threads, i32 %shared, ptr null, ptr %packed)
  br i1 %again, label %fine, label %slow
fine:"""
    return frame_text(0, 1, body).replace("@stub(", "@bound(")
