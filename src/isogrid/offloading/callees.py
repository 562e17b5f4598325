"""What a called function does besides giving a value, found in its text and in the text of what it calls."""

import ast
import math
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final

import numpy as np

from isogrid.frontend.captures import Captures
from isogrid.frontend.dims import cdiv
from isogrid.frontend.functions import read_function
from isogrid.frontend.language import DType, Helper, KernelFunction
from isogrid.offloading.outline import UNKNOWN, Outline
from isogrid.support.errors import KernelRefused
from isogrid.support.records import dataclass

#: Python's functions that the language knows and that touch nothing.
PURE: Final = (abs, min, max, round, pow, len, int, float, bool, range, enumerate, zip, divmod, sum, any, all, sorted,
               reversed, tuple, list, dict, set, isinstance, type, iter, complex, str)  # fmt: skip
#: What writes to a console or waits for one.
CONSOLE: Final = (print, input, open)
#: Functions of the language whose meaning involves other threads.
THREADS: Final = frozenset(
    {"barrier", "warp_barrier", "gid", "lid", "group_id", "group_size", "num_groups", "grid_size", "gids", "lids"}
    | {"group_ids", "lane_id", "warp_id", "warp_size", "group_sum", "group_min", "group_max", "group_scan"}
    | {"group_any", "group_all", "warp_sum", "warp_min", "warp_max", "warp_scan", "warp_any", "warp_all", "shuffle"}
    | {"shuffle_up", "shuffle_down", "shuffle_xor", "ballot"}
)


@dataclass(frozen=True, slots=True)
class Effects:
    """`names` are variables outside that are written, `arrays` the positions and names of array parameters that are,
    `console` and `threads` what is called of each, `unknown` a function about which nothing is known."""

    names: tuple[str, ...] = ()
    arrays: frozenset[str] = frozenset()
    console: str = ""
    threads: str = ""
    unknown: str = ""


NO_EFFECTS: Final = Effects()


def effects_of(value: Any, captures: Captures, seen: frozenset[FunctionType] = frozenset()) -> Effects:
    """The effects of calling `value`, a function as Python knows it."""
    function = value.function if isinstance(value, Helper) else value
    match function:
        case KernelFunction(name=name):
            return Effects(threads=name) if name in THREADS or name == "shared" else NO_EFFECTS
        case FunctionType() if function is not cdiv:
            return NO_EFFECTS if function in seen else _function_effects(function, captures, seen | {function})
        case DType():
            return NO_EFFECTS
        case _ if function is cdiv or _in(function, PURE):
            return NO_EFFECTS
        case _ if _in(function, CONSOLE):
            return Effects(console=function.__name__)
        case BuiltinFunctionType() if getattr(math, function.__name__, None) is function:
            return NO_EFFECTS
        case np.ufunc() | BuiltinFunctionType() if _of_numpy(function):
            return NO_EFFECTS  # the language refuses it with a remedy of its own
        case _ if isinstance(function, type) and issubclass(function, BaseException):
            return NO_EFFECTS
        case _:
            return Effects(unknown=getattr(function, "__name__", type(function).__name__))


def _of_numpy(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, np.ufunc) or (module.partition(".")[0] == "numpy" and "random" not in module)


def _in(value: Any, known: tuple[Any, ...]) -> bool:
    return any(value is one for one in known)


def _function_effects(function: FunctionType, captures: Captures, seen: frozenset[FunctionType]) -> Effects:
    try:
        text = captures.texts.get(function) or read_function(function)
    except KernelRefused:
        return Effects(unknown=function.__name__)
    outline = Outline(function, text.captured, captures, text.assigned, frozenset())
    return tree_effects(outline, text.captured.tree, seen)


def tree_effects(outline: Outline, tree: ast.FunctionDef, seen: frozenset[FunctionType]) -> Effects:
    """The effects of one function's text."""
    names: dict[str, None] = {}
    arrays: set[str] = set()
    console = threads = unknown = ""
    for node in ast.walk(tree):
        match node:
            case ast.Global(names=outside) | ast.Nonlocal(names=outside):
                names |= dict.fromkeys(outside)
            case ast.Subscript(value=value, ctx=ast.Store()):
                arrays.add(root_name(value))
            case ast.Attribute(value=value, ctx=ast.Store()):
                names.setdefault(ast.unparse(node))
            case ast.Call(func=called, args=arguments):
                inner = effects_of_called(outline, called, seen)
                names |= dict.fromkeys(inner.names)
                arrays |= written_arguments(inner, outline, node)
                console, threads, unknown = console or inner.console, threads or inner.threads, unknown or inner.unknown
                if is_atomic(outline, called) and arguments:
                    arrays.add(root_name(arguments[0]))
            case _:
                pass
    arguments_of = {a.arg for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    local = outline.locals | arguments_of
    names |= dict.fromkeys(sorted(a for a in arrays if a and a not in local))
    return Effects(tuple(names), frozenset(arrays & arguments_of), console, threads, unknown)


def effects_of_called(outline: Outline, called: ast.expr, seen: frozenset[FunctionType] = frozenset()) -> Effects:
    """The effects of calling what an expression of a function's text stands for."""
    meaning = outline.meaning(called)
    if meaning is not UNKNOWN:
        return effects_of(meaning, outline.captures, seen)
    match called:
        case ast.Attribute(value=ast.Name(), attr="dtype"):
            return NO_EFFECTS  # a conversion to the type of an array's elements
        case _:
            return Effects(unknown=ast.unparse(called))


def is_atomic(outline: Outline, called: ast.expr) -> bool:
    """Whether an atomic operation of the language is called."""
    meaning = outline.meaning(called)
    return isinstance(meaning, KernelFunction) and meaning.name.startswith("atomic_")


def written_arguments(effects: Effects, outline: Outline, call: ast.Call) -> set[str]:
    """Names of the arrays that a call passes whole, or as rows, to parameters that the callee writes."""
    meaning = outline.meaning(call.func)
    function = meaning.function if isinstance(meaning, Helper) else meaning
    if not effects.arrays or not isinstance(function, FunctionType):
        return set()
    parameters = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    passed = dict(zip(parameters, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    return {root_name(passed[name]) for name in effects.arrays if name in passed}


def root_name(node: ast.expr) -> str:
    """`x` of `x`, `x[i]`, `x[i].y`; nothing for other expressions."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
