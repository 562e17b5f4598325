"""Elementary functions: `source` in the kernel language, `compiled` to device IR, loaded by name."""
