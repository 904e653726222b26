"""The checker: a tensor instruction's streams become checked spans and the parts of a command."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.registers import NUM_WINDOWS
from celosia_hw.commands import CAUSE_BITS, fault_layout, window_layout
from celosia_hw.scalar.conflicts import READ_SPANS, entry_layout
from celosia_hw.scalar.dispatch import part_layout
from celosia_hw.scalar.encoding import PC_BITS, instruction, word_layout
from celosia_hw.scalar.spans import SpanTable
from celosia_hw.scalar.streams import STREAMS, stride_layout
from celosia_hw.scalar.walk import StreamWalk
from celosia_hw.scalar.windows import WindowCheck

__all__ = ["Checker", "resolved_layout"]

#: Operands that a fault reports.
_ADDR = isa.operand_index(Opcode.LOAD, "addr")
_DST, _A, _B, _C = (isa.operand_index(Opcode.VECTOR, name) for name in ("dst", "a", "b", "c"))


def resolved_layout() -> data.StructLayout:
    """An instruction whose operand words hold values, and its index."""
    return data.StructLayout({"word": word_layout(), "pc": PC_BITS})


class _State(enum.Enum):
    """What the checker does in a cycle.

    ``WALK``: it picks streams. ``SETTLE``: their terms go into the sum. ``WINDOWS``: the bytes of a
    transfer are compared with windows. ``JUDGE``: all is known; an entry is offered. ``REPORT``:
    the operand that is at fault goes through the sum, to become FAULT_ADDR. ``FAULT``: until a
    reset.
    """

    IDLE = 0
    WALK = 1
    SETTLE = 2
    WINDOWS = 3
    JUDGE = 4
    REPORT = 5
    FAULT = 6


class Checker(wiring.Component):
    """Makes the spans of an instruction's streams, checks them, enters it in the scoreboard.

    The entry of a matmul on consecutive rows is offered 8 cycles after it was taken, of a vector
    instruction 7, and one more for each of b and c that is in memory; terms of further dimensions
    longer than 1 take a cycle each. DMA takes 11 and one more for each window before the first
    that it fits. The next instruction is taken as the entry leaves; on a chip that is ``small``
    when it has been compared, and until then the entry stays. After a fault the checker takes
    nothing until a reset.

    Members
    -------
    i : In(stream of resolved_layout())
        Tensor instructions that have passed the decoder.
    stride_write : In(1), stride_index : In, stride : In(stride_layout())
        Set a stride register, 1 to 7; only while ``idle``.
    windows : In
        DMA windows.
    word : Out(word_layout()), word_valid : Out(1)
    part : Out, part_index : Out, part_valid : Out(1)
        To the dispatcher.
    entry : Out
        To the scoreboard.
    comparing : In(1)
        As of `Scoreboard`.
    idle : Out(1)
        Nothing is being checked.
    fault : Out(fault_layout())
        A cause other than ``Fault.NONE`` is held until a reset.
    """

    i: stream.Interface
    stride_write: Signal
    stride_index: Signal
    stride: data.View
    windows: data.View
    word: data.View
    word_valid: Signal
    part: data.View
    part_index: Signal
    part_valid: Signal
    entry: stream.Interface
    comparing: Signal
    idle: Signal
    fault: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(resolved_layout())),
            "stride_write": In(1), "stride_index": In(range(isa.NUM_STRIDES)),
            "stride": In(stride_layout()),
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "word": Out(word_layout()), "word_valid": Out(1),
            "part": Out(part_layout(config)), "part_index": Out(range(STREAMS)),
            "part_valid": Out(1),
            "entry": Out(stream.Signature(entry_layout(config))),
            "comparing": In(1), "idle": Out(1), "fault": Out(fault_layout()),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        small = self._config.small
        state = Signal(_State)
        held = Signal(resolved_layout(), reset_less=True)
        cause = Signal(CAUSE_BITS, reset_less=True)
        m.submodules.walk = walk = StreamWalk(self._config)
        m.submodules.spans = spans = SpanTable(self._config)
        m.submodules.window_check = window_check = WindowCheck()
        taken, taking, walking = Signal(), Signal(), Signal()  # taking: ``taken`` a cycle ago
        m.d.sync += taking.eq(taken)
        first_byte = instruction(Opcode.LOAD, held.word).addr
        m.d.comb += [
            taken.eq(self.i.valid & self.i.ready), walking.eq(state == _State.WALK),
            self.word.eq(held.word), self.word_valid.eq(walking),
            self.idle.eq(state == _State.IDLE), self.fault.pc.eq(held.pc),
            self.fault.addr.eq(walk.address),
            self.fault.cause.eq(Mux(state == _State.FAULT, cause, Fault.NONE)),
            walk.word.eq(held.word), walk.begin.eq(taken), walk.walk.eq(walking),
            walk.reporting.eq(state == _State.REPORT),
            walk.freeze.eq(spans.leaves | (state == _State.FAULT)),
            *(getattr(walk, name).eq(getattr(self, name))
              for name in ("stride_write", "stride_index", "stride")),
            *(getattr(self, name).eq(getattr(walk, name))
              for name in ("part", "part_index", "part_valid")),
            spans.clear.eq(taking), spans.valid.eq(walk.o_valid), spans.i.eq(walk.o),
            spans.last.eq(walk.address), spans.over.eq(walk.over),
            window_check.windows.eq(self.windows), window_check.clear.eq(taking),
            window_check.check.eq(state == _State.WINDOWS), window_check.first.eq(first_byte),
            window_check.last.eq(walk.address), window_check.wraps.eq(walk.over),
        ]

        # The word is there for some cycles when it is judged.
        flawed, dma, sound = Signal(), Signal(), Signal()
        m.d.sync += [flawed.eq(walk.flaws.as_value().any()), dma.eq(walk.dma)]
        # Much hangs on it: that the next instruction may come, and where the program goes then.
        m.d.comb += sound.eq(~flawed & ~spans.faulty & (window_check.inside | ~dma))

        def report(fault: Fault, operand: Value | int) -> None:
            m.d.comb += [walk.report.eq(1), walk.operand.eq(operand)]
            m.d.sync += [cause.eq(fault), state.eq(_State.REPORT)]

        def judge() -> None:
            """In the order of docs/chip.md."""
            lanes = walk.flaws.lanes
            with m.If(sound):
                m.d.comb += self.entry.valid.eq(1)
                if not small:
                    m.d.comb += self.i.ready.eq(self.entry.ready)
                with m.If(self.entry.ready):
                    m.d.sync += state.eq(_State.IDLE)
            with m.Elif(flawed):
                with m.If(walk.flaws.count):
                    m.d.comb += walk.clear.eq(1)
                    m.d.sync += [cause.eq(Fault.ILLEGAL_COUNT), state.eq(_State.FAULT)]
                with m.Elif(walk.flaws.misaligned):
                    report(Fault.MISALIGNED, _ADDR)
                with m.Else():
                    m.d.comb += walk.lane.eq(1)
                    report(Fault.INDEX_RANGE, Mux(lanes[0], _A, Mux(lanes[1], _B, _C)))
            with m.Elif(spans.fault != Fault.NONE):
                m.d.sync += [cause.eq(spans.fault), state.eq(_State.FAULT)]
            with m.Elif(dma & ~window_check.inside):
                report(Fault.WINDOW, _ADDR)
            with m.Else():
                report(Fault.OVERLAP, _DST)

        with m.Switch(state):
            with m.Case(_State.IDLE):
                m.d.comb += self.i.ready.eq(~self.comparing if small else 1)
            with m.Case(_State.WALK):
                with m.If(walk.last):
                    m.d.sync += state.eq(_State.SETTLE)
            with m.Case(_State.SETTLE):
                with m.If(~walk.busy):
                    m.d.sync += state.eq(Mux(walk.dma, _State.WINDOWS, _State.JUDGE))
            with m.Case(_State.WINDOWS):
                with m.If(window_check.done):
                    m.d.sync += state.eq(_State.JUDGE)
            with m.Case(_State.JUDGE):
                judge()
            with m.Case(_State.REPORT):
                with m.If(walk.o_valid):
                    m.d.sync += state.eq(_State.FAULT)
        with m.If(taken):
            m.d.sync += [held.eq(self.i.payload), state.eq(_State.WALK)]

        entry = self.entry.payload
        m.d.comb += [
            entry.unit.eq(walk.unit), entry.pc.eq(held.pc), entry.low.eq(first_byte),
            entry.high.eq(walk.address), entry.first.eq(spans.spans[0]),
            *(entry.reads[i].eq(spans.spans[1 + i]) for i in range(READ_SPANS)),
        ]
        return m
