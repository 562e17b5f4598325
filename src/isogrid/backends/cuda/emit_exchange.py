"""Values that move between the lanes of a hardware warp: shuffles of any width in 32-bit words."""

from collections.abc import Callable

from isogrid.backends.cuda.emit_code import Code

#: LLVM's text of a type -> number of 32-bit words that a value takes.
_WORDS = {"i1": 1, "i8": 1, "i16": 1, "i32": 1, "float": 1, "i64": 2, "double": 2, "i128": 4}


def shuffle(code: Code, kind: str, mask: str, value: str, text: str, operand: str, width: int = 32) -> str:
    """`kind` is idx, bfly or up; lanes exchange within aligned segments of `width`. Of `up`, lanes below the distance
    keep their own value."""
    limit = (32 - width) << 8 | (0 if kind == "up" else 31)

    def word(part: str) -> str:
        types = ["i32", "i32", "i32", "i32"]
        return code.w.call(f"llvm.nvvm.shfl.sync.{kind}.i32", "i32", types, [mask, part, operand, str(limit)])

    return by_words(code, value, text, word)


def by_words(code: Code, value: str, text: str, move: Callable[[str], str]) -> str:
    """Move a value word by word."""
    w, count = code.w, _WORDS[text]
    if count == 1:
        if text == "i32":
            return move(value)
        if text == "float":
            return w.emit(f"bitcast i32 {move(w.emit(f'bitcast float {value} to i32'))} to float")
        return w.emit(f"trunc i32 {move(w.emit(f'zext {text} {value} to i32'))} to {text}")
    whole = f"i{32 * count}"
    bits = w.emit(f"bitcast {text} {value} to {whole}") if text == "double" else value
    result = ""
    for place in range(count):
        part = w.emit(f"trunc {whole} {w.emit(f'lshr {whole} {bits}, {32 * place}')} to i32")
        moved = w.emit(f"zext i32 {move(part)} to {whole}")
        moved = w.emit(f"shl {whole} {moved}, {32 * place}")
        result = w.emit(f"or {whole} {result}, {moved}") if result else moved
    return w.emit(f"bitcast {whole} {result} to double") if text == "double" else result
