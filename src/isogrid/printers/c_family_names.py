"""Names of the text: the author's where every language takes them, one letter more where not; and what is said once.

`x.1` becomes `x_1`, an array called `local` becomes `local_`, since OpenCL has that word.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from isogrid.ir import device as d
from isogrid.ir.kernel import ArrayParameter
from isogrid.ir.walk import expressions, map_statement, visit, visit_exprs
from isogrid.printers.c_family_helpers import HELPER_NAMES

_WORDS: Final = """
    alignas alignof and and_eq array as_type asm atomic atomic_int atomic_uint auto bitand bitor bool break buffer case
    catch char char16_t char32_t class clz compl complex concept const const_cast constant constexpr continue decltype
    default delete device discard do double dynamic_cast else enum event_t explicit export extern false far float for
    fragment friend global goto half host_name if imaginary inline inout int kernel local long max metal min mutable
    namespace near new noexcept not not_eq nullptr operator or or_eq pipe popcount precise private protected public
    ray_data read_only read_write register reinterpret_cast requires restrict return sampler sampler_t shared short
    signed size_t sizeof smooth static static_assert static_cast struct switch template this thread thread_local
    threadgroup threadIdx blockIdx blockDim gridDim warpSize throw true try typedef typeid typename uchar uint ulong
    union unsigned ushort using vec vertex virtual void volatile wchar_t while write_only xor xor_eq
    i8 u8 i16 u16 u32 i64 u64 record watch guard first_block key run settle trap wrapped sum_wrapped at more old
    fma sqrt floor ceil trunc rint fabs fmod copysign fabsf sqrtf floorf ceilf truncf rintf fmodf copysignf mul_hi mulhi
    NULL INFINITY NAN M_PI assert printf barrier barrier_or barrier_apart lanes_here half_value half_bits swap_if_equal
    asm thread_position group_position quotient_f64
"""
#: Words of some C-like language and functions of its texts, so that a kernel has the same names in all of them.
RESERVED: Final = frozenset(_WORDS.split()) | HELPER_NAMES


class Names:
    """Gives each thing of a kernel its name in the text; no two are alike."""

    def __init__(self) -> None:
        self.taken: set[str] = set(RESERVED)
        self.given: dict[tuple[str, str], str] = {}

    def give(self, kind: str, name: str) -> str:
        """The name for a thing; the same on every call."""
        found = self.given.get((kind, name))
        if found is None:
            found = self.given[kind, name] = self.fresh(name)
        return found

    def fresh(self, name: str) -> str:
        """A name like this one that nothing has yet."""
        plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name) or "_"
        # Two underscores, and one before a capital at the start, belong to the languages.
        while "__" in plain:
            plain = plain.replace("__", "_")
        plain = plain.lstrip("_") or "value"
        plain = f"n{plain}" if plain[0].isdigit() else plain
        stem, number = plain, 1
        if plain in RESERVED:
            plain = f"{stem}_"
        while plain in self.taken:
            number += 1
            plain = f"{stem}_{number}"
        self.taken.add(plain)
        return plain


def names_of(kernel: d.Kernel) -> Names:
    """Names for parameters, sizes, arrays and values, the author's first."""
    names = Names()
    for parameter in kernel.parameters:
        names.give("buffer" if isinstance(parameter, ArrayParameter) else "scalar", parameter.name)
    for dim in kernel.dims:
        names.give("dim", dim)
    for buffer in kernel.buffers:
        names.give("buffer", buffer.name)
    for name in sorted(_values(kernel), key=lambda n: ("." in n, n)):
        names.give("value", name)
    return names


def _values(kernel: d.Kernel) -> set[str]:
    found = {name for name, _ in kernel.variables}
    for node in visit(kernel.body):
        match node:
            case d.Let(name=name) | d.For(counter=name):
                found.add(name)
            case _:
                continue
    return found


# --- what is said once stands where it is used ----------------------------------------------------------------------

#: Larger expressions keep their names.
_MOST_NODES: Final = 16


def inline_temporaries(kernel: d.Kernel) -> d.Kernel:
    """Put a temporary that is used once, by a later statement of its block, there, if nothing between changes it."""
    uses: dict[str, int] = {}
    for node in visit(kernel.body):
        if isinstance(node, d.Value):
            uses[node.name] = uses.get(node.name, 0) + 1
    mutable = frozenset(name for name, _ in kernel.variables)
    return replace(kernel, body=_inlined(kernel.body, uses, mutable))


def is_temporary(name: str) -> bool:
    """Whether a lowering made the name: it ends with a number."""
    return name.rpartition(".")[2].isdigit() and "." in name


def _inlined(body: d.Block, uses: dict[str, int], mutable: frozenset[str]) -> d.Block:
    block = [_inside(node, uses, mutable) for node in body]
    k = 0
    while k < len(block):
        node = block[k]
        if (
            isinstance(node, d.Let)
            and node.name not in mutable
            and is_temporary(node.name)
            and uses.get(node.name) == 1
        ):
            at = _consumer(block, k, node, mutable)
            if at is not None:
                value, name = node.value, node.name
                block[at] = _with_value(block[at], name, value)
                del block[k]
                continue
        k += 1
    return tuple(block)


def _inside(node: d.Statement, uses: dict[str, int], mutable: frozenset[str]) -> d.Statement:
    match node:
        case d.If():
            then, otherwise = _inlined(node.then, uses, mutable), _inlined(node.otherwise, uses, mutable)
            return replace(node, then=then, otherwise=otherwise)
        case d.For() | d.Loop() | d.Scope():
            return replace(node, body=_inlined(node.body, uses, mutable))
        case _:
            return node


def _consumer(block: list[d.Statement], k: int, node: d.Let, mutable: frozenset[str]) -> int | None:
    """Where the one use of a temporary stands, if its value may be taken there."""
    loads = {e.buffer for e in visit_exprs(node.value) if isinstance(e, d.Load)}
    reads = {e.name for e in visit_exprs(node.value) if isinstance(e, d.Value) and e.name in mutable}
    size = sum(1 for _ in visit_exprs(node.value))
    for at in range(k + 1, len(block)):
        other = block[at]
        own = [e for top in expressions(other) for e in visit_exprs(top)]
        if any(isinstance(e, d.Value) and e.name == node.name for e in own):
            fits = size + len(own) <= _MOST_NODES and not isinstance(other, d.For)
            return at if fits else None
        match other:
            case d.Let():
                continue
            case d.Set():
                if other.name in reads:
                    return None
            case d.Store():
                if other.buffer in loads:
                    return None
            case d.Check():
                if loads:
                    return None
            case _:
                return None
    return None


def _with_value(node: d.Statement, name: str, value: d.Expr) -> d.Statement:
    def put(expr: d.Expr) -> d.Expr:
        return value if isinstance(expr, d.Value) and expr.name == name else expr

    return map_statement(node, put)[0]


# --- where names are declared -----------------------------------------------------------------------------------------


class Places:
    """Where each name is declared: before a statement, or by the statement that first gives it a value."""

    def __init__(self, body: d.Block, names: Iterable[str]) -> None:
        self._paths: dict[str, list[tuple[int, ...]]] = {name: [] for name in names}
        self._blocks: dict[tuple[int, ...], d.Block] = {}
        self._walk(body, ())
        #: path of a block and number of a statement in it -> names declared before that statement
        self.before: dict[tuple[tuple[int, ...], int], list[str]] = {}
        #: names declared by the statement that first gives them a value
        self.own: set[str] = set()
        for name in self._paths:
            self._place(name)

    def _walk(self, body: d.Block, path: tuple[int, ...]) -> None:
        self._blocks[path] = body
        for number, node in enumerate(body):
            here = (*path, number)
            for name in _mentioned(node):
                if name in self._paths:
                    self._paths[name].append(here)
            match node:
                case d.If():
                    self._walk(node.then, (*here, 0))
                    self._walk(node.otherwise, (*here, 1))
                case d.For() | d.Loop() | d.Scope():
                    self._walk(node.body, (*here, 2))
                case _:
                    continue

    def _place(self, name: str) -> None:
        paths = self._paths[name]
        if not paths:
            return
        common = paths[0]
        for path in paths[1:]:
            common = _shared(common, path)
        # A path is statement, branch, statement, ...; a block is what ends with a branch.
        block = common if len(common) % 2 == 0 else common[:-1]
        first = paths[0][len(block)]
        node = self._blocks[block][first]
        gives = isinstance(node, d.Let | d.Set) and node.name == name and len(paths[0]) == len(block) + 1
        if gives and name not in _read(node):
            self.own.add(name)
            return
        # Without a first assignment a value may stay from the trip before: outside of every loop then.
        loop = self._outermost_loop(block)
        if loop is not None:
            first, block = loop[-1], loop[:-1]
        self.before.setdefault((block, first), []).append(name)

    def _outermost_loop(self, block: tuple[int, ...]) -> tuple[int, ...] | None:
        """The place of the outermost loop around a block."""
        for end in range(1, len(block), 2):
            statement = block[:end]
            if isinstance(self._blocks[statement[:-1]][statement[-1]], d.For | d.Loop):
                return statement
        return None


def _shared(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The common start of two paths."""
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return a[:length]


def _read(node: d.Statement) -> list[str]:
    """Names that the expressions of a statement itself read."""
    return [e.name for top in expressions(node) for e in visit_exprs(top) if isinstance(e, d.Value)]


def _mentioned(node: d.Statement) -> list[str]:
    """Names that a statement itself reads or sets, in no block of it."""
    found = _read(node)
    match node:
        case d.Let() | d.Set():
            found.append(node.name)
        case d.Atomic() | d.Collective() | d.WarpCollective() | d.Agree():
            if node.target:
                found.append(node.target)
        case _:
            pass
    return found
