"""Eventide: which event is a message about, and how sure can you be?"""

from importlib.metadata import version

__version__ = version("eventide")
