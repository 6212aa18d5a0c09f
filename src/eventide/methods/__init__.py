"""One file per method: network, losses, schedule, defaults; and the registry of methods."""
