"""Look up any builtin: by the qualified spelling of the Python object that means it, or by its kernel-IR name."""

from collections.abc import Sequence
from typing import Final

from isogrid.builtins.elementary import ELEMENTARY
from isogrid.builtins.functions import FUNCTIONS
from isogrid.builtins.table import Builtin, Signature
from isogrid.ir.types import Scalar

_ALL: Final = (*FUNCTIONS, *ELEMENTARY)
_BY_NAME: Final[dict[str, Builtin]] = {row.name: row for row in _ALL}
_BY_SPELLING: Final[dict[str, tuple[Builtin, ...]]] = {
    spelling: tuple(row for row in _ALL if spelling in row.spellings)
    for spelling in dict.fromkeys(s for row in _ALL for s in row.spellings)
}


def all_builtins() -> tuple[Builtin, ...]:
    """Every pure function row, in the order of the reference."""
    return _ALL


def builtin_named(name: str) -> Builtin:
    """The row of a `Call` node's name. Raises KeyError for a name that no table has."""
    return _BY_NAME[name]


def builtins_spelled(spelling: str) -> tuple[Builtin, ...]:
    """The rows that a qualified Python object may mean (they differ by operand width or dtype argument)."""
    return _BY_SPELLING.get(spelling, ())


def resolve(
    spelling: str, arguments: Sequence[Scalar], target: Scalar | None = None
) -> tuple[Builtin, Signature] | None:
    """The row and signature for a call with exactly these argument types (and dtype argument), or None."""
    wanted = tuple(arguments)
    for row in builtins_spelled(spelling):
        if row.type_argument is not (target is not None) or (row.target is not None and row.target is not target):
            continue
        for signature in row.signatures:
            if signature.parameters == wanted and (target is None or row.target or signature.result is target):
                return row, signature
    return None
