"""A whole random kernel: signature, geometry, module constants, body, and the arguments of its launches."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import values
from .choices import Choices
from .context import Array, Context
from .elementary import elementary_statements
from .expressions import bounded, expression
from .grouped import grouped_body
from .rare import rare_statements
from .statements import atomic_on, indented, statement, stored
from .values import CHECKED, FLOATS, HALVES, INTEGERS, MODULAR, NARROW, NUMBERS, SIGNED, Value, full

ELEMENTS = (*NUMBERS, *NARROW, *HALVES, "bool")
#: Groups of kernels that cannot tell: their threads run past the sizes.
_PADDING = {1: ((8,), (7,), (64,)), 2: ((2, 4), (1, 16), (3, 5)), 3: ((1, 3, 5), (2, 2, 4))}
SIZES = (17, 1, 33, 7, 40, 16, 31, 3, 65)


@dataclass(slots=True)
class Program:
    """Source text, the arguments of every launch, and the constructs that the text holds."""

    source: str
    launches: list[dict[str, Any]]
    used: set[str]
    grouped: bool
    disable: tuple[str, ...] = ()

    @property
    def odd_size(self) -> bool:
        """Whether some launch has an array whose last extent no vector width divides."""
        arrays = [a for arguments in self.launches for a in arguments.values() if isinstance(a, np.ndarray)]
        return any(array.shape[-1] > 8 and array.shape[-1] % 16 for array in arrays)


@dataclass(slots=True)
class Parameter:
    """One parameter: `shape` names the dimensions (digits are fixed extents); a scalar has none."""

    name: str
    type: str
    access: str
    shape: tuple[str, ...]
    low: int = 0
    high: int = 0
    spelled: str = ""
    default: str = ""
    absent: bool = False


def program(choices: Choices) -> Program:
    """A kernel and one to two launches, all decided by `choices`."""
    g = Context(choices, hot=choices.weighted(((10, 0.0), (5, 10.0), (5, 25.0))))
    return _Writer(g).write()


class _Writer:
    """Collects the parts of one kernel; every method adds some."""

    def __init__(self, g: Context) -> None:
        self.g = g
        self.parameters: list[Parameter] = []
        self.dims: dict[str, list[int]] = {}
        self.dim_lines: list[str] = []
        self.geometry = ""
        #: Threads of a group along each axis, where a kernel without groups says its threads in groups.
        self.padded: tuple[int, ...] = ()
        self.head: list[str] = []
        self.groups: list[str] = []
        self.bind_first: tuple[str, ...] = ()

    def write(self) -> Program:
        g = self.g
        g.grouped = g.choices.chance(40)
        g.rank = g.choices.weighted(((15, 1), (4, 2), (1, 3)))
        g.use("grouped" if g.grouped else "ungrouped")
        g.use(f"rank {g.rank}")
        self._geometry()
        self._scalars()
        self._inputs()
        self._outputs()
        self._atomics()
        self._constants()
        self._requirements()
        if g.grouped:
            body = grouped_body(g, self.head, self.guard, self.block, self.results)
        else:
            body = self._plain_body()
        return Program(self._source(body), self._launches(), g.used, g.grouped, self._disabled())

    def _disabled(self) -> tuple[str, ...]:
        """Passes that the compiled side leaves out: none may change a result, and without proofs every check stays."""
        passes: tuple[tuple[int, tuple[str, ...]], ...] = (
            (13, ()), (2, ("prove",)), (1, ("fold",)), (1, ("unroll", "prove")),
            (1, ("simplify", "hoist", "dead", "prove")), (1, ("vectorise",)), (1, ("vectorise", "prove")),
        )  # fmt: skip
        return self.g.choices.weighted(passes)

    # --- geometry ---

    def _geometry(self) -> None:
        g = self.g
        letters = {1: ("N",), 2: ("H", "W"), 3: ("D", "H", "W")}[g.rank]
        self.letters = letters
        block = ""
        self.results: list[Array] = []
        if g.grouped:
            sizes = {
                1: ((4,), (16,), (1,), (7,), (4,), (16,), (32,), (33,)),
                2: ((2, 4), (1, 8), (2, 4), (3, 5), (4, 16)),
                3: ((1, 3, 5), (2, 2, 4)),
            }
            self.block = g.choices.pick(sizes[g.rank])
        else:
            self.block = ()
            said = g.choices.below(1000)
            if said >= 880:
                g.use("groups= of a kernel without groups")
                self.padded = g.choices.pick(_PADDING[g.rank])
                block = f", block={self.padded[0] if g.rank == 1 else self.padded}"
            elif said >= 500:
                g.use("block given")
                block = f", block={g.choices.pick((8, 32, 64, 256))}"
        by_groups = g.grouped and g.choices.chance(40)
        for at, letter in enumerate(letters):
            if by_groups:
                self.dims[letter] = [g.choices.between(1, 3) for _ in range(2)]
            elif g.rank == 1:
                self.dims[letter] = [g.choices.pick(SIZES) for _ in range(2)]
                if g.choices.chance(3):
                    g.use("zero extent")
                    self.dims[letter][1] = 0
            else:
                self.dims[letter] = [
                    g.choices.pick((3, 1, 2, 5, 4) if at < g.rank - 1 else (17, 5, 1, 9, 33)) for _ in range(2)
                ]
        if g.grouped:
            block = f", block={self.block[0] if g.rank == 1 else self.block}"
        extent = ", ".join(letters)
        if self.padded:
            sides = zip(letters, self.padded, strict=True)
            extent = ", ".join(f"ig.cdiv({letter}, {side})" for letter, side in sides)
        elif not by_groups and g.rank == 1 and g.choices.chance(10):
            g.use("grid expression")
            self.dims["M"] = [3 * size for size in self.dims["N"]]
            self.bind_first = ("M",)
            extent = "M // 3"
        word = "groups" if by_groups or self.padded else "grid"
        g.use(f"{word}= geometry")
        self.geometry = f"{word}={extent if g.rank == 1 else f'({extent})'}{block}"
        names = {1: ("i",), 2: ("i", "j"), 3: ("h", "i", "j")}[g.rank]
        self.ids = names
        if g.rank == 1 and g.choices.chance(60):
            self.head.append("i = ig.gid()")
            g.use("query gid")
        elif g.choices.chance(70):
            self.head.append(f"{', '.join(names)}{',' if g.rank == 1 else ''} = ig.gids()")
            g.use("query gids")
        else:
            self.head += [f"{name} = ig.gid({axis})" for axis, name in enumerate(names)]
            g.use("query gid axis")
        if self.padded:
            beyond = " or ".join(f"{name} >= {letter}" for name, letter in zip(names, letters, strict=True))
            self.head += [f"if {beyond}:", "    return"]
        for axis, name in enumerate(names):
            if by_groups:
                top = max(self.dims[letters[axis]]) * self.block[axis] - 1
            elif g.grouped:
                top = max(self.dims[letters[axis]]) + self.block[axis] - 1
            else:
                top = max(self.dims[letters[axis]]) - 1
            variable = g.declare(name, "i64", 0, max(top, 0))
            variable.constant = True
        self.by_groups = by_groups
        own = ", ".join(names)
        self.own = own
        self.guard = (
            ""
            if not g.grouped or by_groups
            else " and ".join(f"{n} < {d}" for n, d in zip(names, letters, strict=True))
        )
        self._queries()

    def _queries(self) -> None:
        g = self.g
        if g.choices.chance(30):
            for name, kind in (("grid_size()", "grid_size"), ("grid_size(0)", "grid_size axis")):
                g.queries.append(Value(f"ig.{name}", "i64", 1, 4000, simple=True))
                g.use(f"query {kind}")
        if not g.grouped:
            if g.choices.chance(20):
                g.use("linear gid")
                g.queries.append(Value("ig.gid()", "i64", 0, 4000, simple=True))
            return
        size = int(np.prod(self.block))
        g.queries += [
            Value("ig.lid()", "i64", 0, size - 1, simple=True),
            Value("ig.group_id(0)", "i64", 0, 70, simple=True),
            Value("ig.group_size()", "i64", size, size, simple=True),
            Value("ig.num_groups(0)", "i64", 1, 70, simple=True),
        ]
        g.use("query lid group")

    # --- parameters ---

    def _add(self, parameter: Parameter) -> Parameter:
        self.parameters.append(parameter)
        return parameter

    def _scalars(self) -> None:
        g = self.g
        for _ in range(g.choices.between(1, 2)):
            type = g.choices.pick((*NUMBERS, "bool"))
            name = g.fresh("s")
            low, high = full(type)
            if type in CHECKED and g.choices.chance(60):
                low, high = (-5 if type in SIGNED else 0), 20
            self._add(Parameter(name, type, "scalar", (), low, high))
            g.queries.append(Value(name, type, low, high, simple=True))
            g.use(f"scalar {type}")

    def _shape(self, own: bool) -> tuple[str, ...]:
        """Dimension names of a new array; `own`: one element (or row) per thread."""
        g = self.g
        if own:
            return (*self.letters, "3") if g.choices.chance(20) and g.rank < 3 else self.letters
        kind = g.choices.below(6)
        if kind <= 1 and not self.by_groups:
            return self.letters
        if kind == 2:
            g.use("fixed extent")
            return (str(g.choices.between(1, 6)),)
        if kind == 3:
            g.use("derived dimension")
            if "R1" not in self.dims:
                base = self.letters[0]
                self.dims["R1"] = [size + 1 for size in self.dims[base]]
                self.dim_lines.append(f"class R1(ig.Dim, equals={base} + 1):\n    pass\n\n")
                if not any(base in p.shape for p in self.parameters):
                    self._input(self.letters if not self.by_groups else (base,))
            return ("R1",)
        if kind == 4:
            self.dims.setdefault("K", [g.choices.between(1, 5) for _ in range(2)])
            self.dims.setdefault("M", [g.choices.between(1, 9) for _ in range(2)])
            return ("M", "K")
        self.dims.setdefault("M", [g.choices.between(1, 9) for _ in range(2)])
        return ("M",)

    def _interval(self, element: str) -> tuple[int, int]:
        low, high = full(element)
        if element in MODULAR or element not in (*INTEGERS, *NARROW) or self.g.choices.chance(50):
            return low, high
        return (-100 if element in SIGNED else 0), 100

    def _input(self, shape: tuple[str, ...]) -> None:
        g = self.g
        element = g.choices.pick(ELEMENTS)
        name = g.fresh("x")
        low, high = self._interval(element)
        spelled = ""
        if element in (*FLOATS, "i32", "i64") and g.choices.chance(15):
            g.use("generic")
            spelled = "TReal" if element in FLOATS else "TInt"
            if any(p.spelled == spelled and p.type != element for p in self.parameters):
                spelled = ""
        parameter = self._add(Parameter(name, element, "In", shape, low, high, spelled))
        own = self.own if shape == self.letters and not g.grouped else ""
        g.arrays.append(Array(name, element, self._extents(name, shape), "read", low, high, own=own))
        if spelled and g.choices.chance(50):
            g.use("dtype of an array")
            g.queries.append(Value(f"{parameter.name}.dtype(3)", element, 3, 3, simple=True))
        g.use(f"In {element}")

    def _extents(self, name: str, shape: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
        g = self.g
        extents: list[tuple[str, int, int]] = []
        for axis, word in enumerate(shape):
            if word.isdigit():
                extents.append((word, int(word), int(word)))
                continue
            forms = [f"{name}.shape[{axis}]", f"int({word})"]
            if len(shape) == 1:
                forms += [f"len({name})", f"{name}.size"]
            form = g.choices.pick(forms)
            g.use("extent " + ("int(N)" if form.startswith("int") else form.split(".")[-1].split("[")[0].split("(")[0]))
            extents.append((form, min(filter(None, self.dims[word])), max(self.dims[word])))
        return tuple(extents)

    def _inputs(self) -> None:
        g = self.g
        if self.bind_first:
            self._input(self.bind_first)
        for _ in range(g.choices.between(1, 2)):
            self._input(self._shape(own=False))
        if g.choices.chance(6):
            self._optional()

    def _optional(self) -> None:
        """An array that may be None; the body asks."""
        g = self.g
        g.use("optional parameter")
        name = g.fresh("o")
        self.dims.setdefault("C", [3, 5])
        absent = g.choices.chance(50)
        g.use("absent parameter" if absent else "present parameter")
        self._add(Parameter(name, "f32", "In", ("C",), default="None", absent=absent))
        self.optional = name
        self.head += [f"bias{name} = ig.f32(0.5)", f"if {name} is not None:", f"    bias{name} = {name}[0]"]
        g.declare(f"bias{name}", "f32")

    def _outputs(self) -> None:
        g = self.g
        for _ in range(g.choices.weighted(((4, 1), (1, 2)))):
            shape = self._shape(own=True) if not self.by_groups else ("T",) * g.rank
            if self.by_groups:
                shape = tuple(f"T{axis}" for axis in range(g.rank))
                for axis, letter in enumerate(self.letters):
                    if shape[axis] not in self.dims:
                        self.dims[shape[axis]] = [size * self.block[axis] for size in self.dims[letter]]
                        self.dim_lines.append(
                            f"class {shape[axis]}(ig.Dim, equals={letter} * {self.block[axis]}):\n    pass\n\n"
                        )
            access = g.choices.pick(("InOut", "Out"))
            element = g.choices.pick(ELEMENTS)
            name = g.fresh("y")
            low, high = self._interval(element)
            self._add(Parameter(name, element, access, shape, low, high))
            own, extents = self.own, self._extents(name, shape)
            if len(shape) > g.rank:
                g.use("row per thread")
                own = f"{self.own}, {g.choices.below(3)}"
            result = Array(name, element, extents, "own", low, high, access == "InOut", True, own)
            g.use(f"{access} {element}")
            if g.grouped:
                self.results.append(result)
            else:
                g.arrays.append(result)
        if self.by_groups and not any(self.letters == p.shape for p in self.parameters):
            self._leader()

    def _leader(self) -> None:
        """An array with one element per group, which binds the group dimensions."""
        g = self.g
        g.use("one result per group")
        self._add(Parameter("leader", "i64", "InOut", self.letters, *full("i64")))
        ids = ", ".join(f"ig.group_id({axis})" for axis in range(g.rank))
        self.results.append(Array("leader", "i64", (), "leader", *full("i64"), own=ids))

    def _atomics(self) -> None:
        g = self.g
        for _ in range(g.choices.weighted(((12, 0), (7, 1), (1, 2)))):
            op = g.choices.pick(("add", "add", "min", "max", "and_", "or_", "xor", "exchange", "cas"))
            element = g.choices.pick(INTEGERS if op not in ("min", "max") else NUMBERS)
            name = g.fresh("a")
            shape = ("4",) if g.choices.chance(80) else ("2", "3")
            low, high = full(element)
            if op == "add" and element in CHECKED and not g.hot:
                low, high = 0, 100
            self._add(Parameter(name, element, "InOut", shape, low, high))
            extents = self._extents(name, shape)
            g.arrays.append(Array(name, element, extents, "atomic", low, high, readable=False, atomic=op))

    # --- constants ---

    def _constants(self) -> None:
        g = self.g
        if g.choices.chance(15):
            g.use("table")
            name, element = g.fresh("TABLE"), g.choices.pick(("i32", "f32", "u8", "i64", "f64", "f16"))
            numbers = [g.choices.between(0, 100) for _ in range(g.choices.between(1, 5))]
            g.module.append(f"{name} = np.array({numbers}, np.{values.scalar(element).numpy.name})")
            g.module.append(f"{name}.flags.writeable = False")
            length = len(numbers)
            g.arrays.append(Array(name, element, ((str(length), length, length),), "table", 0, 100))
        if g.choices.chance(15):
            g.use("global constant")
            name = g.fresh("CONST")
            g.module.append(f"{name} = {g.choices.between(0, 50)}")
            g.queries.append(Value(f"ig.i32({name})", "i32", 0, 50, simple=True))
        if g.choices.chance(10):
            g.use("tunable")
            name = g.fresh("TUNE")
            g.module.append(f"{name} = ig.tunable({g.choices.between(4, 9)}, 2, 3)")
            g.queries.append(Value(f"ig.i64({name})", "i64", 1, 9, simple=True))
        if g.choices.chance(10):
            g.use("constant dimension")
            self.dims["CD"] = [3, 4]
            self.dim_lines.append("class CD(ig.Dim, const=True):\n    pass\n\n")
            name = g.fresh("x")
            self._add(Parameter(name, "f32", "In", ("CD",)))
            g.arrays.append(Array(name, "f32", self._extents(name, ("CD",)), "read", 0, 1))
            g.queries.append(Value("ig.i64(int(CD))", "i64", 1, 4, simple=True))
        if g.choices.chance(8):
            g.use("limits")
            type = g.choices.pick(CHECKED)
            edge = g.choices.pick(("max", "min"))
            low, high = full(type)
            number = high if edge == "max" else low
            g.queries.append(Value(f"ig.{type}(ig.limits(ig.{type}).{edge})", type, number, number, simple=True))
        if g.choices.chance(10):
            g.use("default value")
            name = g.fresh("d")
            self._add(Parameter(name, "f32", "default", (), default="1.5"))
            g.queries.append(Value(name, "f32", simple=True))

    def _requirements(self) -> None:
        g = self.g
        if g.choices.chance(8):
            g.use("require")
            arrays = [p for p in self.parameters if p.shape and not p.shape[0].isdigit() and not p.default]
            if arrays:
                array = g.choices.pick(arrays)
                self.head.insert(0, f"ig.require({array.name}.shape[0] >= 0)")

    # --- the text ---

    def _plain_body(self) -> list[str]:
        g = self.g
        g.can_return = True
        body = [*self.head, *rare_statements(g), *elementary_statements(g)]
        body += [line for array in g.arrays if array.use == "atomic" for line in atomic_on(g, array)]
        for _ in range(g.choices.weighted(((5, 1), (1, 2), (2, 0)))):
            body += statement(g, 2)
        for array in g.arrays:
            if array.writable and array.own and g.choices.chance(80):
                body.append(f"{array.name}[{array.own}] = {stored(g, array, 1)}")
        return body

    def _source(self, body: list[str]) -> str:
        lines = [
            "import math",
            "from typing import Literal, TypeVar",
            "",
            "import numpy as np",
            "",
            "import isogrid as ig",
        ]
        plain = sorted(name for name in self.dims if not name.startswith(("R1", "T", "CD")))
        lines += [f"from isogrid.dims import {', '.join(plain)}", ""]
        if "generic" in self.g.used:
            lines += ['TReal = TypeVar("TReal", ig.f32, ig.f64)', 'TInt = TypeVar("TInt", ig.i32, ig.i64)', ""]
        lines += ["", *self.dim_lines, *self.g.module, ""]
        for helper in self.g.helpers:
            lines += ["", helper, ""]
        ordered = sorted(self.parameters, key=lambda parameter: bool(parameter.default))
        heads = ", ".join(self._parameter(parameter) for parameter in ordered)
        lines += ["", f"@ig.kernel({self.geometry})", f"def random_kernel({heads}) -> None:", *indented(body)]
        return "\n".join(lines) + "\n"

    def _parameter(self, parameter: Parameter) -> str:
        type = parameter.spelled or ("bool" if parameter.type == "bool" else f"ig.{parameter.type}")
        if parameter.access == "scalar":
            return f"{parameter.name}: {type}"
        if parameter.access == "default":
            return f"{parameter.name}: {type} = {parameter.default}"
        shape = ", ".join(f"Literal[{word}]" if word.isdigit() else word for word in parameter.shape)
        text = f"{parameter.name}: ig.{parameter.access}[{type}, {shape}]"
        return f"{text} | None = None" if parameter.default else text

    # --- the arguments ---

    def _launches(self) -> list[dict[str, Any]]:
        count = self.g.choices.weighted(((4, 1), (1, 2)))
        return [self._arguments(at) for at in range(count)]

    def _arguments(self, at: int) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.access == "scalar":
                arguments[parameter.name] = self._scalar(parameter)
            elif parameter.access == "default" or parameter.absent:
                continue
            else:
                shape = tuple(int(word) if word.isdigit() else self.dims[word][at] for word in parameter.shape)
                arguments[parameter.name] = values.array(
                    self.g.choices, parameter.type, shape, parameter.low, parameter.high
                )
        return arguments

    def _scalar(self, parameter: Parameter) -> Any:
        choices = self.g.choices
        if parameter.type == "bool":
            return choices.chance(50)
        if parameter.type in FLOATS:
            with np.errstate(all="ignore"):
                return float(values.scalar(parameter.type).numpy.type(choices.pick(values.FLOAT_CORNERS)))
        return choices.pick(values.integer_corners(parameter.low, parameter.high))


__all__ = ["Program", "bounded", "expression", "program"]
