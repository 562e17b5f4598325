"""The handed kernels: their records, and each translated kernel as kernel IR or the refusal that defining it gave."""

import ast
import json
import linecache
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from isogrid.diagnostics.report import Report
from isogrid.frontend.build import build
from isogrid.frontend.definition import ArrayDeclaration, Specialisation
from isogrid.ir import kernel as k
from isogrid.support.errors import KernelRefused

HERE = Path(__file__).parent
#: Parameters whose name in the record is a keyword of a launch here.
RENAMED = {"limit": "groups"}


@dataclass(frozen=True, slots=True)
class Case:
    """One record, and what became of its translation: a kernel value, or the reports that refused its definition."""

    id: str
    record: dict[str, Any]
    kernel: Any
    refused: tuple[Report, ...]


@cache
def cases() -> dict[str, Case]:
    """Every handed kernel by its id."""
    kernels: dict[str, Any] = {}
    for name in ("kernels_safe.py", "kernels_unsafe.py"):
        kernels |= _definitions(HERE / name)
    records = [json.loads(line) for line in (HERE / "kernels.jsonl").read_text().splitlines()]
    return {
        r["id"]: Case(r["id"], r, None, found)
        if isinstance(found := kernels[r["id"]], tuple)
        else Case(r["id"], r, found, ())
        for r in records
    }


def _definitions(file: Path) -> dict[str, Any]:
    """Names of a module run statement by statement: a refused definition does not keep the others from being made."""
    text = file.read_text()
    linecache.checkcache(str(file))
    scope: dict[str, Any] = {"__name__": f"handed_{file.stem}", "__file__": str(file)}
    found: dict[str, Any] = {}
    for statement in ast.parse(text).body:
        code = compile(ast.Module([statement], []), str(file), "exec")
        try:
            exec(code, scope)
        except KernelRefused as refused:
            assert isinstance(statement, ast.FunctionDef)
            found[statement.name] = refused.reports
        else:
            if isinstance(statement, ast.FunctionDef):
                found[statement.name] = scope[statement.name]
    return found


def built(case: Case) -> k.Kernel:
    """The kernel IR, open geometry filled in as the record says; raises `KernelRefused`."""
    if case.refused:
        raise KernelRefused(case.refused)
    definition = case.kernel.definition
    launch = case.record["launch"]
    is_open = definition.extents is None
    return build(
        definition,
        Specialisation(
            kind="groups" if is_open else None,
            rank=len(launch["block"]) if is_open else None,
            block=tuple(launch["block"]) if is_open or definition.block is None else None,
        ),
    )


def arguments(case: Case) -> dict[str, Any]:
    """The recorded arguments under the names and in the shapes of the translation."""
    given = case.record["args"]
    out: dict[str, Any] = {}
    for parameter in case.kernel.definition.parameters:
        value = given[RENAMED.get(parameter.name, parameter.name)]
        out[parameter.name] = _array(parameter, value, given) if isinstance(parameter, ArrayDeclaration) else value
    return out


def _array(parameter: ArrayDeclaration, value: dict[str, Any], given: dict[str, Any]) -> Any:
    flat = np.array(value["data"], {"i32": np.int32, "u32": np.uint32, "f32": np.float32}[value["dtype"]])
    if len(parameter.shape) == 1:
        return flat
    if all(isinstance(e, k.Const) for e in parameter.shape):
        return flat.reshape([e.value for e in parameter.shape])  # type: ignore[union-attr]
    side = round(len(flat) ** 0.5)
    return flat.reshape(given.get("h", side), given.get("w", side))


def launch(case: Case, device: str) -> dict[str, Any]:
    """Run the recorded launch; the arguments afterwards."""
    values = arguments(case)
    recorded = case.record["launch"]
    definition = case.kernel.definition
    geometry: dict[str, Any] = {}
    if definition.extents is None:
        geometry["groups"] = tuple(recorded["grid"])
    if definition.block is None:
        geometry["block"] = tuple(recorded["block"])
    case.kernel.launch(**values, **geometry, device=device)
    return values
