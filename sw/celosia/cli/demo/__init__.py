"""``celosia demo``: a network that reads digits, trained on host or chip, run on the chip."""

from celosia.cli.demo.main import add_arguments

__all__ = ["add_arguments"]
