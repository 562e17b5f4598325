"""The native launch stub of a kernel: a C-level Python function that checks the usual arguments, packs them and calls
the driver.

    saxpy(2.0, x, y)   ->   types, traits, equal sizes, no overlap, alignment, then cuLaunchKernel

Whatever is not plainly usual goes on to the launcher in Python with the same arguments, nothing having happened. What
a kernel that may trap needs besides, and what anything pending on the device asks for, is left to Python too, but with
the arguments checked and packed.
"""

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from isogrid.arrays import fields
from isogrid.arrays.array import Array
from isogrid.backends.cuda.host_code import load_function
from isogrid.backends.cuda.layout import CudaModule
from isogrid.backends.cuda.loader import Loaded
from isogrid.backends.cuda.stub_frame import WORDS, bound_text, frame_text
from isogrid.backends.cuda.tensors import EXCHANGE, FOREIGN_TEXT, learn_exchange
from isogrid.frontend.definition import ArrayDeclaration, Definition
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.support.builtin_function import FASTCALL, KEYWORDS, address_of, new_builtin
from isogrid.support.direct_call import enter_at, entry_text, wants_entry
from isogrid.support.records import dataclass

#: DLPack's numbers of kinds of elements, and of devices.
_DLPACK_KINDS: Final = {"i": 0, "u": 1, "f": 2, "b": 6}
_DLPACK_BFLOAT: Final = 4
_DLPACK_GPU: Final = 2
_SMALL_MOST: Final = (1 << 31) - 1


class NotExpressible(Exception):
    """Something that the stub has no code for; the launcher in Python does it."""


def native_stub(
    head: k.Kernel,
    loaded: Loaded,
    definition: Definition,
    absent: frozenset[str],
    constants: Mapping[str, int],
    device: int,
    watched: int,
    pending: int,
    context: int,
    queue: Callable[..., Any],
) -> Callable[[Callable[..., Any]], Callable[..., Any]] | None:
    """What makes a callable from the Python launcher, or None where the kernel cannot be launched natively.

    `watched` and `pending` are the addresses of words that are zero while nobody looks at launches, and while nothing
    is pending; `context` is the device's where threads may be in that of another one, else 0. `queue` starts a checked
    launch in other cases: it is called with the address of the parameters, the number of blocks and the arguments, and
    may give NotImplemented.
    """
    launch = loaded.driver.address_of("cuLaunchKernel")
    if not launch or not fields.OFFSETS:
        return None
    learn_exchange()
    builder = _Builder(head, loaded, device)
    try:
        builder.arguments(definition, absent)
        builder.sizes(dict(constants), definition.derived)
        text = builder.text()
    except NotExpressible:
        return None
    address = load_function(text, "stub")

    words = {"launch": launch, "function": loaded.run, "array": id(Array), "busy": watched, "pending": pending}
    words |= {"none": id(None), "exchange": ctypes.addressof(EXCHANGE)} | _switches(loaded, context)
    return _completer(head.name, address, words, queue, loaded)


def bound_stub(
    name: str, loaded: Loaded, blocks: int, words: Sequence[int], busy: int, context: int
) -> Callable[[Callable[..., Any]], Callable[..., Any]] | None:
    """The same for a launch of which every argument is known: nothing is left to check but the device's state."""
    launch = loaded.driver.address_of("cuLaunchKernel")
    if not launch or loaded.can_trap or "watch" in loaded.places:
        return None
    # Pointers to the parameters, and the parameters behind them.
    count = len(words)
    packed = bytearray(16 * count)
    start = address_of(packed)
    pointers = (start + 8 * (count + n) for n in range(count))
    packed[:] = (ctypes.c_uint64 * (2 * count))(*pointers, *(word & (1 << 64) - 1 for word in words))
    module = loaded.variant.module
    numbers = {"launch": launch, "function": loaded.run, "busy": busy, "blocks": blocks, "threads": module.block}
    numbers |= {"shared": module.dynamic_shared, "packed": start} | _switches(loaded, context)
    address = load_function(bound_text(), "bound")
    return _completer(name, address, numbers, packed, loaded)


def _switches(loaded: Loaded, context: int) -> dict[str, int]:
    """Words for launches that the driver refuses where the thread is in another context."""
    enter, current = (loaded.driver.address_of(name) for name in ("cuCtxSetCurrent", "cuCtxGetCurrent"))
    return {"context": context, "enter": enter, "current": current} if context and enter and current else {}


def _completer(
    name: str, address: int, words: Mapping[str, int], *more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes builtin functions over machine code: `self` has these words as bytes, what is called instead, and whatever
    else it calls or the words point to."""
    if wants_entry():
        enter_at(load_function(entry_text(), "enter"))
    block = bytes((ctypes.c_uint64 * len(WORDS))(*(words.get(word, 0) for word in WORDS)))
    return lambda slow: new_builtin(name, address, FASTCALL | KEYWORDS, (block, slow, *more))


@dataclass(slots=True)
class _Builder:
    """Writes the text of one stub. Values are i64 names; every test goes on in a new block or leaves for `slow`."""

    head: k.Kernel
    loaded: Loaded
    device: int
    lines: list[str] = field(default_factory=list[str])
    names: int = 0
    count: int = 0
    #: Slot values of arrays and scalars, sizes, integer scalars, dimensions.
    passed: dict[str, str] = field(default_factory=dict[str, str])
    shapes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    integers: dict[str, str] = field(default_factory=dict[str, str])
    dims: dict[str, str] = field(default_factory=dict[str, str])
    spans: list[tuple[str, str, bool]] = field(default_factory=list[tuple[str, str, bool]])
    #: For each array an i1: whether it belongs to another library.
    foreign: list[str] = field(default_factory=list[str])

    # --- writing -----------------------------------------------------------------------------------------------------

    def value(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"  %v{self.names} = {text}")
        return f"%v{self.names}"

    def require(self, condition: str) -> None:
        """Go on if the i1 holds, else leave for the launcher in Python."""
        self.names += 1
        self.lines += [f"  br i1 {condition}, label %b{self.names}, label %slow, !prof !0", f"b{self.names}:"]

    def word(self, number: int) -> str:
        at = self.value(f"getelementptr i64, ptr %words, i64 {number}")
        return self.value(f"load i64, ptr {at}")

    def load(self, object: str, offset: int, type: str = "i64") -> str:
        at = self.value(f"getelementptr i8, ptr {object}, i64 {offset}")
        return self.value(f"load {type}, ptr {at}")

    # --- arguments ---------------------------------------------------------------------------------------------------

    def arguments(self, definition: Definition, absent: frozenset[str]) -> None:
        parameters = {p.name: p for p in self.head.parameters}
        self.count = len(definition.parameters)
        for number, declared in enumerate(definition.parameters):
            at = self.value(f"getelementptr ptr, ptr %arguments, i64 {number}")
            object = self.value(f"load ptr, ptr {at}")
            if isinstance(declared, ArrayDeclaration) and declared.name in absent:
                self.require(self.value(f"icmp eq ptr {object}, {self._pointer('none')}"))
                continue
            parameter = parameters.get(declared.name)
            match parameter:
                case k.ArrayParameter():
                    self._array(object, parameter)
                case k.ScalarParameter():
                    self._scalar(object, parameter)
                case None:
                    raise NotExpressible

    def _pointer(self, word: str) -> str:
        return self.value(f"inttoptr i64 {self.word(WORDS.index(word))} to ptr")

    def _type(self, object: str) -> str:
        return self.load(object, object_type_offset(), "ptr")

    def _array(self, object: str, parameter: k.ArrayParameter) -> None:
        if len(parameter.shape) > 4:
            raise NotExpressible
        address, size, extents = self._own_or_foreign(object, parameter)
        self.require(self.value(f"icmp ule i64 {size}, {_SMALL_MOST}"))
        self.passed[parameter.name], self.shapes[parameter.name] = address, extents
        end = self.value(f"add i64 {address}, {self.value(f'mul i64 {size}, {parameter.element.size}')}")
        for start, stop, writes in self.spans:
            if writes or parameter.access.writes:
                before = self.value(f"icmp ule i64 {end}, {start}")
                behind = self.value(f"icmp ule i64 {stop}, {address}")
                self.require(self.value(f"or i1 {before}, {behind}"))
        self.spans.append((address, end, parameter.access.writes))
        alignment = self.loaded.variant.module.alignment
        if alignment > 1:
            low = self.value(f"and i64 {address}, {alignment - 1}")
            self.require(self.value(f"icmp eq i64 {low}, 0"))

    def _own_or_foreign(self, object: str, parameter: k.ArrayParameter) -> tuple[str, str, list[str]]:
        """Address, elements and extents of an array of ours, from its fields, or of another library's tensor."""
        rank, self.names = len(parameter.shape), self.names + 1
        number, type = self.names, self._type(object)
        own = self.value(f"icmp eq ptr {type}, {self._pointer('array')}")
        self.lines += [f"  br i1 {own}, label %own{number}, label %other{number}, !prof !0", f"other{number}:"]
        element = _dlpack_kind(parameter.element) | 8 * parameter.element.size << 8 | 1 << 16
        device = _DLPACK_GPU | self.device << 32
        asked = f"i32 {element}, i32 {rank}, i1 {int(parameter.access.writes)}, i64 {device}"
        read = f"call i1 @foreign(ptr {object}, ptr {type}, ptr {self._pointer('exchange')}, ptr %out, {asked})"
        self.require(self.value(read))
        theirs = [self.load("%out", 8 * word) for word in range(2 + rank)]
        self.lines += [f"  br label %from{number}", f"from{number}:", f"  br label %join{number}", f"own{number}:"]
        traits = self.load(object, fields.OFFSETS["traits"])
        if not parameter.access.writes:
            traits = self.value(f"and i64 {traits}, {~fields.READ_ONLY_BIT}")
        expected = [fields.traits_of(n, rank, self.device, False, True) for n in _dtype_numbers(parameter.element)]
        equal = [self.value(f"icmp eq i64 {traits}, {traits_}") for traits_ in expected]
        self.require(equal[0] if len(equal) == 1 else self.value(f"or i1 {equal[0]}, {equal[1]}"))
        names = ["address", "size", *(f"extent{axis}" for axis in range(rank))]
        ours = [self.load(object, fields.OFFSETS[name]) for name in names]
        self.lines += [f"  br label %mine{number}", f"mine{number}:", f"  br label %join{number}", f"join{number}:"]
        both = [
            self.value(f"phi i64 [ {mine}, %mine{number} ], [ {other}, %from{number} ]")
            for mine, other in zip(ours, theirs, strict=True)
        ]
        self.foreign.append(self.value(f"phi i1 [ false, %mine{number} ], [ true, %from{number} ]"))
        return both[0], both[1], both[2:]

    def _stream(self) -> str:
        """The stream of the launch: the queue's, or the one that the library of the tensors works in now."""
        if not self.foreign:
            return "null"
        some, every = self.foreign[0], self.foreign[0]
        for flag in self.foreign[1:]:
            some, every = self.value(f"or i1 {some}, {flag}"), self.value(f"and i1 {every}, {flag}")
        self.names += 1
        number = self.names
        self.lines += [f"  br label %before{number}", f"before{number}:"]
        self.lines += [f"  br i1 {some}, label %ask{number}, label %go{number}", f"ask{number}:"]
        at = self.value(f"getelementptr i64, ptr {self._pointer('exchange')}, i64 2")
        function = self.value(f"load ptr, ptr {at}")
        asked = self.value(f"call i32 {function}(i32 {_DLPACK_GPU}, i32 {self.device}, ptr %stream)")
        self.require(self.value(f"icmp eq i32 {asked}, 0"))
        found = self.value("load ptr, ptr %stream")
        default = self.value(f"icmp eq ptr {found}, null")
        self.require(self.value(f"or i1 {every}, {default}"))
        self.lines += [f"  br label %found{number}", f"found{number}:", f"  br label %go{number}", f"go{number}:"]
        return self.value(f"phi ptr [ null, %before{number} ], [ {found}, %found{number} ]")

    def _hand_over(self, blocks: str) -> None:
        """Let Python queue the launch behind what is pending. Tensors of others go the long way."""
        for flag in self.foreign:
            self.require(self.value(f"xor i1 {flag}, true"))
        at = self.value("ptrtoint ptr %slots to i64")
        numbers = [self.value(f"call ptr @PyLong_FromLongLong(i64 {word})") for word in (at, blocks)]
        passed = [*numbers, *(self._argument(number) for number in range(self.count))]
        for number, object in enumerate(passed):
            place = self.value(f"getelementptr ptr, ptr %passed, i64 {number}")
            self.lines.append(f"  store ptr {object}, ptr {place}")
        function = self.value("call ptr @PyTuple_GetItem(ptr %self, i64 2)")
        given = f"ptr {function}, ptr %passed, i64 {len(passed)}, ptr null"
        result = self.value(f"call ptr @PyObject_Vectorcall({given})")
        self.lines += [f"  call void @Py_DecRef(ptr {number})" for number in numbers]
        left = self.value(f"icmp eq ptr {result}, @_Py_NotImplementedStruct")
        self.lines += [f"  br i1 {left}, label %left, label %queued", "left:"]
        self.lines += [f"  call void @Py_DecRef(ptr {result})", "  br label %slow", "queued:", f"  ret ptr {result}"]

    def _argument(self, number: int) -> str:
        return self.value(f"load ptr, ptr {self.value(f'getelementptr ptr, ptr %arguments, i64 {number}')}")

    def _scalar(self, object: str, parameter: k.ScalarParameter) -> None:
        type = parameter.type
        if type is Scalar.BOOL:
            yes = self.value(f"icmp eq ptr {object}, @_Py_TrueStruct")
            no = self.value(f"icmp eq ptr {object}, @_Py_FalseStruct")
            self.require(self.value(f"or i1 {yes}, {no}"))
            self.passed[parameter.name] = self.value(f"zext i1 {yes} to i64")
        elif type.is_float:
            self._float(object, parameter)
        else:
            self._integer(object, parameter)

    def _float(self, object: str, parameter: k.ScalarParameter) -> None:
        self.require(self.value(f"icmp eq ptr {self._type(object)}, @PyFloat_Type"))
        number = self.load(object, float_offset(), "double")
        if parameter.type is Scalar.F32:
            narrow = self.value(f"fptrunc double {number} to float")
            bits = self.value(f"bitcast float {narrow} to i32")
            self.passed[parameter.name] = self.value(f"zext i32 {bits} to i64")
        else:
            self.passed[parameter.name] = self.value(f"bitcast double {number} to i64")

    def _integer(self, object: str, parameter: k.ScalarParameter) -> None:
        type = parameter.type
        self.require(self.value(f"icmp eq ptr {self._type(object)}, @PyLong_Type"))
        number = self.value(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {object}, ptr %over)")
        over = self.value("load i32, ptr %over")
        self.require(self.value(f"icmp eq i32 {over}, 0"))
        bound = _SMALL_MOST if type.is_checked else (1 << 63) - 1
        least, most = max(type.minimum, -bound), min(type.maximum, bound)
        self.require(self.value(f"icmp sge i64 {number}, {least}"))
        self.require(self.value(f"icmp sle i64 {number}, {most}"))
        self.passed[parameter.name] = self.integers[parameter.name] = number

    # --- sizes -------------------------------------------------------------------------------------------------------

    def sizes(self, constants: dict[str, int], derived: Sequence[tuple[str, k.Expr]]) -> None:
        """Dimensions, equal where they must be, and the preconditions."""
        axes = [
            (extent, self.shapes[p.name][axis])
            for p in self.head.parameters
            if isinstance(p, k.ArrayParameter)
            for axis, extent in enumerate(p.shape)
        ]
        self.dims = {name: str(value) for name, value in constants.items()}
        for extent, size in axes:
            if isinstance(extent, k.DimValue):
                self.dims.setdefault(extent.name, size)
        for name, expression in derived:
            if name in self.dims or name in self.head.dims:
                value = self.evaluate(expression)
                self._in_range(value)
                if name in self.dims:
                    self.require(self.value(f"icmp eq i64 {value}, {self.dims[name]}"))
                self.dims.setdefault(name, value)
        for extent, size in axes:
            expected = self.evaluate(extent)
            if expected != size:
                self.require(self.value(f"icmp eq i64 {expected}, {size}"))
        for clause in self.head.requires:
            self.require(self.condition(clause.condition))

    def _in_range(self, value: str) -> None:
        self.require(self.value(f"icmp ule i64 {value}, {_SMALL_MOST}"))

    # --- expressions -------------------------------------------------------------------------------------------------

    def evaluate(self, expression: k.Expr) -> str:
        """The i64 value of a launch-constant expression; exact, or the stub leaves."""
        match expression:
            case k.Const(value=value, type=type) if not type.is_float and -(1 << 62) < value < 1 << 62:
                return str(value)
            case k.DimValue(name=name) if name in self.dims:
                return self.dims[name]
            case k.ScalarValue(name=name) if name in self.integers:
                return self.integers[name]
            case k.Cast(value=value, type=Scalar.I64) if value.type.is_integer:
                return self.evaluate(value)
            case k.Binary(op="add" | "sub" | "mul" as op, left=left, right=right, type=Scalar.I64):
                return self._checked(op, self.evaluate(left), self.evaluate(right))
            case k.Binary(op="floordiv" | "mod" as op, left=left, right=k.Const(value=by), type=Scalar.I64) if by > 0:
                dividend = self.evaluate(left)
                self.require(self.value(f"icmp sge i64 {dividend}, 0"))
                return self.value(f"{'udiv' if op == 'floordiv' else 'urem'} i64 {dividend}, {by}")
            case k.Binary(op="min" | "max" as op, left=left, right=right, type=Scalar.I64):
                one, other = self.evaluate(left), self.evaluate(right)
                first = self.value(f"icmp {'slt' if op == 'min' else 'sgt'} i64 {one}, {other}")
                return self.value(f"select i1 {first}, i64 {one}, i64 {other}")
            case _:
                raise NotExpressible

    def _checked(self, op: str, left: str, right: str) -> str:
        pair = self.value(f"call {{i64, i1}} @llvm.s{op}.with.overflow.i64(i64 {left}, i64 {right})")
        over = self.value(f"extractvalue {{i64, i1}} {pair}, 1")
        self.require(self.value(f"xor i1 {over}, true"))
        return self.value(f"extractvalue {{i64, i1}} {pair}, 0")

    def condition(self, expression: k.Expr) -> str:
        """The i1 of a precondition."""
        signs = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
        match expression:
            case k.Compare(op=op, left=left, right=right) if not left.type.is_float:
                return self.value(f"icmp {signs[op]} i64 {self.evaluate(left)}, {self.evaluate(right)}")
            case k.Logical(op="and", left=left, right=right):
                return self.value(f"and i1 {self.condition(left)}, {self.condition(right)}")
            case k.Unary(op="not", operand=operand):
                return self.value(f"xor i1 {self.condition(operand)}, true")
            case _:
                raise NotExpressible

    # --- the whole ---------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The function; its parameters come last, when everything has been checked."""
        geometry, module = self.head.geometry, self.loaded.variant.module
        extents = [self.evaluate(extent) for extent in geometry.extents]
        blocks, threads = "1", "1"
        for extent, tile, side in zip(extents, module.tile, geometry.block, strict=True):
            self._in_range(extent)
            self.require(self.value(f"icmp ne i64 {extent}, 0"))
            up = self.value(f"add i64 {extent}, {tile - 1}")
            blocks = self._checked("mul", blocks, self.value(f"udiv i64 {up}, {tile}"))
            whole = extent
            if geometry.kind == "groups":
                whole = self.value(f"mul i64 {extent}, {side}")
            elif self.head.grouped:
                padded = self.value(f"udiv i64 {self.value(f'add i64 {extent}, {side - 1}')}, {side}")
                whole = self.value(f"mul i64 {padded}, {side}")
            threads = self._checked("mul", threads, whole)
        self._in_range(threads)
        self._in_range(blocks)
        if module.in_turn:
            most = self.loaded.most_blocks
            few = self.value(f"icmp ult i64 {blocks}, {most}")
            blocks = self.value(f"select i1 {few}, i64 {blocks}, i64 {most}")
        self._call(blocks, extents)
        text = frame_text(self.count, len(module.layout.slots), "\n".join(self.lines))
        return text + (FOREIGN_TEXT if self.foreign else "")

    def _divider(self, extent: str, tile: int) -> str:
        """`layout.divider` of the number of tiles."""
        count = self.value(f"udiv i64 {self.value(f'add i64 {extent}, {tile - 1}')}, {tile}")
        below = self.value(f"sub i64 {count}, 1")
        shift = self.value(f"sub i64 64, {self.value(f'call i64 @llvm.ctlz.i64(i64 {below}, i1 false)')}")
        power = self.value(f"shl i64 {1 << 31}, {shift}")
        factor = self.value(f"udiv i64 {self.value(f'add i64 {power}, {below}')}, {count}")
        return self.value(f"or i64 {factor}, {self.value(f'shl i64 {shift}, 32')}")

    def _call(self, blocks: str, extents: Sequence[str]) -> None:
        module = self.loaded.variant.module
        for number, slot in enumerate(module.layout.slots):
            match slot.kind:
                case "array" | "scalar":
                    value = self.passed[slot.name]
                case "dim":
                    value = self.evaluate(k.DimValue(slot.name))
                case "extent":
                    value = extents[int(slot.name)]
                case "divider":
                    value = self._divider(extents[int(slot.name)], module.tile[int(slot.name)])
                case "record" | "guard" | "first_block" | "watch":
                    value = "0"
            at = self.value(f"getelementptr i64, ptr %slots, i64 {number}")
            self.lines.append(f"  store i64 {value}, ptr {at}")
            place = self.value(f"getelementptr ptr, ptr %pointers, i64 {number}")
            self.lines.append(f"  store ptr {at}, ptr {place}")
        if not self.loaded.can_trap:
            waiting = self.value(f"load volatile i64, ptr {self._pointer('pending')}")
            quiet = self.value(f"icmp eq i64 {waiting}, 0")
            self.lines += [f"  br i1 {quiet}, label %direct, label %behind, !prof !0", "direct:"]
            self._start(module, blocks)
            self.lines += ["  br label %started", "behind:"]
        self._hand_over(blocks)
        self.lines.append("started:")

    def _start(self, module: CudaModule, blocks: str) -> None:
        stream = self._stream()
        grid = self.value(f"trunc i64 {blocks} to i32")
        launch, function = self._pointer("launch"), self._pointer("function")
        sizes = f"i32 {grid}, i32 1, i32 1, i32 {module.block}, i32 1, i32 1, i32 {module.dynamic_shared}"
        result = self.value(f"call i32 {launch}(ptr {function}, {sizes}, ptr {stream}, ptr %pointers, ptr null)")
        done = self.value(f"icmp eq i32 {result}, 0")
        self.lines += [f"  br i1 {done}, label %fine, label %refused, !prof !0", "refused:"]
        given = f"i32 {grid}, i32 {module.block}, i32 {module.dynamic_shared}, ptr {stream}, ptr %pointers"
        self.require(self.value(f"call i1 @elsewhere(ptr %words, {given})"))
        self.lines += ["  br label %fine", "fine:"]


def object_type_offset() -> int:
    """Bytes from an object's start to its type."""
    return object.__basicsize__ - 8


def float_offset() -> int:
    """Bytes from a float's start to its double."""
    return object.__basicsize__


def _dlpack_kind(element: Scalar) -> int:
    return _DLPACK_BFLOAT if element is Scalar.BF16 else _DLPACK_KINDS[element.numpy.kind]


def _dtype_numbers(element: Scalar) -> list[int]:
    """The numbers that an array of these elements may have in its `traits`."""
    return [fields.BF16_NUMBER] if element is Scalar.BF16 else list(dict.fromkeys(element.numpy_numbers))
