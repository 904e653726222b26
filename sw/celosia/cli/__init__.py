"""The command ``celosia``."""
