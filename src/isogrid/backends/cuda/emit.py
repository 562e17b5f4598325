"""Device IR to one LLVM module for NVPTX: the kernel `run`, and `settle` where sums of arrays are watched.

ptx_kernel void @run(record, watch, guard, first_block, parameters..., dimensions..., extents...)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from isogrid.analysis.meetings import find_meetings
from isogrid.backends.cuda.emit_coarse import emit_copies
from isogrid.backends.cuda.emit_code import GLOBAL_POINTER, Code, Variable
from isogrid.backends.cuda.emit_frame import (
    Place,
    SharedMemory,
    bind_arguments,
    buffers_of,
    find_place,
    first_threads,
    group_specials,
    local_allocas,
    parameter_list,
    plan_shared,
    shared_text,
    table_text,
    thread_specials,
)
from isogrid.backends.cuda.emit_groups import Turn, emit_groups, gathered_sums
from isogrid.backends.cuda.emit_quotients import MEASURED
from isogrid.backends.cuda.emit_rounds import FIRST_COPYING, ROUND_THREADS, rounds_of
from isogrid.backends.cuda.emit_settle import settle_text
from isogrid.backends.cuda.emit_statements import emit_block, emit_statement
from isogrid.backends.cuda.emit_sync import end_of_thread, plain_barrier, strided
from isogrid.backends.cuda.emit_trap import report_skipped, report_trap
from isogrid.backends.cuda.emit_warp_groups import THREADS, emit_warp_groups, fits_in_warps, groups_per_block
from isogrid.backends.cuda.layout import CudaModule, Layout, layout_of, shared_totals, watched
from isogrid.backends.cuda.merge_guards import merge_guards
from isogrid.backends.cuda.plan_copies import plan_copies, usual_nodes
from isogrid.backends.cuda.plan_zero import unneeded_zeroes
from isogrid.backends.cuda.target import FIRST_PROGRAMMATIC, CudaTarget, data_layout
from isogrid.backends.cuda.weak_barriers import weaken_barriers
from isogrid.ir import device as d
from isogrid.ir.device import Machine
from isogrid.ir.types import Space
from isogrid.ir.walk import visit
from isogrid.lowering.flat_conditions import flat_conditions
from isogrid.lowering.name_assignments import name_assignments
from isogrid.lowering.split import split
from isogrid.printers.c_family_frame import scalar_types
from isogrid.printers.c_family_loops import Loops
from isogrid.printers.c_family_ranges import Ranges
from isogrid.printers.llvm_text import Writer, type_text
from isogrid.support.errors import KnownLimit

_FAST = "reassoc contract arcp "
#: Nodes of a body, slow paths left out, up to which one elementary function goes; threads of a multiprocessor, and so
#: many of them as do where copies to shared memory keep the memory busy.
_SHORT, _RESIDENT, _RESIDENT_ROUNDS = 300, 2048, 1280
#: Rounds of zeroing that are written out instead of being a loop.
_MOST_ROUNDS = 8


def emit_cuda(
    kernel: d.Kernel,
    target: CudaTarget,
    options: Mapping[str, Any],
    *,
    small: bool = True,
    aligned: bool = True,
    part: Literal["whole", "check", "write"] = "whole",
    starts: bool = False,
) -> CudaModule:
    """LLVM IR for `kernel`. `small`: no size of the launch reaches 2^31; `aligned`: array pointers are multiples of
    16. `part` names a half of a kernel that can be split; all parts have the same parameters. `starts`: a launch may
    start at a later block than the first. Options of the group `cuda`: `max_registers`, `min_blocks_per_sm`."""
    if kernel.races == "check":
        raise KnownLimit('races="check" is for the interpreter, which tracks every access')
    if part != "whole":
        halves = split(kernel)
        assert halves is not None
        kernel = halves.check if part == "check" else halves.write
    coarsen = "coarsen" not in options.get("disable", ())
    kernel = name_assignments(flat_conditions(kernel))
    if coarsen and not fits_in_warps(kernel):
        kernel = weaken_barriers(merge_guards(kernel))
    layout = layout_of(kernel, small=small, divides=small, starts=starts)
    shared = plan_shared(kernel)
    code = _begin(kernel, shared, options)
    code.trusting = part == "write"
    code.aligned = aligned
    # Halves get the parameters of the whole kernel, whose tiles may have another size.
    code.divides = small and part == "whole"
    code.waits = target.capability >= FIRST_PROGRAMMATIC
    code.divides_quickly = target.capability in MEASURED and "fast_division" not in options.get("disable", ())
    code.ranges, code.loops = Ranges(kernel, scalar_types(kernel), small=small), Loops(kernel)
    items = (1,) * kernel.geometry.rank
    tile = _tile(kernel)
    if coarsen:
        items, code.gaps = plan_copies(kernel)
        # An ungrouped kernel's block is its author's guess; smaller ones cost a fifth of the bandwidth.
        guessed = len(items) == 1 and items[0] > code.gaps[0] == 1 and options.get("max_threads") is None
        if target.build and target.capability >= FIRST_COPYING and aligned:
            code.rounds = rounds_of(kernel, items, code.gaps, ROUND_THREADS if guessed else code.threads)
        if guessed:
            code.threads = ROUND_THREADS if code.rounds > 1 else max(code.threads, THREADS)
            tile = (code.threads,)
        tile = tuple(extent * count for extent, count in zip(tile, items, strict=True))
        tile = (tile[0] * code.rounds, *tile[1:])
        if fits_in_warps(kernel):
            code.threads = THREADS
            tile = (tile[0] * groups_per_block(kernel),)
    # Addresses of neighbours that one thread takes stay sums of 64 bits, in which LLVM sees what lies side by side.
    code.short_addresses = small and max(items) == 1 and tile == _tile(kernel)
    sums = gathered_sums(kernel, small=small) if coarsen and code.threads == kernel.geometry.group_size else ()
    _body(code, layout, shared, tile, items, sums)
    alignment = 16 if aligned else 1
    entries = ["run"]
    parts = [
        f'target datalayout = "{data_layout(target)}"',
        'target triple = "nvptx64-nvidia-cuda"',
        *shared_text(shared, kernel),
        *(table_text(b) for b in kernel.buffers if b.space is Space.TABLE),
        _function(code, layout, options, alignment, _resident(code, target, items)),
        *(code.helpers[name] for name in sorted(code.helpers)),
    ]
    if watched(kernel):
        entries.append("settle")
        parts.append(settle_text(kernel, code.w))
    text = "\n".join(parts)
    declared = [code.w.declarations[name] for name in sorted(code.w.declarations)]
    tail = ["!0 = !{}", "!1 = distinct !{!1, !2}", '!2 = !{!"llvm.loop.unroll.disable"}']
    return CudaModule(
        text="\n".join([text, *declared, *tail, ""]),
        layout=layout,
        entries=tuple(entries),
        block=code.threads,
        tile=tile,
        alignment=alignment,
        static_shared=0 if shared.dynamic else shared.total,
        dynamic_shared=shared.total if shared.dynamic else 0,
        sites=kernel.sites,
        notes=tuple(code.notes),
        in_turn=bool(sums),
        waits=code.waits,
    )


def _tile(kernel: d.Kernel) -> tuple[int, ...]:
    """The part of the extents that one block covers."""
    if kernel.grouped and kernel.geometry.kind == "groups":
        return (1,) * kernel.geometry.rank
    return kernel.geometry.block


def _begin(kernel: d.Kernel, shared: SharedMemory, options: Mapping[str, Any]) -> Code:
    code = Code(
        w=Writer(converts_halves=True),
        kernel=kernel,
        flags=_FAST if options.get("fastmath") and not kernel.exact else "",
        threads=kernel.geometry.group_size,
        meetings=find_meetings(kernel),
        buffers=buffers_of(kernel, shared),
        arguments={},
        emit=emit_statement,
        batches="coarsen" not in options.get("disable", ()),
    )
    code.lanes_part = any(
        id(n) in code.meetings.followed
        for n in visit(kernel.body)
        if isinstance(n, d.Check) or (isinstance(n, d.WarpCollective | d.Collective) and n.total is not None)
    ) or bool(shared_totals(kernel))
    for name, type in kernel.variables:
        code.variables[name] = Variable(code.w.alloca(type_text(type), "var"), type)
    for name in ("parity", "warp parity"):
        code.variables[name] = Variable(code.w.alloca("i32", "parity"), Machine.I32)
        code.w.do(f"store i32 0, ptr {code.variables[name].pointer}")
    if shared_totals(kernel):
        code.wrapped = "wrapped"
        code.variables["wrapped"] = Variable(code.w.alloca("i1", "wrapped"), Machine.I1)
        code.w.do(f"store i1 false, ptr {code.variables['wrapped'].pointer}")
    return code


def _body(
    code: Code,
    layout: Layout,
    shared: SharedMemory,
    tile: tuple[int, ...],
    items: tuple[int, ...],
    sums: tuple[d.Atomic, ...],
) -> None:
    kernel = code.kernel
    _guard(code)
    bind_arguments(code, layout)
    whole = kernel.geometry.group_size == code.threads
    unneeded = unneeded_zeroes(kernel, small=layout.small)
    if sums:
        code.notes.append("blocks run groups in turn and keep their sums in registers")
        turn = Turn(kernel.geometry.block, tile, sums)
        emit_groups(code, layout, turn, lambda code: _zero_shared(code, shared, unneeded))
        end_of_thread(code)
        return
    place = find_place(code, layout, kernel.geometry.block if whole else (code.threads,), tile)
    if tile != _tile(kernel) and kernel.grouped:
        code.notes.append("each warp runs a whole group")
        emit_warp_groups(code, place, tile[0])
    elif kernel.grouped:
        group_specials(code, layout, place)
        _zero_shared(code, shared, unneeded)
        emit_block(code, kernel.body)
    elif max(items) > 1:
        code.notes.append(f"each thread takes {' x '.join(map(str, items))} threads of the grid")
        emit_copies(code, place, first_threads(code, place, tile, items), items)
    else:
        _one_thread(code, place, first_threads(code, place, tile, items))
    end_of_thread(code)


def _one_thread(code: Code, place: Place, threads: tuple[str, ...]) -> None:
    w = code.w
    inside = ""
    for axis, thread in enumerate(threads):
        here = w.emit(f"icmp ult {place.index} {thread}, %extent.{axis}")
        inside = w.emit(f"and i1 {inside}, {here}") if inside else here
    start = w.block("thread")
    w.branch(inside, start, code.end)
    w.place(start)
    thread_specials(code, threads, place.index)
    emit_block(code, code.kernel.body)


def _guard(code: Code) -> None:
    """Do nothing while a trap of an earlier launch that wrote these arrays has not been raised. The writing half does
    nothing either where the checking one has recorded a trap, and passes both on. Both words were written before this
    launch began. They are read through the cache: a volatile load of every thread would go to one place of the L2."""
    w = code.w
    if code.waits:
        # The next kernel may start as soon as all blocks of this one have; each waits before it touches memory.
        w.call("llvm.nvvm.griddepcontrol.launch.dependents", "void", [], [])
        w.call("llvm.nvvm.griddepcontrol.wait", "void", [], [])
    look, start, out = w.block("guarded"), w.block("start"), w.block("out")
    w.branch(w.emit(f"icmp eq {GLOBAL_POINTER} %guard, null"), start, look)
    w.place(look)
    key = w.emit(f"load i64, {GLOBAL_POINTER} %guard, align 8")
    w.branch(w.emit(f"icmp eq i64 {key}, -1"), start, out)
    w.place(out)
    if code.trusting:
        report_skipped(code)
    w.finish("ret void")
    w.place(start)
    if code.trusting:
        checked, trapped = w.block("nothing.trapped"), w.block("has.trapped")
        key = w.emit(f"load i64, {GLOBAL_POINTER} %record, align 8")
        w.branch(w.emit(f"icmp eq i64 {key}, -1"), checked, trapped)
        w.place(trapped)
        report_trap(code)
        w.finish("ret void")
        w.place(checked)


def _zero_shared(code: Code, shared: SharedMemory, unneeded: frozenset[str]) -> None:
    """Zero what must be zero before the first thread runs."""
    w, kernel = code.w, code.kernel
    needed = [b.name for b in kernel.buffers if b.space is Space.SHARED and b.zeroed and b.name not in unneeded]
    needed += [f"{name} counters" for name in shared_totals(kernel)]
    if not needed:
        return
    for name in needed:
        pointer = shared.pointer(name)

        def zero(index: str, pointer: str = pointer) -> None:
            at = w.emit(f"getelementptr inbounds i128, ptr addrspace(3) {pointer}, i32 {index}", "p")
            w.do(f"store <4 x i32> zeroinitializer, ptr addrspace(3) {at}, align 16")

        _dealt_out(code, shared.sizes[name] // 16, zero)
    if "totals" in shared.offsets:
        w.do(f"store i64 -1, ptr addrspace(3) {shared.pointer('totals')}, align 8")
    plain_barrier(code)


def _dealt_out(code: Code, count: int, body: Callable[[str], None]) -> None:
    """Call `body(index)` for the indices below `count`, each in one thread of the group; written out if few rounds."""
    rounds, rest = divmod(count, code.threads)
    if rounds >= _MOST_ROUNDS:
        strided(code, count, body)
        return
    for number in range(rounds):
        body(code.w.emit(f"add nuw i32 {code.local}, {number * code.threads}") if number else code.local)
    if rest:
        some, done = code.w.block("rest"), code.w.block("zeroed")
        code.w.branch(code.w.emit(f"icmp ult i32 {code.local}, {rest}"), some, done)
        code.w.place(some)
        body(code.w.emit(f"add nuw i32 {code.local}, {rounds * code.threads}") if rounds else code.local)
        code.w.place(done)


def _resident(code: Code, target: CudaTarget, items: tuple[int, ...]) -> int:
    """Blocks that a multiprocessor should hold, 0 if that is the assembler's choice. A map by one elementary function
    needs few registers where no slow path is taken: with 32 a thread all threads fit, a sixth of the time of such a
    map, and with 48, in rounds, the assembler has more room."""
    short = max(items) > 1 and usual_nodes(code.kernel.body) <= _SHORT
    most = _RESIDENT if code.rounds == 1 else _RESIDENT_ROUNDS
    return most // code.threads if short and target.build and any(code.slow_paths.values()) else 0


def _function(code: Code, layout: Layout, options: Mapping[str, Any], alignment: int, resident: int) -> str:
    attributes = ["nounwind", *_attributes(code, options, resident)]
    w = code.w
    return "\n".join(
        [
            f"define ptx_kernel void @run({parameter_list(code.kernel, layout, alignment)}) {' '.join(attributes)} {{",
            "entry:",
            *w.allocas,
            *local_allocas(code.kernel),
            "  br label %begin",
            "begin:",
            *w.lines,
            "}",
        ]
    )


def _attributes(code: Code, options: Mapping[str, Any], resident: int) -> list[str]:
    own: Mapping[str, Any] = options.get("cuda") or {}
    most = options.get("max_threads")
    # PTX takes one of the two. The bound says what its author promised; the exact size serves the optimiser.
    if most is None:
        found = [f'"nvvm.reqntid"="{code.threads},1,1"']
    else:
        sizes: Sequence[int] = (most,) if isinstance(most, int) else most
        found = [f'"nvvm.maxntid"="{math.prod(sizes)},1,1"']
    if resident and most is None and own.get("min_blocks_per_sm") is None and own.get("max_registers") is None:
        found.append(f'"nvvm.minctasm"="{resident}"')
    for option, attribute in (("min_blocks_per_sm", "minctasm"), ("max_registers", "maxnreg")):
        if own.get(option) is not None:
            found.append(f'"nvvm.{attribute}"="{int(own[option])}"')
    return found
