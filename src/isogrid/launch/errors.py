"""What a launch raises before any thread runs, and the warnings of devices and options."""

from isogrid.support.errors import IsogridError


class LaunchError(IsogridError):
    """A launch was refused; no thread ran and nothing has changed."""


class LaunchTypeError(LaunchError, TypeError):
    """Argument count, names, dtypes or ranks do not fit the signature."""


class LaunchValueError(LaunchError, ValueError):
    """Strides, byte order, sizes, overlap, geometry or limits do not allow the launch."""


class LaunchOverflowError(LaunchValueError, OverflowError):
    """A scalar argument does not fit the integer type of its parameter."""


class RequirementError(IsogridError, ValueError):
    """A precondition (`ig.require`) of the kernel does not hold for these arguments."""


class OptionError(IsogridError, ValueError):
    """An option that does not exist, has an impossible value or contradicts the kernel."""


class DeviceError(IsogridError, ValueError):
    """A device that does not exist here."""


class OptionWarning(UserWarning):
    """An option that does nothing on the device in use; said once."""


class DeviceWarning(UserWarning):
    """A launch fell back from the default device; said once."""
