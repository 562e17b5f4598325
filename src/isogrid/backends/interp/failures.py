"""How a compiled operation fails: a trap of its thread, or a fault of the compiler where a pass had proved it safe."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from isogrid.ir import kernel as k
from isogrid.ir import sites
from isogrid.ir.traps import TrapKind, TrapSite
from isogrid.support.errors import CompilerBug

Fail = Callable[..., NoReturn]


class ThreadTrap(Exception):
    """The running thread trapped at `site` with these operands; it ends here."""

    def __init__(self, site: TrapSite, operands: Sequence[Any]) -> None:
        super().__init__(site, operands)
        self.site = site
        self.operands = tuple(operands)


def failure(site: TrapSite, checked: bool) -> Fail:
    """A function that fails at `site` with the operands it is given."""

    def trap(*operands: Any) -> NoReturn:
        raise ThreadTrap(site, operands)

    def bug(*operands: Any) -> NoReturn:
        raise CompilerBug(
            f"a check was proved needless and would have trapped: {site.kind.value} {site.subject} {site.detail} "
            f"at {site.span} with operands {operands}"
        )

    return trap if checked else bug


def operator_failures(node: k.Unary | k.Binary) -> dict[TrapKind, Fail]:
    """What each kind of trap of an operator does at this node."""
    found = {TrapKind.OVERFLOW: failure(sites.overflow_site(node), node.checked)}
    if isinstance(node, k.Binary):
        found[TrapKind.ZERO_DIVISION] = failure(sites.zero_site(node), node.checked)
        value_site = sites.power_site(node) if node.op == "pow" else sites.shift_site(node)
        found[TrapKind.VALUE] = failure(value_site, node.checked)
    return found
