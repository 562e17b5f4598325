"""The `cuda` device: compiles kernel IR to machine code through LLVM and the driver, and queues launches on it.

Arrays on the device are used in place and the launch is queued; host arrays are copied in and out as far as the kernel
reads and writes them, and the launch is waited for.
"""

import ctypes
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from isogrid.backends.cuda import artifact as a
from isogrid.backends.cuda.artifact import CudaArtifact
from isogrid.backends.cuda.graph import DeviceGraph
from isogrid.backends.cuda.guarded import GuardedLaunch
from isogrid.backends.cuda.launch import Launch
from isogrid.backends.cuda.loader import Loaded, compile_halves, compile_variant, load
from isogrid.backends.cuda.machine import Machine, keeps_context, machine
from isogrid.backends.cuda.memory import CudaMemory
from isogrid.backends.cuda.options import BACKEND_OPTIONS, INEXACT_OPTIONS, OTHER_WORDS, judge_option
from isogrid.backends.cuda.profile import DeviceClock
from isogrid.backends.cuda.queue import Queue
from isogrid.backends.cuda.resources import resource_rows
from isogrid.backends.cuda.stub import bound_stub, native_stub
from isogrid.backends.cuda.tensors import learn_exchange
from isogrid.backends.plan import LaunchPlan
from isogrid.ir import kernel as k
from isogrid.runtimes.protocol import BoundLaunch, is_small
from isogrid.support.builtin_function import with_slow

if TYPE_CHECKING:
    from isogrid.builtins.exactness import Exactness


class CudaRuntime:
    """Runtime of one NVIDIA device."""

    #: Helpers are always inlined here.
    ignored_hints = frozenset({"always_inline"})
    #: What `disable` may switch off here besides the passes of the pipeline.
    pass_names = ("coarsen", "fast_division")
    #: Keys of this device's own options and the types of their values.
    backend_options: Mapping[str, type] = BACKEND_OPTIONS
    judge_option = staticmethod(judge_option)
    inexact_options = INEXACT_OPTIONS
    other_words = OTHER_WORDS

    #: What makes code of a kernel, imported when the first one is compiled.
    compiler_modules = (
        "isogrid.analysis.own_rows",
        "isogrid.analysis.written",
        "isogrid.lowering.split",
        "isogrid.backends.cuda.target",
        "isogrid.backends.cuda.emit",
    )

    #: Launches may name a stream.
    has_streams = True

    def __init__(self, number: int = 0) -> None:
        self.number = number
        self.name = "cuda" if number == 0 else f"cuda:{number}"
        self.machine: Machine = machine()
        self.memory = CudaMemory(self.machine, number, self.name)
        self.queue = Queue(self.machine, number, self.memory)
        self.memory.queue = self.queue

    @property
    def description(self) -> str:
        """One line for `isogrid devices`."""
        found = machine()
        major, minor = found.capabilities[self.number]
        memory = found.driver.device_memory(self.number) >> 20
        speaks = f"driver speaks CUDA {found.version // 1000}.{found.version % 1000 // 10}"
        return f"{found.names[self.number]}, compute capability {major}.{minor}, {memory} MiB, {speaks}"

    def exactness(self) -> "Exactness":
        """Why each operation is exact here."""
        from isogrid.backends.cuda.exactness import is_as_measured, made_with, reason
        from isogrid.backends.cuda.target import cuda_target
        from isogrid.builtins.exactness import exactness_of

        target, known = cuda_target(self.machine.capabilities[self.number]), is_as_measured(self.machine)
        return exactness_of(made_with(self.machine, self.number), lambda o: reason(o, target, as_measured=known))

    # --- compile -----------------------------------------------------------------------------------------------------

    @keeps_context
    def compile(self, kernel: k.Kernel, options: Mapping[str, Any]) -> CudaArtifact:
        """Machine code for launches whose sizes are all below 2^31 on arrays at multiples of 16 bytes; other variants
        follow when one is needed."""
        self.machine.enter(self.number)
        variant = compile_variant(kernel, options, self.machine, self.number, small=True, aligned=True)
        return a.make_artifact(kernel, options, variant)

    @keeps_context
    def decisions(self, kernel: k.Kernel, options: Mapping[str, Any]) -> list[str]:
        """How the code was made, for those who ask."""
        self.machine.enter(self.number)
        variant = compile_variant(kernel, options, self.machine, self.number, small=True, aligned=True)
        halves = [] if variant.checked is None else ["checks first and writes then where that costs less than a copy"]
        return [*variant.module.notes, *halves]

    def cache_facts(self) -> tuple[str, ...]:
        """What stored artifacts depend on besides the kernel."""
        llvmlite: Any = importlib.import_module("llvmlite")
        major, minor = self.machine.capabilities[self.number]
        kind = "machine code" if self.machine.driver.is_real else "text"
        return (kind, f"sm_{major}{minor}", str(self.machine.version), f"llvmlite {llvmlite.__version__}")

    def to_bytes(self, artifact: CudaArtifact) -> bytes:
        """For the disk cache."""
        return a.to_bytes(artifact)

    def from_bytes(self, payload: bytes) -> CudaArtifact:
        """An artifact from verified bytes; no compiler is loaded."""
        return a.from_bytes(payload)

    # --- launch ------------------------------------------------------------------------------------------------------

    @keeps_context
    def launch(self, artifact: CudaArtifact, bound: BoundLaunch) -> None:
        """Queue the launch; wait for it, and raise its trap, where it has an array on the host or of another library.

        On a trap all arrays are as before."""
        self.machine.enter(self.number)
        with self.queue.lock:
            launch = self._prepared(artifact, bound)
            if launch.foreign:
                learn_exchange()
            launch.run()

    def _prepared(self, artifact: CudaArtifact, bound: BoundLaunch) -> Launch:
        def choose(aligned: bool) -> Loaded:
            return self._loaded(artifact, bound, aligned)

        return Launch(self.queue, self.memory, artifact, bound, choose)

    def native_launch(self, artifact: CudaArtifact, program: k.Kernel, plan: LaunchPlan) -> Callable[..., Any] | None:
        """The launch stub for calls like the one before, from the second launch on; None where there is none."""
        if plan.open_extents:
            return None
        artifact.launches += 1
        loaded = artifact.loaded.get((True, True))
        if artifact.launches < 2 or loaded is None or loaded.driver is not self.machine.driver:
            return None
        # Kernels of offloaded functions ask more of their arguments in some calls than in others.
        asked = tuple(p.access for p in program.parameters if isinstance(p, k.ArrayParameter))
        if not artifact.stub or artifact.stub[0] is not loaded or artifact.stub[2] != asked:
            spec, queue = plan.specialisation, self.queue
            absent, constants = spec.absent, dict(spec.constants)
            launch = GuardedLaunch(queue, artifact.head, loaded, [p.name for p in plan.definition.parameters])
            states = (ctypes.addressof(queue.watched), ctypes.addressof(queue.busy))
            more = (self._context(), launch)
            made = native_stub(program, loaded, plan.definition, absent, constants, self.number, *states, *more)
            artifact.stub[:] = loaded, made, asked
        complete = artifact.stub[1]
        return None if complete is None else complete(_giving(plan.unusual))

    def whole_call(self, native: Callable[..., Any], slow: Callable[..., None], unusual: Any) -> Callable[..., None]:
        """The stub with the Python launcher for what it finds unusual."""
        return with_slow(native, slow)

    @keeps_context
    def bound_launch(self, artifact: CudaArtifact, bound: BoundLaunch) -> Callable[..., Any] | None:
        """What launches this very launch again and again, once given the Python launcher; None where there is none."""
        launch = self._prepared(artifact, bound)
        if launch.host or launch.foreign or bound.stream is not None:
            return None
        words, blocks = launch.packed()
        busy = ctypes.addressof(self.queue.busy)
        return bound_stub(artifact.head.name, launch.loaded, blocks, words, busy, self._context())

    def _context(self) -> int:
        """The device's context where there are others, else 0."""
        return self.machine.contexts.get(self.number, 0) if len(self.machine.names) > 1 else 0

    @property
    def streams(self) -> Queue:
        """Makes and drops streams; its `driver` has their calls and those of events."""
        return self.queue

    # --- recordings and profiles -------------------------------------------------------------------------------------

    def watch(self, watched: bool) -> None:
        """Whether somebody records or times the launches."""
        self.queue.watch(watched)

    @keeps_context
    def profile(self, profile: Any) -> None:
        """Time launches and transfers for a profile until this is called with None."""
        self.machine.enter(self.number)
        with self.queue.lock:
            clock, self.queue.clock = self.queue.clock, None
            if clock is not None:
                clock.close()
            if profile is not None:
                self.queue.clock = DeviceClock(self.machine.driver, self.name, profile)

    @keeps_context
    def resources(self, kernel: k.Kernel, options: Mapping[str, Any]) -> list[tuple[str, str]]:
        """What the kernel takes of this device, for `isogrid explain`."""
        return resource_rows(kernel, options, self.machine, self.number)

    @keeps_context
    def build_graph(self, steps: Sequence[tuple[CudaArtifact, BoundLaunch, list[str]]]) -> DeviceGraph | None:
        """A graph of these launches, None where one of them may trap: a graph of the driver cannot put arrays back. The
        names are those of the arrays that each writes."""
        self.machine.enter(self.number)
        launches = [self._prepared(artifact, bound) for artifact, bound, _ in steps]
        if any(launch.loaded.can_trap for launch in launches):
            return None
        written = [launch.blocks[name] for launch, (_, _, names) in zip(launches, steps, strict=True) for name in names]
        return DeviceGraph(self.queue, launches, written)

    def raise_pending(self) -> None:
        """Wait for the launches that may trap, and raise the first trap that has not been raised."""
        self.queue.settle()

    def synchronize(self) -> None:
        """Wait for everything, and raise the first trap that has not been raised."""
        self.queue.wait()

    def _loaded(self, artifact: CudaArtifact, bound: BoundLaunch, aligned: bool) -> Loaded:
        kind = (is_small(artifact.head, bound), aligned)
        loaded = artifact.loaded.get(kind)
        if loaded is not None and loaded.driver is self.machine.driver:
            return loaded
        if not aligned:
            general = artifact.variants.get((kind[0], True))
            if general is not None and general.module.alignment == 1:
                return self._loaded(artifact, bound, True)
        variant = artifact.variants.get(kind)
        if variant is None:
            small, aligned = kind
            variant = compile_variant(
                artifact.kernel(), artifact.options, self.machine, self.number, small=small, aligned=aligned
            )
            artifact.variants[kind] = variant
        loaded = artifact.loaded[kind] = load(self.machine.driver, variant, self.number)
        if variant.checked is not None:
            loaded.halve = partial(self._halves, artifact, *kind)
        if kind[0] and artifact.options.get("cuda", {}).get("codegen", "llvm") == "llvm":
            loaded.start_anywhere = partial(self._startable, artifact, aligned)
        return loaded

    def _startable(self, artifact: CudaArtifact, aligned: bool) -> Loaded:
        kernel, options = artifact.kernel(), artifact.options
        variant = compile_variant(kernel, options, self.machine, self.number, small=True, aligned=aligned, starts=True)
        return load(self.machine.driver, variant, self.number)

    def _halves(self, artifact: CudaArtifact, small: bool, aligned: bool) -> tuple[Loaded, Loaded]:
        kernel, options = artifact.kernel(), artifact.options
        check, write = compile_halves(kernel, options, self.machine, self.number, small=small, aligned=aligned)
        driver = self.machine.driver
        return load(driver, check, self.number), load(driver, write, self.number)


def _giving(value: Any) -> Callable[..., Any]:
    """A function of any arguments that gives one value."""

    def give(*arguments: Any, **keywords: Any) -> Any:
        return value

    return give
