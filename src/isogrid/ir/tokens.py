"""Read IR text: lines by indentation, and a cursor over the tokens of one line. Faults raise `IRSyntaxError`."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

T = TypeVar("T")

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<quoted>`[^`]*`)
  | (?P<bits>0x[0-9a-f]+)
  | (?P<number>[+-]?(?:inf\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?))
  | (?P<name>[^\W\d]\w*(?:\.\w+)*)
  | (?P<sign>\*\*!?|//!?|<<!?|>>!?|==|!=|<=|>=|[-+*/%&|^]!?|[<>]|=!?|[()\[\]:,!$\#])
    """,
    re.VERBOSE,
)


class IRSyntaxError(ValueError):
    """Text that is no IR; the message has the line number and the text."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line that is not blank: its number in the text, its depth (two spaces each) and its tokens."""

    number: int
    depth: int
    text: str

    def cursor(self) -> "Cursor":
        return Cursor(self)


def source_lines(text: str) -> list[SourceLine]:
    """The lines of a text that are not blank."""
    found: list[SourceLine] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped:
            found.append(SourceLine(number, (len(line) - len(line.lstrip())) // 2, stripped))
    return found


class Lines:
    """Lines read one by one; a block is the run of lines deeper than its head."""

    def __init__(self, lines: list[SourceLine]) -> None:
        self.lines = lines
        self.position = 0

    def peek(self) -> SourceLine | None:
        return self.lines[self.position] if self.position < len(self.lines) else None

    def next_if(self, accept: Callable[[SourceLine], bool]) -> SourceLine | None:
        line = self.peek()
        if line is None or not accept(line):
            return None
        self.position += 1
        return line

    def at_depth(self, depth: int) -> Iterator[SourceLine]:
        """Lines of exactly this depth, as long as they follow each other (deeper ones must have been read)."""
        while line := self.next_if(lambda line: line.depth >= depth):
            if line.depth != depth:
                raise IRSyntaxError(f"line {line.number} is indented too far: {line.text}")
            yield line


class Cursor:
    """The tokens of one line, read from left to right."""

    def __init__(self, line: SourceLine) -> None:
        self.line = line
        self.tokens = list(self._tokens())
        self.position = 0

    def _tokens(self) -> Iterator[Token]:
        position, text = 0, self.line.text
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise self.fault(f"a character that is no token: {text[position]!r}")
            position = match.end()
            if match.lastgroup != "space":
                yield Token(match.lastgroup, match.group())

    def fault(self, message: str) -> IRSyntaxError:
        return IRSyntaxError(f"line {self.line.number}: {message}, in: {self.line.text}")

    def peek(self, ahead: int = 0) -> Token:
        position = self.position + ahead
        return self.tokens[position] if position < len(self.tokens) else Token("end", "the end of the line")

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next tokens are these signs or words."""
        return all(self._is(self.peek(n), text) for n, text in enumerate(texts))

    def take(self, text: str) -> bool:
        if not self.at(text):
            return False
        self.position += 1
        return True

    def expect(self, text: str) -> None:
        if not self.take(text):
            raise self.fault(f"expected {text!r} and found {self.peek().text!r}")

    def end(self) -> None:
        if self.peek().kind != "end":
            raise self.fault(f"did not expect {self.peek().text!r}")

    def name(self) -> str:
        token = self.next()
        match token.kind:
            case "name":
                return token.text
            case "quoted":
                return token.text[1:-1]
            case _:
                raise self.fault(f"expected a name and found {token.text!r}")

    def integer(self) -> int:
        token = self.next()
        if token.kind != "number" or not token.text.lstrip("+-").isdigit():
            raise self.fault(f"expected an integer and found {token.text!r}")
        return int(token.text)

    def string(self) -> str:
        token = self.next()
        if token.kind != "string":
            raise self.fault(f"expected a string and found {token.text!r}")
        return str(json.loads(token.text))

    def separated(self, item: Callable[[], T], end: str = "") -> tuple[T, ...]:
        """Items with commas between, up to the closing sign, which is read too; without one, at least one item."""
        found: list[T] = []
        if end and self.take(end):
            return ()
        while True:
            found.append(item())
            if not self.take(","):
                break
        if end:
            self.expect(end)
        return tuple(found)

    def at_call(self) -> bool:
        """Whether a call follows: a name, perhaps marked, and its parenthesis."""
        return self.at_sign(1, "(") or (self.at_sign(1, "!") and self.at_sign(2, "("))

    def call_is_typed(self) -> bool:
        """Whether the call that follows has a type behind its closing parenthesis."""
        depth = 0
        for ahead in range(len(self.tokens) - self.position):
            depth += self.at_sign(ahead, "(") - self.at_sign(ahead, ")")
            if depth == 0 and self.at_sign(ahead, ")"):
                return self.at_sign(ahead + 1, ":")
        return False

    def at_sign(self, ahead: int, text: str) -> bool:
        token = self.peek(ahead)
        return token.kind == "sign" and token.text == text

    @staticmethod
    def _is(token: Token, text: str) -> bool:
        return token.text == text and token.kind in ("sign", "name")
