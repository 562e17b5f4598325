"""Every error code of the compiler: `PAGES` of the modules `codes_*.py` beside this file, merged and sorted."""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import isogrid.diagnostics as package
from isogrid.diagnostics.pages import CodePage
from isogrid.support.errors import CompilerBug


@cache
def all_pages() -> Mapping[str, CodePage]:
    """Code to page, sorted by code. Two modules that claim one code are a fault of the compiler."""
    merged: dict[str, CodePage] = {}
    for module_name in code_modules():
        pages: dict[str, CodePage] = importlib.import_module(module_name).PAGES
        for code, page in pages.items():
            if code in merged:
                raise CompilerBug(f"{module_name} defines {code} again")
            merged[code] = page
    return MappingProxyType(dict(sorted(merged.items())))


def code_modules() -> list[str]:
    """Qualified names of the modules that hold pages, sorted."""
    names = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(f"{package.__name__}.{name}" for name in names if name.startswith("codes_"))


def page_of(code: str) -> CodePage | None:
    """The page of a code, or None for a code that does not exist."""
    return all_pages().get(code)


def render_page(code: str, page: CodePage) -> str:
    """The page as plain text, as `isogrid explain CODE` prints it."""
    parts = [f"{code}: {page.title}", page.explanation.strip()]
    if page.example_bad:
        parts.append("Refused:\n\n" + _indented(page.example_bad))
    if page.example_good:
        parts.append("Accepted:\n\n" + _indented(page.example_good))
    return "\n\n".join(parts) + "\n"


def render_markdown(code: str, page: CodePage) -> str:
    """The page as it stands in the reference."""
    parts = [f"# {code}: {page.title}", page.explanation.strip()]
    if page.example_bad:
        parts.append("Refused:\n\n```py\n" + page.example_bad.strip("\n") + "\n```")
    if page.example_good:
        parts.append("Accepted:\n\n```py\n" + page.example_good.strip("\n") + "\n```")
    return "\n\n".join(parts) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").split("\n"))
