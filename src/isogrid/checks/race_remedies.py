"""What an author can do about two accesses that may meet; changes of the text are tried out by the proof first.

s[i] += s[i + h]        a barrier before it
h[bin] += 1             ig.atomic_add(h, bin, 1)
"""

import ast
import linecache

from isogrid.analysis.symbolic.context import LAUNCH, Context
from isogrid.analysis.symbolic.polynomial import Polynomial
from isogrid.analysis.symbolic.races import Unproved
from isogrid.checks.insertion import barrier_insertions
from isogrid.checks.precondition_remedies import precondition_remedies
from isogrid.checks.trials import Trials, asked, mends, proof_of
from isogrid.diagnostics.report import Edit, Remedy
from isogrid.diagnostics.span import Span
from isogrid.ir import kernel as k
from isogrid.ir.types import Scalar
from isogrid.ir.walk import map_kernel, visit

_MOST_PLACES = 5
_ATOMIC_OPERATORS = {"add": ast.Add, "and": ast.BitAnd, "or": ast.BitOr, "xor": ast.BitXor}
_ATOMIC_NAMES = {"add": "atomic_add", "and": "atomic_and", "or": "atomic_or", "xor": "atomic_xor"}


def race_remedies(trials: Trials, pair: Unproved) -> tuple[Remedy, ...]:
    """Certain ones first; where there is none, what to think of."""
    kernel = trials.kernel
    update = _atomic_update(kernel, pair) or _atomic_extreme(kernel, pair)
    if update is not None:
        return (update,)
    stated = precondition_remedies(trials, pair)
    if pair.across or not kernel.grouped:
        return (_own_elements(trials, pair), *stated)
    barrier = _barrier(trials, pair)
    if barrier is not None:
        return (barrier, *stated)
    if pair.first.span == pair.second.span:
        # One place, outside of loops that a barrier could part: more barriers change nothing.
        return (_own_elements(trials, pair), *stated)
    if pair.first.span.line == pair.second.span.line:
        return (
            Remedy(
                "read what others hold into a local first, then ig.barrier(), then store: every thread of the group "
                "must reach that barrier"
            ),
            *stated,
        )
    return (
        Remedy("put an ig.barrier() between the two accesses, at a place that every thread of the group reaches"),
        *stated,
    )


# --- barriers ---------------------------------------------------------------------------------------------------------


def _barrier(trials: Trials, pair: Unproved) -> Remedy | None:
    """A barrier near either access, where inserting it provably mends the kernel, or at least this array."""
    places = {
        edit: mended
        for access in (pair.second, pair.first)
        for mended, edit in barrier_insertions(trials.kernel, access.span)
    }
    array = pair.first.array
    partial: Remedy | None = None
    tried = 0
    for edit, mended in places.items():
        if trials.diverges(edit, mended):
            continue
        proof = trials.with_barrier(edit, mended)
        if mends(proof, array):
            remedy = Remedy("let every thread of the group finish first", (edit,))
            if not asked(proof.races_anywhere):
                return remedy
            partial = partial or remedy
        tried += 1
        if tried == _MOST_PLACES:
            break
    return partial


# --- atomic updates ---------------------------------------------------------------------------------------------------


def _atomic_update(kernel: k.Kernel, pair: Unproved) -> Remedy | None:
    """`h[i] += v` as an atomic statement, where this mends the array."""
    store = _update_at(kernel, pair)
    if store is None or not isinstance(store.value, k.Binary) or store.value.op not in _ATOMIC_OPERATORS:
        return None
    op, addend = store.value.op, store.value.right
    if not store.element.is_integer or store.element.computing is not store.element:
        if op == "add" and store.element.is_float:
            return Remedy(
                "update it with `ig.atomic_add(...)`: for floats the sum then depends on the order of the threads, so "
                "the kernel must say `deterministic=False`; or add up in the group with `ig.group_sum`"
            )
        return None
    atomic = k.Atomic(
        op, store.array, store.indices, addend, None, store.element, store.space, store.checked, span=store.span
    )
    mended = map_kernel(kernel, on_statement=lambda s: atomic if s is store else s)
    if not mends(proof_of(mended), pair.first.array):
        return None
    text = f"let the updates take turns: `ig.{_ATOMIC_NAMES[op]}` is one step that no other thread gets into"
    edit = _atomic_text(store, op)
    return Remedy(text, () if edit is None else (edit,))


def _atomic_extreme(kernel: k.Kernel, pair: Unproved) -> Remedy | None:
    """`if v > best[0]: best[0] = v` as one atomic maximum, where this mends the array."""
    for node in visit(kernel.body):
        match node:
            case k.If(
                k.Compare("gt" | "ge" | "lt" | "le" as op, value, k.Load() as load), (k.Store() as store,), ()
            ) if (
                store.array == pair.first.array == load.array
                and store.indices == load.indices
                and store.value == value
                and {pair.first.span, pair.second.span} <= {load.span, store.span}
                and store.element.computing is store.element
            ):
                pass
            case _:
                continue
        name = "max" if op in ("gt", "ge") else "min"
        atomic = k.Atomic(
            name, store.array, store.indices, value, None, store.element, store.space, store.checked, span=store.span
        )
        mended = map_kernel(kernel, on_statement=lambda s, node=node, atomic=atomic: atomic if s is node else s)
        if mends(proof_of(mended), pair.first.array):
            return Remedy(
                f"compare and store in one step: `ig.atomic_{name}({store.array}, index, value)` without the `if`"
            )
    return None


def _update_at(kernel: k.Kernel, pair: Unproved) -> k.Store | None:
    """The store of an element to which it adds something, where the pair is two such updates or their parts."""
    for node in visit(kernel.body):
        match node:
            case k.Store(value=k.Binary(left=k.Load() as load)) if (
                node.array == pair.first.array
                and {pair.first.span, pair.second.span} <= {node.span, load.span}
                and (load.array, load.indices) == (node.array, node.indices)
            ):
                return node
            case _:
                pass
    return None


def _atomic_text(store: k.Store, op: str) -> Edit | None:
    """The line `x[i] += v` or `x[i] = x[i] + v` rewritten; None where it is not one line of its own."""
    text = linecache.getline(store.span.file, store.span.line).rstrip("\n")
    body = text.strip()
    try:
        statements = ast.parse(body).body
    except SyntaxError:
        return None
    match statements:
        case [ast.AugAssign(target=ast.Subscript() as target, op=operator, value=value)]:
            pass
        case [
            ast.Assign(targets=[ast.Subscript() as target], value=ast.BinOp(left=left, op=operator, right=value))
        ] if ast.unparse(left) == ast.unparse(target):
            pass
        case _:
            return None
    if not isinstance(operator, _ATOMIC_OPERATORS[op]):
        return None
    index = ast.get_source_segment(body, target.slice)
    if isinstance(target.slice, ast.Tuple):
        index = f"({index})"
    array, addend = ast.get_source_segment(body, target.value), ast.get_source_segment(body, value)
    start = len(text) - len(text.lstrip()) + 1
    end = start + len(body.encode()[: statements[0].end_col_offset].decode())
    line = store.span.line
    return Edit(Span(store.span.file, line, start, line, end), f"ig.{_ATOMIC_NAMES[op]}({array}, {index}, {addend})")


def _own_elements(trials: Trials, pair: Unproved) -> Remedy:
    """Where no index depends on the thread, a loop that should have been threads is likelier than anything else."""
    c = trials.proof.context
    indices = [index for access in (pair.first, pair.second) for index in access.indices]
    writes = {pair.first.kind, pair.second.kind} == {"write"}
    if not writes or not all(_same_for_all(c, index) for index in indices):
        return _ownership(trials.kernel, pair)
    if not any(_is_trip(name) for index in indices for name in index.atoms()):
        return _ownership(trials.kernel, pair)
    here = "ig.gid()" if trials.kernel.geometry.rank == 1 else "ig.gids()"
    return Remedy(
        f"every thread runs the whole loop and writes the same elements: index by `{here}` in place of the loop, or "
        "let one thread do it"
    )


def _same_for_all(c: Context, index: Polynomial) -> bool:
    return all(
        isinstance(coefficient, int) and all(_is_trip(name) or c.atoms[name].level == LAUNCH for name in monomial)
        for monomial, coefficient in index.terms.items()
    )


def _is_trip(name: str) -> bool:
    return name.split("#")[0] == "@trip"


def _ownership(kernel: k.Kernel, pair: Unproved) -> Remedy:
    if pair.first.kind == "read" or pair.second.kind == "read":
        return Remedy(
            f"read one array and write another in place of `{pair.first.array}`, or split the work into two launches"
        )
    arrays = [p for p in kernel.parameters if isinstance(p, k.ArrayParameter)]
    elements = {array.name: array.element for array in (*arrays, *kernel.shared)}
    if not elements.get(pair.first.array, Scalar.I32).is_computing:
        return Remedy("give each thread elements of its own")
    return Remedy("give each thread elements of its own, or use an atomic update such as ig.atomic_add")
