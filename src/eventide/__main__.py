"""``python -m eventide`` is the command ``eventide``."""

from eventide.cli.main import main

main()
