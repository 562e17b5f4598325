"""Run a command's work and turn the expected failures into messages and exit codes, without a traceback of ours."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from isogrid.cli.load import CannotLoad
from isogrid.cli.output import FINDINGS, color_of, fail, say, stop
from isogrid.diagnostics.render_text import render_reports, summary
from isogrid.support.errors import KernelRefused, KnownLimit


@contextmanager
def reported() -> Generator[None]:
    """Refusals and known limits exit with 1, files that cannot be used with 2."""
    try:
        yield
    except KernelRefused as refusal:
        say(render_reports(refusal.reports, root=Path.cwd(), color=color_of(sys.stderr)), error=True)
        say(summary(refusal.reports), error=True)
        stop(FINDINGS)
    except KnownLimit as limit:
        say(f"isogrid: {limit}", error=True)
        stop(FINDINGS)
    except CannotLoad as problem:
        fail(str(problem))
