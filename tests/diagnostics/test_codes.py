"""Codes and their pages: one page per code, rendered plainly."""

import re

from isogrid.diagnostics.codes import all_pages, page_of, render_page
from isogrid.diagnostics.pages import CodePage


def test_codes_are_sorted_and_well_formed() -> None:
    pages = all_pages()
    assert list(pages) == sorted(pages)
    for code, page in pages.items():
        assert re.fullmatch(r"IG\d{3,4}", code), code
        assert page.title, code
        assert page.explanation.strip(), code
        assert page.title[0] not in " \n", code
        assert not page.title.endswith("."), f"{code}: a title is no sentence with a full stop"


def test_a_page_is_rendered_with_both_examples() -> None:
    page = CodePage("`/` is not for integers; use `//`", "Say which.\n", "y = a / b\n", "y = a // b\n")
    assert render_page("IG104", page) == (
        "IG104: `/` is not for integers; use `//`\n\nSay which.\n\n"
        "Refused:\n\n    y = a / b\n\nAccepted:\n\n    y = a // b\n"
    )


def test_an_unknown_code_has_no_page() -> None:
    assert page_of("IG000") is None
