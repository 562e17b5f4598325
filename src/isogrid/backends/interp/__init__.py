"""The device `interp`: walks the IR in Python and defines every result."""
