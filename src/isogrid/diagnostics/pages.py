"""A page of the error reference: what one code means, a kernel that shows it, and the same kernel put right."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodePage:
    """The title names the construct and the remedy in plain present tense; the examples are whole kernels or the lines
    that matter, as a reader would write them. An example may be empty where no few lines show the fault."""

    title: str
    explanation: str
    example_bad: str
    example_good: str
