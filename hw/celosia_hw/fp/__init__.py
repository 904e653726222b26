"""Floating-point arithmetic and conversions."""
