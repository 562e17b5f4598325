"""Symbolic execution of a kernel for all threads at once: values as polynomials whose coefficients are vectors over
the threads of a group, accesses with guards and barrier intervals, and the questions the race proof asks of them."""
