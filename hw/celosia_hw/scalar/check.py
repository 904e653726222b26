"""The checker: a tensor instruction's streams become checked spans and a command."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import COUNT_BITS, TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Mem, Opcode, Unit
from celosia.arch.registers import NUM_WINDOWS
from celosia_hw.commands import LAYOUTS
from celosia_hw.host.interface import window_layout
from celosia_hw.memory.agen import stream_layout
from celosia_hw.scalar.encoding import PC_BITS, header_layout, packed_layout, word_layout
from celosia_hw.scalar.scoreboard import TENSOR_UNITS, span_layout, ticket_layout
from celosia_hw.scalar.streams import STREAMS, StreamTable, stride_layout

__all__ = ["Checker", "resolved_layout"]

#: Bits of an exact last address: a 34-bit base and products of 16 by 32 bits.
EXACT_BITS = 50


def resolved_layout() -> data.StructLayout:
    """An instruction whose operand words hold values, and its index."""
    return data.StructLayout({"word": word_layout(), "pc": PC_BITS})


class _State(enum.Enum):
    IDLE = 0
    COUNTS = 1
    LINES = 2
    PLANES = 3
    TOTAL = 4
    SPANS = 5
    SETTLE = 6
    OVERLAP = 7
    ENTER = 8
    FAULT = 9


class Checker(wiring.Component):
    """Makes the spans of an instruction's streams, checks them, enters it in the scoreboard.

    A stream takes a cycle through the one multiplier for each of its dimensions longer than 1, at
    least one; an instruction on consecutive rows takes 7 cycles and one for each stream, 3 more
    where n1 or n2 is not 1. After a fault the checker takes nothing until a reset.

    Members
    -------
    i : In(stream of resolved_layout())
        Tensor instructions that have passed the decoder.
    stride_write : In(1), stride_index : In(3), stride : In(stride_layout())
        Set a stride register; only while ``idle``.
    clear : In(1)
        Begin a run: all stride registers are 0.
    windows : In
        DMA windows.
    ticket, command_* : Out
        To the scoreboard.
    idle : Out(1)
        Nothing is being checked.
    fault : Out(4), fault_pc : Out(32), fault_addr : Out(32)
        A fault other than ``Fault.NONE`` is held until a reset.
    """

    i: stream.Interface
    stride_write: Signal
    stride_index: Signal
    stride: data.View
    clear: Signal
    windows: data.View
    ticket: stream.Interface
    idle: Signal
    fault: Signal
    fault_pc: Signal
    fault_addr: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(resolved_layout())),
            "stride_write": In(1), "stride_index": In(3), "stride": In(stride_layout()),
            "clear": In(1), "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "ticket": Out(stream.Signature(ticket_layout(config))),
            **{f"command_{unit.name.lower()}": Out(LAYOUTS[unit](config))
               for unit in TENSOR_UNITS},
            "idle": Out(1), "fault": Out(4), "fault_pc": Out(PC_BITS), "fault_addr": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        state = Signal(_State)
        held = Signal(resolved_layout(), reset_less=True)
        strides = [Signal(stride_layout(), name=f"x{i}") for i in range(isa.NUM_STRIDES)]
        for i, stride in enumerate(strides[1:], 1):
            with m.If(self.clear):
                m.d.sync += stride.eq(0)
            with m.Elif(self.stride_write & (self.stride_index == i)):
                m.d.sync += stride.eq(self.stride)
        m.submodules.table = table = StreamTable(self._config)
        m.d.comb += [
            table.word.eq(held.word),
            *(port.eq(stride) for port, stride
              in zip(table.strides, strides, strict=True)),  # type: ignore[attr-defined]
            self.idle.eq(state == _State.IDLE), self.i.ready.eq(state == _State.IDLE),
            self.fault_pc.eq(held.pc),
        ]

        # The walk over streams and dimensions; what it issues takes two more cycles to add up.
        index, dimension = Signal(range(STREAMS)), Signal(2)
        shape = table.shape
        m.d.comb += table.index.eq(index)
        consecutive = shape.linear & shape.counted & ~table.flat
        more = [~consecutive & ((shape.n1 != 1) | (shape.n2 != 1)),
                ~consecutive & (shape.n2 != 1)]
        last_dimension = Mux(dimension == 0, ~more[0], Mux(dimension == 1, ~more[1], 1))
        issue = Signal()
        m.d.comb += issue.eq((state == _State.SPANS) & shape.used)
        product, total = Signal(48, reset_less=True), Signal(48, reset_less=True)
        address = Signal(EXACT_BITS, reset_less=True)
        step_layout = data.StructLayout({
            "valid": 1, "first": 1, "last": 1, "external": 1, "mem": 1, "index": 2, "base": 34})
        multiplied, added = Signal(step_layout), Signal(step_layout)
        factor, step = Signal(COUNT_BITS), Signal(32)
        with m.Switch(state):
            with m.Case(_State.LINES):
                m.d.comb += [factor.eq(table.n0), step.eq(table.n1)]
            with m.Case(_State.PLANES):
                m.d.comb += [factor.eq(table.n2), step.eq(product)]
            with m.Default():
                with m.Switch(dimension):
                    with m.Case(0):
                        m.d.comb += [factor.eq(shape.n0 - 1), step.eq(shape.s0)]
                    with m.Case(1):
                        m.d.comb += [factor.eq(shape.n1 - 1), step.eq(shape.s1)]
                    with m.Default():
                        m.d.comb += [factor.eq(shape.n2 - 1), step.eq(shape.s2)]
        with m.If(~self.idle):
            m.d.sync += product.eq(Mux(issue & consecutive, total, factor * step))
        m.d.sync += [
            multiplied.valid.eq(issue), multiplied.first.eq(dimension == 0),
            multiplied.last.eq(last_dimension), multiplied.external.eq(shape.external),
            multiplied.mem.eq(shape.mem), multiplied.index.eq(index),
            multiplied.base.eq(shape.base), added.eq(multiplied),
        ]
        with m.If(multiplied.valid):
            m.d.sync += address.eq(Mux(multiplied.first, multiplied.base, address) + product)

        spans = [Signal(span_layout(self._config), name=f"span{i}", reset_less=True)
                 for i in range(STREAMS)]
        streams = [Signal(stream_layout(self._config), name=f"stream{i}", reset_less=True)
                   for i in range(STREAMS)]
        starts = [Signal(32, name=f"start{i}", reset_less=True) for i in range(STREAMS)]
        steps = [Signal(COUNT_BITS, name=f"step{i}", reset_less=True) for i in range(STREAMS)]
        rowwise = Signal(STREAMS, reset_less=True)
        with m.If(state == _State.SPANS):
            for i in range(STREAMS):
                with m.If(index == i):
                    m.d.sync += [
                        spans[i].used.eq(shape.used & ~shape.external),
                        spans[i].mem.eq(shape.mem), spans[i].low.eq(shape.base),
                        rowwise[i].eq(shape.stream), steps[i].eq(shape.s0),
                        starts[i].eq(shape.base), streams[i].base.eq(shape.base),
                        streams[i].linear.eq(shape.linear), streams[i].s0.eq(shape.s0),
                        streams[i].s1.eq(shape.s1), streams[i].s2.eq(shape.s2),
                    ]
        last_byte = Signal(32, reset_less=True)
        rows = Mux(added.mem == Mem.ACC, self._config.acc_rows, self._config.ub_rows)
        out_of_rows = Mux(added.mem == Mem.ACC, Fault.ACC_RANGE, Fault.UB_RANGE)
        first_byte = held.word.operands[1]
        inside = Signal(NUM_WINDOWS)
        m.d.comb += [inside[i].eq((self.windows[i].base <= first_byte)
                                  & (address <= self.windows[i].last)) for i in range(NUM_WINDOWS)]
        with m.If(added.valid & added.last):
            for i in range(STREAMS):
                with m.If(added.index == i):
                    m.d.sync += spans[i].high.eq(address)
            with m.If(added.external):
                m.d.sync += last_byte.eq(address)
                with m.If((self.fault == Fault.NONE) & ~inside.any()):
                    m.d.sync += [self.fault.eq(Fault.WINDOW), self.fault_addr.eq(first_byte)]
            with m.Elif((self.fault == Fault.NONE) & (address >= rows)):
                m.d.sync += [self.fault.eq(out_of_rows), self.fault_addr.eq(address)]

        overlaps = Signal(STREAMS - 1)
        for i, span in enumerate(spans[1:], 1):
            target = spans[0]
            same = ((starts[0] == starts[i]) & (steps[0] == steps[i]) & (steps[0] != 0)
                    & table.flat & table.paired)
            m.d.comb += overlaps[i - 1].eq(
                span.used & rowwise[i] & (span.mem == target.mem) & (span.low <= target.high)
                & (target.low <= span.high) & ~same)

        with m.Switch(state):
            with m.Case(_State.IDLE):
                with m.If(self.i.valid):
                    m.d.sync += [held.eq(self.i.payload), state.eq(_State.COUNTS)]
            with m.Case(_State.COUNTS):
                m.d.sync += [index.eq(0), dimension.eq(0)]
                with m.If(table.bad_count):
                    m.d.sync += [self.fault.eq(Fault.ILLEGAL_COUNT), self.fault_addr.eq(0),
                                 state.eq(_State.FAULT)]
                with m.Elif(table.misaligned):
                    m.d.sync += [self.fault.eq(Fault.MISALIGNED), state.eq(_State.FAULT),
                                 self.fault_addr.eq(first_byte)]
                with m.Elif(table.bad_lanes.any()):
                    m.d.sync += [self.fault.eq(Fault.INDEX_RANGE), state.eq(_State.FAULT)]
                    for i in reversed(range(STREAMS - 1)):
                        with m.If(table.bad_lanes[i]):
                            m.d.sync += self.fault_addr.eq(table.lanes[i])
                with m.Else():
                    m.d.sync += state.eq(Mux(table.flat, _State.SPANS, _State.LINES))
            with m.Case(_State.LINES):
                m.d.sync += state.eq(_State.PLANES)
            with m.Case(_State.PLANES):
                m.d.sync += state.eq(_State.TOTAL)
            with m.Case(_State.TOTAL):
                m.d.sync += [total.eq(product - 1), state.eq(_State.SPANS)]
            with m.Case(_State.SPANS):
                with m.If(shape.used & ~last_dimension):
                    m.d.sync += dimension.eq(Mux((dimension == 0) & (shape.n1 != 1), 1, 2))
                with m.Else():
                    m.d.sync += [dimension.eq(0), index.eq(index + 1)]
                    with m.If(index == STREAMS - 1):
                        m.d.sync += state.eq(_State.SETTLE)
            with m.Case(_State.SETTLE):
                with m.If(~multiplied.valid & ~added.valid):
                    m.d.sync += state.eq(Mux(self.fault == Fault.NONE, _State.OVERLAP,
                                             _State.FAULT))
            with m.Case(_State.OVERLAP):
                with m.If(overlaps.any()):
                    m.d.sync += [self.fault.eq(Fault.OVERLAP), state.eq(_State.FAULT),
                                 self.fault_addr.eq(starts[0])]
                with m.Else():
                    m.d.sync += state.eq(_State.ENTER)
            with m.Case(_State.ENTER):
                with m.If(self.ticket.ready):
                    m.d.sync += state.eq(_State.IDLE)
        m.d.comb += self.ticket.valid.eq(state == _State.ENTER)
        self._ticket(m, held, spans, last_byte)
        self._commands(m, held, streams, table)
        return m

    def _ticket(self, m: Module, held, spans, last_byte) -> None:
        """Say what the instruction reads and writes."""
        ticket, opcode = self.ticket.payload, held.word.opcode
        units = {Opcode.LOAD: Unit.LOAD, Opcode.STORE: Unit.STORE, Opcode.MATMUL: Unit.MXU,
                 Opcode.VECTOR: Unit.VPU}
        m.d.comb += [ticket.pc.eq(held.pc), ticket.low.eq(held.word.operands[1]),
                     ticket.high.eq(last_byte)]
        with m.Switch(opcode):
            for code, unit in units.items():
                with m.Case(int(code)):
                    m.d.comb += ticket.unit.eq(unit)
        with m.If(opcode == Opcode.STORE):
            m.d.comb += ticket.reads[0].eq(spans[0])
        with m.Else():
            m.d.comb += ticket.write.eq(spans[0])
            m.d.comb += [ticket.reads[i].eq(span) for i, span in enumerate(spans[1:])]

    def _commands(self, m: Module, held, streams, table) -> None:
        """Assemble the command of each unit; the ticket's unit takes its own."""
        word, values = held.word, held.word.operands
        header = word.as_value()[:isa.HEADER_BITS]
        dma = data.View(header_layout(Opcode.LOAD), header)
        extent = data.View(packed_layout(Opcode.LOAD, "shape"), values[2])
        jumps = data.View(packed_layout(Opcode.LOAD, "steps"), values[4])
        for command in (self.command_load, self.command_store):  # type: ignore[attr-defined]
            m.d.comb += [
                command.mem.eq(dma.mem), command.fmt.eq(dma.fmt), command.row.eq(values[0]),
                command.addr.eq(values[1]), command.rows.eq(extent.rows),
                command.cols.eq(extent.cols), command.pitch.eq(values[3]),
                command.row_step.eq(jumps.row_step), command.group_step.eq(jumps.group_step),
            ]
        counts = [("n0", table.n0), ("n1", table.n1), ("n2", table.n2)]
        matmul = data.View(header_layout(Opcode.MATMUL), header)
        command = self.command_mxu  # type: ignore[attr-defined]
        m.d.comb += [
            *(command[name].eq(matmul[name])
              for name in ("fmt", "accumulate", "wload", "transpose")),
            command.acc.eq(streams[0]), command.acts.eq(streams[1]),
            command.w_base.eq(streams[2].base), command.w_step.eq(streams[2].s0),
            command.wrows.eq(values[5]),
            *(command.counts[name].eq(count) for name, count in counts),
        ]
        vector = data.View(header_layout(Opcode.VECTOR), header)
        command = self.command_vpu  # type: ignore[attr-defined]
        m.d.comb += [
            *(command[name].eq(vector[name])
              for name in ("op", "post", "dst_kind", "a_kind", "b_kind", "c_kind", "reduce",
                           "reduce_op")),
            *(command[name].eq(shape)
              for name, shape in zip(("dst", "a", "b", "c"), streams, strict=True)),
            *(command[name].eq(values[i])
              for i, name in enumerate(("a_value", "b_value", "c_value"), 1)),
            *(command[name].eq(lane)
              for name, lane in zip(("a_lane", "b_lane", "c_lane"), table.lanes, strict=True)),
            command.param.eq(values[5]),
            *(command.counts[name].eq(count) for name, count in counts),
        ]
