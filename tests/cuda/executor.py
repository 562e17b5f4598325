"""A device of the simulator: compiles kernels with the CUDA emitter and launches them as the runtime would.

A kernel that can be split runs both ways, whole and in halves; both must trap alike and write the same, where every NaN
is the same value.
"""

import ctypes
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from isogrid import pipeline
from isogrid.analysis.facts import LaunchFacts
from isogrid.backends.cuda import layout as l
from isogrid.backends.cuda.emit import emit_cuda
from isogrid.backends.cuda.target import cuda_target
from isogrid.ir import kernel as k
from isogrid.lowering.split import split
from isogrid.runtimes.protocol import BoundLaunch, is_small
from isogrid.traps import Trap, trap_exception
from tests.conformance.support import bits
from tests.cuda.simulator import Simulated, simulate

TARGET = cuda_target((9, 0))
#: A module and its code.
Part: TypeAlias = tuple[l.CudaModule, Simulated]


class SimulatedDevice:
    """Answers `compile` and `launch` like a runtime. `room` is that of the watch, in events."""

    name = "simulated"
    ignored_hints = frozenset({"always_inline"})
    pass_names = ("vectorise",)

    def __init__(self, *, small: bool = True, optimised: bool = True, room: int = 64, aligned: bool = True) -> None:
        self.small, self.optimised, self.room, self.aligned = small, optimised, room, aligned

    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> tuple[k.Kernel, list[Part]]:
        """The whole kernel, and its halves where it has them."""
        facts = LaunchFacts(small=self.small)
        disabled: frozenset[str] = options.get("disable", frozenset())
        better = pipeline.optimise(kernel, disabled, facts, options) if self.optimised else kernel
        device = pipeline.lower(better, facts, TARGET.build)
        halves: tuple[Any, ...] = ("check", "write") if split(device) is not None else ()
        parts: list[Part] = []
        for part in ("whole", *halves):
            module = emit_cuda(device, TARGET, options, small=self.small, aligned=self.aligned, part=part)
            parts.append((module, simulate(module.text, module.dynamic_shared)))
        return kernel, parts

    def launch(self, artifact: tuple[k.Kernel, list[Part]], bound: BoundLaunch) -> None:
        kernel, parts = artifact
        if self.small and not is_small(kernel, bound):
            # As the runtime does: what was proved of small launches does not hold here.
            wide = SimulatedDevice(small=False, optimised=self.optimised, room=self.room, aligned=self.aligned)
            kernel, parts = wide.compile(kernel, bound.options)
        run(kernel, parts, bound, self.room)


def run(kernel: k.Kernel, parts: list[Part], bound: BoundLaunch, room: int = 64) -> None:
    """One launch; raises its trap with the arrays as they were."""
    (module, code), *halves = parts
    saved = {name: array.copy() for name, array in bound.arrays.items()}
    record = np.full(l.RECORD_WORDS, -1, np.int64)
    watch = new_watch(kernel, module, bound, room)
    arrays = {name: aligned_copy(array, module.alignment) for name, array in bound.arrays.items()}
    start("run", kernel, (module, code), bound, arrays, record, watch)
    if "settle" in module.entries:
        pointers = (ctypes.c_int64 * 2)(record.ctypes.data, watch.ctypes.data)
        code.launch("settle", 1, l.SETTLE_THREADS, pointers)
        if not room:
            head = l.WATCH_EVENTS + len(kernel.parameters) + 1
            assert not watch[head:].any() and watch[l.WATCH_COUNT] == 0, "the counts are not zero again"
    if halves:
        run_halves(kernel, halves, bound, arrays, record, watch)
    for name, array in bound.arrays.items():
        array[...] = arrays[name].reshape(array.shape)
    if record[l.RECORD_KEY] == -1:
        return
    for name, array in saved.items():
        bound.arrays[name][...] = array
    if record[l.RECORD_SITE] == l.SITE_TOO_MANY:
        run(kernel, parts, bound, 2 * int(watch[l.WATCH_COUNT]))
        return
    raise trap_of(kernel, module, bound, record)


def run_halves(
    kernel: k.Kernel,
    halves: list[Part],
    bound: BoundLaunch,
    wanted: "Mapping[str, np.ndarray[Any, Any]]",
    record: "np.ndarray[Any, Any]",
    watch: "np.ndarray[Any, Any]",
) -> None:
    """The same launch, checking first and writing then: the same record, and the same arrays or untouched ones."""
    again, mirror = (np.full(l.MIRROR_WORD + 1, -1, np.int64) for _ in range(2))
    again[l.MIRROR_WORD] = mirror.ctypes.data
    arrays = {name: aligned_copy(array, halves[0][0].alignment) for name, array in bound.arrays.items()}
    for part in halves:
        start("run", kernel, part, bound, arrays, again, watch)
    trapped = record[l.RECORD_KEY] != -1
    assert (again[: l.RECORD_LOCK] == record[: l.RECORD_LOCK]).all(), "the halves trap otherwise"
    count = l.RECORD_OPERANDS + (len(halves[0][0].sites[int(record[l.RECORD_SITE])].operands) if trapped else 0)
    assert (again[l.RECORD_OPERANDS : count] == record[l.RECORD_OPERANDS : count]).all(), "with other operands"
    assert (again[l.POISON_WORD] == 0) == trapped and (mirror[: l.RECORD_WORDS] == again[: l.RECORD_WORDS]).all()
    for name, array in arrays.items():
        expected = bound.arrays[name].reshape(-1) if trapped else wanted[name]
        assert np.array_equal(bits(array), bits(expected)), f"the halves leave something else in {name}"


def start(
    entry: str,
    kernel: k.Kernel,
    part: Part,
    bound: BoundLaunch,
    arrays: "Mapping[str, np.ndarray[Any, Any]]",
    record: "np.ndarray[Any, Any]",
    watch: "np.ndarray[Any, Any]",
) -> None:
    """Run the grid of one module."""
    module, code = part
    slots = pack(module, kernel, bound, arrays, record, watch)
    extents = bound.groups(kernel.geometry) if kernel.grouped else bound.extents
    if kernel.grouped and kernel.geometry.kind == "grid":
        extents = bound.extents
    blocks = math.prod(-(-e // t) for e, t in zip(extents, module.tile, strict=True))
    if module.in_turn:
        blocks = min(blocks, 3)  # so that even small launches have blocks that take several groups
    code.launch(entry, blocks, module.block, slots)


def new_watch(kernel: k.Kernel, module: l.CudaModule, bound: BoundLaunch, room: int) -> "np.ndarray[Any, Any]":
    """A list of `room` events, or for no room a count for every element."""
    if room:
        watch = np.zeros(l.WATCH_EVENTS + 2 * room, np.int64)
        watch[l.WATCH_CAPACITY] = room
        return watch
    sizes = [bound.arrays[p.name].size if p.name in module.layout.watched else 0 for p in kernel.parameters]
    head = l.WATCH_EVENTS + len(sizes) + 1
    watch = np.zeros(head + sum(sizes), np.int64)
    watch[l.WATCH_CAPACITY] = l.WATCH_DENSE - (1 << 64)
    watch[l.WATCH_EVENTS : head] = head + np.cumsum([0, *sizes])
    return watch


def aligned_copy(array: "np.ndarray[Any, Any]", alignment: int) -> "np.ndarray[Any, Any]":
    """A copy whose address is a multiple of 64, or of no more than its elements where the code asks for nothing."""
    room = np.empty(array.nbytes + 128, np.uint8)
    start = -room.ctypes.data % 64 + (array.itemsize if alignment == 1 else 0)
    copy = room[start : start + array.nbytes].view(array.dtype)
    copy[...] = array.reshape(-1)
    return copy


def pack(
    module: l.CudaModule,
    kernel: k.Kernel,
    bound: BoundLaunch,
    arrays: "Mapping[str, np.ndarray[Any, Any]]",
    record: "np.ndarray[Any, Any]",
    watch: "np.ndarray[Any, Any]",
) -> "ctypes.Array[ctypes.c_int64]":
    types = {p.name: p.type for p in kernel.parameters if isinstance(p, k.ScalarParameter)}
    slots = (ctypes.c_int64 * len(module.layout.slots))()
    for number, slot in enumerate(module.layout.slots):
        match slot.kind:
            case "record":
                slots[number] = record.ctypes.data
            case "watch":
                slots[number] = watch.ctypes.data
            case "guard" | "first_block":
                slots[number] = 0
            case "array":
                slots[number] = arrays[slot.name].ctypes.data
            case "scalar":
                raw = np.zeros(8, np.uint8)
                value = np.array([bound.scalars[slot.name]], types[slot.name].numpy).view(np.uint8)
                raw[: len(value)] = value
                slots[number] = int(raw.view(np.int64)[0])
            case "dim":
                slots[number] = bound.dims[slot.name]
            case "extent":
                slots[number] = bound.extents[int(slot.name)]
            case "divider":
                axis = int(slot.name)
                slots[number] = l.divider(-(-bound.extents[axis] // module.tile[axis]))
    return slots


def trap_of(kernel: k.Kernel, module: l.CudaModule, bound: BoundLaunch, record: "np.ndarray[Any, Any]") -> Trap:
    """The exception that a record describes."""
    site = module.sites[int(record[l.RECORD_SITE])]
    words = record[l.RECORD_OPERANDS : l.RECORD_OPERANDS + len(site.operands)].tolist()
    operands: list[Any] = []
    for word, type in zip(words, site.operands, strict=True):
        value = np.frombuffer((word & (1 << 64) - 1).to_bytes(8, "little")[: type.size], type.numpy)[0]
        operands.append(value if type.is_float else bool(value) if value.dtype == np.bool_ else int(value))
    key = int(np.uint64(record[l.RECORD_KEY].astype(np.uint64)))
    array_total = site.kind.value == "total" and bool(site.operands)
    thread = None if array_total else thread_of(kernel, bound, key)
    return trap_exception(site, kernel.name, thread, operands)


def thread_of(kernel: k.Kernel, bound: BoundLaunch, key: int) -> tuple[int, ...]:
    geometry = kernel.geometry
    if not kernel.grouped:
        return tuple(int(c) for c in np.unravel_index(key, bound.threads(geometry, False)))
    number, local = divmod(key, geometry.group_size)
    group, lid = np.unravel_index(number, bound.groups(geometry)), np.unravel_index(local, geometry.block)
    return tuple(int(g) * b + int(at) for g, b, at in zip(group, geometry.block, lid, strict=True))
