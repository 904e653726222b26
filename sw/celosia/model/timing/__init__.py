"""Cycles: an event model of the chip, with memories or without; no data."""

from celosia.model.timing.cost import LOAD, MATMUL, STORE, Cost, Timing, cost, vector_latency
from celosia.model.timing.estimator import Estimator

__all__ = ["LOAD", "MATMUL", "STORE", "Cost", "Estimator", "Timing", "cost", "vector_latency"]
