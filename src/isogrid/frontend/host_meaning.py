"""What the names of the language mean to Python itself: nothing, except while `f.python(...)` runs a plain function.

f32(x)    ->    OutsideKernelError, or what `HOST_MEANING` says in this thread
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import FunctionType
from typing import Any, Final, Protocol

from isogrid.ir.types import Scalar


class HostMeaning(Protocol):
    """Dtypes as conversions, functions by their reference meaning, helpers as Python functions, sizes of one call."""

    def convert(self, type: Scalar, value: Any) -> Any: ...
    def call(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any: ...
    def helper(self, function: FunctionType, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any: ...
    def size(self, dimension: Any) -> int: ...


#: Set for the time of one call, and seen by its thread alone.
HOST_MEANING: Final[ContextVar[HostMeaning | None]] = ContextVar("isogrid.HOST_MEANING", default=None)
