"""Places in the author's text: a span is a file and a range of lines and columns."""

from typing import Final

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of text. Lines count from 1, columns from 1 in characters; `end_column` is one past the last."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


#: For nodes that a test or a pass made without source text.
NOWHERE: Final = Span("<none>", 0, 0, 0, 0)
