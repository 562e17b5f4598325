"""Tensors of PyTorch in launch stubs: their memory and their library's current stream by DLPack's exchange interface.

The interface is a table of C functions that a library hangs on its tensor class; what the stubs need of it stands in
`EXCHANGE`, which is filled when such a tensor first comes along, and is zero until then.
"""

import ctypes
import sys
from typing import Any, Final

#: The tensor class, the function that describes a tensor, the one that tells the current stream, and the name
#: `requires_grad` as an object.
EXCHANGE: Final = (ctypes.c_uint64 * 4)()

#: Words of the table (version 1.3) that hold the two functions.
_DESCRIBE: Final = 5
_CURRENT_STREAM: Final = 6
_NAME: Final = "requires_grad"
_CAPSULE: Final = b"dlpack_exchange_api"
_KEPT: Final[list[Any]] = []


def learn_exchange() -> None:
    """Fill `EXCHANGE` if PyTorch is loaded and has the interface."""
    torch = sys.modules.get("torch")
    tensor: Any = getattr(torch, "Tensor", None)
    capsule = getattr(tensor, "__dlpack_c_exchange_api__", None)
    if EXCHANGE[0] or capsule is None:
        return
    asks = ctypes.py_object, ctypes.c_char_p
    valid = ctypes.PYFUNCTYPE(ctypes.c_int, *asks)(("PyCapsule_IsValid", ctypes.pythonapi))
    if not valid(capsule, _CAPSULE):
        return
    address = ctypes.PYFUNCTYPE(ctypes.c_void_p, *asks)(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, _CAPSULE)
    major, minor = (ctypes.c_uint32 * 2).from_address(address or 0)
    if major != 1 or minor < 3:
        return
    table = (ctypes.c_uint64 * 7).from_address(address or 0)
    _KEPT.extend((tensor, capsule))
    EXCHANGE[1], EXCHANGE[2], EXCHANGE[3] = table[_DESCRIBE], table[_CURRENT_STREAM], id(_NAME)
    EXCHANGE[0] = id(tensor)


#: Reads a tensor: whether it is one, on the device, of the type and rank that are asked for, contiguous, and without a
#: gradient where it is written. Then address, number of elements and extents are in %out.
FOREIGN_TEXT: Final = """
declare ptr @PyObject_GetAttr(ptr, ptr)
declare void @PyErr_Clear()

define internal i1 @foreign(ptr %object, ptr %type, ptr %exchange, ptr %out, i32 %element, i32 %rank, i1 %writes,
                            i64 %device) noinline {
entry:
  %tensor = alloca [6 x i64], align 16
  %wanted = load ptr, ptr %exchange
  %known = icmp eq ptr %type, %wanted
  br i1 %known, label %ask, label %no
ask:
  br i1 %writes, label %grad, label %describe
grad:
  %name.at = getelementptr i64, ptr %exchange, i64 3
  %name = load ptr, ptr %name.at
  %answer = call ptr @PyObject_GetAttr(ptr %object, ptr %name)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %clear, label %judge
judge:
  %plain = icmp eq ptr %answer, @_Py_FalseStruct
  call void @Py_DecRef(ptr %answer)
  br i1 %plain, label %describe, label %no
describe:
  %function.at = getelementptr i64, ptr %exchange, i64 1
  %function = load ptr, ptr %function.at
  %rc = call i32 %function(ptr %object, ptr %tensor)
  %described = icmp eq i32 %rc, 0
  br i1 %described, label %look, label %clear
look:
  %device.at = getelementptr i8, ptr %tensor, i64 8
  %found.device = load i64, ptr %device.at
  %here = icmp eq i64 %found.device, %device
  %rank.at = getelementptr i8, ptr %tensor, i64 16
  %found.rank = load i32, ptr %rank.at
  %ranked = icmp eq i32 %found.rank, %rank
  %element.at = getelementptr i8, ptr %tensor, i64 20
  %found.element = load i32, ptr %element.at
  %typed = icmp eq i32 %found.element, %element
  %fits = and i1 %here, %ranked
  %right = and i1 %fits, %typed
  br i1 %right, label %measure, label %no
measure:
  %shape.at = getelementptr i8, ptr %tensor, i64 24
  %shape = load ptr, ptr %shape.at
  %strides.at = getelementptr i8, ptr %tensor, i64 32
  %strides = load ptr, ptr %strides.at
  %packed = icmp eq ptr %strides, null
  %wide = zext i32 %rank to i64
  br label %axis
axis:
  %left = phi i64 [ %wide, %measure ], [ %a, %next ]
  %size = phi i64 [ 1, %measure ], [ %product, %next ]
  %more = icmp ne i64 %left, 0
  br i1 %more, label %one, label %done
one:
  %a = sub i64 %left, 1
  %extent.at = getelementptr i64, ptr %shape, i64 %a
  %extent = load i64, ptr %extent.at
  %slot = add i64 %a, 2
  %extent.out = getelementptr i64, ptr %out, i64 %slot
  store i64 %extent, ptr %extent.out
  %product = mul i64 %size, %extent
  %single = icmp eq i64 %extent, 1
  %free = or i1 %packed, %single
  br i1 %free, label %next, label %stride
stride:
  %stride.at = getelementptr i64, ptr %strides, i64 %a
  %found.stride = load i64, ptr %stride.at
  %follows = icmp eq i64 %found.stride, %size
  br i1 %follows, label %next, label %no
next:
  br label %axis
done:
  %data = load i64, ptr %tensor
  %offset.at = getelementptr i8, ptr %tensor, i64 40
  %offset = load i64, ptr %offset.at
  %address = add i64 %data, %offset
  store i64 %address, ptr %out
  %size.out = getelementptr i64, ptr %out, i64 1
  store i64 %size, ptr %size.out
  ret i1 true
clear:
  call void @PyErr_Clear()
  br label %no
no:
  ret i1 false
}
"""
