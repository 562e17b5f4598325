"""From arguments to a device: options, checks of a launch, specialisation, dispatch."""
