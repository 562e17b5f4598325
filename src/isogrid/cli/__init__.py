"""The command line, one command per file. It needs the extra `isogrid[cli]`, which is imported late."""
