"""Read kernel-IR expressions. The reader knows the types of locals and scalars and where arrays live."""

from isogrid.ir import kernel as k
from isogrid.ir.operations import BINARY_SIGNS, COMPARE_SIGNS, FUNCTION_BINARIES, LOGICAL_NAMES, QUERIES, UNARY_NAMES
from isogrid.ir.text_lines import float_bits
from isogrid.ir.tokens import Cursor, Token
from isogrid.ir.types import INDEX, Scalar, Space

_BINARY_OF = {sign: op for op, sign in BINARY_SIGNS.items()}
_COMPARE_OF = {sign: op for op, sign in COMPARE_SIGNS.items()}
_SCALARS = {scalar.value: scalar for scalar in Scalar}


class ExpressionReader:
    """Types of what has been declared so far; `i:i64` declares the local `i` wherever it stands."""

    def __init__(self) -> None:
        self.locals: dict[str, Scalar] = {}
        self.scalars: dict[str, Scalar] = {}
        self.arrays: dict[str, tuple[Scalar, Space]] = {}

    def expr(self, cursor: Cursor) -> k.Expr:
        """An operand, or one infix operation on two."""
        left = self.atom(cursor)
        token = cursor.peek()
        if cursor.take("if"):
            condition = self.atom(cursor)
            cursor.expect("else")
            otherwise = self.atom(cursor)
            return k.Choose(condition, left, otherwise, left.type)
        if token.text in LOGICAL_NAMES and token.kind == "name":
            cursor.next()
            return k.Logical(token.text, left, self.atom(cursor))
        if token.kind != "sign":
            return left
        if token.text in _COMPARE_OF:
            cursor.next()
            return k.Compare(_COMPARE_OF[token.text], left, self.atom(cursor))
        op = _BINARY_OF.get(token.text.removesuffix("!"))
        if op is None:
            return left
        cursor.next()
        return k.Binary(op, left, self.atom(cursor), left.type, token.text.endswith("!"))

    def atom(self, cursor: Cursor) -> k.Expr:
        token = cursor.peek()
        if cursor.take("("):
            inner = self.expr(cursor)
            cursor.expect(")")
            return inner
        if cursor.take("$"):
            name = cursor.name()
            if name not in self.scalars:
                raise cursor.fault(f"no scalar parameter {name!r}")
            return k.ScalarValue(name, self.scalars[name])
        if cursor.take("#"):
            return k.DimValue(cursor.name())
        if token.kind in ("number", "bits"):
            return self._number(cursor.next(), cursor)
        if token.kind == "name" and token.text in ("True", "False"):
            cursor.next()
            return k.Const(int(token.text == "True"), Scalar.BOOL)
        if cursor.at_sign(1, "["):
            array, indices, checked = self.element(cursor)
            element, space = self.array(array, cursor)
            return k.Load(array, indices, element.computing, space, checked)
        if cursor.at_call():
            return self._call(cursor)
        name, type = self.local(cursor)
        return k.Local(name, type)

    def element(self, cursor: Cursor) -> tuple[str, tuple[k.Expr, ...], tuple[bool, ...]]:
        """`x[i!, j]`: the array, its indices, and which of them are checked."""
        array = cursor.name()
        cursor.expect("[")

        def index() -> tuple[k.Expr, bool]:
            return self.atom(cursor), cursor.take("!")

        parts = cursor.separated(index, "]")
        return array, tuple(e for e, _ in parts), tuple(c for _, c in parts)

    def local(self, cursor: Cursor) -> tuple[str, Scalar]:
        """A local, declared here if a type follows it."""
        name = cursor.name()
        following = cursor.peek(1)
        if cursor.at(":") and following.kind == "name" and following.text in _SCALARS:
            cursor.next()
            self.locals[name] = _SCALARS[cursor.next().text]
        if name not in self.locals:
            raise cursor.fault(f"the local {name!r} has no type yet")
        return name, self.locals[name]

    def array(self, name: str, cursor: Cursor) -> tuple[Scalar, Space]:
        if name not in self.arrays:
            raise cursor.fault(f"no array {name!r}")
        return self.arrays[name]

    def _number(self, token: Token, cursor: Cursor) -> k.Const:
        type = INDEX
        if cursor.at(":") and cursor.peek(1).text in _SCALARS:
            cursor.next()
            type = _SCALARS[cursor.name()]
        if token.kind == "bits":
            return k.Const(int(token.text, 16), type)
        if type is Scalar.BF16:
            raise cursor.fault("a bf16 is written as its bits, `0x3f80:bf16`")
        return k.Const(float_bits(token.text, type.bits) if type.is_float else int(token.text), type)

    def _call(self, cursor: Cursor) -> k.Expr:
        name = cursor.name()
        checked = cursor.take("!")
        cursor.expect("(")
        arguments = cursor.separated(lambda: self.expr(cursor), ")")
        if cursor.at(":") and cursor.peek(1).text in _SCALARS:
            cursor.next()
            return k.Call(name, arguments, _SCALARS[cursor.name()])
        match arguments:
            case () if name in QUERIES:
                return k.Query(name, None)
            case (k.Const(axis),) if name in QUERIES:
                return k.Query(name, axis)
            case (value,) if name in _SCALARS:
                return k.Cast(value, _SCALARS[name], checked)
            case (operand,) if name in UNARY_NAMES:
                return k.Unary(name, operand, operand.type, checked)
            case (left, right) if name in FUNCTION_BINARIES:
                return k.Binary(name, left, right, left.type, checked)
            case _:
                raise cursor.fault(f"no operation {name!r} on {len(arguments)} operands; a function shows its type")
