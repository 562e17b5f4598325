"""Arrays in the memory of a device: NumPy's shapes, dtypes and slices, and exchange with other libraries."""
