"""Values of the author in messages. Python refuses to print an integer of more than 4300 digits, so long ones are told
by their size."""

from collections.abc import Iterable
from typing import Final

#: Longest integer, in bits, whose digits a message shows.
_LONGEST_BITS: Final = 256


def shown(value: object) -> str:
    """`repr`, and for an integer too long to read `an integer of 16610 bits`."""
    if isinstance(value, int) and value.bit_length() > _LONGEST_BITS:
        return f"an integer of {value.bit_length()} bits"
    try:
        return repr(value)
    except ValueError:  # such an integer in a tuple, for instance
        return f"a {type(value).__name__} of long integers"


def shown_extents(values: tuple[int, ...]) -> str:
    """Extents as their author writes them: `8`, `(4, 8)`."""
    texts = [shown(value) for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one may stand for."""
    import difflib  # only mistakes ask for it

    close = difflib.get_close_matches(name, list(known), 1)
    return close[0] if close else None
