"""What goes along with a beat through lanes and tree: where its result goes."""

from amaranth.lib import data
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.vector import Dst, ReduceOp
from celosia_hw.memory.ports import beat_bits

__all__ = ["target_layout"]


def target_layout(config: TpuConfig) -> data.StructLayout:
    """Of a beat in the lanes.

    ``write``: its result is written, to ``row`` (its address, `celosia_hw.memory.ports.beat_bits`)
    of the memory that ``acc`` names; a beat which is not leaves no trace, unless it is the ``last``
    of its instruction. ``error``, on that beat: the instruction met a bad index.

    ``tree``: its lanes are joined by ``reduce_op`` and converted to ``dst``. With ``collect`` the
    word goes to ``lane`` alone, and lanes that no row of the group has given one are zero;
    ``first`` is a group's first row.
    """
    return data.StructLayout({
        "acc": 1, "last": 1, "write": 1, "error": 1, "row": beat_bits(config),
        "tree": 1, "collect": 1, "first": 1, "lane": ceil_log2(config.dim), "dst": Dst,
        "reduce_op": ReduceOp,
    })
