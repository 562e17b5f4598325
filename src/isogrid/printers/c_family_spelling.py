"""How one C-like language says things: a value that the printer reads, so that it never asks which one it prints."""

from collections.abc import Mapping

from isogrid.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Spelling:
    """The vocabulary of a language.

    `operations` maps `fadd_f32` to an infix sign or to the name of a function; what is missing there is written out as
    a helper function. `bitcasts` maps `f32_u32` to a function. `atomics` maps `add_i32` to a template over pointer `p`,
    value `v` and pointer space `s`. Address space and element type are spelt apart: `spaces` has the word before a
    pointer to `global`, `shared`, `table` memory, "" where the language has none.
    """

    language: str
    prelude: tuple[str, ...]
    operations: Mapping[str, str]
    bitcasts: Mapping[str, str]
    #: `infinity` and `nan` as constant expressions.
    constants: Mapping[str, str]
    spaces: Mapping[str, str]
    #: What stands before a function of the text: a small one, and one that is called when a thread traps.
    function: str
    cold: str
    #: `restrict` in the language's words.
    restrict: str
    #: The head of an entry; `{name}`, `{parameters}`, `{threads}`, `{block}`, `{bounds}` are filled in.
    entry: str
    #: One parameter: a pointer and a number; `{k}` is its number.
    pointer_parameter: str
    value_parameter: str
    #: Parameters that only this language has, behind all others.
    more_parameters: tuple[str, ...]
    #: Number of the thread in its group and of the group in the launch, as `u32`.
    thread_index: str
    group_index: str
    #: An array of the group, of a thread, and of constants.
    shared_array: str
    table_array: str
    #: A barrier of the group that orders global and shared memory.
    barrier: str
    #: The same where lanes of a warp may be apart, since one of them may have trapped; "" where that is no matter.
    barrier_apart: str
    #: A barrier that tells every thread whether `{ok}` of some thread holds, as an expression; "" where there is none.
    barrier_or: str
    #: Atomics by operation and type.
    atomics: Mapping[str, str]
    #: An access that other threads' atomics are compatible with.
    atomic_load: str
    atomic_store: str
    #: A statement that a compiler may not remove, for loops that nobody has proved to end; "" where none is needed.
    keeps_loop: str
    #: Shuffles within a segment of a hardware warp: templates over `{mask}`, `{v}`, `{lane}`, `{width}`; none: {}.
    warps: Mapping[str, str]
    #: Widths that those templates take.
    warp_widths: frozenset[int]
    #: The type of the word that says which thread or group trapped first.
    key_type: str
    #: What the target lacks: capability to the sentence of a refusal.
    lacks: Mapping[str, str]
