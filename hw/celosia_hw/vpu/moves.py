"""What happens to rows between the memories and the lanes."""

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import data, enum
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.fp.wire import wire

__all__ = ["MoveTarget", "pick", "rotate", "tag_layout"]

_WORD = 32


class MoveTarget(enum.Enum, shape=2):
    """Where the rows of a walk go: turned to the lanes, through the transposer, or (a gather's or a
    scatter's indexes) to the indexer. ``ROTATE``: turned over the beats of a folded row.
    """

    TURN = 0
    TRANSPOSE = 1
    INDEX = 2
    ROTATE = 3


def tag_layout(config: TpuConfig) -> data.StructLayout:
    """What goes along with a beat that was read.

    ``lane``: the word of it that is broadcast, or how far its words are turned, which brings that
    one to the first place; 0 for rows that are used as they are. ``bad``: its row stands for one
    that was to be gathered by an index out of range.
    """
    return data.StructLayout({"move": MoveTarget, "bad": 1, "lane": exact_log2(config.lanes)})


def rotate(m: Module, words: Value, amount: Value, name: str) -> Value:
    """Turn words: word j of the result is word j + ``amount`` of ``words``, around.

    A level of multiplexers for each bit of ``amount``.
    """
    for bit in range(len(amount)):
        cut = _WORD << bit
        words = wire(m, Mux(amount[bit], Cat(words[cut:], words[:cut]), words), f"{name}_{bit}")
    return words


def pick(m: Module, words: Value, lane: Value, name: str) -> Value:
    """Word ``lane`` of ``words``."""
    for bit in reversed(range(len(lane))):
        half = _WORD << bit
        words = wire(m, Mux(lane[bit], words[half:], words[:half]), f"{name}_{bit}")
    return words
