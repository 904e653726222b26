"""Cycles: an event model of the chip, with memories or without; no data."""

from celosia.model.timing.cost import HANDOVER, LEADERS, Cost, Timing, cost, follow
from celosia.model.timing.estimator import Estimator

__all__ = ["HANDOVER", "LEADERS", "Cost", "Estimator", "Timing", "cost", "follow"]
