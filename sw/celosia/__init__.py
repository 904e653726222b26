"""Celosia: an open TPU. Compiler, driver and golden model."""
