"""The driver API as a table: one method for each call, ctypes underneath, no policy. Failures are `DriverError`.

    driver = load_driver()            # DriverAbsent says in words why there is none
    driver.current_context(driver.primary_context(0))
    address = driver.allocate(1 << 20)

Handles are plain integers. Sizes are in bytes, `stream` 0 is the legacy default stream.
"""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Final

from isogrid.support.errors import IsogridError

_NAMES: Final = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")

#: Results that callers tell apart.
OUT_OF_MEMORY: Final = "CUDA_ERROR_OUT_OF_MEMORY"
NOT_READY: Final = "CUDA_ERROR_NOT_READY"
NO_DEVICE: Final = "CUDA_ERROR_NO_DEVICE"
NOT_INITIALISED: Final = "CUDA_ERROR_NOT_INITIALIZED"

#: Device attributes, by the names that the rest of the code uses.
DEVICE_ATTRIBUTES: Final = {
    "threads_per_block": 1,
    "shared_bytes_per_block": 8,
    "processors": 16,
    "threads_per_processor": 39,
    "major": 75,
    "minor": 76,
    "registers_per_processor": 82,
    "shared_bytes_per_processor": 81,
    "shared_bytes_opt_in": 97,
    "blocks_per_processor": 106,
}
FUNCTION_ATTRIBUTES: Final = {"threads": 0, "shared_bytes": 1, "const_bytes": 2, "local_bytes": 3, "registers": 4}

#: The oldest API with every call of the table.
OLDEST: Final = 11080

_LINK_PTX: Final = 1
_ERROR_LOG: Final = 5
_ERROR_LOG_BYTES: Final = 6
_LOG_BYTES: Final = 8192
_EVENT_NO_TIMING: Final = 2
_STREAM_NON_BLOCKING: Final = 1
_HOST_PORTABLE_MAPPED: Final = 3
_CAPTURE_THREAD_LOCAL: Final = 1
_PROGRAMMATIC: Final = 6
_DYNAMIC_SHARED: Final = 8


class DriverAbsent(IsogridError):
    """There is no driver that works here; the text says why, `remedy` what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


class DriverError(IsogridError):
    """A call of the driver failed. `name` is the driver's own name of the failure."""

    def __init__(self, call: str, name: str, text: str, log: str = "") -> None:
        super().__init__(f"{call} failed: {name} ({text})" + (f"\n{log}" if log else ""))
        self.name = name


class _Attribute(ctypes.Structure):
    """`CUlaunchAttribute`."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int * 16))


class _LaunchConfig(ctypes.Structure):
    """`CUlaunchConfig`."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


class Driver:
    """The table. Every method returns what the call gives back, or raises `DriverError`."""

    #: Whether images are machine code (False for a stand-in that executes launches on the host).
    is_real = True

    def __init__(self, library: Any) -> None:
        self._library = library
        self._launch_call: Any = None
        self._copy_call: Any = None

    # --- the driver and its devices ----------------------------------------------------------------------------------

    def initialise(self) -> None:
        self._call("cuInit", 0)

    def version(self) -> int:
        """1000 * major + 10 * minor of the newest API that the driver knows."""
        return self._integer("cuDriverGetVersion")

    def device_count(self) -> int:
        return self._integer("cuDeviceGetCount")

    def device_name(self, device: int) -> str:
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, 256, device)
        return text.value.decode(errors="replace")

    def device_memory(self, device: int) -> int:
        size = ctypes.c_size_t()
        self._call("cuDeviceTotalMem_v2", ctypes.byref(size), device)
        return size.value

    def device_attribute(self, name: str, device: int) -> int:
        return self._integer("cuDeviceGetAttribute", DEVICE_ATTRIBUTES[name], device)

    def primary_context(self, device: int) -> int:
        """The context that every library of this process shares; kept until the process ends."""
        return self._handle("cuDevicePrimaryCtxRetain", device)

    def current_context(self, context: int) -> None:
        """Make it the context of this thread."""
        self._call("cuCtxSetCurrent", ctypes.c_void_p(context))

    def thread_context(self) -> int:
        """The context of this thread, 0 for none."""
        return self._handle("cuCtxGetCurrent")

    def synchronise(self) -> None:
        """Wait for everything queued in the context of this thread."""
        self._call("cuCtxSynchronize")

    def memory_free(self) -> int:
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def can_access_peer(self, device: int, other: int) -> bool:
        return bool(self._integer("cuDeviceCanAccessPeer", device, other))

    # --- memory ------------------------------------------------------------------------------------------------------

    def allocate(self, size: int) -> int:
        return self._handle("cuMemAlloc_v2", ctypes.c_size_t(size))

    def free(self, address: int) -> None:
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def allocate_host(self, size: int) -> int:
        """Pinned host memory that the device can address; the addresses are equal."""
        return self._handle("cuMemHostAlloc", ctypes.c_size_t(size), _HOST_PORTABLE_MAPPED)

    def free_host(self, address: int) -> None:
        self._call("cuMemFreeHost", ctypes.c_void_p(address))

    def copy_in(self, target: int, source: int, size: int, stream: int) -> None:
        """Host to device. Pageable memory has been read when the call returns."""
        self._call("cuMemcpyHtoDAsync_v2", *_words(target, source, size, stream))

    def copy_out(self, target: int, source: int, size: int, stream: int) -> None:
        """Device to host, complete once the stream is."""
        self._call("cuMemcpyDtoHAsync_v2", *_words(target, source, size, stream))

    def copy_within(self, target: int, source: int, size: int, stream: int) -> None:
        result = (self._copy_call or self._find_copy())(target, source, size, stream)
        if result != 0:
            raise DriverError("cuMemcpyDtoDAsync_v2", *self._failure(result))

    def copy_peer(self, target: int, target_context: int, source: int, source_context: int, size: int, s: int) -> None:
        self._call("cuMemcpyPeerAsync", *_words(target, target_context, source, source_context, size, s))

    def fill_bytes(self, target: int, value: int, count: int, stream: int) -> None:
        self._call("cuMemsetD8Async", *_words(target, value, count, stream))

    def fill_shorts(self, target: int, value: int, count: int, stream: int) -> None:
        self._call("cuMemsetD16Async", *_words(target, value, count, stream))

    def fill_words(self, target: int, value: int, count: int, stream: int) -> None:
        self._call("cuMemsetD32Async", *_words(target, value, count, stream))

    # --- streams and events ------------------------------------------------------------------------------------------

    def create_stream(self) -> int:
        """A stream that does not wait for the legacy default stream."""
        return self._handle("cuStreamCreate", _STREAM_NON_BLOCKING)

    def destroy_stream(self, stream: int) -> None:
        self._call("cuStreamDestroy_v2", ctypes.c_void_p(stream))

    def synchronise_stream(self, stream: int) -> None:
        self._call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def stream_is_done(self, stream: int) -> bool:
        return self._is_done("cuStreamQuery", stream)

    def create_event(self, timing: bool = False) -> int:
        return self._handle("cuEventCreate", 0 if timing else _EVENT_NO_TIMING)

    def destroy_event(self, event: int) -> None:
        self._call("cuEventDestroy_v2", ctypes.c_void_p(event))

    def record_event(self, event: int, stream: int) -> None:
        self._call("cuEventRecord", *_words(event, stream))

    def wait_event(self, stream: int, event: int) -> None:
        """Let later work of the stream wait for the event."""
        self._call("cuStreamWaitEvent", *_words(stream, event), 0)

    def synchronise_event(self, event: int) -> None:
        self._call("cuEventSynchronize", ctypes.c_void_p(event))

    def event_is_done(self, event: int) -> bool:
        return self._is_done("cuEventQuery", event)

    def milliseconds(self, start: int, end: int) -> float:
        passed = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(passed), *_words(start, end))
        return passed.value

    # --- code --------------------------------------------------------------------------------------------------------

    def link(self, ptx: str) -> bytes:
        """Machine code for the device of this thread's context."""
        log = ctypes.create_string_buffer(_LOG_BYTES)
        keys = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        state, text = ctypes.c_void_p(), ptx.encode() + b"\0"
        self._call("cuLinkCreate_v2", 2, keys, values, ctypes.byref(state))
        image, size = ctypes.c_void_p(), ctypes.c_size_t()
        try:
            add = (state, _LINK_PTX, text, ctypes.c_size_t(len(text)), b"kernel", 0, None, None)
            self._call("cuLinkAddData_v2", *add, log=log)
            self._call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size), log=log)
            return ctypes.string_at(image.value or 0, size.value)
        finally:
            self._call("cuLinkDestroy", state)

    def load(self, image: bytes) -> int:
        """A module in the context of this thread."""
        return self._handle("cuModuleLoadData", image)

    def unload(self, module: int) -> None:
        self._call("cuModuleUnload", ctypes.c_void_p(module))

    def function(self, module: int, name: str) -> int:
        return self._handle("cuModuleGetFunction", ctypes.c_void_p(module), name.encode())

    def function_attribute(self, name: str, function: int) -> int:
        return self._integer("cuFuncGetAttribute", FUNCTION_ATTRIBUTES[name], ctypes.c_void_p(function))

    def allow_shared(self, function: int, size: int) -> None:
        """Let launches of the function ask for that much dynamic shared memory."""
        self._call("cuFuncSetAttribute", ctypes.c_void_p(function), _DYNAMIC_SHARED, size)

    def resident_blocks(self, function: int, threads: int, shared: int) -> int:
        """Most blocks of this size that one processor holds."""
        arguments = (ctypes.c_void_p(function), threads, ctypes.c_size_t(shared))
        return self._integer("cuOccupancyMaxActiveBlocksPerMultiprocessor", *arguments)

    def launch(
        self, function: int, blocks: int, threads: int, shared: int, stream: int, parameters: int, programmatic: bool
    ) -> None:
        """Queue `blocks` blocks. `parameters` is the address of an array of pointers to the arguments. A programmatic
        launch may start before its predecessor ends, so its code waits for it before it touches memory."""
        if not programmatic:
            call = self._launch_call or self._find_launch()
            result = call(function, blocks, 1, 1, threads, 1, 1, shared, stream, parameters, None)
            if result != 0:
                raise DriverError("cuLaunchKernel", *self._failure(result))
            return
        attribute = _Attribute(_PROGRAMMATIC, 0, (1,))
        grid, block = (ctypes.c_uint * 3)(blocks, 1, 1), (ctypes.c_uint * 3)(threads, 1, 1)
        config = _LaunchConfig(grid, block, shared, stream or None, ctypes.pointer(attribute), 1)
        self._call("cuLaunchKernelEx", ctypes.byref(config), *_words(function, parameters), None)

    def _find_copy(self) -> Any:
        """The call that saves what a launch may have to put back."""
        call = self._copy_call = self._library.cuMemcpyDtoDAsync_v2
        call.argtypes = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p)
        return call

    def _find_launch(self) -> Any:
        """The call that is made most often, with types that need no wrapping."""
        call = self._library.cuLaunchKernel
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        call.argtypes = (pointer, *(number,) * 7, pointer, pointer, pointer)
        self._launch_call = call
        return call

    # --- graphs ------------------------------------------------------------------------------------------------------

    def begin_capture(self, stream: int) -> None:
        self._call("cuStreamBeginCapture_v2", ctypes.c_void_p(stream), _CAPTURE_THREAD_LOCAL)

    def end_capture(self, stream: int) -> int:
        """The graph of what was queued in the stream meanwhile."""
        graph = ctypes.c_void_p()
        self._call("cuStreamEndCapture", ctypes.c_void_p(stream), ctypes.byref(graph))
        return graph.value or 0

    def instantiate(self, graph: int) -> int:
        return self._handle("cuGraphInstantiateWithFlags", ctypes.c_void_p(graph), ctypes.c_uint64(0))

    def launch_graph(self, executable: int, stream: int) -> None:
        self._call("cuGraphLaunch", *_words(executable, stream))

    def destroy_graph(self, graph: int) -> None:
        self._call("cuGraphDestroy", ctypes.c_void_p(graph))

    def destroy_executable(self, executable: int) -> None:
        self._call("cuGraphExecDestroy", ctypes.c_void_p(executable))

    # --- how calls are made ------------------------------------------------------------------------------------------

    def address_of(self, name: str) -> int:
        """The machine address of a driver call, for native code; 0 where the driver lacks it."""
        call = getattr(self._library, name, None)
        return 0 if call is None else ctypes.cast(call, ctypes.c_void_p).value or 0

    def failure(self, result: int, what: str) -> DriverError:
        """The error of a call that native code made, by what it returned."""
        return DriverError(what, *self._failure(result))

    def _call(self, name: str, *arguments: Any, log: Any = None) -> None:
        result = getattr(self._library, name)(*arguments)
        if result != 0:
            raise DriverError(name, *self._failure(result), log.value.decode(errors="replace") if log else "")

    def _is_done(self, name: str, handle: int) -> bool:
        try:
            self._call(name, ctypes.c_void_p(handle))
        except DriverError as error:
            if error.name == NOT_READY:
                return False
            raise
        return True

    def _handle(self, name: str, *arguments: Any) -> int:
        made = ctypes.c_void_p()
        self._call(name, ctypes.byref(made), *arguments)
        return made.value or 0

    def _integer(self, name: str, *arguments: Any) -> int:
        number = ctypes.c_int()
        self._call(name, ctypes.byref(number), *arguments)
        return number.value

    def _failure(self, result: int) -> tuple[str, str]:
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self._library.cuGetErrorName(result, ctypes.byref(name))
        self._library.cuGetErrorString(result, ctypes.byref(text))
        return (name.value or b"error %d" % result).decode(), (text.value or b"no text").decode()


def _words(*values: int) -> Sequence[Any]:
    """Each as a whole machine word: ctypes would pass a bare int as 32 bits."""
    return tuple(ctypes.c_size_t(value) for value in values)


def load_driver() -> Driver:
    """The driver of this machine, initialised, with at least one device."""
    driver = Driver(_library())
    try:
        driver.initialise()
        version = driver.version()
        count = driver.device_count()
    except DriverError as error:
        if error.name == NO_DEVICE:
            raise _no_device() from None
        raise DriverAbsent(f"the NVIDIA driver does not start: {error}", _BROKEN) from None
    require_device(version, count)
    return driver


def require_device(version: int, count: int) -> None:
    """Raise `DriverAbsent` unless a driver of this version with that many devices can be used."""
    if version < OLDEST:
        raise DriverAbsent(f"the NVIDIA driver is too old: it speaks CUDA {_dotted(version)}", _UPDATE)
    if count == 0:
        raise _no_device()


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


_MISSING: Final = "install the NVIDIA driver (its library is enough; no toolkit is needed)"
_NO_CARD: Final = "check that the card is visible: `nvidia-smi -L` lists it, CUDA_VISIBLE_DEVICES does not hide it"
_UPDATE: Final = f"install a driver that speaks CUDA {OLDEST // 1000}.{OLDEST % 1000 // 10} or newer"
_BROKEN: Final = "run `nvidia-smi`; where it fails too, reinstall the driver or restart the machine"


def _no_device() -> DriverAbsent:
    return DriverAbsent("the NVIDIA driver sees no device", _NO_CARD)


def _library() -> Any:
    for name in _NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise DriverAbsent(f"the NVIDIA driver's library {_NAMES[0]} is not installed", _MISSING)
