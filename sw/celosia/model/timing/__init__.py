"""Cycles: an event model of the chip, with memories or without; no data."""

from celosia.model.timing.cost import HANDOVER, Cost, Timing, cost
from celosia.model.timing.estimator import Estimator

__all__ = ["HANDOVER", "Cost", "Estimator", "Timing", "cost"]
