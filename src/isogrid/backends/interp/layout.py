"""Where a thread's values live: a frame is a list, and this gives every name of a kernel its place in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from isogrid.ir import kernel as k
from isogrid.ir.sites import total_sites
from isogrid.ir.traps import TrapSite
from isogrid.ir.types import Scalar, Space
from isogrid.ir.walk import visit

#: Frame place of (thread, group, interval) as the race detector wants it.
WHO = 0


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """What the text says about one array.

    `kinds` are the ways in which it is accessed; `shape` is None for parameters, whose extents stand in the frame.
    `unwritten` arrays are not zeroed: nothing may read an element before it is written.
    """

    name: str
    element: Scalar
    space: Space
    rank: int
    shape: tuple[int, ...] | None
    kinds: tuple[str, ...]
    unwritten: bool = False

    @property
    def may_race(self) -> bool:
        return self.space in (Space.GLOBAL, Space.SHARED) and any(kind != "read" for kind in self.kinds)


@dataclass(slots=True)
class Layout:
    """Frame places by what they hold; filled once per kernel, then only read."""

    places: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    queries: list[tuple[str, int | None, int]] = field(default_factory=list[tuple[str, int | None, int]])
    arrays: dict[str, ArrayFacts] = field(default_factory=dict[str, ArrayFacts])
    total_sites: dict[str, TrapSite] = field(default_factory=dict[str, TrapSite])
    proved_totals: frozenset[str] = frozenset()
    size: int = WHO + 1

    def place(self, what: str, name: str) -> int:
        """The frame place of a "local", "scalar", "dim", "memory", "shadow", "totals", "extent", "query" or "trips"."""
        key = (what, name)
        if key not in self.places:
            self.places[key] = self.size
            self.size += 1
        return self.places[key]

    def query(self, kind: str, axis: int | None) -> int:
        known = ("query", f"{kind}.{axis}") in self.places
        place = self.place("query", f"{kind}.{axis}")
        if not known:
            self.queries.append((kind, axis, place))
        return place

    def extent(self, array: str, axis: int) -> int:
        return self.place("extent", f"{array}.{axis}")

    def notes_plain(self, array: str) -> bool:
        """Whether plain accesses to this global array matter to its atomic totals."""
        return array in self.total_sites and self.arrays[array].space is Space.GLOBAL


def layout_of(kernel: k.Kernel) -> Layout:
    """Facts about every array of the kernel; places are then given as the compiler asks for them."""
    kinds: dict[str, dict[str, None]] = {}
    proved: dict[str, bool] = {}
    declared: list[k.DeclareLocal] = []
    for node in _nodes(kernel.body):
        match node:
            case k.Load():
                kinds.setdefault(node.array, {})["read"] = None
            case k.Store():
                kinds.setdefault(node.array, {})["write"] = None
            case k.Atomic():
                kinds.setdefault(node.array, {})[f"atomic_{node.op}"] = None
                if node.op == "add" and node.element.is_checked:
                    proved[node.array] = proved.get(node.array, True) and not node.total_checked
            case k.DeclareLocal():
                declared.append(node)
            case _:
                pass
    layout = Layout(total_sites=total_sites(kernel), proved_totals=frozenset(a for a, p in proved.items() if p))
    used = {name: tuple(found) for name, found in kinds.items()}

    def add(name: str, element: Scalar, space: Space, shape: tuple[int, ...] | int, unwritten: bool = False) -> None:
        rank, fixed = (shape, None) if isinstance(shape, int) else (len(shape), shape)
        layout.arrays[name] = ArrayFacts(name, element, space, rank, fixed, used.get(name, ()), unwritten)

    for parameter in kernel.parameters:
        if isinstance(parameter, k.ArrayParameter):
            add(parameter.name, parameter.element, Space.GLOBAL, len(parameter.shape))
    for shared in kernel.shared:
        add(shared.name, shared.element, Space.SHARED, shared.shape, not shared.zeroed)
    for table in kernel.tables:
        add(table.name, table.element, Space.TABLE, table.shape)
    for local in declared:
        add(local.name, local.element, Space.LOCAL, local.shape, not local.zeroed)
    return layout


def _nodes(block: k.Block) -> Iterator[k.Node]:
    for statement in block:
        yield from visit(statement)
