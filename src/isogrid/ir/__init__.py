"""The two intermediate representations: kernel IR (what the author wrote) and device IR (what a target executes)."""
