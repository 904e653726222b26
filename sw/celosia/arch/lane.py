"""Stages of the vector unit: what a beat of a row goes through, a cycle each."""

from enum import Enum
from functools import lru_cache

from celosia.arch.config import TpuConfig

__all__ = ["LaneStep", "boundary_latency", "in_flight", "lane_latency", "lane_stages",
           "read_ahead", "tree_latency"]


class LaneStep(Enum):
    """What a lane does with its word of a row, in this order; ``lane_stages`` says in which cycle.

    ``LOAD`` takes the operands, ``CHOOSE`` those of a multiply-add. ``PREPARE`` makes sum and
    comparison, and factors; ``MULTIPLY`` partial products, and results of one step; ``SUM`` the
    product; ``ALIGN`` shifts it, or the smaller summand; ``ADD`` adds; ``BRING_NEAR`` and
    ``NORMALISE`` shift the sum's leading one to its place; ``ROUND`` requantises, or rounds.
    ``SECOND`` is the second stages of one step; ``LOOK_UP`` to ``ROUND_SPECIAL`` are those that end
    in a rounding. ``REDUCE`` joins rows, ``CONVERT`` makes what is stored.
    """

    LOAD = "load"
    CHOOSE = "choose"
    PREPARE = "prepare"
    MULTIPLY = "multiply"
    SUM = "sum"
    ALIGN = "align"
    ADD = "add"
    BRING_NEAR = "shift by bytes"
    NORMALISE = "shift by bits"
    ROUND = "round"
    SECOND = "second stage"
    LOOK_UP = "look up"
    INNER = "inner product"
    OUTER = "outer product"
    SCALE = "scale"
    COMBINE = "combine"
    BRING_SPECIAL_NEAR = "shift by bytes again"
    NORMALISE_SPECIAL = "shift by bits again"
    ROUND_SPECIAL = "round again"
    REDUCE = "join rows"
    CONVERT = "convert"


#: Steps that only a chip with bf16 has.
_FLOATING = (LaneStep.CHOOSE, LaneStep.BRING_NEAR, LaneStep.NORMALISE, LaneStep.LOOK_UP,
             LaneStep.INNER, LaneStep.OUTER, LaneStep.SCALE, LaneStep.COMBINE,
             LaneStep.BRING_SPECIAL_NEAR, LaneStep.NORMALISE_SPECIAL, LaneStep.ROUND_SPECIAL)
#: Steps of a chip with bf16 that take one cycle together; the first only on every such chip, the
#: others where an fp32 sum takes one.
_TOGETHER = ((LaneStep.MULTIPLY, LaneStep.SUM),
             (LaneStep.CHOOSE, LaneStep.PREPARE),
             (LaneStep.BRING_NEAR, LaneStep.NORMALISE, LaneStep.ROUND),
             (LaneStep.SCALE, LaneStep.COMBINE),
             (LaneStep.BRING_SPECIAL_NEAR, LaneStep.NORMALISE_SPECIAL, LaneStep.ROUND_SPECIAL))


@lru_cache(maxsize=64)
def lane_stages(config: TpuConfig) -> tuple[tuple[LaneStep, ...], ...]:
    """Stages of a lane, each of which ends in registers: what is done in it.

    A chip without bf16 has no second rounding. One with it makes partial products and their sum in
    one cycle, and where an fp32 sum takes a cycle normalises and rounds in one: the second rounding
    makes its lanes long, and they are not to be longer still. Rows are joined in as many cycles as
    a sum takes.
    """
    stages: list[tuple[LaneStep, ...]] = [
        (step,) for step in LaneStep if config.bf16 or step not in _FLOATING]
    if config.bf16:
        for steps in _TOGETHER if config.sum_cycles == 1 else _TOGETHER[:1]:
            first = stages.index(steps[:1])
            stages[first:first + len(steps)] = [steps]
    behind = stages.index((LaneStep.REDUCE,)) + 1
    stages[behind:behind] = [()] * (config.sum_cycles - 1)
    return tuple(stages)


def lane_latency(config: TpuConfig) -> int:
    """Cycles from a row's operands to its result."""
    return len(lane_stages(config))


def tree_latency(config: TpuConfig) -> int:
    """Cycles from the lanes' result to what joins them: a sum for each level, one to broadcast."""
    return config.sum_cycles * (config.dim.bit_length() - 1) + 1


def boundary_latency(config: TpuConfig) -> int:
    """Cycles that registers at the vector unit's boundary take, which chips of boards have.

    One each for the command, the walks of its rows and their requests, two for the rows read, one
    behind what moves rows, two for those written. On a ``small`` chip rows read take one more, and
    those written, for they all go through a queue.
    """
    return 8 if config.cut else 2 * config.small


def in_flight(config: TpuConfig) -> int:
    """Beats that may be between the lanes' entrance and the memories, a power of two.

    The latencies, a cycle to queue and one to credit; more are for refused writes. At most 32: a
    deeper queue is block RAM, whose word comes late in the cycle. Where lanes are joined in several
    cycles, beats of such rows wait for a place, then.
    """
    return min(1 << (lane_latency(config) + tree_latency(config) + 1).bit_length(), 32)


def read_ahead(fold: int) -> int:
    """Beats that each of the two readers may be ahead of the lanes, of rows of ``fold`` beats.

    At full speed three are under way: two cycles in the memory, one until the credit is back; on a
    chip that is cut six, for requests and rows wait in registers, too. The others let a reader run
    ahead of the other one, with which it shares banks. Where it has run ahead by all, it rests for
    two beats: else it could keep meeting the other in the same bank, and each time one of them
    would wait.
    """
    return 3 + 3 * fold
