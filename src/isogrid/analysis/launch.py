"""What holds of every launch of a kernel: sizes, coordinates, extents of arrays, ranges of elements and scalars."""

import struct
from dataclasses import dataclass, field

from isogrid.analysis.arithmetic import Reasoner, divided, multiplied
from isogrid.analysis.facts import LaunchFacts
from isogrid.analysis.linear import ONE, Polynomial, number_polynomial
from isogrid.analysis.ranges import Facts
from isogrid.ir import kernel as k
from isogrid.ir.types import INDEX, Scalar
from isogrid.ir.walk import visit_statements
from isogrid.support.errors import CompilerBug

_SMALL = (1 << 31) - 1
_FORMATS = {
    Scalar.BOOL: "?", Scalar.I8: "b", Scalar.U8: "B", Scalar.I16: "h", Scalar.U16: "H", Scalar.I32: "i",
    Scalar.U32: "I", Scalar.W32: "I", Scalar.I64: "q", Scalar.U64: "Q", Scalar.W64: "Q",
}  # fmt: skip


@dataclass(slots=True)
class Launch:
    """Symbols of one launch. `facts` hold for every thread of it."""

    kernel: k.Kernel
    small: bool
    reasoner: Reasoner
    facts: Facts = ()
    constant_arrays: frozenset[str] = frozenset()
    #: Least value, and one above the greatest, of the elements of arrays with such a precondition.
    element_bounds: dict[str, tuple[Polynomial, Polynomial]] = field(
        default_factory=dict[str, tuple[Polynomial, Polynomial]]
    )
    _extents: dict[str, tuple[Polynomial, ...]] = field(default_factory=dict[str, tuple[Polynomial, ...]])
    _elements: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    _coordinates: dict[str, list[Polynomial]] = field(default_factory=dict[str, list[Polynomial]])

    def dimension(self, name: str) -> Polynomial:
        return self.reasoner.atoms.keyed(("dim", name), 0, _SMALL if self.small else INDEX.maximum)[0]

    def scalar(self, name: str, type: Scalar) -> Polynomial | None:
        if not type.is_integer:
            return None
        low, high = type.minimum, type.maximum
        # Seeds and hashes use all bits, so launchers leave w-types out of what `small` means.
        if self.small and not type.is_modular:
            low, high = max(low, -_SMALL), min(high, _SMALL)
        return self.reasoner.atoms.keyed(("scalar", name), low, high)[0]

    def extents(self, array: str) -> tuple[Polynomial, ...]:
        return self._extents[array]

    def element_range(self, array: str) -> tuple[int, int]:
        return self._elements[array]

    def declare(self, array: str, element: Scalar, shape: tuple[Polynomial, ...]) -> None:
        self._extents[array] = shape
        if element.is_integer:
            self._elements[array] = (element.minimum, element.maximum)

    def narrow_elements(self, array: str, low: int, high: int) -> None:
        self._elements[array] = (low, high)

    def query(self, kind: str, axis: int | None) -> Polynomial:
        """A coordinate or size; the linear ones are in C order."""
        if kind in ("lane_id", "warp_id"):
            width = number_polynomial(self.kernel.warp)
            pair = divided(self.reasoner, self.query("lid", None), width, self.facts)
            if pair is None:
                raise CompilerBug("the lane of a thread is not its linear lid modulo the width")
            return pair[kind == "lane_id"]
        along = self._coordinates[kind]
        if axis is not None:
            return along[axis]
        if kind in ("group_size", "num_groups", "grid_size"):
            value = ONE
            for size in along:
                value = multiplied(self.reasoner, value, size)
            return value
        sizes = self._coordinates[{"gid": "grid_size", "lid": "group_size", "group_id": "num_groups"}[kind]]
        value = along[0]
        for position, size in zip(along[1:], sizes[1:], strict=True):
            value = multiplied(self.reasoner, value, size) + position
        return value

    def host_value(self, node: k.Expr) -> Polynomial:
        """An extent, evaluated exactly by the launcher, which has refused the launch where that traps."""
        match node:
            case k.Const():
                return number_polynomial(node.value)
            case k.DimValue():
                return self.dimension(node.name)
            case k.ScalarValue():
                value = self.scalar(node.name, node.type)
                return self._any(node.type) if value is None else value
            case k.Cast() if node.type.is_integer and node.value.type.is_integer:
                return self.host_value(node.value)
            case k.Binary(op="add"):
                return self.host_value(node.left) + self.host_value(node.right)
            case k.Binary(op="sub"):
                return self.host_value(node.left) - self.host_value(node.right)
            case k.Binary(op="mul"):
                return multiplied(self.reasoner, self.host_value(node.left), self.host_value(node.right))
            case k.Binary(op="floordiv" | "mod"):
                pair = divided(self.reasoner, self.host_value(node.left), self.host_value(node.right), self.facts)
                if pair is None:
                    return self._any(node.type)
                return pair[0] if node.op == "floordiv" else pair[1]
            case _:
                return self._any(node.type)

    def _any(self, type: Scalar) -> Polynomial:
        return self.reasoner.atoms.fresh(type.minimum, type.maximum)

    def set_coordinates(self) -> None:
        """Ids and sizes along each axis, and the facts that the geometry gives."""
        geometry, atoms = self.kernel.geometry, self.reasoner.atoms
        limit = _SMALL if self.small else INDEX.maximum
        whole_groups = self.kernel.grouped or geometry.kind == "groups"
        for node, block in zip(geometry.extents, geometry.block, strict=True):
            extent = self.host_value(node)
            self.facts = (*self.facts, extent.plus(-1), number_polynomial(limit) - extent)
            size = number_polynomial(block)
            lid = atoms.fresh(0, block - 1)
            groups = extent
            if geometry.kind == "grid":
                groups = atoms.fresh(1, limit)
                self.facts = (
                    *self.facts,
                    groups.scaled(block) - extent,
                    extent.plus(block - 1) - groups.scaled(block),
                )
            group = atoms.fresh(0, limit - 1)
            atoms.define(group, groups - group.plus(1))
            if whole_groups:
                gid = group.scaled(block) + lid
                threads = groups.scaled(block)
                # The launcher refuses 2^63 threads or more, so a group begins and ends within the index type.
                self.facts = (*self.facts, number_polynomial(limit) - threads)
            else:
                gid = atoms.fresh(0, limit - 1)
                atoms.define(gid, extent - gid.plus(1))
                threads = extent
            for kind, value in (("gid", gid), ("lid", lid), ("group_id", group)):
                self._coordinates.setdefault(kind, []).append(value)
            for kind, value in (("group_size", size), ("num_groups", groups), ("grid_size", threads)):
                self._coordinates.setdefault(kind, []).append(value)
        self.facts = (*self.facts, number_polynomial(limit) - self.query("grid_size", None))


def launch_of(kernel: k.Kernel, facts: LaunchFacts, reasoner: Reasoner) -> Launch:
    launch = Launch(kernel, facts.small, reasoner)
    kinds = k.Store | k.Atomic | k.DeclareLocal
    statements = [node for node in visit_statements(kernel.body) if isinstance(node, kinds)]
    written = {node.array for node in statements if isinstance(node, k.Store | k.Atomic)}
    constant: set[str] = set()
    for parameter in kernel.parameters:
        if isinstance(parameter, k.ArrayParameter):
            _declare_parameter(launch, parameter)
            if parameter.name not in written:
                constant.add(parameter.name)
    for shared in kernel.shared:
        launch.declare(shared.name, shared.element, tuple(number_polynomial(extent) for extent in shared.shape))
    for table in kernel.tables:
        launch.declare(table.name, table.element, tuple(number_polynomial(extent) for extent in table.shape))
        constant.add(table.name)
        if table.element.is_integer:
            code = _FORMATS[table.element]
            values = struct.unpack(f"<{len(table.data) // table.element.size}{code}", table.data)
            launch.narrow_elements(table.name, min(values), max(values))
    for node in statements:
        if isinstance(node, k.DeclareLocal):
            launch.declare(node.name, node.element, tuple(number_polynomial(extent) for extent in node.shape))
    launch.constant_arrays = frozenset(constant)
    for fact in kernel.facts:
        if fact.low is not None and fact.high is not None and not fact.where:
            _bound_elements(launch, fact.array, fact.low, fact.high)
    launch.set_coordinates()
    return launch


def _bound_elements(launch: Launch, array: str, low: k.Expr, high: k.Expr) -> None:
    """`all_in_range`: loads give values in the required range, as numbers here and as polynomials to every load."""
    if not low.type.is_integer:
        return
    least, most = launch.host_value(low), launch.host_value(high)
    atoms = launch.reasoner.atoms
    lowest, highest = launch.element_range(array)
    lowest, highest = max(lowest, atoms.range(least)[0]), min(highest, atoms.range(most)[1] - 1)
    if lowest <= highest:
        launch.narrow_elements(array, lowest, highest)
    launch.element_bounds[array] = (least, most)


def _declare_parameter(launch: Launch, parameter: k.ArrayParameter) -> None:
    """Extents are not negative, and the bytes of an array are below 2^63."""
    shape = tuple(launch.host_value(extent) for extent in parameter.shape)
    launch.declare(parameter.name, parameter.element, shape)
    elements = ONE
    for extent in shape:
        elements = multiplied(launch.reasoner, elements, extent)
        if launch.reasoner.atoms.range(extent)[0] < 0:
            launch.facts = (*launch.facts, extent)
    limit = _SMALL if launch.small else INDEX.maximum // parameter.element.size
    if elements.constant is None:
        launch.facts = (*launch.facts, number_polynomial(limit) - elements, elements)
