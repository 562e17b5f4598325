"""Printers of device IR that several backends share."""
