"""Products of lanes of 32 bits as 64-bit products of the even and of the odd lanes, and values that stay apart so.

One multiplication each on every x86, where a product of widened lanes takes shuffles before and after it. Halves are
then picked by shuffles: LLVM 22 drops the shift of `(a * b) >> 32` where it knows the operands to be narrow.

What follows from such a product by additions and bitwise operations is written twice: on vectors in lane order, and on
the pair of vectors of even and odd lanes, each lane in the lower half of 64 bits with anything above it. Whichever
nobody reads is removed. So the next product of a chain (Philox, say) finds its operands where a multiplication takes
them, and only what leaves the chain is put back into lane order.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from isogrid.ir.device import Machine
from isogrid.printers.llvm_text import Writer, type_text

#: Operations whose lower 32 bits depend on the operands' lower 32 bits alone.
_APART: Final = {"iadd": "add", "isub": "sub", "iand": "and", "ior": "or", "ixor": "xor"}
#: Registers for each of both products that are held together.
_MOST_TOGETHER: Final = 8
_LOWER: Final = "splat (i64 4294967295)"
_HALF: Final = "splat (i64 32)"


def upper_half(w: Writer, signed: bool, a: str, b: str, width: int) -> str:
    """The upper halves of products, in lane order."""
    products = _products(w, signed, a, b, width)
    result = _every_second(w, products, 1, width)
    halves, whole = _types(width)
    odd_ones = ", ".join(f"i32 {lane | 1}" for lane in range(width))
    even = w.emit(f"shufflevector {halves} {products[0]}, {halves} poison, <{width} x i32> <{odd_ones}>")
    # A shuffle for the even and a shift for the odd lanes: each has a port of its own on Intel's processors.
    odd = w.emit(f"lshr {whole} {w.emit(f'bitcast {halves} {products[1]} to {whole}')}, {_HALF}")
    w.pairs[result] = w.emit(f"bitcast {halves} {even} to {whole}"), odd
    return result


def lower_half(w: Writer, a: str, b: str, width: int) -> str | None:
    """The product of lanes of 32 bits from the products that an upper half has made in this block, if any."""
    even, odd = (w.known.get(_key(a, b, width, odd)) for odd in (False, True))
    if even is None or odd is None:
        return None
    result = _every_second(w, (even, odd), 0, width)
    halves, whole = _types(width)
    w.pairs[result] = _pair(w.emit(f"bitcast {halves} {p} to {whole}") for p in (even, odd))
    return result


def keep_apart(w: Writer, op: str, a: str, b: str, result: str, width: int) -> None:
    """Note the pair of a result, if the operation keeps pairs and an operand has one; the other may be shared by all
    lanes."""
    if op not in _APART or (a not in w.pairs and b not in w.pairs):
        return
    left, right = _known_pair(w, a, width), _known_pair(w, b, width)
    if left is not None and right is not None:
        whole = _types(width)[1]
        w.pairs[result] = _pair(w.emit(f"{_APART[op]} {whole} {x}, {y}") for x, y in zip(left, right, strict=True))


def _pair(parts: Iterable[str]) -> tuple[str, str]:
    even, odd = parts
    return even, odd


def _types(width: int) -> tuple[str, str]:
    """Products as 32-bit halves, and whole. A vector of one is still a vector."""
    return type_text(Machine.I32, width), f"<{width // 2} x i64>"


def _known_pair(w: Writer, value: str, width: int) -> tuple[str, str] | None:
    if value in w.pairs:
        return w.pairs[value]
    if value not in w.splats and not value.startswith("splat ("):
        return None
    halves, whole = _types(width)
    both = w.emit(f"bitcast {halves} {value} to {whole}")
    return both, both


def _products(w: Writer, signed: bool, a: str, b: str, width: int) -> tuple[str, str]:
    """64-bit products of the even and of the odd lanes of two vectors of 32 bits, as 32-bit halves."""
    halves, whole = _types(width)
    products: list[str] = []
    for odd in (False, True):
        products.append(w.emit(f"mul {whole} {_lanes(w, signed, a, odd, width)}, {_lanes(w, signed, b, odd, width)}"))
    even, odd_ones = (w.emit(f"bitcast {whole} {p} to {halves}") for p in _together(w, products, width // 2))
    w.known[_key(a, b, width, False)], w.known[_key(a, b, width, True)] = even, odd_ones
    return even, odd_ones


def _together(w: Writer, products: Sequence[str], width: int) -> list[str]:
    """The same products, all made before any that follows from them. LLVM would run chain after chain, to need fewer
    registers, and each would wait for itself."""
    lanes = w.register_bits // 64
    if lanes == 0 or width % lanes or width // lanes > _MOST_TOGETHER:
        return list(products)
    piece, whole, count = f"<{lanes} x i64>", f"<{width} x i64>", width // lanes * len(products)
    pieces = [
        w.emit(f"shufflevector {whole} {p}, {whole} poison, {_order(start, lanes)}") if width > lanes else p
        for p in products
        for start in range(0, width, lanes)
    ]
    result = "{ " + ", ".join([piece] * count) + " }"
    ties = ",".join(["=v"] * count + [str(place) for place in range(count)])
    listed = ", ".join(f"{piece} {p}" for p in pieces)
    held = w.emit(f'call {result} asm sideeffect "", "{ties}"({listed})')
    pieces = [w.emit(f"extractvalue {result} {held}, {place}") for place in range(count)]
    each = len(pieces) // len(products)
    return [_joined(w, pieces[at : at + each], lanes) for at in range(0, count, each)]


def _joined(w: Writer, pieces: list[str], lanes: int) -> str:
    while len(pieces) > 1:
        text, order = f"<{lanes} x i64>", _order(0, 2 * lanes)
        pieces = [
            w.emit(f"shufflevector {text} {a}, {text} {b}, {order}")
            for a, b in zip(pieces[::2], pieces[1::2], strict=True)
        ]
        lanes *= 2
    return pieces[0]


def _order(start: int, count: int) -> str:
    return f"<{count} x i32> <" + ", ".join(f"i32 {start + k}" for k in range(count)) + ">"


def _lanes(w: Writer, signed: bool, vector: str, odd: bool, width: int) -> str:
    """The even or odd lanes of a vector, widened to 64 bits."""
    halves, whole = _types(width)
    apart = w.pairs.get(vector)
    lanes = w.emit(f"bitcast {halves} {vector} to {whole}") if apart is None else apart[odd]
    lower = not odd or apart is not None
    if lower and not signed:
        return w.emit(f"and {whole} {lanes}, {_LOWER}")
    if lower:
        lanes = w.emit(f"shl {whole} {lanes}, {_HALF}")
    return w.emit(f"{'ashr' if signed else 'lshr'} {whole} {lanes}, {_HALF}")


def _key(a: str, b: str, width: int, odd: bool) -> str:
    """Under what `Writer.known` has the products of a block. No instruction reads like this."""
    return f"{'odd' if odd else 'even'} products of {width} {a}, {b}"


def _every_second(w: Writer, products: tuple[str, str], first: int, width: int) -> str:
    """Lower (`first` 0) or upper (1) halves of the products of all lanes, in lane order."""
    halves = _types(width)[0]
    order = ", ".join(f"i32 {lane // 2 * 2 + first + lane % 2 * width}" for lane in range(width))
    return w.emit(f"shufflevector {halves} {products[0]}, {halves} {products[1]}, <{width} x i32> <{order}>")
