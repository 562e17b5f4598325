"""`isogrid check`: text, JSON, exit codes, fixes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isogrid.cli.fix import apply_fixes
from isogrid.diagnostics.report import Edit, Label, Remedy, Report
from isogrid.diagnostics.span import Span


def test_proved_and_kept_checks_are_listed_and_findings_exit_with_1(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("check", "mixed.py")
    assert ran.code == 1
    assert ran.out.startswith("""\
mixed.py
  saxpy(a: f32, x: In[f32, N], y: InOut[f32, N]) grid=N block=256
    accepted; 3 checks proved, none kept
  gather(p: In[i32, N], x: In[f32, N], y: InOut[f32, N]) grid=N block=256
    accepted; 2 checks proved, 1 kept at run time:
      line 17   index of `x`
  mixed(n: i32, x: InOut[f32, N]) grid=N block=256
    refused, see below

error[""")
    assert " --> mixed.py:23:16" in ran.out
    assert ran.out.endswith("\n3 kernels: 1 error\n")
    assert "\x1b" not in ran.out, "no colour where the output is no terminal"


def test_verbose_lists_every_check(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("check", "-v", "mixed.py")
    assert "      line 17   proved  index of `y`, index of `p`\n      line 17   kept    index of `x`\n" in ran.out


def test_accepted_files_exit_with_0(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("check", "script.py")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 kernel: nothing to complain about")


def test_a_missing_or_broken_file_exits_with_2_and_the_others_are_checked(
    isogrid: Callable[..., Any], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import isogrid as ig\n\nraise ValueError('mine')\n")
    ran = isogrid("check", "nowhere.py", str(broken), "script.py")
    assert ran.code == 2
    assert "there is no file nowhere.py" in ran.err
    assert f"{broken} does not import:" in ran.err
    assert f'File "{broken}", line 3' in ran.err
    assert "importlib" not in ran.err, "only the user's frames"
    assert "double(x: InOut[i32, N])" in ran.out


def test_nothing_is_said_of_no_file(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("check", "nowhere.py")
    assert (ran.code, ran.out) == (2, "")


def test_a_refused_signature_is_a_finding(isogrid: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "signature.py"
    file.write_text("import isogrid as ig\n\n\n@ig.kernel(grid=4)\ndef k(x: list) -> None:\n    pass\n")
    ran = isogrid("check", str(file))
    assert ran.code == 1
    assert "error[IG1" in ran.out
    assert "the file stops at a kernel whose signature is refused" in ran.out


def test_json_has_the_same_findings(isogrid: Callable[..., Any]) -> None:
    ran = isogrid("check", "--json", "mixed.py")
    data = json.loads(ran.out)
    assert (ran.code, data["version"], data["errors"], data["failures"]) == (1, 1, 1, [])
    (file,) = data["files"]
    saxpy, gather, mixed = file["kernels"]
    assert [saxpy["accepted"], gather["accepted"], mixed["accepted"]] == [True, True, False]
    assert [check["proved"] for check in saxpy["checks"]] == [True, True, True]
    assert [check["what"] for check in gather["checks"] if not check["proved"]] == ["index of `x`"]
    assert file["reports"][0]["primary"]["span"]["line"] == 23


def certain(file: Path, *edits: tuple[int, int, int, str]) -> Report:
    parts = tuple(Edit(Span(str(file), line, start, line, end), text) for line, start, end, text in edits)
    return Report("IG100", "t", Label(Span(str(file), 1, 1, 1, 2)), remedies=(Remedy("maybe"), Remedy("do", parts)))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_certain_remedies_are_written_and_line_ends_stay(tmp_path: Path, newline: str) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(newline.join(["x = n", "y = m", ""]).encode())
    first = certain(file, (1, 5, 5, "f32("), (1, 6, 6, ")"))
    overlapping = certain(file, (1, 5, 6, "q"))
    second = certain(file, (2, 5, 6, "k"))
    assert apply_fixes([first, overlapping, second]) == 2
    assert file.read_bytes() == newline.join(["x = f32(n)", "y = k", ""]).encode()


def test_uncertain_remedies_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("x = n\n")
    vague = Report("IG100", "t", Label(Span(str(file), 1, 1, 1, 2)), remedies=(Remedy("think"),))
    assert apply_fixes([vague]) == 0
    assert file.read_text() == "x = n\n"
