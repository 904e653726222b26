"""What the parts of a port tell each other, and what is on the line."""

from amaranth.lib import data
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.ici import HEAD_FIELDS, SEQUENCE_BITS, WordKind

__all__ = ["WORD_BITS", "head_layout", "heard_layout", "line_layout", "slot_bits", "told_layout"]

#: Bits of a number of words in a frame.
WORD_BITS = 8


def line_layout(config: TpuConfig) -> data.StructLayout:
    """A word on the line and what it is."""
    return data.StructLayout({"kind": WordKind, "data": 8 * config.link_bytes})


def head_layout() -> data.StructLayout:
    """The low bits of HEAD."""
    assert list(HEAD_FIELDS.values()) == [SEQUENCE_BITS * i for i in range(len(HEAD_FIELDS))]
    return data.StructLayout(dict.fromkeys(HEAD_FIELDS, SEQUENCE_BITS))


def heard_layout() -> data.StructLayout:
    """A whole frame came in this cycle, if ``valid``: what it says of the other direction."""
    return data.StructLayout({"valid": 1, "expected": SEQUENCE_BITS, "freed": SEQUENCE_BITS,
                              "again": 1})


def told_layout() -> data.StructLayout:
    """What is to be told to the other chip: numbers at any time; ``due``: soon; ``again``: frames
    are to be sent again, soon. These two are high for one cycle.
    """
    return data.StructLayout({"expected": SEQUENCE_BITS, "freed": SEQUENCE_BITS, "due": 1,
                              "again": 1})


def slot_bits(config: TpuConfig) -> int:
    """Low bits of a frame's number that say where in a buffer it is."""
    return ceil_log2(config.link_frames)
