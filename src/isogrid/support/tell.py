"""Lines on standard error for people who follow a program: what cannot be written is lost, and nothing else is."""

import sys


def tell(text: str) -> None:
    """Write one line. Programs without a console have no standard error, others have closed it."""
    stream = sys.stderr
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    try:
        print(f"isogrid: {text}", file=stream, flush=True)
    except (OSError, ValueError):
        return
