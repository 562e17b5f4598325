"""Write the reference from the compiler's own tables: `python docs/generate.py`, or `--check` to compare only.

Every page that this file makes starts with a comment that says so; everything else in docs/ is written by hand.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from isogrid.backends.cpu import exactness as cpu_exactness
from isogrid.backends.cpu.target import HostTarget
from isogrid.backends.cuda import exactness as cuda_exactness
from isogrid.backends.cuda.target import cuda_target
from isogrid.backends.interp import exactness as interp_exactness
from isogrid.builtins.atomics import ATOMICS
from isogrid.builtins.collectives import COLLECTIVES
from isogrid.builtins.conversions import COMPUTING, CONVERSIONS, STORAGE
from isogrid.builtins.elementary import INSTEAD, NOT_YET
from isogrid.builtins.exactness import Basis, exactness_of
from isogrid.builtins.functions import OPERATOR_SPELLINGS
from isogrid.builtins.index import all_builtins
from isogrid.builtins.operators import OPERATORS
from isogrid.builtins.queries import QUERIES
from isogrid.builtins.table import Builtin
from isogrid.builtins.warps import WARP_OPERATIONS
from isogrid.cli.exactness import by_reason
from isogrid.diagnostics.codes import all_pages, render_markdown
from isogrid.ir.traps import TrapKind
from isogrid.ir.types import Scalar
from isogrid.launch.devices import devices, supported_options
from isogrid.launch.options import PORTABLE
from isogrid.mathlib.digests import known_functions
from isogrid.mathlib.methods import METHODS, PAIRS, TAILS
from isogrid.pipeline import CHECKS, PASSES

DOCS = Path(__file__).resolve().parent
MADE = "<!-- Made by docs/generate.py from the tables of the compiler; change those and run `make docs`. -->\n\n"
#: Types that behave alike share a column.
COLUMNS = (
    (Scalar.I32, Scalar.I64),
    (Scalar.U32, Scalar.U64),
    (Scalar.W32, Scalar.W64),
    (Scalar.F32, Scalar.F64),
    (Scalar.BOOL,),
)


def main(arguments: Sequence[str]) -> int:
    """Write all pages and remove those that nothing makes any more; with --check only say which differ."""
    made = pages()
    stale = [path for path in generated_files() if path not in made]
    different = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if "--check" in arguments:
        for path in [*different, *stale]:
            print(f"{path.relative_to(DOCS.parent)} is not up to date; run `make docs`")
        return 1 if different or stale else 0
    for path in different:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path])
    for path in stale:
        path.unlink()
    print(f"{len(made)} pages, {len(different)} changed, {len(stale)} removed")
    return 0


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    makers: dict[str, Callable[[], str]] = {
        "reference/types.md": types_page,
        "reference/operators.md": operators_page,
        "reference/conversions.md": conversions_page,
        "reference/functions.md": functions_page,
        "reference/queries.md": queries_page,
        "reference/groups-and-atomics.md": groups_page,
        "reference/traps.md": traps_page,
        "reference/options.md": options_page,
        "reference/exactness.md": exactness_page,
        "reference/codes/README.md": codes_page,
        "decisions/README.md": decisions_page,
        "explanation/numbers.md": numbers_page,
    }
    made = {DOCS / name: MADE + make() for name, make in makers.items()}
    for code, page in all_pages().items():
        made[DOCS / "reference" / "codes" / f"{code}.md"] = MADE + render_markdown(code, page)
    return made


def generated_files() -> list[Path]:
    """Files on disk that say they are generated."""
    return [path for path in sorted(DOCS.rglob("*.md")) if path.read_text().startswith(MADE)]


# --- pages -----------------------------------------------------------------------------------------------------------


def types_page() -> str:
    rows = []
    for scalar in Scalar:
        if scalar.is_integer:
            values = f"{scalar.minimum} to {scalar.maximum}" + (", modulo 2^n" if scalar.is_modular else "")
        elif scalar.is_float:
            values = f"IEEE 754 binary{scalar.bits}" if scalar is not Scalar.BF16 else "bfloat16"
        else:
            values = "False, True"
        use = "values and elements" if scalar.is_computing else f"elements only; loads as {scalar.computing.value}"
        numpy = scalar.numpy_name.removeprefix("np.")
        rows.append((code(scalar.value), values, use, code(numpy)))
    return "# Types\n\n" + table(("type", "values", "use", "NumPy dtype"), rows)


def operators_page() -> str:
    rows = []
    for row in OPERATORS.values():
        cells = [operator_cell(row.types, row.traps.get, column) for column in COLUMNS]
        rows.append((code(row.symbol), *cells, row.doc))
    refused: dict[tuple[str, str], list[str]] = {}
    for row in OPERATORS.values():
        for why in dict.fromkeys(row.refusals.values()):
            types = " ".join(t.value for t, text in row.refusals.items() if text == why)
            refused.setdefault((types, why), []).append(code(row.symbol))
    notes = [f"- {' '.join(symbols)} on {types}: {why}." for (types, why), symbols in refused.items()]
    head = ("operator", *(" ".join(t.value for t in column) for column in COLUMNS), "meaning")
    intro = (
        "Both operands have one type; the amount of a shift and the exponent of an integer power may be any integer.\n"
        "An empty cell is refused. Beside an `i64`, `i32` and `u32` widen by themselves.\n\n"
    )
    return f"# Operators\n\n{intro}{table(head, rows)}\n## What to write instead\n\n" + "\n".join(notes) + "\n"


def operator_cell(
    accepted: Iterable[Scalar], traps: Callable[[Scalar], tuple[TrapKind, ...] | None], column: tuple[Scalar, ...]
) -> str:
    if column[0] not in set(accepted):
        return ""
    kinds = traps(column[0]) or ()
    return "traps: " + ", ".join(kind.value for kind in kinds) if kinds else "yes"


def conversions_page() -> str:
    targets = (*COMPUTING, *STORAGE)
    rows = []
    for source in COMPUTING:
        cells = []
        for target in targets:
            row = CONVERSIONS.get((source, target))
            if row is None:
                cells.append("")
            elif source is target:
                cells.append("same")
            else:
                cells.append(("may trap" if row.can_trap else "yes") + ("; by itself" if row.widens else ""))
        rows.append((code(source.value), *cells))
    intro = (
        "`T(x)` converts; the storage types are targets at a store only. An empty cell is refused, *may trap* raises\n"
        "`KernelValueError` for a value that does not fit, *by itself* marks what needs no written conversion beside\n"
        "an `i64`. Storing an integer into a narrower integer element converts by itself too.\n\n"
    )
    return f"# Conversions\n\n{intro}" + table(("from \\ to", *(t.value for t in targets)), rows)


def functions_page() -> str:
    by_spelling: dict[tuple[str, ...], list[Builtin]] = {}
    for row in all_builtins():
        by_spelling.setdefault(row.spellings, []).append(row)
    rows = []
    for spellings, group in sorted(by_spelling.items()):
        arguments = ", ".join((["T"] if group[0].type_argument else []) + list(group[0].parameters))
        call = " or ".join(code(f"{written(s)}({arguments})") for s in spellings)
        targets = [row.target for row in group if row.target is not None]
        doc = group[0].doc
        if len(targets) > 1:
            doc = doc.replace(targets[0].value, "T")
            doc += f" T is one of {', '.join(t.value for t in targets)}."
        accepted = [s.parameters[-1] for row in group for s in row.signatures]
        rows.append((call, type_list(accepted), doc))
    for spelling, (op, count) in OPERATOR_SPELLINGS.items():
        arguments = ", ".join("xyz"[:count])
        doc = OPERATORS[op].doc
        rows.append((code(f"{written(spelling)}({arguments})"), type_list(OPERATORS[op].types), doc))
    later = sorted(NOT_YET.values())
    notes = [f"- {code(NOT_YET.get(spelling, written(spelling)))}: {text}." for spelling, text in INSTEAD.items()]
    return (
        "# Functions\n\n"
        + table(("call", "types", "meaning"), rows)
        + "\n## Not yet\n\nRefused by name, never approximated: "
        + ", ".join(code(name) for name in later)
        + ".\n\nMeanwhile:\n\n"
        + "\n".join(notes)
        + "\n"
    )


NUMBERS = """# Numbers: the same bits everywhere

**Operations.** `+ - * /`, `sqrt`, `fma`, conversions and comparisons are IEEE 754, rounded once to nearest even in the
type written. Nothing is contracted, reassociated or flushed to zero. Floats never trap. Every NaN counts as the same
value; what looks at its bits (`bitcast`, `signbit`, `copysign`, a narrowing store) sees the canonical quiet NaN.

**f16 and bf16** are types of elements: a load gives the f32 of equal value, and a store of `f16(v)` or `bf16(v)` rounds
once from the exact value, from an f64 too. Nothing is computed in them, so their bits agree wherever f32 agrees. All
2^32 f32 were rounded to both on the CPU, with the processor's instructions and without, and on an H200, by PTX and by
NVRTC, and compared with digests that `python -m tools.mathlib.stored_floats` made in f64;
`isogrid numerics f16 bf16 --device D` does the same on a device.

**f32 functions** of one argument are *correctly rounded*: the nearest f32 to the exact value, of which there is one, so
any device may compute it in its own way. *All inputs* below means that every one of the 2^32 inputs was compared on the
CPU with a digest that MPFR decided; the others are compared on 2^20 inputs and on all that are hard to round. Functions
of two arguments are rounded by a test, and in pairs of f64 where it fails: errors below 2^-68, exact cases apart.

**f64 functions** are one algorithm in the kernel language, with the same bits on every device: at most 1 ulp by
contract, and in fact the correctly rounded value but for about one input in 10,000, and subnormal results, which
are rounded twice: up to 0.75 ulp. `math.lgamma` next to its zeros below zero, where a pair is not enough, is a series
around the zero. The errors in the table are the largest over 10^8 random inputs each: a long double function of the C
library tells all of them, MPFR those that are large (`python -m tools.mathlib.wide_accuracy`, seed and worst input
in `benchmarks/results/accuracy_f64.json`). On an H200 the bits are the CPU's for 2^22 random inputs of each and for
all pairs of edges, and the interpreter's for 1,000 of them (`python -m tests.cuda_device.elementary_f64`).

**How.** The *pair build* of a function carries an unevaluated sum of two f64; rounded once it is the f64 function. The
*quick build* computes an f32 function in one f64 with an error below 2^-39.5 and asks whether everything within 2^-39
rounds alike; if not, one input in 8,000, the pair build decides. The *tail build* of the most used ones computes in f32
alone, the result and a small correction with an error of 2^-33 to 2^-36, by tables of 16 or 32 entries that a CPU holds
in registers; where that does not tell how to round, one input in some hundred, the quick build decides. All are helpers
in `isogrid/mathlib/source`; `python -m tools.mathlib.coefficients` and `python -m tools.mathlib.tails` make and check
their coefficients, `python -m tools.mathlib.compile` compiles them, `isogrid numerics --device D` compares a device
with the digests. On an H200 too all 2^32 inputs of every function were compared: none is wrong; the gamma functions
got their quick build after that. Special values are
those of C's Annex F.

**On GPUs** with one f64 unit for two of f32 all f32 functions but the gammas have a build of their own: f64 with as few
conversions as can be, and a test of the 29 bits of the f64 that an f32 lacks; `rsqrt` is in f32 alone. Where it divides
it starts from the hardware's inverse of 20 bits, and takes the error to the third power; any start within 2^-18 does,
in f32 any within 2^-22. The table's figures are of builds whose 2^32 inputs were all compared on an H200.
`python -m benchmarks.cuda.elementary` compares it with PyTorch and with CUDA C's own functions.

**Without f64, or without a fused multiply-add.** `exp exp2 log log2 sin cos tanh rsqrt` of f32 have a build in sums of
two and three f32 (*without f64* in the table), with sums, products and integers of 32 bits alone, rounded
once from an odd last part. Texts for such devices (Metal, OpenCL without cl_khr_fp64) take it by themselves; other
functions that need f64 are refused there with [IG504](../reference/codes/IG504.md). A CPU takes it with
`k.options(cpu={"without": "f64,fma"})`, and refuses what such a device refuses. All 2^32 inputs of each were compared
with the digests on the CPU: `isogrid numerics --build pairs`.

**`fastmath`** does not touch a kernel that calls one of these functions.

Speed: one thread, 16,384 f32 in cache, on {processor}; `python -m benchmarks.numerics`.
Error: the largest seen in f64 against MPFR, over 10^8 random inputs.
H200: 256 calls a thread and nothing else, beside the function of CUDA C at its default accuracy, and a map of 2^28
elements, beside PyTorch's where it has the function; why some are slower than theirs is told in
[decision 0173](../decisions/0173-fewer-instructions-on-gpus.md).

"""


def numbers_page() -> str:
    """The numeric contract, with the functions as measured."""
    root = DOCS.parent
    speeds = json.loads((root / "benchmarks" / "results" / "numerics.json").read_text())
    errors = json.loads((root / "benchmarks" / "results" / "accuracy_f64.json").read_text())
    kept = sorted((root / "benchmarks" / "results").glob("cuda_elementary_*.json"))[-1]
    cards = {row["function"]: row for row in json.loads(kept.read_text())["functions"]}
    rows = []
    for name, (method, bound) in METHODS.items():
        card = cards.get(name)
        on_card = f"{card['calls_cuda_c'] / card['calls']:.2f}" if card else ""
        mapped = f"{card['map_pytorch'] / card['map']:.2f}" if card and "map_pytorch" in card else ""
        speed = speeds["functions"].get(name, {})
        own = f"{speed['isogrid']:.2f} ns" if speed else ""
        beside = f"{speed['numpy'] / speed['isogrid']:.2f}" if "numpy" in speed else ""
        checked = "all inputs" if name in known_functions() else "2^20 and hard cases"
        if name in ("pow", "atan2", "hypot"):
            checked = "random pairs"
        library = f"{speed['libmvec'] / speed['isogrid']:.2f}" if "libmvec" in speed else ""
        method = f"{method}; in f32: {TAILS[name]}" if name in TAILS else method
        if name in PAIRS:
            method = f"{method}; without f64: {PAIRS[name][0]}, error 2^{PAIRS[name][1]}"
        error = f"{errors[name]['ulp']:.3f} ulp"
        rows.append((code(name), checked, method, f"2^{bound}", error, own, beside, library, on_card, mapped))
    head = (
        "function", "f32 checked", "method", "pair error", "f64 error", "f32 speed", "of NumPy's", "of libmvec's",
        "H200: of CUDA C's", "map, of PyTorch's",
    )  # fmt: skip
    return NUMBERS.replace("{processor}", speeds["processor"]) + table(head, rows)


def queries_page() -> str:
    rows = []
    for row in QUERIES.values():
        name = written(row.spelling)
        bare = row.tuple_of or row.of_warp
        forms = code(f"{name}()") if bare else f"{code(f'{name}()')} {code(f'{name}(axis)')}"
        notes = "makes the kernel grouped" if row.group_only else ""
        if row.linear_refused:
            notes = "without an axis refused in grouped kernels of 2 or 3 dimensions"
        rows.append((forms, row.doc, row.variance.value, notes))
    intro = (
        "All are `i64`. Without an axis a query counts linearly, the last axis varying fastest; axis 0 is the\n"
        "slowest.\n\n"
    )
    return f"# Queries\n\n{intro}" + table(("query", "gives", "uniformity", "notes"), rows)


def groups_page() -> str:
    collectives = [
        (code(f"{written(row.spelling)}(value)"), type_list(row.types), row.doc, row.variance.value)
        for row in COLLECTIVES.values()
    ]
    warps = []
    for row in WARP_OPERATIONS.values():
        operands = f"value, {row.lane}" if row.lane else "value"
        call = code(f"{written(row.spelling)}({operands})")
        warps.append((call, type_list(row.types), row.doc, row.variance.value))
    atomics = []
    for row in ATOMICS.values():
        values = {"cas": ", expected, new", "load": ""}.get(row.name, ", value")
        call = code(f"{written(row.spelling)}(array, index{values})")
        atomics.append((call, type_list(row.elements), type_list(row.relaxed), row.doc))
    return (
        "# Group operations and atomics\n\n"
        "A group operation is a barrier, and pairs values in a fixed order, so that its result is the same\n"
        "everywhere.\n\n"
        + table(("operation", "types", "meaning", "uniformity"), collectives)
        + "\n## Warps\n\n"
        + "A warp is `warp=` consecutive threads of a group, 32 unless the decorator says otherwise. All its threads\n"
        "take part in its operations, which order no memory: `ig.warp_barrier()` does.\n\n"
        + table(("operation", "types", "meaning", "uniformity"), warps)
        + "\n## Atomics\n\n"
        + "An atomic is a statement without a value; its result does not depend on the order of threads. In a kernel\n"
        "with `deterministic=False` it gives the element as it was, any values and more elements are accepted, and\n"
        "every two atomics may meet.\n\n"
        + table(("atomic", "elements", "with `deterministic=False` also", "meaning"), atomics)
    )


def traps_page() -> str:
    from isogrid import traps

    rows = []
    for name, value in sorted(vars(traps).items()):
        if isinstance(value, type) and issubclass(value, traps.Trap) and value is not traps.Trap:
            bases = ", ".join(code(base.__name__) for base in value.__bases__ if base is not traps.Trap)
            rows.append((code(f"ig.{name}"), bases, first_line(value)))
    intro = (
        "A trap ends the launch: the exception is raised by the call, and every array argument holds what it held\n"
        "before. The message names the values, the kernel, the place and the thread, with the same bytes on every\n"
        "device.\n\n"
    )
    return f"# Traps\n\n{intro}" + table(("exception", "also a", "raised for"), rows)


def options_page() -> str:
    parts = ["# Options, checks and passes\n\n## Portable options\n\n"]
    parts.append(table(("option", "contract"), [(code(key), text) for key, text in PORTABLE.items()]))
    for device in sorted(devices(), key=lambda d: d.name):
        own = {k: v for k, v in supported_options(device.name).items() if k.startswith(f"{device.name}.")}
        if own:
            parts.append(f"\n## Options of {code(device.name)}\n\n")
            rows = [(code(key.partition(".")[2]), text) for key, text in own.items()]
            parts.append(table(("option", "value"), rows))
    parts.append("\n## Checks, in run order\n\n")
    parts.append("".join(f"1. {code(name)}\n" for name, *_ in CHECKS))
    parts.append(
        "\n## Passes, in run order\n\nEach can be switched off: `k.options(disable=...)`, `ISOGRID_DISABLE`.\n\n"
    )
    parts.append("".join(f"1. {code(name)}\n" for name, *_ in PASSES))
    return "".join(parts)


EXACTNESS = """# Why results are exact

Every operation gives the same bits on every device. What that stands on is one of three: *(a)* the target's
specification and flags promise it; *(b)* a sequence of integer or promised operations whose result is proved; *(c)*
measurement, with the compiler and driver that are named. Only (a) and (b) are called guaranteed. `isogrid devices
--exactness` prints this for the devices of a machine, `--json` for every operation and type, and runs their self-tests.

A GPU passes its self-test before its first launch: five launches whose every bit is known, with subnormals, infinities
and NaN, the hardest quotients and roots in loops, functions that begin with an approximation, and a trap. One that
fails is not the default device, and refuses launches that name it.
"""


def exactness_page() -> str:
    """The reasons of each device, where one differs from the next processor that of the one with most of (c)."""
    intel = HostTarget("x86_64-unknown-linux-gnu", "emeraldrapids", "+avx2,+avx512f,+f16c,+fma", "")
    tables = {
        "interp": exactness_of("", interp_exactness.reason),
        "cpu, of Intel with AVX-512": exactness_of("", lambda o: cpu_exactness.reason(o, intel)),
        "cuda, compute capability 9.0": exactness_of(
            "", lambda o: cuda_exactness.reason(o, cuda_target((9, 0)), as_measured=True)
        ),
    }
    parts = [EXACTNESS]
    for title, exactness in tables.items():
        rows = []
        for basis in Basis:
            for reason, names in by_reason(exactness, basis).items():
                why = f"{reason.text}; measured {reason.measured}" if reason.measured else reason.text
                rows.append((code(names), f"({basis.value})", why))
        parts.append(f"\n## {title}\n\n" + table(("operations", "", "why"), rows))
    return "".join(parts) + (
        "\nOther processors than Intel's with AVX-512 divide as fast as they multiply, and GPUs of another compute\n"
        "capability have not been measured: there quotients and roots of f32 are the target's, (a).\n"
    )


def codes_page() -> str:
    rows = [(f"[{name}]({name}.md)", page.title) for name, page in all_pages().items()]
    return "# Codes\n\n`isogrid explain IG104` prints a page.\n\n" + table(("code", "title"), rows)


def decisions_page() -> str:
    rows = []
    for path in sorted((DOCS / "decisions").glob("[0-9]*.md")):
        title = path.read_text().splitlines()[0].lstrip("# ")
        number, _, words = title.partition(" ")
        if number != path.name[:4] or not words:
            raise SystemExit(f"{path}: the first line of a decision is `# {path.name[:4]} Title`, not `# {title}`")
        rows.append((f"[{number}]({path.name})", words))
    return "# Decisions\n\n" + table(("number", "decision"), rows)


# --- small tools -----------------------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def code(text: str) -> str:
    return f"`{text}`"


def written(spelling: str) -> str:
    """A qualified name as authors write it."""
    return spelling.replace("isogrid.", "ig.").replace("builtins.", "")


def type_list(types: Iterable[Scalar]) -> str:
    return " ".join(scalar.value for scalar in Scalar if scalar in set(types))


def first_line(value: object) -> str:
    return (value.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
