"""Between units of which one follows another row by row: how far the other one has come."""

from amaranth.hdl import Cat, Value
from amaranth.lib import data
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia_hw.memory.ports import row_bits

__all__ = ["FOLLOWED", "coming_layout", "is_coming", "rises", "written_layout"]

#: Loads that the matrix unit may follow: the oldest ones.
FOLLOWED = 2


def coming_layout(config: TpuConfig) -> data.ArrayLayout:
    """Of the oldest loads: rows ``low``..``high`` of the unified buffer are still to be written, if
    ``valid``.
    """
    bits = row_bits(config)
    return data.ArrayLayout(data.StructLayout({"valid": 1, "low": bits, "high": bits}), FOLLOWED)


def is_coming(coming: data.View, row: Value) -> Value:
    """Whether a row is among those that are still to be written."""
    spans = [coming[i] for i in range(FOLLOWED)]
    return Cat(span.valid & (span.low <= row) & (row <= span.high) for span in spans).any()


def rises(config: TpuConfig, command: data.View) -> Value:
    """Whether a load writes consecutive rows of the unified buffer, in their order."""
    bits = exact_log2(config.dim)
    one_group = ~command.cols[bits + 1:].any() & ~(command.cols[bits] & command.cols[:bits].any())
    return (command.mem == Mem.UB) & one_group & (command.row_step == 1)


def written_layout(config: TpuConfig) -> data.StructLayout:
    """``row`` is the last accumulator row that was written, or is in this cycle, if ``valid``."""
    return data.StructLayout({"valid": 1, "row": row_bits(config)})
