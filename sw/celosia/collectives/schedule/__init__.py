"""What chips send each other in a collective operation, as a table of steps.

A schedule is made of a topology and a size, by one function for each algorithm (rings, routes),
and is plain data (table). What reads it decides nothing: `meaning` is what it computes, in NumPy;
`check` proves that it is right and comes to an end; `estimate` says how many cycles it takes;
`Exchange` (emit) makes each chip's instructions of it.
"""

from celosia.collectives.schedule.check import ScheduleError, check
from celosia.collectives.schedule.emit import Exchange
from celosia.collectives.schedule.estimate import LinkModel, bound, estimate
from celosia.collectives.schedule.meaning import meaning
from celosia.collectives.schedule.moves import Payload
from celosia.collectives.schedule.rings import (
    all_gather,
    all_reduce,
    chain,
    reduce_scatter,
    ring_sizes,
)
from celosia.collectives.schedule.routes import all_to_all, permute
from celosia.collectives.schedule.table import Action, Held, LinkStep, Schedule, Words

__all__ = ["Action", "Exchange", "Held", "LinkModel", "LinkStep", "Payload", "Schedule",
           "ScheduleError", "Words", "all_gather", "all_reduce", "all_to_all", "bound", "chain",
           "check", "estimate", "meaning", "permute", "reduce_scatter", "ring_sizes"]
