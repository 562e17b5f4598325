"""The generated reference is up to date, and no link of the documentation leads nowhere."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date(generator: ModuleType) -> None:
    made = generator.pages()
    different = [
        str(path.relative_to(ROOT)) for path, text in made.items() if not path.exists() or path.read_text() != text
    ]
    stale = [str(path.relative_to(ROOT)) for path in generator.generated_files() if path not in made]
    assert different == [] and stale == [], "run `make docs` and commit what it writes"


def test_every_table_row_has_a_place_in_the_reference(generator: ModuleType) -> None:
    functions = generator.functions_page()
    for row in generator.all_builtins():
        assert row.doc, f"{row.name} has no doc line"
        for spelling in row.spellings:
            assert f"`{generator.written(spelling)}(" in functions
    for row in (*generator.OPERATORS.values(), *generator.QUERIES.values(), *generator.ATOMICS.values()):
        assert row.doc, f"{row.name} has no doc line"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in LINK.findall(prose):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_environment_variable_is_documented() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    page = (ROOT / "docs" / "reference" / "environment.md").read_text()
    used = set(re.findall(r"[\"'](ISOGRID_[A-Z_]+)[\"']", sources))
    documented = set(re.findall(r"`(ISOGRID_[A-Z_]+)`", page))
    assert used - {"ISOGRID_"} == documented, "docs/reference/environment.md lists what the source reads"


def test_every_hand_written_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    for page in [*(ROOT / "docs" / "guide").glob("*.md"), *(ROOT / "docs" / "explanation").glob("*.md")]:
        assert f"({page.parent.name}/{page.name})" in index
