"""Searches for faults in kernel IR; each gives reports and changes nothing."""
