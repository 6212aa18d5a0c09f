"""The tables of a comparison: build (``collection``), render, write."""
