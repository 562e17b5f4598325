"""The frame of a kernel's text: its parameters, where a thread stands in the launch, and what comes before its body.

A launch is one row of groups. Group and thread numbers are split into coordinates in C order, as far as the body asks.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from isogrid.ir import device as d
from isogrid.ir.kernel import ArrayParameter, ScalarParameter
from isogrid.ir.types import Access, Scalar
from isogrid.ir.walk import visit
from isogrid.printers.c_family_names import Names
from isogrid.printers.c_family_spelling import Spelling
from isogrid.printers.c_family_text import PRECEDENCE, CType, Text, element_type
from isogrid.support.records import dataclass

ParameterKind: TypeAlias = Literal["record", "watch", "guard", "first_block", "array", "scalar", "dim", "extent"]
_AXES: Final = ("z", "y", "x")
_STEMS: Final = {"thread": "gid", "local": "lid", "group": "group", "extent": "grid_size", "groups": "num_groups"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the entry. record: where traps go. watch: where sums that wrapped go. guard: the launch does
    nothing where it points to anything but all ones; may be null. first_block: number of the launch's first group.
    array, scalar, dim: of the kernel, by name. extent: an extent of the geometry, by axis."""

    kind: ParameterKind
    name: str = ""


def parameters_of(kernel: d.Kernel, *, small: bool) -> tuple[Parameter, ...]:
    """The parameters of a kernel's entry, in order."""
    found: list[Parameter] = []
    if kernel.sites:
        found.append(Parameter("record"))
    if watched_buffers(kernel):
        found.append(Parameter("watch"))
    found.append(Parameter("guard"))
    if not small:
        found.append(Parameter("first_block"))
    for parameter in kernel.parameters:
        match parameter:
            case ArrayParameter(name=name):
                found.append(Parameter("array", name))
            case ScalarParameter(name=name):
                found.append(Parameter("scalar", name))
    found += [Parameter("dim", name) for name in kernel.dims]
    found += [Parameter("extent", str(axis)) for axis in range(kernel.geometry.rank)]
    return tuple(found)


def watched_buffers(kernel: d.Kernel) -> dict[str, int]:
    """Array parameters with an atomic total that may leave its type, and the site of the first such atomic."""
    arrays = {p.name for p in kernel.parameters if isinstance(p, ArrayParameter)}
    return {name: site for name, site in totals_of(kernel).items() if name in arrays}


def totals_of(kernel: d.Kernel) -> dict[str, int]:
    """Buffers with an atomic total that may leave its type, and the site of the first such atomic."""
    found: dict[str, int] = {}
    for node in visit(kernel.body):
        if isinstance(node, d.Atomic) and node.total is not None:
            found.setdefault(node.buffer, node.total)
    return found


class Frame:
    """What a kernel's text has around its body. `specials` are the coordinates as the body writes them."""

    def __init__(self, kernel: d.Kernel, spelling: Spelling, names: Names, *, small: bool) -> None:
        self.kernel, self.spelling, self.names, self.small = kernel, spelling, names, small
        self.size = CType.I32 if small else CType.I64
        self.block = kernel.geometry.block
        self.rank = len(self.block)
        self.threads = 1
        for extent in self.block:
            self.threads *= extent
        self.parameters = parameters_of(kernel, small=small)
        self.extents = tuple(
            self.names.give("extent", f"extent_{_axis(axis, self.rank)}" if self.rank > 1 else "extent")
            for axis in range(self.rank)
        )
        self.specials: dict[tuple[str, int], Text] = {}
        self.lines: list[str] = []
        self.aliases: dict[str, str] = {}
        self.unknown = names.fresh("thread_number")
        self.has_key = bool(kernel.sites)
        self._build()

    # --- parameters ---------------------------------------------------------------------------------------------------

    def parameter_texts(self) -> list[str]:
        """The declarations of the parameters, in order."""
        found = [self._parameter(p, k) for k, p in enumerate(self.parameters)]
        return [*found, *self.spelling.more_parameters]

    def _parameter(self, parameter: Parameter, k: int) -> str:
        match parameter.kind:
            case "record" | "watch":
                return self._pointer("volatile ", self.spelling.key_type, parameter.kind, k, "")
            case "guard":
                return self._pointer("const volatile ", "u64", "guard", k, "")
            case "first_block":
                return self._value("i64", "first_block", k)
            case "array":
                return self._array(parameter.name, k)
            case "scalar":
                scalars = scalar_types(self.kernel)
                return self._value(
                    element_type(scalars[parameter.name]).value, self.names.give("scalar", parameter.name), k
                )
            case "dim":
                return self._value(self.size.value, self.names.give("dim", parameter.name), k)
            case "extent":
                return self._value(self.size.value, self.extents[int(parameter.name)], k)

    def _array(self, name: str, k: int) -> str:
        buffer = next(b for b in self.kernel.buffers if b.name == name)
        const = "const " if buffer.access is Access.IN else ""
        alone = self.kernel.races == "prove" and self.kernel.deterministic
        restrict = f"{self.spelling.restrict} " if alone and self.spelling.restrict else ""
        return self._pointer(const, element_type(buffer.element).value, self.names.give("buffer", name), k, restrict)

    def _pointer(self, qualifier: str, type: str, name: str, k: int, restrict: str) -> str:
        space = self.spelling.spaces["global"]
        return self.spelling.pointer_parameter.format(
            space=space, qualifier=qualifier, type=type, restrict=restrict, name=name, k=k
        )

    def _value(self, type: str, name: str, k: int) -> str:
        return self.spelling.value_parameter.format(type=type, name=name, k=k)

    # --- coordinates --------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        used = {(n.kind, n.axis) for n in visit(self.kernel.body) if isinstance(n, d.Special)}
        self._alias()
        if not self.kernel.grouped:
            used |= {("thread", axis) for axis in range(self.rank)}
        used |= {(kind, axis) for named, axis in used if named == "thread" for kind in ("group", "local")}
        needs_linear = self.has_key and self.kernel.grouped
        self.local_index = Text(f"(int){self.spelling.thread_index}", CType.I32, 14)
        if needs_linear or self._needs_local() or (self.rank > 1 and sum(kind == "local" for kind, _ in used) > 1):
            self.lines.append(f"const int {self._linear_name()} = {self.local_index.text};")
            self.local_index = Text(self._linear_name(), CType.I32)
        self._groups(used)
        self._locals(used)
        for axis in range(self.rank):
            if ("thread", axis) in used:
                self._thread(axis)
        self._sizes(used)
        self._guard()

    def _linear_name(self) -> str:
        if ("local", 0) in self.specials and self.rank == 1:
            return self.specials["local", 0].text
        return self.names.give("frame", "thread_index")

    def _needs_local(self) -> bool:
        """Whether the body's group and warp operations, zeroing or traps need the thread's number in its group."""
        body = self.kernel.body
        meets = any(isinstance(n, d.Collective | d.WarpCollective | d.WarpBarrier | d.Agree) for n in visit(body))
        return meets or any(b.space.value == "shared" for b in self.kernel.buffers)

    def _alias(self) -> None:
        """`let i = thread(0)` at the start of the body names the coordinate."""
        for node in self.kernel.body:
            match node:
                case d.Let(value=d.Special() as special) if (special.kind, special.axis) not in self.aliases.values():
                    key = (special.kind, special.axis)
                    if key not in self.specials:
                        self.specials[key] = Text(self.names.give("value", node.name), self.size)
                        self.aliases[node.name] = special.kind
                case d.Let() | d.Set(value=d.Literal()):
                    continue
                case _:
                    return

    def _name(self, kind: str, axis: int) -> str:
        found = self.specials.get((kind, axis))
        if found is not None:
            return found.text
        stem = _STEMS[kind]
        return self.names.give("frame", stem if self.rank == 1 else f"{stem}_{_axis(axis, self.rank)}")

    def _declare(self, kind: str, axis: int, text: Text, type: CType) -> None:
        name = self._name(kind, axis)
        self.specials[kind, axis] = Text(name, type)
        if text.text != name:
            self.lines.append(f"const {type.value} {name} = {text.text};")

    def _block_number(self) -> Text:
        if self.small:
            return Text(f"(int){self.spelling.group_index}", CType.I32, 14)
        return Text(f"first_block + {self.spelling.group_index}", CType.I64, PRECEDENCE["+"], "+")

    def _tiles(self, axis: int) -> str:
        """The number of groups along an axis."""
        extent, block = self.extents[axis], self.block[axis]
        if self.kernel.geometry.kind == "groups" or block == 1:
            return extent
        return f"({extent} - 1) / {block} + 1"

    def _groups(self, used: set[tuple[str, int]]) -> None:
        number = self._block_number()
        if self.rank == 1:
            if ("group", 0) in used or (self.has_key and self.kernel.grouped):
                self._declare("group", 0, number, self.size)
            return
        if not any(kind == "group" for kind, _ in used) and not (self.has_key and self.kernel.grouped):
            return
        whole = self.names.give("frame", "group_number")
        self.lines.append(f"const {self.size.value} {whole} = {number.text};")
        rest = whole
        for axis in range(self.rank - 1, -1, -1):
            tiles = self._tiles(axis)
            count = f"({tiles})" if "/" in tiles else tiles
            text = rest if axis == 0 else f"{rest} % {count}"
            self._declare("group", axis, Text(text, self.size), self.size)
            if axis:
                rest = f"{rest} / {count}"

    def _locals(self, used: set[tuple[str, int]]) -> None:
        after = self.threads
        for axis in range(self.rank):
            after //= self.block[axis]
            if ("local", axis) not in used:
                continue
            index = self.local_index
            if self.block[axis] == 1 and self.rank > 1:
                self._declare("local", axis, Text("0", CType.I32), CType.I32)
                continue
            text = index.text if after == 1 else f"{index.inside('/')} / {after}"
            if after * self.block[axis] != self.threads:
                text = f"{text} % {self.block[axis]}"
            self._declare("local", axis, Text(text, CType.I32), CType.I32)

    def _thread(self, axis: int) -> None:
        group, local, block = self.specials["group", axis], self.specials["local", axis], self.block[axis]
        if block == 1:
            text = group.text
        else:
            text = f"{group.text} * {block} + {local.text}"
        self._declare("thread", axis, Text(text, self.size), self.size)

    def _sizes(self, used: set[tuple[str, int]]) -> None:
        for axis in range(self.rank):
            if ("groups", axis) in used:
                self._declare("groups", axis, Text(self._tiles(axis), self.size), self.size)
            if ("extent", axis) in used:
                whole = self.kernel.grouped or self.kernel.geometry.kind == "groups"
                tiles, block = self._tiles(axis), self.block[axis]
                text = self.extents[axis]
                if whole:
                    text = f"({tiles}) * {block}" if "/" in tiles else f"{tiles} * {block}"
                self._declare("extent", axis, Text(text, self.size), self.size)

    def _guard(self) -> None:
        """Threads past the grid end here; groups are whole."""
        if self.kernel.grouped or self.kernel.geometry.kind == "groups":
            return
        tests = [
            f"{self.specials['thread', axis].text} >= {self.extents[axis]}"
            for axis in range(self.rank)
            if self.block[axis] > 1 or self.rank == 1
        ]
        if tests and self.threads != 1:
            self.lines.append(f"if ({' || '.join(tests)}) return;")

    def key_text(self) -> str:
        """The place of this thread in the order of traps."""
        if self.kernel.grouped:
            return f"(u64){self._linear_group()} * {self.threads} + {self.local_index.text}"
        return self._linear_thread()

    def group_key_text(self) -> str:
        """The place of this thread's group, or of the thread where groups do not count, in the order of traps."""
        return self._linear_group() if self.kernel.grouped else self._linear_thread()

    def _total(self, axis: int) -> str:
        if self.kernel.geometry.kind == "groups":
            tiles = self._tiles(axis)
            return f"{tiles} * {self.block[axis]}"
        return self.extents[axis]

    def _linear_group(self) -> str:
        return self.specials["group", 0].text if self.rank == 1 else self.names.give("frame", "group_number")

    def _linear_thread(self) -> str:
        text = f"(u64){self.specials['thread', 0].text}"
        for axis in range(1, self.rank):
            inner = text if axis == 1 else f"({text})"
            text = f"{inner} * ({self._total(axis)}) + {self.specials['thread', axis].text}"
        return text


def scalar_types(kernel: d.Kernel) -> Mapping[str, Scalar]:
    """The types of the scalar parameters."""
    return {p.name: p.type for p in kernel.parameters if isinstance(p, ScalarParameter)}


def _axis(axis: int, rank: int) -> str:
    return _AXES[axis + 3 - rank]
