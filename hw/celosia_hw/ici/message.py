"""What both ends of a message know of it."""

from dataclasses import replace

from amaranth.hdl import Cat, Const, Mux, Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.ici import LONG_MESSAGE
from celosia.arch.isa import DmaFormat
from celosia_hw.dma.split import formats, rows_layout

__all__ = ["ROWS_BITS", "first_word", "message_rows", "narrow", "row_words"]

#: Bits of a number of rows.
ROWS_BITS = 32
_HALF = ROWS_BITS // 2


def narrow(config: TpuConfig) -> TpuConfig:
    """Return a chip like this one whose bus is as wide as a link: so wide are units of messages."""
    return replace(config, bus_bytes=config.link_bytes)


def first_word(command: data.View, rows: Value) -> Value:
    """Return what a message begins with, as of `celosia.arch.ici.message_head`."""
    word = Cat(command.tag, command.fmt, rows[_HALF:].any(), Const(0, 1), rows[:_HALF])
    assert len(word) == ROWS_BITS
    assert len(command.tag) + len(command.fmt) == LONG_MESSAGE
    return word


def message_rows(command: data.View, target: data.View) -> list:
    """Assign to a command of `rows_layout` the rows of a message: of external rows without end."""
    return [
        target.mem.eq(command.mem), target.fmt.eq(command.fmt), target.row.eq(command.row),
        target.rows.eq(command.n1), target.groups.eq(command.n0),
        target.group_step.eq(Mux(command.linear, 1, command.s0)),
        target.row_step.eq(Mux(command.linear, command.n0, command.s1)),
        target.tail.eq(~Const(0, len(target.tail))), target.end.eq(~Const(0, len(target.end))),
    ]


def row_words(config: TpuConfig) -> dict[DmaFormat, int]:
    """Return how many words of the link a row is, by format."""
    words = {fmt: config.dim * fmt.nbytes // config.link_bytes for fmt in formats(config)}
    assert all(1 << exact_log2(count) == count for count in words.values())
    assert rows_layout(narrow(config))
    return words
