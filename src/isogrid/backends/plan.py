"""What the launcher tells a device of the calls that a native stub is for."""

from typing import Any, Protocol

from isogrid.frontend.definition import Definition, Specialisation


class LaunchPlan(Protocol):
    """How a kernel was declared and specialised, and the object by which a stub says that it did nothing."""

    @property
    def definition(self) -> Definition: ...
    @property
    def specialisation(self) -> Specialisation: ...
    @property
    def unusual(self) -> Any: ...
