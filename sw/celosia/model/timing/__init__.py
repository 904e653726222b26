"""Cycles: an event model of the chip, with memories or without; no data."""

from celosia.model.timing.cost import HANDOVER, ISSUES, LEADERS, Cost, cost, follow
from celosia.model.timing.estimator import Estimator
from celosia.model.timing.events import REASONS, Reason, Timeline
from celosia.model.timing.memory import Timing
from celosia.model.timing.of_links import link_timings

__all__ = ["HANDOVER", "ISSUES", "LEADERS", "REASONS", "Cost", "Estimator", "Reason", "Timeline",
           "Timing", "cost", "follow", "link_timings"]
