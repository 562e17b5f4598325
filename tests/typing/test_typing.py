"""Users' kernels pass pyright and mypy as written, and the stub shows what is really there."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import isogrid
from isogrid.frontend.language import FUNCTIONS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
USER = HERE / "user_kernels.py"
STUB = ROOT / "src/isogrid/__init__.pyi"


def test_pyright_accepts_user_kernels(tmp_path: Path) -> None:
    (tmp_path / USER.name).write_text(USER.read_text())
    settings = {"include": [USER.name], "extraPaths": [str(ROOT / "src")], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors, 0 warnings" in done.stdout


def test_mypy_accepts_user_kernels(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path),
        USER.name,
    ]
    environment = {"MYPYPATH": str(ROOT / "src"), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr


def test_user_kernels_decorate() -> None:
    space: dict[str, object] = {"__name__": "user_kernels"}
    exec(compile(USER.read_text(), str(USER), "exec"), space)
    assert repr(space["axpy"]) == "<isogrid kernel axpy(a: T, x: In[T, N], y: InOut[T, N]) grid=N block=256>"
    assert "groups=(ig.cdiv(M, TILE), ig.cdiv(N, TILE)) block=(TILE, TILE)" in repr(space["matmul"])
    assert "bias: In[Real, C] | None" in repr(space["add_bias"])


def test_stub_and_package_have_the_same_names() -> None:
    declared: set[str] = set()
    for node in ast.parse(STUB.read_text()).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                declared.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                declared.add(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                declared.add(name)
            case ast.ImportFrom(names=names):
                declared.update(n.asname for n in names if n.asname)
            case _:
                pass
    stub_only = {"__version__", "DimMeta", "Offloaded", "Trusted"}
    public = {name for name in declared if not name.startswith("_")} - stub_only
    assert public == set(isogrid.__all__)
    for name in public:
        assert getattr(isogrid, name) is not None


def test_every_function_of_the_language_is_documented() -> None:
    for name, function in FUNCTIONS.items():
        assert function.__doc__, name
