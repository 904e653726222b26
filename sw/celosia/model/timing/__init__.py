"""Cycles: an event model of the chip, with memories or without; no data."""

from celosia.model.timing.estimator import (
    LOAD,
    MATMUL,
    STORE,
    Estimator,
    Timing,
    vector_latency,
)

__all__ = ["LOAD", "MATMUL", "STORE", "Estimator", "Timing", "vector_latency"]
