"""Programs for those who work on isogrid; none is part of the package."""
