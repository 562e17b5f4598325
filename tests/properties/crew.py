"""Processes that work through batches of seeds and may die: the parent knows at which seed, and goes on with the rest.

A worker says which seed it is at before it begins with it, and sends what it has found at the end of a batch. When it
dies, or stays at one seed for too long and is ended, its batch is done again, each seed by itself; a seed that ends its
worker again is lost, and reported. If none does, the batch as a whole is.

How long is counted by the worker's own processor time: on a busy machine a patient one gets little of it.
"""

import multiprocessing
import multiprocessing.connection
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


class Work(Protocol):
    """What a worker does with some seeds; `note` is called with a seed and a stage before each begins."""

    def __call__(self, seeds: Sequence[int], packed: bool, note: Callable[[int, str], None], /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Batch:
    seeds: tuple[int, ...]
    packed: bool = True


@dataclass(frozen=True, slots=True)
class Done:
    """The seeds of a result."""

    seeds: tuple[int, ...]
    result: Any


@dataclass(frozen=True, slots=True)
class Lost:
    """A seed that ended its worker, and how."""

    seed: int
    text: str


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Any
    batch: Batch | None = None
    left: list[int] = field(default_factory=list[int])
    at: tuple[int, str] = (-1, "start")
    #: The clock and the worker's processor time when it began with its seed, and when it last got on.
    since: float = 0.0
    spent: float = 0.0
    moved: float = 0.0
    spent_moved: float = 0.0

    def begins(self, at: tuple[int, str]) -> None:
        self.at = at
        self.since = self.moved = time.monotonic()
        self.spent = self.spent_moved = processor_seconds(self.process.pid)

    def is_stuck(self, seconds: float) -> bool:
        """Whether it computed for so long, or did nothing at all for so long."""
        now = time.monotonic()
        if now - self.since <= seconds:
            return False
        spent = processor_seconds(self.process.pid)
        if spent > self.spent_moved:
            self.moved, self.spent_moved = now, spent
        return spent - self.spent > seconds or now - self.moved > seconds


def work_through(
    work: Work, batches: Iterable[Sequence[int]], processes: int, seconds: float = 60.0, start: str = "spawn"
) -> Generator[Done | Lost]:
    """Results as they come. `seconds` is how long a worker may compute, or wait, at one seed. Closing it ends the
    workers."""
    crew = _Crew(work, iter(batches), seconds, multiprocessing.get_context(start))
    try:
        yield from crew.run(processes)
    finally:
        crew.end()


class _Crew:
    def __init__(self, work: Work, batches: Any, seconds: float, context: Any) -> None:
        self.work, self.batches, self.seconds, self.context = work, batches, seconds, context
        self.again: deque[Batch] = deque()
        self.workers: list[_Worker] = []
        self.suspects: dict[tuple[int, ...], str] = {}

    def run(self, processes: int) -> Generator[Done | Lost]:
        for _ in range(processes):
            self._start()
        while any(worker.batch is not None for worker in self.workers):
            pipes = [worker.pipe for worker in self.workers if worker.batch is not None]
            for pipe in multiprocessing.connection.wait(pipes, timeout=0.5):
                worker = next(worker for worker in self.workers if worker.pipe is pipe)
                yield from self._heard(worker)
            for worker in [w for w in self.workers if w.batch is not None and w.is_stuck(self.seconds)]:
                worker.process.kill()
                yield from self._dead(worker, f"took more than {self.seconds:g} s")

    def end(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()
        self.workers.clear()

    def _start(self) -> None:
        """A new worker, if there is anything left to do."""
        batch = self._next()
        if batch is None:
            return
        pipe, far = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(self.work, far), daemon=True)
        process.start()
        far.close()
        worker = _Worker(process, pipe)
        self.workers.append(worker)
        self._give(worker, batch)

    def _next(self) -> Batch | None:
        if self.again:
            return self.again.popleft()
        seeds = next(self.batches, None)
        return None if seeds is None else Batch(tuple(seeds))

    def _give(self, worker: _Worker, batch: Batch | None) -> None:
        worker.batch, worker.left = batch, list(batch.seeds if batch else ())
        worker.begins((-1, "start"))
        if batch is not None:
            worker.pipe.send(batch)

    def _heard(self, worker: _Worker) -> Generator[Done | Lost]:
        assert worker.batch is not None
        try:
            message = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            worker.process.join()
            code = worker.process.exitcode
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            yield from self._dead(worker, f"ended its process: {how}")
            return
        if isinstance(message, Done):
            worker.left = [seed for seed in worker.left if seed not in message.seeds]
            worker.begins(worker.at)
            yield message
            if not worker.left:
                yield from self._settled(worker.batch)
                self._give(worker, self._next())
        else:
            worker.begins(message)

    def _dead(self, worker: _Worker, how: str) -> Generator[Done | Lost]:
        assert worker.batch is not None
        self.workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        seed, stage = worker.at
        if worker.batch.packed and len(worker.batch.seeds) > 1:
            # Which of the kernels it was shows when each is compiled by itself.
            self.suspects[worker.batch.seeds] = f"{how} ({stage}, at seed {seed}), not when compiled alone"
            self.again.append(Batch(worker.batch.seeds, packed=False))
        else:
            guilty = seed if seed in worker.left else worker.left[0]
            self.suspects.pop(worker.batch.seeds, None)
            yield Lost(guilty, f"{how} ({stage})")
            rest = tuple(other for other in worker.left if other != guilty)
            if rest:
                self.again.append(Batch(rest, packed=False))
        self._start()

    def _settled(self, batch: Batch) -> Generator[Lost]:
        if not batch.packed and batch.seeds in self.suspects:
            yield Lost(batch.seeds[0], self.suspects.pop(batch.seeds))


def processor_seconds(process: int) -> float:
    """What a process has computed so far; the clock where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _serve(work: Work, pipe: Any) -> None:
    """A worker: batches in, notes and results out, until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def note(seed: int, stage: str) -> None:
        pipe.send((seed, stage))

    while True:
        try:
            batch: Batch = pipe.recv()
            for part in [batch.seeds] if batch.packed else [(seed,) for seed in batch.seeds]:
                pipe.send(Done(part, work(part, batch.packed, note)))
        except (EOFError, BrokenPipeError):
            return
