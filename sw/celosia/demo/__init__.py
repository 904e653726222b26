"""``celosia demo``: a network that reads digits, trained on the host, run on the chip."""

from celosia.demo.main import add_arguments, main

__all__ = ["add_arguments", "main"]
