"""``eventide check``: facts about a file before anybody trains on it."""


def check() -> None:
    """Show facts about a file of messages."""
