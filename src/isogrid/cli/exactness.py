"""`isogrid devices --exactness`: why each operation is exact on each device, and what the self-test found here."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

from isogrid.builtins.exactness import Basis, Exactness, Kind, Operation, Reason

#: Widest line of names of operations.
_WIDTH: Final = 110
#: Kinds that go by their own name: they have many operations, all with one reason.
_WHOLE: Final = (Kind.INTEGER, Kind.SELECTION, Kind.CONVERSION, Kind.STORED)


def exactness_of_device(name: str) -> Exactness:
    """The reasons of a device of this machine."""
    from isogrid.launch.backends import runtime

    device: Any = runtime(name)
    return device.exactness()


def exactness_text(name: str, exactness: Exactness, trouble: str) -> str:
    """One device: what it was asked with, the self-test, and the operations of each reason."""
    lines = [f"{name}: {exactness.made_with}", f"  {self_test_text(trouble)}"]
    for basis in Basis:
        reasons = by_reason(exactness, basis)
        if reasons:
            guaranteed = "guaranteed" if basis.is_guaranteed else "not guaranteed"
            lines.append(f"  ({basis.value}) {basis.words}: {guaranteed}")
        for reason, names in reasons.items():
            lines += textwrap.wrap(names, _WIDTH, initial_indent="    ", subsequent_indent="      ")
            lines.append(f"        {reason.text}")
            lines += [f"        measured: {reason.measured}"] if reason.measured else []
    return "\n".join(lines) + "\n"


def self_test_text(trouble: str) -> str:
    """The self-test in words."""
    return f"the self-test fails: {trouble}" if trouble else "the self-test passes"


def exactness_data(exactness: Exactness, trouble: str) -> dict[str, Any]:
    """The same as data, an entry for each operation and type."""
    return {
        "made_with": exactness.made_with,
        "self_test": {"passed": not trouble, "trouble": trouble},
        "operations": [
            {
                "operation": operation.name,
                "type": operation.type.value,
                "basis": reason.basis.value,
                "guaranteed": reason.basis.is_guaranteed,
                "why": reason.text,
                "measured": reason.measured,
            }
            for operation, reason in exactness.reasons
        ],
    }


def by_reason(exactness: Exactness, basis: Basis) -> dict[Reason, str]:
    """The operations of each reason of this kind: `f32 f64: + - *; integers and bools`."""
    found: dict[Reason, list[Operation]] = {}
    for operation, reason in exactness.reasons:
        if reason.basis is basis:
            found.setdefault(reason, []).append(operation)
    return {reason: _names(operations) for reason, operations in found.items()}


def _names(operations: Sequence[Operation]) -> str:
    whole = dict.fromkeys(one.kind.value for one in operations if one.kind in _WHOLE)
    types: dict[str, dict[str, None]] = {}
    for one in operations:
        if one.kind not in _WHOLE:
            types.setdefault(one.name.removeprefix("math."), {})[one.type.value] = None
    together: dict[str, list[str]] = {}
    for name, each in types.items():
        together.setdefault(" ".join(each), []).append(name)
    return "; ".join([*(f"{each}: {' '.join(names)}" for each, names in together.items()), *whole])
