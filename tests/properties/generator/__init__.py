"""Random kernels as source text, typed and race-free by construction, with inputs that are rich in corner values."""
