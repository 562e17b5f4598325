"""Calls of elementary functions, one for each row of their table: a new row is in the kernels at once."""

from typing import Final

from isogrid.builtins.elementary import ELEMENTARY
from isogrid.builtins.table import Builtin, Signature

from .context import Context
from .expressions import boolean, floating, integer
from .values import FLOATS

Lines = list[str]

#: Every function at every type, under the name that coverage counts it by.
CALLS: Final[tuple[tuple[str, Builtin, Signature], ...]] = tuple(
    (f"{row.spellings[0].replace('isogrid.', 'ig.')} {signature.parameters[0].value}", row, signature)
    for row in ELEMENTARY
    for signature in row.signatures
)
#: Percent of kernels that call one: it compiles to as much code as the rest of a kernel, so few do.
SHARE: Final = 4.0
#: They compile to ten times as much as the others.
LARGE: Final = ("lgamma", "tgamma", "erf", "erfc")


def elementary_statements(g: Context) -> Lines:
    """A call in few of the kernels, for all threads or under a condition that parts them."""
    if not g.choices.chance(SHARE):
        return []
    name, _, signature = g.choices.weighted([(2 if row.name in LARGE else 3, (name, row, signature))
                                               for name, row, signature in CALLS])  # fmt: skip
    g.use(name)
    arguments = [_argument(g, type.value) for type in signature.parameters]
    call = f"{name.split(' ')[0]}({', '.join(arguments)})"
    target, type = g.fresh("v"), signature.result.value
    if type in FLOATS and signature.parameters[0].value == type and g.choices.chance(35):
        lines = _loop(g, target, type, name.split(" ")[0], arguments)
    elif g.choices.chance(60):
        lines = [f"{target} = {call}"]
    elif g.choices.chance(50):
        lines = [f"{target} = {call} if {boolean(g, 1).text} else ig.{type}(1)"]
    else:
        lines = [f"{target} = ig.{type}(2)", f"if {boolean(g, 1).text}:", f"    {target} = {call}"]
    g.declare(target, type)
    return lines


def _loop(g: Context, target: str, type: str, function: str, arguments: list[str]) -> Lines:
    """A sum over calls whose first argument changes from trip to trip; compilers run such trips side by side."""
    g.use("loop of calls")
    counter = g.fresh("k")
    trips = str(g.choices.between(1, 11)) if g.choices.chance(50) else f"({integer(g, 'i64', 1).text}) % 12"
    moved = f"{arguments[0]} {g.choices.pick(('+', '*'))} ig.{type}({counter})"
    call = f"{function}({', '.join([moved, *arguments[1:]])})"
    match g.choices.below(4):
        case 0:
            body = [f"{target} = {target} * 0.5 + {call}"]
        case 1:
            body = [f"if {boolean(g, 1).text}:", f"    {target} += {call}"]
        case 2:
            body = [f"{target} += {call} if {counter} % 3 != 1 else {target} - 1.0"]
        case _:
            body = [f"{target} += {call}"]
    return [f"{target} = ig.{type}(0.25)", f"for {counter} in range({trips}):", *(f"    {line}" for line in body)]


def _argument(g: Context, type: str) -> str:
    """Mostly something that varies from thread to thread, near the places where functions are interesting."""
    if type not in FLOATS:
        return integer(g, type, 1).text
    value = floating(g, type, 1).text
    form = g.choices.below(8)
    match form:
        case 1:
            return f"({value} * {g.choices.pick(('1e-3', '0.01', '1e3'))})"
        case 2:
            return f"({value} - {value.strip('()') if value.isidentifier() else '1.0'})"
        case 3:
            return f"(1.0 + {value} * 1e-6)"
        case 4:
            return f"abs({value})"
        case _:
            return value
