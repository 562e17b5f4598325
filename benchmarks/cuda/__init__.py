"""Benchmarks on an NVIDIA card: the gallery against scalar CUDA C of the same algorithms, and streams against peers."""
