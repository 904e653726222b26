"""Between the units: instructions with resolved operands, faults, windows of memory.

What the scalar unit tells the tensor units is instructions with resolved operands.

A unit takes its commands from a stream, in program order, checked: every field is legal and every
row and byte lies inside its memory. The scoreboard offers a command only when no older instruction
of another unit conflicts with it. A unit may start a command before the one before it has finished.
"""

from typing import Any

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, ceil_log2

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.faults import Fault, LinkFault
from celosia.arch.registers import Activity
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia_hw.bus.axi import EXT_ADDRESS_BITS
from celosia_hw.memory.agen import counts_layout, stream_layout
from celosia_hw.memory.ports import row_bits

__all__ = ["CAUSE_BITS", "LAYOUTS", "LINK_CAUSE_BITS", "LINK_DOWN_BIT", "UnitPort",
           "UnitSignature", "dma_layout", "fault_layout", "matmul_layout", "message_layout",
           "tell_activity", "vector_layout", "window_layout"]


#: Bits of a fault; of one on a chip with ports.
CAUSE_BITS, LINK_CAUSE_BITS = bits_for(max(Fault)), bits_for(max(LinkFault))
#: Of the ``detail`` of a port's units: the link is down.
LINK_DOWN_BIT = 32
#: Bits of the name of a message.
MESSAGE_TAG_BITS = next(field.width for field in isa.BY_OPCODE[isa.Opcode.SEND].fields
                        if field.name == "tag")


def window_layout() -> data.StructLayout:
    """First and last byte of a DMA window; closed where last < base."""
    return data.StructLayout({"base": 32, "last": 32})


def fault_layout(ports: int = 0) -> data.StructLayout:
    """Values of FAULT_CAUSE, FAULT_PC and FAULT_ADDR, on a chip with so many ports."""
    return data.StructLayout({"cause": LINK_CAUSE_BITS if ports else CAUSE_BITS,
                              "pc": 32, "addr": 32})


def dma_layout(config: TpuConfig) -> data.StructLayout:
    """A load or a store; fields as in the ISA."""
    return data.StructLayout({
        "mem": isa.Mem, "fmt": isa.DmaFormat, "row": row_bits(config), "addr": EXT_ADDRESS_BITS,
        "rows": COUNT_BITS, "cols": COUNT_BITS, "pitch": EXT_ADDRESS_BITS,
        "row_step": COUNT_BITS, "group_step": COUNT_BITS,
    })


def matmul_layout(config: TpuConfig) -> data.StructLayout:
    """A matmul. ``w_step`` is the step between weight rows; ``wrows`` is 1..D where ``wload``."""
    bits = row_bits(config)
    return data.StructLayout({
        "fmt": isa.MatmulFormat, "accumulate": 1, "wload": 1, "transpose": 1,
        "acc": stream_layout(config), "acts": stream_layout(config),
        "w_base": bits, "w_step": bits, "wrows": ceil_log2(config.dim) + 1,
        "counts": counts_layout(),
    })


def vector_layout(config: TpuConfig) -> data.StructLayout:
    """A vector instruction. ``a_value`` .. ``c_value`` are the whole operand words: a scalar
    operand's value. The streams' bases are the same words, cut to a row address. ``a_lane`` ..
    ``c_lane`` are the lanes of kinds with a lane, whatever in others. ``counts`` are the
    instruction's own; ``param`` of a gather or a scatter is the number of rows of its table.
    """
    shape, lane = stream_layout(config), ceil_log2(config.dim)
    return data.StructLayout({
        "op": VectorOp, "post": Post, "dst_kind": Dst, "a_kind": Src, "b_kind": Src, "c_kind": Src,
        "reduce": Reduce, "reduce_op": ReduceOp, "a_lane": lane, "b_lane": lane, "c_lane": lane,
        "dst": shape, "a": shape, "b": shape, "c": shape,
        "a_value": 32, "b_value": 32, "c_value": 32, "param": 32, "counts": counts_layout(),
    })


def message_layout(config: TpuConfig) -> data.StructLayout:
    """A send or a recv; ``op`` means nothing in a send."""
    bits = row_bits(config)
    return data.StructLayout({
        "mem": isa.Mem, "fmt": isa.DmaFormat, "op": isa.RecvOp, "tag": MESSAGE_TAG_BITS,
        "row": bits, "linear": 1, "s0": bits, "s1": bits, "n0": COUNT_BITS, "n1": COUNT_BITS,
    })


class UnitSignature(wiring.Signature):
    """Between the scoreboard and a tensor unit, from the scoreboard's side.

    Members
    -------
    command : Out(stream)
        Commands in program order.
    done : In(1)
        High for one cycle for each command that has finished, in order: its writes are visible to
        every read that is granted from the next cycle on. Never in the cycle in which it was taken.
    error : In(1)
        With ``done``: the command met a bus error; a vector instruction, a bad index.
    detail : In(32)
        With the first ``error`` since reset: its FAULT_ADDR, the first bad index of a vector
        instruction, else 0. Later ones may show the first one's. Of a port's units, with
        LINK_DOWN_BIT above.
    activity : In(Activity)
        IDLE, BUSY, WAIT_MEMORY, WAIT_BUS, WAIT_UNIT, or WAIT_DEPS where its rows are still to be
        written; of the cycle before, out of registers, see `tell_activity`.
    """

    def __init__(self, layout: data.StructLayout, detail_bits: int = 32):
        super().__init__({
            "command": Out(stream.Signature(layout)),
            "done": In(1), "error": In(1), "detail": In(detail_bits), "activity": In(Activity),
        })


class UnitPort(wiring.PureInterface):
    """Type of an interface of :class:`UnitSignature`, for annotations."""

    command: stream.Interface
    done: Signal
    error: Signal
    detail: Signal
    activity: Signal


def tell_activity(m: Module, port: UnitPort, *states: tuple[Any, Activity]) -> None:
    """Tell what a unit did in the cycle before: the first of ``states`` whose condition held, IDLE
    where none did.

    Some conditions are known late in a cycle. So each has a register, and which is the first of
    them is found out behind these.
    """
    activity: Any = Activity.IDLE
    for held, state in reversed(states):
        did = Signal(name=f"did_{state.name.lower()}")
        m.d.sync += did.eq(held)
        activity = Mux(did, state, activity)
    m.d.comb += port.activity.eq(activity)


LAYOUTS = {
    isa.Unit.LOAD: dma_layout, isa.Unit.STORE: dma_layout,
    isa.Unit.MXU: matmul_layout, isa.Unit.VPU: vector_layout,
    isa.LinkUnit.TX: message_layout, isa.LinkUnit.RX: message_layout,
}
