"""Device IR to LLVM modules: `run` over a range of units for speed, `precise` in reference order for the first trap.

i64 @run(ptr args, i64 lo, i64 hi)        0 done, 1 a lane trapped, -1 interrupted
i64 @run_alone(ptr args, i64 lo, i64 hi)  the same without locked instructions, where a kernel would have them
i64 @run_streamed(ptr args, i64 lo, i64 hi)  the same past the cache
i64 @precise(ptr args, i64 lo, i64 hi)    0 done, 1 the record names the first trap of the range

They are three modules, since most kernels never trap and never write much: these are made when one does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from isogrid.backends.cpu.check_first import has_halves
from isogrid.backends.cpu.emit_atomic import adds_to_memory
from isogrid.backends.cpu.emit_balance import unroll_for_divider
from isogrid.backends.cpu.emit_frame import FunctionFrame, begin_function, end_function, table_name, table_text
from isogrid.backends.cpu.emit_groups import emit_groups
from isogrid.backends.cpu.emit_levels import GROUP, find_levels, level_of
from isogrid.backends.cpu.emit_normal import flag_returns, normalise
from isogrid.backends.cpu.emit_overlap import Rounds
from isogrid.backends.cpu.emit_own import own_places
from isogrid.backends.cpu.emit_polled import is_one_thread
from isogrid.backends.cpu.emit_ranges import fold_decided
from isogrid.backends.cpu.emit_regions import group_constructs
from isogrid.backends.cpu.emit_strategy import Strategy, choose_strategy, lane_axis_of
from isogrid.backends.cpu.emit_stream import Stream, find_stream
from isogrid.backends.cpu.emit_units import emit_rows, emit_threads
from isogrid.backends.cpu.emit_values import Column
from isogrid.backends.cpu.emit_warps import warp_notes
from isogrid.backends.cpu.layout import EmittedModule, layout_of, streamed_unit, unit_of
from isogrid.backends.cpu.table_rows import rows_of
from isogrid.backends.cpu.target import HostTarget
from isogrid.ir import device as d
from isogrid.ir.types import Space
from isogrid.lowering.masks import mask_warps
from isogrid.lowering.name_assignments import name_assignments
from isogrid.support.errors import CompilerBug

_FAST = "reassoc contract arcp "


@dataclass(frozen=True, slots=True)
class _Function:
    text: str
    declarations: dict[str, str]
    polls: bool


@dataclass(frozen=True, slots=True)
class _Settings:
    """How one function is written."""

    strategy: Strategy
    flags: str
    precise: bool
    quick: bool = False
    overlapped: Mapping[str, Rounds] = field(default_factory=dict[str, Rounds])
    alone: bool = False
    stream: Stream | None = None
    #: What runs where lines of the stream's arrays do not agree.
    otherwise: str = ""


def emit_module(kernel: d.Kernel, target: HostTarget, options: Mapping[str, Any]) -> EmittedModule:
    """LLVM IR of `run`. For tests, the option `cpu_width` forces the number of lanes, and `cpu_form` ("shared" or
    "alone") has `run` written in one form only where there would be two; "streamed" has it write past the cache."""
    # Where floats may be rounded in other ways, the halves need not agree.
    halves = not options.get("fastmath") and "halves" not in options.get("disable", ()) and has_halves(kernel)
    kernel, settings = _prepared(kernel, target, options)
    strategy = settings.strategy
    form = options.get("cpu_form")
    two = not kernel.grouped and adds_to_memory(kernel.body)
    stream = _stream(kernel, settings, options)
    forced = stream if form == "streamed" else None
    functions = [_function(kernel, target, "run", replace(settings, alone=two and form == "alone"))]
    alone = two and form is None
    if alone:
        functions.append(_function(kernel, target, "run_alone", replace(settings, alone=True)))
    if forced is not None:
        functions = _streamed(kernel, target, settings, forced, "run")
    return EmittedModule(
        text=_module_text(kernel, functions, target),
        unit=unit_of(kernel),
        layout=layout_of(kernel),
        pipeline=strategy.pipeline,
        polls=functions[0].polls,
        alone=alone,
        streamed=None if stream is None or forced else streamed_unit(kernel, stream.buffers, stream.written),
        halves=halves,
        notes=(
            f"{strategy.reason}: {strategy.width} lane{'' if strategy.width == 1 else 's'} at a time",
            *([] if stream is None else [f"past the cache where much is written: {', '.join(stream.buffers)}"]),
            *(["checked before anything is written where much is written"] if halves else []),
            *warp_notes(kernel),
        ),
    )


def emit_streamed(kernel: d.Kernel, target: HostTarget, options: Mapping[str, Any]) -> str:
    """LLVM IR of `run_streamed`, for the "plain" pipeline, of a kernel that `emit_module` says has it."""
    kernel, settings = _prepared(kernel, target, options)
    stream = _stream(kernel, settings, options)
    if stream is None:
        raise CompilerBug(f"`{kernel.name}` writes no whole lines")
    return _module_text(kernel, _streamed(kernel, target, settings, stream, "run_streamed"), target)


def _prepared(kernel: d.Kernel, target: HostTarget, options: Mapping[str, Any]) -> tuple[d.Kernel, _Settings]:
    flags = _FAST if options.get("fastmath") and not kernel.exact else ""
    quick = target.divides_slowly and not flags and "fast_division" not in options.get("disable", ())
    kernel, overlapped = unroll_for_divider(kernel) if quick else (kernel, {})
    kernel = _normalised(kernel)
    strategy = choose_strategy(kernel, target, options.get("cpu_width"))
    return kernel, _Settings(strategy, flags, precise=False, quick=quick, overlapped=overlapped)


def _stream(kernel: d.Kernel, settings: _Settings, options: Mapping[str, Any]) -> Stream | None:
    """Where floats may be rounded in other ways, both forms need not agree."""
    if settings.flags or "streams" in options.get("disable", ()):
        return None
    return find_stream(kernel, settings.strategy.lines)


def _streamed(kernel: d.Kernel, target: HostTarget, settings: _Settings, stream: Stream, name: str) -> list[_Function]:
    """Where lines of several arrays do not begin at the same lanes, the first one alone is written past the cache."""
    width = settings.strategy.lines
    lines = replace(settings, strategy=replace(settings.strategy, width=width), stream=stream)
    if len(stream.buffers) == 1:
        return [_function(kernel, target, name, lines)]
    first = replace(lines, stream=replace(stream, buffers=stream.buffers[:1]))
    other = f"{name}_first"
    return [_function(kernel, target, other, first), _function(kernel, target, name, replace(lines, otherwise=other))]


def emit_precise(kernel: d.Kernel, target: HostTarget, options: Mapping[str, Any]) -> str:
    """LLVM IR of `precise`, one lane at a time, for the "plain" pipeline."""
    kernel = _normalised(kernel)
    flags = _FAST if options.get("fastmath") else ""
    function = _function(kernel, target, "precise", _Settings(Strategy(1, "plain", "scalar"), flags, precise=True))
    return _module_text(kernel, [function], target)


def _module_text(kernel: d.Kernel, functions: Sequence[_Function], target: HostTarget) -> str:
    tables = [table_text(b.name, b.data) for b in kernel.buffers if b.space is Space.TABLE]
    tables += [table_text(rows.name, rows.data()) for rows in rows_of(kernel, target)]
    declared = {name: text for function in functions for name, text in function.declarations.items()}
    declarations = [declared[name] for name in sorted(declared)]
    host = f'"target-cpu"="{target.cpu}" "target-features"="{target.features}"'
    # `precise` runs once, over one chunk, after a trap: code made quickly serves it best.
    attributes = [f"attributes #0 = {{ nounwind {host} }}", f"attributes #1 = {{ nounwind noinline optnone {host} }}"]
    return "\n".join([*tables, *declarations, *(function.text for function in functions), *attributes]) + "\n"


def _normalised(kernel: d.Kernel) -> d.Kernel:
    kernel = fold_decided(name_assignments(kernel))
    body = normalise(kernel.body)
    if not kernel.grouped:
        return replace(kernel, body=body)
    body, flags = flag_returns(body)
    return _with_masks(replace(kernel, body=body, variables=kernel.variables + flags))


def _with_masks(kernel: d.Kernel) -> d.Kernel:
    """Warp operations stand between regions that all threads of a group run, so warps that part are masked."""
    axis = lane_axis_of(kernel.geometry.block)
    levels = find_levels(kernel, axis, group_constructs(kernel.body))
    spaces = {b.name: b.space for b in kernel.buffers}
    return mask_warps(kernel, lambda node: level_of(levels, node, spaces, axis, kernel.grouped) != GROUP)


def _function(kernel: d.Kernel, target: HostTarget, name: str, settings: _Settings) -> _Function:
    frame: FunctionFrame = begin_function(kernel, name, settings.flags, precise=settings.precise)
    strategy = settings.strategy
    frame.code.quick_division = settings.quick
    frame.code.overlapped = settings.overlapped
    frame.code.alone = settings.alone
    frame.code.one_thread = is_one_thread(kernel.geometry)
    frame.stream, frame.otherwise = settings.stream, settings.otherwise
    for buffer in () if settings.stream is None else settings.stream.buffers:
        frame.code.buffers[buffer] = replace(frame.code.buffers[buffer], streamed=True)
    frame.code.table_lanes = target.table_lanes
    for rows in rows_of(kernel, target):
        for at, table in enumerate(rows.tables):
            column = Column(table_name(rows.name), rows.width, at)
            frame.code.buffers[table.name] = replace(frame.code.buffers[table.name], column=column)
    frame.code.cheap_masks = target.has_masks
    if not target.has_masks and not settings.precise:
        frame.code.own_places = own_places(kernel)
    frame.code.w.minima_by_bits = target.triple.startswith("x86_64")
    frame.code.w.converts_halves = target.converts_halves
    frame.code.w.register_bits = 512 if target.permutes else 0
    match unit_of(kernel):
        case "threads":
            emit_threads(frame, find_levels(kernel, 0, frozenset()), strategy)
        case "rows":
            emit_rows(frame, find_levels(kernel, kernel.geometry.rank - 1, frozenset()), strategy)
        case "groups":
            emit_groups(frame, strategy)
    return _Function(end_function(frame), frame.code.w.declarations, frame.code.polls)
