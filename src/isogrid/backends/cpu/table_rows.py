"""Small tables that are read at the same indices, side by side: one load then brings elements of four of them.

Where a register holds eight elements, a permute of a longer table takes several and a gather is as dear as a load for
each lane and table. `emit_tables` reads the rows.
"""

from collections.abc import Iterable

from isogrid.backends.cpu.target import HostTarget
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.support.records import dataclass

#: Elements of a row that are loaded at once, 16 bytes.
QUAD = 4
#: The longest table that is laid so: rows of several tables have to stay in the first cache.
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """Tables as one: row k has element k of each, and zeros up to a power of two of elements."""

    name: str
    tables: tuple[d.Buffer, ...]

    @property
    def width(self) -> int:
        """Elements of a row."""
        return 1 << max(len(self.tables) - 1, QUAD - 1).bit_length()

    def data(self) -> bytes:
        """The rows, in the order of memory."""
        gap = bytes(4 * (self.width - len(self.tables)))
        count = self.tables[0].count or 0
        return b"".join(b"".join(table.data[4 * k : 4 * k + 4] for table in self.tables) + gap for k in range(count))


def fits_permutes(space: Space, bits: int, count: int | None, target: HostTarget) -> bool:
    """Whether permutes read a table: it fills one register or two, or four of eight elements."""
    return space is Space.TABLE and bits == 32 and count is not None and count in permuted_counts(target.table_lanes)


def permuted_counts(each: int) -> tuple[int, ...]:
    """How many elements tables have that permutes of registers of so many read."""
    return (each, 2 * each, 4 * each) if each == 8 else (each, 2 * each)


def rows_of(kernel: d.Kernel, target: HostTarget) -> tuple[Rows, ...]:
    """What is laid side by side for a kernel: tables too long for a permute, two or more with the same indices."""
    if target.table_lanes != 8:
        return ()
    tables = {b.name: b for b in kernel.buffers if _fits(b, target)}
    if len(tables) < 2:
        return ()
    places: dict[str, set[d.Expr]] = {}
    for node in visit(kernel.body):
        if isinstance(node, d.Load) and node.buffer in tables:
            places.setdefault(node.buffer, set()).add(node.index)
    alike: dict[tuple[int | None, frozenset[d.Expr]], list[d.Buffer]] = {}
    for name, found in places.items():
        alike.setdefault((tables[name].count, frozenset(found)), []).append(tables[name])
    return tuple(_named(group) for group in alike.values() if len(group) > 1)


def _fits(buffer: d.Buffer, target: HostTarget) -> bool:
    count = buffer.count or 0
    powers = 2 * target.table_lanes < count <= _LONGEST and count & (count - 1) == 0
    return buffer.space is Space.TABLE and buffer.element.bits == 32 and powers


def _named(tables: Iterable[d.Buffer]) -> Rows:
    found = tuple(tables)
    return Rows(f"{found[0].name}.rows", found)
