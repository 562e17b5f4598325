"""Warnings that point at the author's line and not into the library."""

import sys
import warnings
from pathlib import Path
from typing import Final

_PACKAGE: Final = str(Path(__file__).parent.parent)


def warn_author(text: str, category: type[Warning]) -> None:
    """Issue a warning at the nearest caller outside the package."""
    level = 2
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
