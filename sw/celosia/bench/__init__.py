"""``celosia bench``: cycles of matrix products, networks and training, checked bit for bit."""

from celosia.bench.main import add_arguments

__all__ = ["add_arguments"]
