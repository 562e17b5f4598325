"""What the generator knows while it writes a kernel: variables, arrays, constructs used so far, how daring to be."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .choices import Choices
from .values import Value, computing, full


@dataclass(slots=True)
class Variable:
    """A local; every assignment keeps an integer inside [low, high], so reads may rely on it."""

    name: str
    type: str
    low: int
    high: int
    constant: bool = False

    def value(self) -> Value:
        return Value(self.name, self.type, self.low, self.high, simple=True)


@dataclass(slots=True)
class Array:
    """An array that the body can name.

    `extents` are the texts of its extents with the largest value that each may have; `own` is the subscript of the
    element that belongs to this thread alone (empty: none), valid under `guard`. `use` is one of read, own, row,
    atomic, phase.
    """

    name: str
    element: str
    extents: tuple[tuple[str, int, int], ...]
    use: str
    low: int
    high: int
    readable: bool = True
    writable: bool = False
    own: str = ""
    atomic: str = ""

    @property
    def type(self) -> str:
        return computing(self.element)


@dataclass(slots=True)
class Context:
    choices: Choices
    hot: float = 0.0
    used: set[str] = field(default_factory=set)
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    arrays: list[Array] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    module: list[str] = field(default_factory=list)
    counter: int = 0
    nesting: int = 0
    loops: int = 0
    trips: int = 1
    can_return: bool = False
    uniform: bool = True
    in_helper: bool = False
    grouped: bool = False
    rank: int = 1
    queries: list[Value] = field(default_factory=list)
    #: Operators that the kernel may still have: compiling costs as much as there are, and in a loop there are copies.
    room: int = 7

    def has_room(self) -> bool:
        """Whether one more operator may be written here; takes the room for it."""
        if self.room <= 0:
            return False
        self.room -= 1 if self.trips == 1 else 3
        return True

    def use(self, construct: str) -> None:
        self.used.add(construct)

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def dare(self) -> bool:
        """Whether to leave out what keeps the next operation from trapping."""
        return self.hot > 0 and self.choices.chance(self.hot)

    def variables(self) -> list[Variable]:
        return [variable for scope in self.scopes for variable in scope]

    def declare(self, name: str, type: str, low: int | None = None, high: int | None = None) -> Variable:
        bounds = full(type)
        variable = Variable(name, type, bounds[0] if low is None else low, bounds[1] if high is None else high)
        self.scopes[-1].append(variable)
        return variable

    @contextmanager
    def block(self) -> Iterator[None]:
        self.scopes.append([])
        arrays = list(self.arrays)
        try:
            yield
        finally:
            self.scopes.pop()
            self.arrays = arrays
