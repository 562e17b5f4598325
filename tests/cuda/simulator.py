"""Run LLVM text for NVPTX on this machine: the same functions, compiled for the host, with threads as fibers.

Address spaces are dropped and the intrinsics of the GPU (thread numbers, barriers, votes, shuffles) become functions of
a scheduler. A group runs one thread at a time until each of its threads waits or has ended; then what they wait for is
settled as PTX says. Threads that wait for each other for ever, and barriers of two kinds at once, are errors here.
"""

import ctypes
import functools
import importlib
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_MOST_THREADS = 1024
_STACK = 512 * 1024
_CONTEXT = 8192
#: Words of a request: kind, then three operands. The answer goes to the first operand.
_WORDS = 4
_ENDED, _GROUP, _NAMED, _WARP, _VOTE, _SHUFFLE, _TWO_KINDS = -1, 1, 2, 3, 4, 5, 6
_NUMBERS = itertools.count()


class SimulationError(AssertionError):
    """The code does what no GPU defines."""


@functools.cache
def _llvm() -> Any:
    llvm = importlib.import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@functools.cache
def _jit() -> Any:
    return _llvm().create_lljit_compiler()


def _load(text: str, names: tuple[str, ...]) -> dict[str, int]:
    """Compile a module for the host and give the addresses of its functions."""
    llvm = _llvm()
    module = llvm.parse_assembly(text)
    module.verify()
    # Conversions of f16 are instructions of the GPU; without them here LLVM would call a library.
    features = "+f16c" if llvm.get_host_cpu_features().get("f16c") else ""
    machine = llvm.Target.from_default_triple().create_target_machine(
        features=features, opt=1, codemodel="jitdefault", jit=True
    )
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    library = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module)).add_current_process()
    for name in names:
        library.export_symbol(name)
    tracker = library.link(_jit(), f"simulated.{next(_NUMBERS)}")
    tracker.detach()
    return {name: int(tracker[name]) for name in names}


# --- fibers -----------------------------------------------------------------------------------------------------------


@dataclass
class _Fibers:
    """The scheduler's memory and its three functions. Addresses are fixed, so that texts can name them."""

    memory: dict[str, Any] = field(default_factory=dict)
    resume: Callable[[int, int], None] | None = None
    made: int = 0
    entry: int = 0

    def address(self, name: str) -> int:
        return int(self.memory[name].ctypes.data)


@functools.cache
def _fibers() -> _Fibers:
    sizes = {
        "tid": 4,
        "ctaid": 4,
        "nctaid": 4,
        "function": 8,
        "slots": 8,
        "main": _CONTEXT,
        "contexts": _CONTEXT * _MOST_THREADS,
        "requests": 4 * _WORDS * _MOST_THREADS,
        "stacks": _STACK * _MOST_THREADS,
    }
    fibers = _Fibers({name: np.empty(size + 64, np.uint8) for name, size in sizes.items()})
    libc = ctypes.CDLL(None)
    swap = ctypes.cast(libc.swapcontext, ctypes.c_void_p).value
    where = {name: f"inttoptr (i64 {fibers.address(name)} to ptr)" for name in sizes}
    text = f"""
define void @fiber_of_a_thread() {{
entry:
  br label %again
again:
  %function = load volatile ptr, ptr {where["function"]}
  %slots = load volatile ptr, ptr {where["slots"]}
  call void %function(ptr %slots)
  %r = call i32 @wait_of_a_thread(i32 {_ENDED}, i32 0, i32 0, i32 0)
  br label %again
}}
define i32 @wait_of_a_thread(i32 %kind, i32 %a, i32 %b, i32 %c) noinline {{
  %tid = load volatile i32, ptr {where["tid"]}
  %wide = zext i32 %tid to i64
  %request = getelementptr [{_WORDS} x i32], ptr {where["requests"]}, i64 %wide
  store volatile i32 %kind, ptr %request
  %pa = getelementptr i32, ptr %request, i64 1
  store volatile i32 %a, ptr %pa
  %pb = getelementptr i32, ptr %request, i64 2
  store volatile i32 %b, ptr %pb
  %pc = getelementptr i32, ptr %request, i64 3
  store volatile i32 %c, ptr %pc
  %own = getelementptr [{_CONTEXT} x i8], ptr {where["contexts"]}, i64 %wide
  %rc = call i32 inttoptr (i64 {swap} to ptr)(ptr %own, ptr {where["main"]})
  %answer = load volatile i32, ptr %pa
  ret i32 %answer
}}
define void @resume_threads(ptr %list, i64 %count) {{
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %run ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %run, label %done
run:
  %at = getelementptr i32, ptr %list, i64 %k
  %tid = load i32, ptr %at
  store volatile i32 %tid, ptr {where["tid"]}
  %wide = zext i32 %tid to i64
  %own = getelementptr [{_CONTEXT} x i8], ptr {where["contexts"]}, i64 %wide
  %rc = call i32 inttoptr (i64 {swap} to ptr)(ptr {where["main"]}, ptr %own)
  %next = add i64 %k, 1
  br label %loop
done:
  ret void
}}
"""
    code = _load(text, ("fiber_of_a_thread", "wait_of_a_thread", "resume_threads"))
    fibers.memory["wait"] = code["wait_of_a_thread"]
    fibers.resume = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code["resume_threads"])
    fibers.entry = code["fiber_of_a_thread"]
    return fibers


def _make_contexts(fibers: _Fibers, count: int) -> None:
    """Give every thread of a group a stack; a fiber serves one group after the other."""
    libc = ctypes.CDLL(None)
    for number in range(fibers.made, count):
        context = fibers.address("contexts") + _CONTEXT * number
        libc.getcontext(ctypes.c_void_p(context))
        words = (ctypes.c_uint64 * 5).from_address(context)
        words[1] = 0
        words[2] = fibers.address("stacks") + _STACK * number
        words[4] = _STACK
        libc.makecontext.restype = None
        libc.makecontext(ctypes.c_void_p(context), ctypes.c_void_p(fibers.entry), 0)
    fibers.made = max(fibers.made, count)


# --- the text for the host --------------------------------------------------------------------------------------------

_WAITS = re.compile(r"@llvm\.nvvm\.(barrier|bar\.warp|vote|shfl)")
_ENTRY = re.compile(r"define ptx_kernel void @(\w+)\((.*)\)")
_SHARED = re.compile(r"(@\w+) = internal addrspace\(3\) global (\[\d+ x \w+\]) \w+")
_MOVED = re.compile(r'call (i\d+) asm "mov\.b\d+ \$0, \$1;", "[^"]*"\(((?:float|double|i32|i64) [^)]+)\)')
_START = re.compile(r'call float asm "(r\w+)\.approx\.ftz\.f32 \$0, \$1;", "=f,f"\(')
_DYNAMIC = re.compile(r"(@\w+) = external addrspace\(3\) global \[0 x i8\]")


def _host_text(text: str, dynamic: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The module for the host, its entries, and its shared arrays."""
    shared = tuple(n[1:] for n, _ in _SHARED.findall(text)) + tuple(n[1:] for n in _DYNAMIC.findall(text))
    entries = tuple(name for name, _ in _ENTRY.findall(text))
    wrappers = [_wrapper(name, parameters) for name, parameters in _ENTRY.findall(text)]
    text = _SHARED.sub(r"\1 = global \2 zeroinitializer", text)
    text = _DYNAMIC.sub(rf"\1 = global [{max(dynamic, 16)} x i8] zeroinitializer", text)
    text = _MOVED.sub(r"bitcast \2 to \1", text)
    starts = sorted(set(_START.findall(text)))
    text = _START.sub(r"call float @start.\1(", text)
    text = re.sub(r" addrspace\(\d\)", "", text).replace("ptx_kernel ", "")
    # Addresses of shared memory have 32 bits on a GPU: here they count from the only array that is addressed so.
    text = text.replace("ptrtoint ptr @ahead to i32", "add i32 0, 0")
    text = re.sub(r"inttoptr i32 ([^ ]+) to ptr", r"getelementptr i8, ptr @ahead, i32 \1", text)
    lines = [line for line in text.splitlines() if not line.startswith(("target ", "declare"))]
    declares = [line for line in text.splitlines() if line.startswith("declare") and "llvm.nvvm" not in line]
    body = "\n".join([*lines, *declares, *(_STARTS[name] for name in starts)]).replace("@llvm.nvvm.", "@nvvm.")
    return "\n".join([body, _intrinsics(body), *wrappers]), entries, shared


def _wrapper(name: str, parameters: str) -> str:
    """Unpack 8-byte slots and call the entry."""
    lines, passed = [], []
    for number, parameter in enumerate(p for p in re.split(r", (?![^(]*\))", parameters) if p):
        type = parameter.split()[0]
        lines.append(f"  %s{number} = getelementptr i64, ptr %slots, i64 {number}")
        lines.append(f"  %v{number} = load {type}, ptr %s{number}")
        passed.append(f"{type} %v{number}")
    call = f"  call void @{name}({', '.join(passed)})"
    return "\n".join([f"define void @{name}_on_host(ptr %slots) {{", *lines, call, "  ret void", "}"])


def _intrinsics(body: str) -> str:
    """Definitions of the GPU's intrinsics that the text uses."""
    used = set(re.findall(r"@nvvm\.([\w.]+)", body))
    fibers = _fibers()
    parts = []
    for name in sorted(used):
        if name.startswith("read.ptx.sreg."):
            what = name.removeprefix("read.ptx.sreg.").removesuffix(".x")
            place = f"inttoptr (i64 {fibers.address(what)} to ptr)"
            parts.append(f"define i32 @nvvm.{name}() {{\n  %v = load i32, ptr {place}\n  ret i32 %v\n}}")
        elif name == "lohi.i2d":
            parts.append(_LOW_AND_HIGH)
        elif name in _NEAR:
            root = "declare double @llvm.sqrt.f64(double)"
            if "sqrt" in name and root not in body:
                parts.append(root)
            parts.append(_NEAR[name])
        elif name in _COPIES:
            parts.append(_COPIES[name])
        elif name.startswith("griddepcontrol"):
            parts.append(f"define void @nvvm.{name}() {{\n  ret void\n}}")
        else:
            parts.append(_waiting(name, int(fibers.memory["wait"])))
    return "\n".join(parts)


_LOW_AND_HIGH = """define double @nvvm.lohi.i2d(i32 %low, i32 %high) alwaysinline {
  %l = zext i32 %low to i64
  %h = zext i32 %high to i64
  %up = shl i64 %h, 32
  %all = or i64 %up, %l
  %d = bitcast i64 %all to double
  ret double %d
}"""


#: Approximations that quotients and roots start from, off by a last place for some significands. For those where that
#: would show the GPU's are exact, as was tried for all of them.
_STARTS = {
    "rcp": """define float @start.rcp(float %x) alwaysinline {
  %y = fdiv float 1.0, %x
  %from = bitcast float %x to i32
  %m = and i32 %from, 8388607
  %near = icmp ugt i32 %m, 8388592
  %odd = and i32 %m, 2
  %off = sub i32 %odd, 1
  %by = select i1 %near, i32 0, i32 %off
  %bits = bitcast float %y to i32
  %moved = add i32 %bits, %by
  %z = bitcast i32 %moved to float
  ret float %z
}""",
    "rsqrt": """define float @start.rsqrt(float %x) alwaysinline {
  %s = call float @llvm.sqrt.f32(float %x)
  %y = fdiv float 1.0, %s
  %from = bitcast float %x to i32
  %shifted = lshr i32 %from, 2
  %by = and i32 %shifted, 1
  %bits = bitcast float %y to i32
  %moved = add i32 %bits, %by
  %z = bitcast i32 %moved to float
  ret float %z
}""",
}


#: Inverses with an error next to the largest one allowed, in one direction and in the other; those of f32 are infinite
#: for subnormal numbers.
_NEAR = {
    "rcp.approx.ftz.d": """define double @nvvm.rcp.approx.ftz.d(double %x) alwaysinline {
  %y = fdiv double 1.0, %x
  %z = fmul double %y, 0x3FF00003C0000000
  ret double %z
}""",
    "rsqrt.approx.ftz.d": """define double @nvvm.rsqrt.approx.ftz.d(double %x) alwaysinline {
  %s = call double @llvm.sqrt.f64(double %x)
  %y = fdiv double 1.0, %s
  %z = fmul double %y, 0x3FEFFFF880000000
  ret double %z
}""",
    "rcp.approx.ftz.f": """define float @nvvm.rcp.approx.ftz.f(float %x) alwaysinline {
  %a = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %a, 0x3810000000000000
  %d = select i1 %small, float 0.0, float %x
  %y = fdiv float 1.0, %d
  %z = fmul float %y, 0x3FF0000040000000
  ret float %z
}""",
    "rsqrt.approx.ftz.f": """define float @nvvm.rsqrt.approx.ftz.f(float %x) alwaysinline {
  %a = call float @llvm.fabs.f32(float %x)
  %small = fcmp olt float %a, 0x3810000000000000
  %d = select i1 %small, float 0.0, float %x
  %s = call float @llvm.sqrt.f32(float %d)
  %y = fdiv float 1.0, %s
  %z = fmul float %y, 0x3FEFFFFFA0000000
  ret float %z
}""",
}


#: Copies to shared memory, done when they are waited for and not before; what a thread has not waited for at its end
#: is done by a later one, to the same places. Groups count from 0; the last 16 copies that were begun are kept.
_COPIES = {
    "cp.async.cg.shared.global.16": """@copies.next = internal global i32 0
@copies.of = internal global [16 x i32] [
  i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1,
  i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1, i32 -1]
@copies.to = internal global [16 x ptr] zeroinitializer
@copies.from = internal global [16 x ptr] zeroinitializer
define void @nvvm.cp.async.cg.shared.global.16(ptr %to, ptr %from) {
  %n = load i32, ptr @copies.next
  %g = load i32, ptr @copies.group
  %p.of = getelementptr [16 x i32], ptr @copies.of, i32 0, i32 %n
  %p.to = getelementptr [16 x ptr], ptr @copies.to, i32 0, i32 %n
  %p.from = getelementptr [16 x ptr], ptr @copies.from, i32 0, i32 %n
  store i32 %g, ptr %p.of
  store ptr %to, ptr %p.to
  store ptr %from, ptr %p.from
  %more = add i32 %n, 1
  %m = and i32 %more, 15
  store i32 %m, ptr @copies.next
  ret void
}""",
    "cp.async.commit.group": """@copies.group = internal global i32 0
define void @nvvm.cp.async.commit.group() {
  %g = load i32, ptr @copies.group
  %h = add i32 %g, 1
  store i32 %h, ptr @copies.group
  ret void
}""",
    "cp.async.wait.group": """define void @nvvm.cp.async.wait.group(i32 %left) {
entry:
  %g = load i32, ptr @copies.group
  %end = sub i32 %g, %left
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %next, %again ]
  %p.of = getelementptr [16 x i32], ptr @copies.of, i32 0, i32 %n
  %of = load i32, ptr %p.of
  %begun = icmp sge i32 %of, 0
  %closed = icmp slt i32 %of, %end
  %due = and i1 %begun, %closed
  br i1 %due, label %copy, label %again
copy:
  %p.to = getelementptr [16 x ptr], ptr @copies.to, i32 0, i32 %n
  %p.from = getelementptr [16 x ptr], ptr @copies.from, i32 0, i32 %n
  %to = load ptr, ptr %p.to
  %from = load ptr, ptr %p.from
  %v = load <4 x i32>, ptr %from, align 16
  store <4 x i32> %v, ptr %to, align 16
  store i32 -1, ptr %p.of
  br label %again
again:
  %next = add i32 %n, 1
  %done = icmp eq i32 %next, 16
  br i1 %done, label %out, label %each
out:
  ret void
}""",
}


def _waiting(name: str, wait: int) -> str:
    call = f"call i32 inttoptr (i64 {wait} to ptr)"
    ops = {"or": 1, "and": 2}
    match name.split("."):
        case ["barrier", "cta", "sync", *rest]:
            kind = 16 if "aligned" in rest else 0
            return f"""define void @nvvm.{name}(i32 %id) {{
  %r = {call}(i32 {_GROUP}, i32 0, i32 {kind}, i32 0)
  ret void
}}"""
        case ["barrier", "cta", "red", op, *rest] if "count" in rest:
            return f"""define i1 @nvvm.{name}(i32 %id, i32 %n, i1 %p) {{
  %w = zext i1 %p to i32
  %both = shl i32 %id, 16
  %what = or i32 %both, %n
  %r = {call}(i32 {_NAMED}, i32 %w, i32 {ops[op]}, i32 %what)
  %b = trunc i32 %r to i1
  ret i1 %b
}}"""
        case ["barrier", "cta", "red", op, *rest]:
            kind = ops[op] + (16 if "aligned" in rest else 0)
            return f"""define i1 @nvvm.{name}(i32 %id, i1 %p) {{
  %w = zext i1 %p to i32
  %r = {call}(i32 {_GROUP}, i32 %w, i32 {kind}, i32 0)
  %b = trunc i32 %r to i1
  ret i1 %b
}}"""
        case ["bar", "warp", "sync"]:
            return f"""define void @nvvm.{name}(i32 %m) {{
  %r = {call}(i32 {_WARP}, i32 0, i32 0, i32 %m)
  ret void
}}"""
        case ["vote", op, "sync"]:
            result = "i32" if op == "ballot" else "i1"
            convert = "" if op == "ballot" else "  %b = trunc i32 %r to i1\n"
            given = "%r" if op == "ballot" else "%b"
            number = {"any": 0, "all": 1, "ballot": 2}[op]
            return f"""define {result} @nvvm.{name}(i32 %m, i1 %p) {{
  %w = zext i1 %p to i32
  %r = {call}(i32 {_VOTE}, i32 %w, i32 {number}, i32 %m)
{convert}  ret {result} {given}
}}"""
        case ["shfl", "sync", kind, "i32"]:
            number = {"idx": 0, "bfly": 1, "up": 2, "down": 3}[kind]
            return f"""define i32 @nvvm.{name}(i32 %m, i32 %v, i32 %o, i32 %limit) {{
  %k = shl i32 {number}, 28
  %l = shl i32 %limit, 8
  %kl = or i32 %k, %l
  %o.low = and i32 %o, 255
  %klo = or i32 %kl, %o.low
  %r = {call}(i32 {_SHUFFLE}, i32 %v, i32 %klo, i32 %m)
  ret i32 %r
}}"""
        case _:
            raise SimulationError(f"no meaning for the intrinsic llvm.nvvm.{name}")


# --- launching --------------------------------------------------------------------------------------------------------


@dataclass
class Simulated:
    """A module for the host. `shared` are addresses and sizes of its shared arrays."""

    code: dict[str, int]
    waits: bool
    shared: tuple[tuple[int, int], ...]

    def launch(self, entry: str, blocks: int, block: int, slots: Any) -> None:
        """Run `blocks` groups of `block` threads; `slots` is a ctypes array of 8-byte parameters."""
        fibers = _fibers()
        words = {name: fibers.memory[name] for name in ("tid", "ctaid", "nctaid", "function", "slots")}
        words["nctaid"][:4].view(np.int32)[0] = blocks
        words["function"][:8].view(np.uint64)[0] = self.code[f"{entry}_on_host"]
        words["slots"][:8].view(np.uint64)[0] = ctypes.addressof(slots)
        for number in range(blocks):
            words["ctaid"][:4].view(np.int32)[0] = number
            for place, size in self.shared:
                ctypes.memset(place, 0xA5, size)
            if self.waits:
                _run_group(fibers, block)
            else:
                call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)(self.code["every_thread"])
                call(self.code[f"{entry}_on_host"], block)


def simulate(text: str, dynamic: int = 0) -> Simulated:
    """Compile LLVM text for NVPTX for this machine. `dynamic` is the shared memory that launches ask for."""
    waits = bool(_WAITS.search(text))
    host, entries, shared = _host_text(text, dynamic)
    fibers = _fibers()
    slots, tid = (f"inttoptr (i64 {fibers.address(n)} to ptr)" for n in ("slots", "tid"))
    host += f"""
define void @every_thread(ptr %function, i32 %count) {{
entry:
  %slots = load volatile ptr, ptr {slots}
  br label %loop
loop:
  %t = phi i32 [ 0, %entry ], [ %next, %loop ]
  store volatile i32 %t, ptr {tid}
  call void %function(ptr %slots)
  %next = add i32 %t, 1
  %more = icmp ult i32 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    names = (*(f"{entry}_on_host" for entry in entries), "every_thread", *shared)
    code = _load(host, names)
    sizes = {n: int(s) for n, s in re.findall(r"@(\w+) = global \[(\d+) x i8\]", host)}
    return Simulated(code, waits, tuple((code[name], sizes[name]) for name in shared))


def _run_group(fibers: _Fibers, block: int) -> None:
    _make_contexts(fibers, block)
    assert fibers.resume is not None
    raw = fibers.memory["requests"][: 4 * _WORDS * block].view(np.int32).reshape(block, _WORDS)
    ready = list(range(block))
    waiting: dict[int, tuple[int, int, int, int]] = {}
    ended: set[int] = set()
    try:
        while ready:
            listed = np.array(ready, np.int32)
            fibers.resume(listed.ctypes.data, len(ready))
            for tid, request in zip(ready, raw[listed].tolist(), strict=True):
                if request[0] == _ENDED:
                    ended.add(tid)
                else:
                    waiting[tid] = tuple(request)
            answers = _settle(waiting, ended, block)
            ready = sorted(answers)
            for tid in ready:
                raw[tid, 1] = np.uint32(answers[tid] & 0xFFFFFFFF).view(np.int32)
                del waiting[tid]
        if waiting:
            raise SimulationError(f"threads wait for ever: {dict(list(waiting.items())[:8])}, {len(ended)} have ended")
    except BaseException:
        fibers.made = 0
        raise


def _settle(waiting: dict[int, tuple[int, int, int, int]], ended: set[int], block: int) -> dict[int, int]:
    """The answers for those threads whose meeting is complete."""
    answers: dict[int, int] = {}
    by_group = [tid for tid, request in waiting.items() if request[0] == _GROUP]
    if by_group and len(by_group) + len(ended) == block:
        kinds = {waiting[tid][2] for tid in by_group}
        if len(kinds) > 1:
            raise SimulationError(f"a group meets at barriers of different kinds: {kinds}")
        values = [waiting[tid][1] for tid in by_group]
        result = int(all(values)) if kinds.pop() & 15 == 2 else int(any(values))
        answers.update(dict.fromkeys(by_group, result))
    named: dict[int, list[int]] = {}
    for tid, request in waiting.items():
        if request[0] == _NAMED:
            named.setdefault(request[3], []).append(tid)
    for what, tids in named.items():
        if len(tids) >= what & 0xFFFF:
            answers.update(dict.fromkeys(tids, int(any(waiting[tid][1] for tid in tids))))
    for tid, request in waiting.items():
        if request[0] in (_WARP, _VOTE, _SHUFFLE) and tid not in answers:
            answers.update(_warp_meeting(tid, request, waiting, ended, block))
    return answers


def _warp_meeting(
    tid: int,
    request: tuple[int, int, int, int],
    waiting: dict[int, tuple[int, int, int, int]],
    ended: set[int],
    block: int,
) -> dict[int, int]:
    """Answers for the lanes of one mask, once all of them that have not ended are there."""
    kind, _, what, mask = request
    base = tid & ~31
    lanes = [lane for lane in range(32) if mask >> lane & 1 and base + lane < block]
    if not mask >> (tid - base) & 1:
        raise SimulationError(f"thread {tid} is not in its own mask {mask & 0xFFFFFFFF:08x}")
    here: dict[int, tuple[int, int, int, int]] = {}
    for lane in lanes:
        if base + lane in ended:
            continue
        other = waiting.get(base + lane)
        if other is None or other[0] != kind or other[3] != mask:
            return {}
        if kind != _SHUFFLE and other[2] != what:
            return {}
        here[lane] = other
    match kind:
        case 3:
            return dict.fromkeys((base + lane for lane in here), 0)
        case 4:
            values = {lane: other[1] for lane, other in here.items()}
            bits = sum(1 << lane for lane, value in values.items() if value)
            result = (int(bits != 0), int(all(values.values())), bits)[what]
            return dict.fromkeys((base + lane for lane in here), result)
        case _:
            return {base + lane: _shuffled(lane, here) for lane in here}


def _shuffled(lane: int, here: dict[int, tuple[int, int, int, int]]) -> int:
    """What a lane gets, as PTX defines `shfl.sync`."""
    own = here[lane]
    what = own[2] & 0xFFFFFFFF
    kind, limit, operand = what >> 28, (what >> 8) & 0xFFFFF, what & 0xFF
    segment, clamp = limit >> 8 & 31, limit & 31
    low = lane & segment
    top = low | (clamp & ~segment)
    operand &= 31
    match kind:
        case 0:
            source = low | (operand & ~segment & 31)
            good = source <= top
        case 1:
            source = lane ^ operand
            good = source <= top
        case 2:
            source = lane - operand
            good = source >= top
        case _:
            source = lane + operand
            good = source <= top
    if not good:
        source = lane
    if source not in here:
        raise SimulationError(f"lane {lane} reads lane {source}, which takes no part")
    return here[source][1]
