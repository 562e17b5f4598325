"""Values whose calls go straight to the builtin in their slot `__call__`: `class Kernel(DirectlyCalled)`.

Python looks for `__call__` in the class, binds it, makes a tuple of the arguments and calls what it found: half of what
a launch on a GPU costs above its driver, which leaves none of this code in the nearest cache. Types made in C may have
a function for calls in each instance instead (PEP 590). A class written in Python may not say so itself; here its base
class, made from a description, has room for the function, and one bit of the class says that it is there. While an
instance has none, which is how it begins, Python does what it always does.
"""

import ctypes
import types
from typing import TYPE_CHECKING, Any, Final

from isogrid.support.builtin_function import FASTCALL, KEYWORDS
from isogrid.support.native_type import SIGNED_SIZE, Member, native_type

#: Bytes from an object's start to the function, and to the slot of the first class below that has one.
_FUNCTION: Final = object.__basicsize__
_SLOT: Final = _FUNCTION + 8
#: `tp_vectorcall_offset` and `tp_flags` in a type, and the flag.
_OFFSET_PLACE: Final = 56
_FLAGS_PLACE: Final = 168
_HAS_FUNCTION: Final = 1 << 11


def _is_laid_out() -> bool:
    """Whether types lie in memory as is assumed here: some say so."""
    some: tuple[Any, ...] = (type, int, types.FunctionType, types.BuiltinFunctionType, DirectlyCalled)
    for known in some:
        if ctypes.c_uint32.from_address(id(known) + _FLAGS_PLACE).value != known.__flags__ & 0xFFFFFFFF:
            return False
    # A builtin has its definition, self, module and weak references before its own function.
    places = {types.BuiltinFunctionType: _FUNCTION + 4 * 8, DirectlyCalled: _FUNCTION}
    return all(ctypes.c_ssize_t.from_address(id(t) + _OFFSET_PLACE).value == place for t, place in places.items())


def _made() -> Any:
    members = (Member(b"__vectorcalloffset__", SIGNED_SIZE, _FUNCTION, read_only=True),)
    return native_type("isogrid.support.direct_call.HasFunction", _SLOT, members)


class Plain:
    """Where there is nothing of the kind."""

    __slots__ = ()


class _OfCalled(type):
    """The class of such classes: one that gets another `__call__`, as for a test, is called as ever from then on.

    Python sees to that itself from 3.12 on.
    """

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        _call_changed(cls, name)

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        _call_changed(cls, name)


def _call_changed(cls: type, name: str) -> None:
    if name == "__call__" and cls.__flags__ & _HAS_FUNCTION:
        ctypes.c_uint32.from_address(id(cls) + _FLAGS_PLACE).value &= ~_HAS_FUNCTION


_HasFunction: Final = _made()
if TYPE_CHECKING:

    class DirectlyCalled(Plain, metaclass=_OfCalled):
        """The base of classes whose instances may have a function for calls."""

elif _HasFunction is None:
    DirectlyCalled = Plain
else:

    class DirectlyCalled(_HasFunction, metaclass=_OfCalled):
        __slots__ = ()


_SUPPORTED: Final = DirectlyCalled is not Plain and object.__basicsize__ == 16 and _is_laid_out()


class _Entry:
    """The address of `enter`, 0 while no device has loaded it."""

    address = 0


def calls_directly(cls: type) -> None:
    """Let instances of the class be called by the function that they have. Its first slot is `__call__`."""
    if _SUPPORTED and ctypes.c_ssize_t.from_address(id(cls) + _OFFSET_PLACE).value == _FUNCTION:
        place = ctypes.c_uint32.from_address(id(cls) + _FLAGS_PLACE)
        place.value |= _HAS_FUNCTION


def wants_entry() -> bool:
    """Whether a device should load the text and say where it is."""
    return _SUPPORTED and not _Entry.address


def enter_at(address: int) -> None:
    """Machine code of `entry_text` is at this address, for ever."""
    _Entry.address = address


def put_call(value: Any, call: Any) -> None:
    """Set the slot, and let what is there be entered directly if it is a builtin."""
    object.__setattr__(value, "__call__", call)
    if _SUPPORTED and _Entry.address and isinstance(value, DirectlyCalled):
        ctypes.c_void_p.from_address(id(value) + _FUNCTION).value = _Entry.address


def entry_text() -> str:
    """LLVM text of `enter`. A builtin that takes a vector of arguments and names, as launch stubs do, is called as
    CPython calls it, and held meanwhile; whatever else the slot holds is left to CPython."""
    method, self = object.__basicsize__, object.__basicsize__ + 8
    return f"""@PyCFunction_Type = external global i8
@PyExc_TypeError = external global ptr
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_SetNone(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)

define ptr @enter(ptr %value, ptr %arguments, i64 %flagged, ptr %keywords) {{
  %slot = getelementptr i8, ptr %value, i64 {_SLOT}
  %call = load ptr, ptr %slot
  %gone = icmp eq ptr %call, null
  br i1 %gone, label %empty, label %look, !prof !0
look:
  %type.at = getelementptr i8, ptr %call, i64 8
  %type = load ptr, ptr %type.at
  %builtin = icmp eq ptr %type, @PyCFunction_Type
  br i1 %builtin, label %read, label %other, !prof !1
read:
  %method.at = getelementptr i8, ptr %call, i64 {method}
  %method = load ptr, ptr %method.at
  %flags.at = getelementptr i8, ptr %method, i64 16
  %flags = load i32, ptr %flags.at
  %vector = icmp eq i32 %flags, {FASTCALL | KEYWORDS}
  %count = load i32, ptr %call
  %mortal = icmp sgt i32 %count, 0
  %usual = and i1 %vector, %mortal
  br i1 %usual, label %go, label %other, !prof !1
go:
  %held = add i32 %count, 1
  store i32 %held, ptr %call
  %self.at = getelementptr i8, ptr %call, i64 {self}
  %self = load ptr, ptr %self.at
  %code.at = getelementptr i8, ptr %method, i64 8
  %code = load ptr, ptr %code.at
  %given = and i64 %flagged, {(1 << 63) - 1}
  %result = call ptr %code(ptr %self, ptr %arguments, i64 %given, ptr %keywords)
  %now = load i32, ptr %call
  %last = icmp eq i32 %now, 1
  br i1 %last, label %drop, label %less, !prof !0
less:
  %left = sub i32 %now, 1
  store i32 %left, ptr %call
  ret ptr %result
drop:
  call void @Py_DecRef(ptr %call)
  ret ptr %result
other:
  call void @Py_IncRef(ptr %call)
  %theirs = call ptr @PyObject_Vectorcall(ptr %call, ptr %arguments, i64 %flagged, ptr %keywords)
  call void @Py_DecRef(ptr %call)
  ret ptr %theirs
empty:
  %error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetNone(ptr %error)
  ret ptr null
}}
!0 = !{{!"branch_weights", i32 1, i32 2000}}
!1 = !{{!"branch_weights", i32 2000, i32 1}}
"""
