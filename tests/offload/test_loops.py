"""The handed plain loops: verdict, recorded output and exact words, on every tier."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogrid as ig
from tests.offload.written import HEAD, called, function, same, words_of

_FOLDER = Path(__file__).parent / "data"
ALL = [json.loads(line) for line in (_FOLDER / "loops.jsonl").read_text().splitlines()]
_EXPECTED = _FOLDER / "loops.expected.txt"
_TYPES = {"i32": np.int32, "f64": np.float64, "u8": np.uint8, "b1": np.bool_}

#: Outside the language, each with the code that says why.
OUTSIDE = {
    "X067_global_counter": "IG100",
    "X071_iterator_state": "IG148",
    "X072_closure_nonlocal": "IG100",
    "X075_view_reversed": "IG101",
    "X086_negative_const": "IG121",
    "Y027_row_vector_op": "IG119",
    "Y038_try": "IG100",
    "Y039_local_list": "IG101",
    "Y043_private_array": "IG146",
}
#: Accepted as written, and refused by what the call brings.
AT_THE_CALL = {
    "X077_args_same_array": "share memory",
    "X085_negative_wrap": "at indices -6..5, for i = 0..11",
    "X088_symbolic_stride_zero": "`k` is 0",
}
#: Refused by the letter of the rule, accepted here: why that is sound.
STRONGER = {
    "Y001_outer_only": "an iteration reads and writes in row `i` alone, and no other writes there",
    "Y006_for_in_array": "an array is counted: 0 to its length",
    "Y020_min_reversed": "min commutes in every bit, NaN and zeros included",
    "Y022_hist_long_form": "the index is the same text and reads nothing that the loop writes",
    "Y032_div_mod_2d": "the image form, with both divisions rounding down",
    "Y034_csr_rows": "integer products commute",
}
#: Mixed types that the language asks to be converted.
ADAPTED = {"P061_mandel": ("0.25 * i", "0.25 * f64(i)"), "P094_pi": ("(i + 0.5)", "(f64(i) + 0.5)")}


def test_every_handed_loop_is_here() -> None:
    assert len(ALL) == 118
    known = {entry["id"] for entry in ALL}
    assert known >= {*OUTSIDE, *AT_THE_CALL, *STRONGER, *ADAPTED}


def test_no_loop_that_must_never_be_accepted_is() -> None:
    sound = {e["id"] for e in ALL if e["obligation"] == "soundness"}
    assert not sound & set(STRONGER)


@pytest.mark.parametrize("entry", [e for e in ALL if e["id"] not in OUTSIDE], ids=lambda e: e["id"])
def test_verdict_and_output(entry: dict[str, Any]) -> None:
    f = ig.offload(function_of(entry))
    outcome = called(f.on("cpu"), _arguments(entry))
    result, after, said, error = outcome
    assert same(outcome, called(f.reference, _arguments(entry)))
    assert same(outcome, called(f.on("cuda"), _arguments(entry)))
    if entry["id"] in AT_THE_CALL:
        assert error is not None
        assert AT_THE_CALL[entry["id"]] in str(error)
        assert all(np.array_equal(after[n], v) for n, v in _arguments(entry).items())
        return
    assert error is None, error
    expected = "parallel" if entry["id"] in STRONGER else entry["expect"]
    assert ("refuse" if said else "parallel") == expected, said
    for name, value in entry["expected"].items():
        if name == "return":
            _same_result(result, value)
        else:
            assert np.array_equal(after[name], _array(value)), name


@pytest.mark.parametrize("entry", [e for e in ALL if e["id"] in OUTSIDE], ids=lambda e: e["id"])
def test_outside_the_language(entry: dict[str, Any]) -> None:
    codes = [report.code for report in ig.offload(function_of(entry)).check()]
    assert OUTSIDE[entry["id"]] in codes


def test_exact_words(update: bool) -> None:
    lines: list[str] = []
    for entry in ALL:
        lines.append(f"{entry['id']}: {entry['expect']} ({entry['obligation']})")
        lines += [f"    {text}" for text in words_of(ig.offload(function_of(entry)))]
    text = "\n".join(lines) + "\n"
    if update:
        _EXPECTED.write_text(text)
    assert text == _EXPECTED.read_text()


def _same_result(result: Any, expected: Any) -> None:
    given = list(result) if isinstance(result, tuple) else result
    if isinstance(expected, float):
        assert given == pytest.approx(expected, rel=1e-12)
    else:
        assert given == expected


def _array(value: dict[str, Any]) -> Any:
    return np.array(value["data"], _TYPES[value["dtype"]]).reshape(value["shape"])


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    found = {n: _array(v) if isinstance(v, dict) else v for n, v in entry["inputs"].items()}
    return {n: found["a"] if v is None else v for n, v in found.items()}


def function_text(entry: dict[str, Any]) -> str:
    """The recorded text of `f` itself, adapted."""
    old, new = ADAPTED.get(entry["id"], ("", ""))
    text = "\n".join(_lines_of_f(entry))
    return text.replace(old, new) if old else text


def function_of(entry: dict[str, Any], text: str | None = None) -> Any:
    """The loop as a typed function: every array with dimensions of its own, numbers as indices. `text` stands for the
    recorded text of `f`, which may use an array `bound_here` and a helper `same_here` too."""
    dims, parameters = "class Dbound(ig.Dim): pass\n", []
    for name, value in entry["inputs"].items():
        value = entry["inputs"]["a"] if value is None else value
        if not isinstance(value, dict):
            parameters.append(f"{name}: i64")
            continue
        names = [f"D{name}{axis}" for axis in range(len(value["shape"]))]
        dims += "".join(f"class {name}(ig.Dim): pass\n" for name in names)
        element = "bool" if value["dtype"] == "b1" else value["dtype"]
        parameters.append(f"{name}: InOut[{element}, {', '.join(names)}]")
    own = function_text(entry)
    adapted = entry["source"].replace("\n".join(_lines_of_f(entry)), own)
    if text is not None:
        adapted = adapted.replace(own, text)
        parameters.append("bound_here: In[f32, Dbound]")
    adapted = re.sub(r"^def (?!f\()", "@ig.func\ndef ", adapted, flags=re.M)
    adapted = re.sub(r"^def f\(.*?\):", f"def f({', '.join(parameters)}):", adapted, flags=re.M)
    head = HEAD + dims + "@ig.func\ndef same_here(v):\n    return v\n"
    return function(adapted, f"loop {entry['id']}", head)


def _lines_of_f(entry: dict[str, Any]) -> list[str]:
    (node,) = [n for n in ast.parse(entry["source"]).body if isinstance(n, ast.FunctionDef) and n.name == "f"]
    return entry["source"].splitlines()[node.lineno - 1 : node.end_lineno]
