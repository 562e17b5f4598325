"""No two threads touch one element unordered, one of them writing: proved for every launch, or reported with the two
threads, the element and both places."""

from dataclasses import replace

from isogrid.analysis.symbolic.array_facts import allows
from isogrid.analysis.symbolic.context import Access, Context
from isogrid.analysis.symbolic.expressions import as_polynomial, evaluate
from isogrid.analysis.symbolic.polynomial import Polynomial, TooLarge
from isogrid.analysis.symbolic.races import RaceProof, Unproved
from isogrid.analysis.symbolic.witness import Witness, find_witness, possible_meeting
from isogrid.checks.precondition_remedies import precondition_remedies
from isogrid.checks.race_remedies import race_remedies
from isogrid.checks.trials import Trials
from isogrid.diagnostics.report import Label, Remedy, Report
from isogrid.ir import kernel as k

_MOST_REPORTS = 4
_MOST_PAIRS = 4
#: Choices of values tried for the first pair of an array.
_TRIES = 1500


def check_races(kernel: k.Kernel, exact: bool = True) -> list[Report]:
    """One report per array and pair of places, at most four; none means that the kernel is proved free of races.

    `exact=False` is for `fastmath`: two computations of one float may then differ.
    """
    if kernel.races != "prove":
        return []
    try:
        proof = RaceProof(kernel, exact)
        found = proof.pairs()
    except TooLarge as limit:
        return [_too_large(kernel, str(limit))]
    by_array: dict[str, list[Unproved]] = {}
    for pair in found:
        by_array.setdefault(pair.first.array, []).append(pair)
    trials = Trials(kernel, proof)
    return [
        _report(trials, pairs[:_MOST_PAIRS], frozenset(by_array)) for pairs in list(by_array.values())[:_MOST_REPORTS]
    ]


def _shapes(c: Context, kernel: k.Kernel) -> dict[str, tuple[Polynomial, ...]]:
    """The extents of every array that threads share."""
    shapes = {
        p.name: tuple(as_polynomial(c, evaluate(c, e)) for e in p.shape)
        for p in kernel.parameters
        if isinstance(p, k.ArrayParameter)
    }
    return shapes | {s.name: tuple(Polynomial.constant(e) for e in s.shape) for s in kernel.shared}


def _report(trials: Trials, pairs: list[Unproved], racing: frozenset[str]) -> Report:
    """The first pair of one array that has a counterexample, else the first. What is loaded from a racing array is
    no ground for a counterexample."""
    kernel, c = trials.kernel, trials.proof.context
    shapes = _shapes(c, kernel)
    for number, pair in enumerate(pairs):
        witness = find_witness(c, pair.first, pair.second, pair.across, shapes, _TRIES // (1 + 3 * number))
        if witness is not None and not _racing_data(pair, witness, racing) and allows(kernel.facts, witness.data):
            return _refuted(trials, pair, witness)
    return _unproved(trials, pairs, shapes, racing)


def _racing_data(pair: Unproved, witness: Witness, racing: frozenset[str]) -> bool:
    return any(array in racing and array != pair.first.array for array, _, _ in witness.data)


def _verb(kind: str, would: str = "") -> str:
    ending = "" if would else "s"
    verb = {"read": f"read{ending}", "write": f"write{ending}"}.get(kind, f"update{ending} ({kind})")
    return would + verb


def _refuted(trials: Trials, pair: Unproved, w: Witness) -> Report:
    kernel, c = trials.kernel, trials.proof.context
    element = _element(pair.first, w)
    names = _thread_names(c, kernel, w)
    shared = pair.first.array in {s.name for s in kernel.shared}
    between = "with no barrier between them" if not pair.across else "and nothing orders them"
    labels = _labels(pair, names, element, "")
    return Report(
        code="IG201",
        title=f"two threads touch `{element}` {between}",
        primary=labels[0],
        secondary=tuple(labels[1:]),
        why=_why(kernel, pair, shared),
        facts=_columns(c, kernel, pair, w, names, element, "counterexample"),
        remedies=race_remedies(trials, pair),
        kernel=kernel.name,
        witness=w,
    )


def _element(access: Access, w: Witness) -> str:
    return f"{access.array}[{', '.join(str(i) for i in w.index)}]"


def _thread_names(c: Context, kernel: k.Kernel, w: Witness) -> tuple[str, str]:
    return _thread_name(c, kernel, w, 0), _thread_name(c, kernel, w, 1)


def _labels(pair: Unproved, names: tuple[str, str], element: str, would: str) -> list[Label]:
    """What each thread does, at its place; `would` stands before the verbs of what may not come about."""
    a, b = pair.first, pair.second
    if a.span != b.span:
        return [Label(x.span, f"{n} {_verb(x.kind, would)} {element}") for x, n in ((b, names[1]), (a, names[0]))]
    same = f"{names[0]} and {names[1]} {would or 'both '}{_plural(a.kind)} {element}"
    apart = f"{names[0]} {_verb(a.kind, would)} {element}, {names[1]} {_verb(b.kind, would)} it"
    return [Label(a.span, same if a.kind == b.kind else apart)]


def _plural(kind: str) -> str:
    return {"read": "read", "write": "write"}.get(kind, "update")


def _why(kernel: k.Kernel, pair: Unproved, shared: bool) -> str:
    if not kernel.grouped:
        return "nothing orders the threads of a launch, so either access may happen first"
    if pair.across:
        return "no barrier orders threads of different groups, so either access may happen first"
    if shared:
        return "no barrier separates the two accesses, so either may happen first"
    return "the two threads are not ordered, so either access may happen first"


def _coordinates(block: tuple[int, ...], linear: int) -> tuple[int, ...]:
    out: list[int] = []
    for extent in reversed(block):
        out.append(linear % extent)
        linear //= extent
    return tuple(reversed(out))


def _position(c: Context, kernel: k.Kernel, w: Witness, side: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(group, lid) of the thread along each axis."""
    rank = kernel.geometry.rank
    chosen = dict(zip(c.group_atoms, w.groups[side], strict=True))
    group = tuple(chosen.get(f"group.{axis}", 0) for axis in range(rank))
    block = kernel.geometry.block if kernel.grouped else (1,) * rank
    return group, _coordinates(block, w.lids[side])


def _thread_name(c: Context, kernel: k.Kernel, w: Witness, side: int) -> str:
    group, lid = _position(c, kernel, w, side)
    if not kernel.grouped:
        return f"thread {_tuple(group)}"
    if w.groups[0] == w.groups[1]:
        return f"thread {_tuple(lid)}"
    return f"thread {_tuple(lid)} of group {_tuple(group)}"


def _tuple(values: tuple[int, ...]) -> str:
    return str(values[0]) if len(values) == 1 else "(" + ", ".join(map(str, values)) + ")"


def _columns(
    c: Context, kernel: k.Kernel, pair: Unproved, w: Witness, names: tuple[str, ...], element: str, title: str
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    positions = [_position(c, kernel, w, side) for side in (0, 1)]
    sizes = [f"{_plain(n)} = {v}" for n, v in w.launch if n not in c.group_atoms and not n.startswith("groups.")]
    heading = f"groups of {c.size} threads" if kernel.grouped else "one thread per element of the grid"
    rows: list[tuple[str, tuple[str, ...]]] = [
        (title, (", ".join([heading, *sizes]),)),
        ("", names),
    ]
    if kernel.grouped:
        rows.append(("group", tuple(_tuple(g) for g, _ in positions)))
        rows.append(("lid", tuple(_tuple(lid) for _, lid in positions)))
    else:
        rows.append(("gid", tuple(_tuple(g) for g, _ in positions)))
    own = [dict(w.own[side]) for side in (0, 1)]
    for name in sorted({*own[0], *own[1]} - set(c.group_atoms)):
        rows.append((_plain(name), tuple(str(o.get(name, "-")) for o in own)))
    rows.append(("element", (element, element)))
    rows.append(("access", (_verb(pair.first.kind), _verb(pair.second.kind))))
    return tuple(rows)


def _plain(name: str) -> str:
    """An atom in the author's words."""
    base = name.split("#")[0]
    if base.startswith("$"):
        return base[1:]
    if base.startswith("load "):
        return f"value loaded from {base[5:]}"
    return {"@trip": "trip of the loop", "@gap": "trips between"}.get(base, base)


def _unproved(
    trials: Trials, pairs: list[Unproved], shapes: dict[str, tuple[Polynomial, ...]], racing: frozenset[str]
) -> Report:
    """The first pair whose indices meet if conditions hold that the proof cannot work out, else the first. Threads of
    one group often share such conditions, and may be kept apart by them."""
    kernel, c = trials.kernel, trials.proof.context
    for pair in pairs:
        if kernel.grouped and not pair.across:
            continue
        meeting = possible_meeting(c, pair.first, pair.second, pair.across, shapes, _TRIES // _MOST_PAIRS)
        if meeting is not None and not _racing_data(pair, meeting, racing) and allows(kernel.facts, meeting.data):
            return _meeting(trials, pair, meeting)
    return _cannot_show(trials, pairs[0])


def _meeting(trials: Trials, pair: Unproved, w: Witness) -> Report:
    kernel, c = trials.kernel, trials.proof.context
    element = _element(pair.first, w)
    names = _thread_names(c, kernel, w)
    report = _cannot_show(trials, pair)
    labels = _labels(pair, names, element, "would ")
    return replace(
        report,
        primary=labels[0],
        secondary=tuple(labels[1:]),
        why="a condition on the way there is more than the proof can work out; where it lets both threads through, "
        "nothing orders them",
        facts=_columns(c, kernel, pair, w, names, element, "possible meeting"),
    )


def _cannot_show(trials: Trials, pair: Unproved) -> Report:
    kernel = trials.kernel
    a, b = pair.first, pair.second
    labels = [Label(b.span, f"{_verb(b.kind)} `{b.array}`")]
    if a.span != b.span:
        labels.append(Label(a.span, f"{_verb(a.kind)} `{a.array}`"))
    who = "two threads" if not kernel.grouped else f"two threads of {'different groups' if pair.across else 'a group'}"
    return Report(
        code="IG202",
        title=f"cannot show that {who} never touch the same element of `{a.array}`",
        primary=labels[0],
        secondary=tuple(labels[1:]),
        why=f"neither the indices nor the guards keep {_apart(kernel, pair)} apart, as far as the proof sees",
        remedies=(
            *(remedy for remedy in race_remedies(trials, pair) if remedy.edits),
            *precondition_remedies(trials, pair),
            Remedy(
                "state the missing fact with ig.require(...), index so that each thread owns its elements, or choose "
                '`races="check"` to have it checked while the kernel runs'
            ),
        ),
        kernel=kernel.name,
    )


def _apart(kernel: k.Kernel, pair: Unproved) -> str:
    """Who may meet, in words."""
    if not kernel.grouped:
        return "two threads"
    return "threads of two groups" if pair.across else pair.reason


def _too_large(kernel: k.Kernel, text: str) -> Report:
    return Report(
        code="IG203",
        title=f"the race proof of kernel `{kernel.name}` is larger than its fixed budget",
        primary=Label(kernel.span),
        why=text,
        remedies=(Remedy('split the kernel, or choose `races="check"` to have races checked while it runs'),),
        kernel=kernel.name,
    )
