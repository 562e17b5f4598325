"""Source of functions typed at the prompt of Pythons before 3.13, which keep it only in the history of `readline`.

A stretch of the history is taken for the source only if compiling it gives the very code of the function.
"""

import linecache
import sys
from collections.abc import Iterator
from types import CodeType

#: The name that Python gives to everything typed at its prompt.
PROMPT = "<stdin>"

#: How many lines back a definition is looked for.
_DEPTH = 2000


def typed_source(code: CodeType) -> tuple[str, tuple[str, ...]] | None:
    """A file name of its own and the lines of the statement that defines `code`; None if it was not typed here.

    The lines are put into `linecache` under that name, so that tracebacks, reports and traps can show them.
    """
    readline = sys.modules.get("readline")
    if code.co_filename != PROMPT or readline is None:
        return None
    last = readline.get_current_history_length()
    history = [readline.get_history_item(n) or "" for n in range(max(1, last - _DEPTH), last + 1)]
    for text in _statements(history):
        if _defines(text, code):
            name = f"<typed {code.co_name} {abs(hash(text)):x}>"
            lines = text.splitlines(keepends=True)
            linecache.cache[name] = (len(text), None, lines, name)
            return name, tuple(lines)
    return None


def _statements(history: list[str]) -> Iterator[str]:
    """Stretches of the history that may be one statement, the latest first."""
    starts = [n for n, line in enumerate(history) if line and not line[0].isspace() and not line.startswith((")", "]"))]
    for position in range(len(starts) - 1, -1, -1):
        start = starts[position]
        # A decorator belongs to the `def` that follows, however many decorators there are.
        following = position + 1
        while following < len(starts) and history[starts[following] - 1].startswith("@"):
            following += 1
        end = starts[following] if following < len(starts) else len(history)
        if start == 0 or not history[start - 1].startswith("@"):
            yield "\n".join(history[start:end]) + "\n"


def _defines(text: str, code: CodeType) -> bool:
    try:
        module = compile(text, PROMPT, "exec", dont_inherit=True, flags=code.co_flags & _FUTURES)
    except (SyntaxError, ValueError):
        return False
    pending = [module]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, CodeType):
                if constant == code:
                    return True
                pending.append(constant)
    return False


#: `from __future__ import annotations` at the prompt holds for later statements.
_FUTURES = 0x1000000
