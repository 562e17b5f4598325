"""The handed examples of the rules, each a typed function and its twin in plain Python.

Bodies that mix types, which the language asks to be converted, are adapted below; the rules see the same loop.
"""

import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from tests.offload.written import HEAD, PYTHON_HEAD, function

_ARRAYS = {
    **dict.fromkeys(("out", "src", "dst", "a", "b"), "f32"),
    **dict.fromkeys(("idx", "hist", "cnt"), "i32"),
}
_SCALARS = ("n", "w", "h", "m", "stride", "off")
_SIZE = 128

#: What is outside the language: no warning, but an error of the function.
OUTSIDE = {
    "R1/generator", "R2/break-in-for-else", "R2/break-in-match", "R2/raise", "R3-names/conditionally-bound-local",
    "R3-tile/x-after-its-loop", "R3-texture/true-division", "R5/writes-module-variable", "R5/transitively",
    "R5/closure-nonlocal", "R5/global-rng", "R6/workgroup-memory", "R6/print", "R6/print-in-helper",
    "R6/print-under-false",
}  # fmt: skip

#: `old -> new` in the body, for conversions that the language wants written.
_ADAPTED = {
    "shape/scalars-then-loop": [("2.0 * m", "2.0 * f32(m)")],
    "shape/reduce-then-return": [("s / n", "s / f32(n)")],
    "shape/later-loop-bound-is-reduced": [("for i in range(k): out[i]", "for j in range(k): out[j]")],
    "shape/reduced-through-scalar": [("s / n", "s / f32(n)")],
    "R2/break-in-inner-for": [("> i", "> f32(i)")],
    "R2/break-in-inner-while": [("out[i] = j", "out[i] = f32(j)")],
    "R2/return-in-inner-loop": [("> i", "> f32(i)")],
    "R2/break-in-for-else": [("> i", "> f32(i)")],
    "R3-names/local-accumulator": [("src[j] - i", "src[j] - f32(i)")],
    "R3-names/read-outer-scalar": [("0.5 * m", "0.5 * f32(m)")],
    "R3-affine/inner-loop-overwrites": [("* k", "* f32(k)")],
    "R3-tile/i-w-plus-x": [("= i + x", "= f32(i + x)")],
    "R3-tile/not-perfectly-nested": [("g * x", "g * f32(x)")],
    "R3-tile/bound-too-large": [("= i", "= f32(i)")],
    "R3-tile/width-depends-on-i": [("= i", "= f32(i)"), ("k = f32(i)", "k = i"), ("k = f32(i)dx", "k = idx")],
    "R3-tile/x-rebound": [("= i", "= f32(i)")],
    "R3-tile/x-of-another-loop": [("= i", "= f32(i)")],
    "R3-scatter/read-elsewhere": [("= hist[i]", "= f32(hist[i])")],
    "R4/length-is-no-read": [("= len(out)", "= f32(len(out))")],
    "R4/integer-own-element": [("= cnt[i]", "= f32(cnt[i])")],
    "R4/atomic-result": [("= k", "= f32(k)")],
    "R6/helper-no-print": [("= sq(i)", "= f32(sq(i))")],
    "R6/workgroup-memory": [("shared(64)", "ig.shared(f32, 64)")],
}

_HELPERS = """
TALLY = 0
GAIN = 1.5

@ig.func
def sq(v):
    return v * v

@ig.func
def same_here(v):
    return v

@ig.func
def poly(v):
    t = v * 2
    return t * t + v

@ig.func
def gain():
    return f32(GAIN)

@ig.func
def at(x, i):
    return x[i]

@ig.func
def put(x, i, v):
    x[i] = v

@ig.func
def tally():
    global TALLY
    TALLY += 1
    return 1.0

@ig.func
def calls_tally(v):
    return tally() + v

@ig.func
def noisy(v):
    print(v)
    return v

@ig.func
def total(x):
    s = f32(0)
    for i in range(len(x)):
        s += x[i]
    return s

@ig.func
def reset(x):
    for i in range(len(x)):
        x[i] = 0.0

rng = random.random
"""
_DIMS = "".join(f"class N{name}(ig.Dim): pass\n" for name in (*_ARRAYS, "rows", "columns", "bound"))
_TYPED_HEAD = HEAD + _DIMS + "atomic_add = ig.atomic_add\nbarrier = ig.barrier\n" + _HELPERS
_PLAIN_HEAD = PYTHON_HEAD + (
    "def atomic_add(x, i, v):\n    old = x[i]\n    x[i] += v\n    return old\nbarrier = lambda: None\n"
    + _HELPERS.replace("@ig.func\n", "")
)


@dataclass(frozen=True)
class Example:
    """`id` is rule/tag; `verdict` ok, no, or cpu for the whole function."""

    id: str
    verdict: str
    body: str

    @property
    def outside(self) -> bool:
        return self.id in OUTSIDE

    def typed(self, body: str | None = None) -> FunctionType:
        """The function to decorate; its body starts on line 2."""
        arrays = [f"{name}: InOut[{type}, N{name}]" for name, type in _ARRAYS.items()]
        parameters = [*arrays, "img: Out[f32, Nrows, Ncolumns]", *(f"{name}: i64" for name in _SCALARS)]
        parameters += ["bound_here: In[f32, Nbound]"] if body is not None else []
        text = f"def f({', '.join(parameters)}):\n{textwrap.indent(body or self.body, '    ')}\n"
        return function(text, f"example {self.id}", _TYPED_HEAD)

    def plain(self) -> FunctionType:
        names = ", ".join([*_ARRAYS, "img", *_SCALARS])
        return function(f"def f({names}):\n{textwrap.indent(self.body, '    ')}\n", f"twin {self.id}", _PLAIN_HEAD)


def examples() -> list[Example]:
    """All 166, in order."""
    path = Path(__file__).parent / "data" / "offload_rules.json"
    found: list[Example] = []
    for entry in json.loads(path.read_text()):
        name = f"{_rule(entry['rule'])}/{entry['tag']}"
        body = re.sub(r"img\.store\(\((.*?), (.*?)\), (.*?)\)( |$)", _stored, entry["body"], flags=re.M)
        for old, new in _ADAPTED.get(name, []):
            body = body.replace(old, new)
        found.append(Example(name, entry["verdict"], body))
    return found


def _rule(rule: str) -> str:
    return "R3-names" if rule == "R3" else rule


def _stored(match: "re.Match[str]") -> str:
    x, y, value, end = match.groups()
    return f"img[{y}, {x}] = {value}{end}"


def arguments(seed: int = 3) -> dict[str, Any]:
    """Arrays long enough for every example, and its scalars."""
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, type in _ARRAYS.items():
        if type == "f32":
            found[name] = random.normal(0, 2, _SIZE).astype(np.float32)
        else:
            found[name] = random.integers(1, 16, _SIZE).astype(np.int32)
    found["img"] = np.zeros((16, 16), np.float32)
    return found | {"n": 12, "w": 4, "h": 3, "m": 5, "stride": 2, "off": 1}
