"""The page of a kernel: every source line with its proof, cost and code, in one file that asks for nothing else."""

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).parent / "files"
VOID = ("meta", "br")


class Rows(HTMLParser):
    """The cells of the table by source line, what stands in `details`, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.cells: list[list[str]] = []
        self.summaries: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
        if tag == "summary":
            self.summaries.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1][-1] += data
        if self.open and self.open[-1] == "summary":
            self.summaries[-1] += data

    @property
    def lines(self) -> dict[int, list[str]]:
        return {int(row[0]): row[1:] for row in self.cells if row and row[0].isdigit()}


def page_of(isogrid: Callable[..., Any], subject: str, folder: Path, *more: str) -> Rows:
    ran = isogrid("explain", subject, "--html", str(folder / "page.html"), *more)
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    text = (folder / "page.html").read_text(encoding="utf-8")
    rows = Rows(text)
    assert not rows.open, "every element is closed"
    assert not rows.tags & {"script", "link", "img", "iframe"} and not rows.attributes & {"src", "href", "onclick"}
    assert "url(" not in text and "@import" not in text, "it needs nothing else"
    return rows


def test_source_proof_cost_and_code_stand_side_by_side(isogrid: Callable[..., Any], tmp_path: Path) -> None:
    page = page_of(isogrid, "mixed.py::gather", tmp_path)
    source = (FILES / "mixed.py").read_text().splitlines()
    assert list(page.lines) == [14, 15, 16, 17]
    assert all(page.lines[number][0] == source[number - 1] for number in page.lines)
    _, proof, cost, made = page.lines[17]
    assert "proved: index of `y`, index of `p`" in proof and "kept: index of `x`" in proof
    assert cost == "reads 8 B, writes 4 B, 3 operations, 1 check"
    assert "check ult(sext(p.1):i64, #N)" in made and " load " in made
    assert re.search(r"\d+ instructions of LLVM", made)
    assert page.summaries[-3:] == ["assembly of this processor", "PTX", "CUDA C"]


def test_a_file_has_all_its_kernels_on_one_page(isogrid: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(
        "import isogrid as ig\nfrom isogrid import In, Out, f32\nfrom isogrid.dims import N\n\n\n"
        "@ig.func\ndef twice(x: f32) -> f32:\n    return x * 2.0\n\n\n"
        "@ig.kernel(grid=N)\ndef k(x: In[f32, N], y: Out[f32, N]) -> None:\n    i = ig.gid()\n"
        "    y[i] = twice(x[i]) if x[i] < 1.0 else 0.0\n\n\n"
        "@ig.offload\ndef total(x: In[f32, N]) -> f32:\n    s = 0.0\n"
        "    for i in range(len(x)):\n        s += x[i]\n    return s\n"
    )
    page = page_of(isogrid, str(file), tmp_path)
    assert "1 operation" in page.lines[8][2], "the helper's line has its own cost"
    assert any("fadd" in row[4] for row in page.cells if row[0] == "21")
    assert [row for row in page.cells if row[0] == "14" and "x[i] < 1.0" in row[1]], "escaped once"


def test_a_page_without_pygments_has_no_colours(
    isogrid: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pygments"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygments", None)
    page = page_of(isogrid, "mixed.py::saxpy", tmp_path)
    assert page.lines[11][0] == "    y[i] = a * x[i] + y[i]" and "span" not in page.tags


def test_what_has_no_page(isogrid: Callable[..., Any], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for subject, code, said in (
        ("IG104", 2, "a code has its page in the documentation"),
        ("mixed.py::mixed", 1, "error[IG"),
        ("nowhere.py", 2, "there is no file nowhere.py"),
    ):
        ran = isogrid("explain", subject, "--html", str(page))
        assert (ran.code, said in ran.err, page.exists()) == (code, True, False)
    ran = isogrid("explain", "mixed.py::saxpy", "--html", str(tmp_path / "no" / "page.html"))
    assert ran.code == 2 and "No such file or directory" in ran.err


def test_the_text_has_costs_too(isogrid: Callable[..., Any]) -> None:
    text = isogrid("explain", "mixed.py::gather").out
    assert "line 17  reads 8 B, writes 4 B, 3 operations, 1 check" in text
    assert "restore  a copy of `y` (4 B an element) before a launch, put back after a trap" in text
    assert "restore  nothing: it cannot trap" in isogrid("explain", "mixed.py::saxpy").out
