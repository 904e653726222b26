"""``celosia demo``: a network that reads digits, trained on host or chip, run on the chip."""

from celosia.cli.demo.main import add_arguments, main

__all__ = ["add_arguments", "main"]
