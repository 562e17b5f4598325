"""The words for a written array that fits no class of R3."""

from isogrid.analysis.linear import Polynomial
from isogrid.ir import kernel as k
from isogrid.offloading.context import Candidate, author_name
from isogrid.offloading.finding import Finding
from isogrid.offloading.forms import Kind
from isogrid.offloading.loop_facts import Access, locals_read
from isogrid.offloading.scatter import subtracts


def explain(candidate: Candidate, array: str, writes: list[Access]) -> Finding:
    """The finding about the first write that cannot be told apart from others."""
    forms = candidate.forms
    for write in writes:
        node = write.node
        index = tuple(forms.of(part) for part in node.indices)
        found = _judge_one(candidate, array, write, index)
        if found is not None:
            return found
    return _two_indices(candidate, array, writes)


def _judge_one(candidate: Candidate, array: str, write: Access, index: tuple[Polynomial, ...]) -> Finding | None:
    """What is wrong with one write by itself; None where it is fine alone."""
    forms, text, span = candidate.forms, candidate.text(write.node.span), write.node.span
    if all(forms.fixed(part) for part in index):
        return Finding(
            "R3",
            span,
            f"writes {text}, the same element in every iteration",
            f"Write `{array}[{candidate.index}]`{candidate.whence}, or reduce into a scalar and return it",
        )
    if any(_tells_apart(candidate, part) for part in index):
        return None
    if not any(_moves(candidate, part) for part in index):
        return Finding(
            "R3",
            span,
            f"writes {text}, whose index does not depend on `{candidate.counter}`",
            f"Make `{candidate.index}` part of the index{candidate.whence}, "
            f"or let the loop over `{array}` be the outer one",
        )
    if isinstance(write.node, k.Store) and subtracts(write.node):
        return Finding(
            "R3",
            span,
            f"updates {text} with `-`, whose operands do not commute, and two iterations may reach the same element",
            f"Add the negative, {text[:-1]} += -e`",
        )
    nested = [loop for part in index for loop in _loops_of(candidate, part)]
    if nested:
        loop = nested[0]
        name = loop.counter.split(".")[0]
        return Finding(
            "R3",
            span,
            f"writes {text}, and the values of `{name}` in two iterations may lead to one element",
            f"Let `{name}` run over `range(w)` with the width `w` of the index, as in "
            f"`{array}[{candidate.index} * w + {name}]`{candidate.whence}, and keep `w` the same in all iterations",
        )
    carried = _carried_name(candidate, write.node)
    if carried:
        return Finding(
            "R3",
            span,
            f"writes {text}, and each iteration takes `{carried}` from the one before",
            f"Compute `{carried}` from `{candidate.index}`{candidate.whence}, or write `{array}[{candidate.index}]` in "
            "every iteration and gather what is wanted in a second loop",
        )
    return Finding(
        "R3",
        span,
        f"writes {text}, and two iterations may reach the same element",
        f"Write `{array}[{candidate.index}]`{candidate.whence}, and look up in each iteration what belongs there",
    )


def _carried_name(candidate: Candidate, node: k.Load | k.Store | k.Atomic) -> str:
    """A name in the index that an iteration reads before it has assigned it."""
    names = [read.name for index in node.indices for read in locals_read(index)]
    return next((author_name(name) for name in names if name in candidate.carried), "")


def _moves(candidate: Candidate, part: Polynomial) -> bool:
    """Whether an index may change with the loop's own counter."""
    forms = candidate.forms
    return any(forms.kind(atom) in (Kind.COUNTER, Kind.VARYING) for atom in part.atoms())


def _tells_apart(candidate: Candidate, part: Polynomial) -> bool:
    forms = candidate.forms
    linear = forms.linear(part)
    if linear is None:
        return False
    coefficient, rest = linear
    return coefficient.constant != 0 and forms.fixed(coefficient) and forms.fixed(rest)


def _loops_of(candidate: Candidate, part: Polynomial) -> list[k.For]:
    atoms = [candidate.forms.atoms[number] for number in sorted(part.atoms())]
    return [atom.loop for atom in atoms if atom.kind is Kind.NESTED and atom.loop is not None]


def _two_indices(candidate: Candidate, array: str, writes: list[Access]) -> Finding:
    first = writes[0].node
    other = next((w.node for w in writes[1:] if w.node.indices != first.indices), writes[-1].node)
    remedy = (
        f"Write `{array}` at one index, or with one stride and constant offsets below it, as in "
        f"`{array}[2 * {candidate.index}]` and `{array}[2 * {candidate.index} + 1]`"
    )
    if len(first.indices) > 1:
        remedy = f"Write `{array}` at one index, or let each iteration have rows of its own, or write a second array"
    return Finding(
        "R3",
        other.span,
        f"writes {candidate.text(other.span)}, which another iteration may reach as {candidate.text(first.span)}",
        remedy,
    )
