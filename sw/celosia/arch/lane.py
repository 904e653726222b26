"""Stages of the vector unit: what a beat of a row goes through, a cycle each."""

from enum import Enum
from functools import lru_cache

from celosia.arch.config import TpuConfig

__all__ = ["LaneStep", "boundary_latency", "in_flight", "lane_latency", "lane_stages",
           "read_ahead", "tree_latency"]


class LaneStep(Enum):
    """What a lane does with its word of a row, in this order; ``lane_stages`` says in which cycle.

    ``LOAD`` takes the operands. ``PREPARE`` makes sum and comparison, and factors; ``MULTIPLY``
    partial products, and results of one step; ``SUM`` the product; ``ALIGN`` shifts it, or the
    smaller summand; ``ADD`` adds; ``ROUND`` requantises, or normalises and rounds. ``SECOND`` is
    the second stages of one step; ``LOOK_UP``, ``INNER``, ``OUTER``, ``SCALE`` and
    ``ROUND_SPECIAL`` are those that end in a rounding. ``REDUCE`` joins rows, ``CONVERT`` makes
    what is stored.
    """

    LOAD = "load"
    PREPARE = "prepare"
    MULTIPLY = "multiply"
    SUM = "sum"
    ALIGN = "align"
    ADD = "add"
    ROUND = "round"
    SECOND = "second stage"
    LOOK_UP = "look up"
    INNER = "inner product"
    OUTER = "outer product"
    SCALE = "scale"
    ROUND_SPECIAL = "round again"
    REDUCE = "join rows"
    CONVERT = "convert"


_SPECIAL = (LaneStep.LOOK_UP, LaneStep.INNER, LaneStep.OUTER, LaneStep.SCALE,
            LaneStep.ROUND_SPECIAL)


@lru_cache(maxsize=64)
def lane_stages(config: TpuConfig) -> tuple[tuple[LaneStep, ...], ...]:
    """Stages of a lane, each of which ends in registers: what is done in it.

    A chip without bf16 has no second rounding. One with it makes partial products and their sum in
    one cycle: the second rounding makes its lanes long, and they are not to be longer still.
    """
    stages: list[tuple[LaneStep, ...]] = [
        (step,) for step in LaneStep if config.bf16 or step not in _SPECIAL]
    if config.bf16:
        first = stages.index((LaneStep.MULTIPLY,))
        stages[first:first + 2] = [(LaneStep.MULTIPLY, LaneStep.SUM)]
    return tuple(stages)


def lane_latency(config: TpuConfig) -> int:
    """Cycles from a row's operands to its result."""
    return len(lane_stages(config))


def tree_latency(config: TpuConfig) -> int:
    """Cycles from the lanes' result to what joins them: a level of joins each, one to broadcast."""
    return config.dim.bit_length()


def boundary_latency(config: TpuConfig) -> int:
    """Cycles that registers at the vector unit's boundary take; folded chips, of boards, have them.

    One each for the command, the walks of its rows and their requests, two for the rows read, one
    behind what moves rows, two for those written.
    """
    return 8 if config.fold > 1 else 0


def in_flight(config: TpuConfig) -> int:
    """Beats that may be between the lanes' entrance and the memories, a power of two.

    The latencies, a cycle to queue and one to credit; more are for refused writes.
    """
    return 1 << (lane_latency(config) + tree_latency(config) + 1).bit_length()


def read_ahead(fold: int) -> int:
    """Beats that each of the two readers may be ahead of the lanes, of rows of ``fold`` beats.

    At full speed three are under way: two cycles in the memory, one until the credit is back. The
    beats of three rows above that let a reader run ahead of the other one, with which it shares
    banks. Where it has run ahead by all, it rests for two beats: else it could keep meeting the
    other in the same bank, and each time one of them would wait.
    """
    return 3 + 3 * fold
