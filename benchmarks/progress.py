"""The progress bar of a benchmark: what is measured now, how many of how many are done, and the time so far."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

R = TypeVar("R")


def measured(names: Sequence[str], measure: Callable[[str], R], console: Console) -> list[R]:
    """What `measure` gives for each name, under a bar that goes when all are done."""
    columns = (TextColumn("{task.description:16}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    results: list[R] = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            progress.update(task, description=name)
            results.append(measure(name))
            progress.advance(task)
    return results
