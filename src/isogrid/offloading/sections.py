"""A function cut into sections: runs of sequential statements, and accepted loops, with the scalars between them."""

from collections.abc import Iterable
from dataclasses import replace

from isogrid.diagnostics.span import Span
from isogrid.frontend.build import Built
from isogrid.ir import kernel as k
from isogrid.ir.assignment import early_reads
from isogrid.ir.types import Scalar
from isogrid.ir.walk import assigned_local, visit
from isogrid.offloading.nest import inner_loop
from isogrid.offloading.proof import Accepted, LoopVerdict, Verdict, assigned_in, top_level
from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """Sequential `statements`, or the accepted `loop`. `inputs` are the locals that it needs, `outputs` those that it
    changes and something later reads."""

    statements: k.Block
    accepted: Accepted | None
    number: int
    inputs: tuple[k.Local, ...] = ()
    outputs: tuple[k.Local, ...] = ()
    #: The inner loop of a nest that becomes a grid of two axes.
    inner: k.For | None = None

    @property
    def loop(self) -> k.For:
        (statement,) = self.statements
        assert isinstance(statement, k.For)
        return statement


@dataclass(frozen=True, slots=True)
class Plan:
    """The sections in order, the label of the scope that a `return` leaves, and the locals that are returned."""

    sections: tuple[Section, ...]
    label: str
    results: tuple[k.Local, ...]
    returns_tuple: bool


def split(built: Built, verdict: Verdict) -> Plan:
    """Cut a judged function. Where the whole runs in sequence it is one section."""
    label, body = top_level(built.kernel)
    accepted: dict[int, LoopVerdict] = {}
    if verdict.whole is None:
        accepted = {
            id(v.accepted.candidate.original): v for v in verdict.loops if v.accepted and has_atomics(v.accepted)
        }
    cut: list[Section] = []
    run: list[k.Statement] = []
    for statement in body:
        found = accepted.get(id(statement))
        if found is None:
            run.append(statement)
            continue
        assert isinstance(statement, k.For)
        assert found.accepted is not None
        head, loop = _with_plain_bounds(found.accepted.candidate.loop, found.number)
        run.extend(head)
        if run:
            cut.append(Section(tuple(run), None, 0))
            run = []
        inner = inner_loop(found.accepted)
        cut.append(Section((loop,), found.accepted, found.number, inner=inner))
    if run:
        cut.append(Section(tuple(run), None, 0))
    return Plan(tuple(_with_scalars(cut, built, label)), label, built.results, built.returns_tuple)


def has_atomics(accepted: Accepted) -> bool:
    """Whether every scatter of a loop is an atomic operation. One by `*`, or on narrow elements, is none: such a loop
    runs on one thread, which gives the same."""
    for access in accepted.candidate.facts.accesses:
        found = accepted.written.get(access.node.array)
        if found is None or found.kind != "scatter" or isinstance(access.node, k.Load):
            continue
        if found.op == "mul" or access.node.element not in _ATOMIC:
            return False
    return True


_ATOMIC = frozenset({Scalar.I32, Scalar.I64, Scalar.U32, Scalar.U64, Scalar.W32, Scalar.W64})


def _with_plain_bounds(loop: k.For, number: int) -> tuple[list[k.Statement], k.For]:
    """Bounds that read arrays or names that the loop changes are taken before the loop, in statements of their own."""
    changed = assigned_in((loop,))
    head: list[k.Statement] = []
    bounds: dict[str, k.Expr] = {}
    for which, bound in (("start", loop.start), ("stop", loop.stop)):
        bounds[which] = bound
        if any(isinstance(n, k.Load) or (isinstance(n, k.Local) and n.name in changed) for n in visit(bound)):
            name = f"{which}.loop{number}"
            head.append(k.Assign(name, bound, span=bound.span))
            bounds[which] = k.Local(name, bound.type, span=bound.span)
    return head, replace(loop, start=bounds["start"], stop=bounds["stop"]) if head else loop


def _with_scalars(cut: list[Section], built: Built, label: str) -> list[Section]:
    types = _types(section.statements for section in cut)
    results = {local.name for local in built.results}
    needed = set(results)
    result: list[Section] = []
    for section in reversed(cut):
        assigned = assigned_in(section.statements)
        reads = {read.name for read in early_reads(section.statements) if isinstance(read.node, k.Local)}
        leaves = any(isinstance(node, k.Leave) and node.label == label for node in visit(section.statements))
        outputs = sorted(assigned & (needed | results if leaves else needed))
        if section.accepted is not None:
            reads |= set(section.accepted.reductions)
            outputs = sorted(set(section.accepted.reductions) & needed)
        # A loop, or a return before the end, may leave an output as it was.
        reads |= {name for name in outputs if section.accepted is None and _may_skip(section, name)} & _before(
            cut, section
        )
        needed = (needed - assigned) | reads
        result.append(
            replace(
                section,
                inputs=tuple(k.Local(name, types[name]) for name in sorted(reads)),
                outputs=tuple(k.Local(name, types[name]) for name in outputs),
            )
        )
    return result[::-1]


def _before(cut: list[Section], section: Section) -> set[str]:
    found: set[str] = set()
    for earlier in cut:
        if earlier is section:
            break
        found |= assigned_in(earlier.statements)
    return found


def _may_skip(section: Section, name: str) -> bool:
    """Whether some path through the section leaves the local as it was."""
    probe = (*section.statements, k.Evaluate(k.Local(name, Scalar.I64, span=_NOWHERE)))
    others = {node.name for node in visit(section.statements) if isinstance(node, k.Local)} - {name}
    return any(read.name == name for read in early_reads(probe, others))


def _types(blocks: Iterable[k.Block]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for block in blocks:
        for node in visit(block):
            if isinstance(node, k.Local):
                found[node.name] = node.type
            elif (assigned := assigned_local(node)) is not None:
                found[assigned[0]] = assigned[1]
    return found


_NOWHERE = Span("<none>", 0, 0, 0, 0)
