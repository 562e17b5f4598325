"""`python -m isogrid` is the command line."""

from isogrid.cli.main import main

main()
