"""The scalar unit: fetches, executes scalar instructions, hands tensor instructions out."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, enum, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode, Unit
from celosia.arch.registers import NUM_WINDOWS
from celosia_hw.bus.axi import AxiReadSignature
from celosia_hw.commands import LAYOUTS, Activity, UnitSignature
from celosia_hw.host.interface import window_layout
from celosia_hw.host.run import fault_layout
from celosia_hw.memory.ports import READ_LATENCY, ReadPortSignature, row_bits
from celosia_hw.scalar.alu import Alu
from celosia_hw.scalar.check import Checker
from celosia_hw.scalar.decode import Decoder
from celosia_hw.scalar.encoding import PC_BITS, header_layout, word_layout
from celosia_hw.scalar.fetch import InstructionFetch
from celosia_hw.scalar.loops import LoopStack
from celosia_hw.scalar.scoreboard import TENSOR_UNITS, Scoreboard

__all__ = ["ScalarUnit"]

_ALU = (Opcode.MOV, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.SHL,
        Opcode.SHR, Opcode.SAR, Opcode.SLT, Opcode.SLTU)
_BRANCHES = (Opcode.JUMP, Opcode.BEQ, Opcode.BNE, Opcode.BLT, Opcode.BGE, Opcode.BLTU, Opcode.BGEU)
_TENSOR = (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL, Opcode.VECTOR)


class _State(enum.Enum):
    IDLE = 0
    FETCH = 1
    DECODE = 2
    READ = 3
    EXECUTE = 4
    PRODUCT = 5
    NEXT = 6
    DRAIN = 7
    ROW = 8
    FAULT = 9


class ScalarUnit(wiring.Component):
    """Runs a program, an instruction at a time; tensor instructions go to the scoreboard.

    An instruction takes 2 cycles, 1 more for each operand in a register, 1 more for mul, taken
    branches and entering or leaving a loop; repeating a loop's body costs nothing. A tensor
    instruction waits in its last cycle until the checker is free. ``read`` takes 3 cycles more than
    ``fence``.

    Members
    -------
    start : In(1)
        Begin a run at instruction 0. Only when no run is under way.
    program, length : In(32)
    windows : In
        DMA windows.
    axi : Out(AxiReadSignature)
        Instruction fetch.
    acc_read : Out(ReadPortSignature)
        Accumulator rows for ``read``, while no unit works.
    port_load, port_store, port_mxu, port_vpu : Out(UnitSignature)
    halted : Out(1)
        High for one cycle: the program has ended and everything has finished.
    fault_valid : Out(1), fault : Out(fault_layout())
        High for one cycle: the run has stopped.
    pc : Out(32)
    retired : Out(1)
        An instruction was executed or handed to the checker.
    activities : Out
        Activity of each unit, in the order of ``isa.Unit``.
    """

    start: Signal
    program: Signal
    length: Signal
    windows: data.View
    acc_read: Any
    halted: Signal
    fault_valid: Signal
    fault: data.View
    pc: Signal
    retired: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "program": In(32), "length": In(32),
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "axi": Out(AxiReadSignature(config.bus_bytes)),
            "acc_read": Out(ReadPortSignature(row_bits(config), config.acc_row_bits)),
            **{f"port_{unit.name.lower()}": Out(UnitSignature(LAYOUTS[unit](config)))
               for unit in TENSOR_UNITS},
            "halted": Out(1), "fault_valid": Out(1), "fault": Out(fault_layout()),
            "pc": Out(PC_BITS), "retired": Out(1),
            "activities": Out(Activity).array(len(Unit)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        m.submodules.fetch = fetch = InstructionFetch(config)
        m.submodules.decoder = decoder = Decoder(config)
        m.submodules.alu = alu = Alu()
        m.submodules.loops = loops = LoopStack(config)
        m.submodules.checker = checker = Checker(config)
        m.submodules.scoreboard = scoreboard = Scoreboard(config)
        m.submodules.registers = registers = memory.Memory(
            shape=32, depth=isa.NUM_REGISTERS, init=[])
        reg_read, reg_write = registers.read_port(), registers.write_port()
        wiring.connect(m, wiring.flipped(self.axi), fetch.axi)  # type: ignore[attr-defined]
        wiring.connect(m, checker.ticket, scoreboard.ticket)
        for unit in TENSOR_UNITS:
            name = unit.name.lower()
            wiring.connect(m, wiring.flipped(getattr(self, f"port_{name}")),
                           getattr(scoreboard, f"port_{name}"))
            m.d.comb += [
                getattr(scoreboard, f"command_{name}").eq(getattr(checker, f"command_{name}")),
                self.activities[unit].eq(  # type: ignore[attr-defined]
                    scoreboard.activities[unit]),  # type: ignore[attr-defined]
            ]
        m.d.comb += [
            checker.windows.eq(self.windows), checker.clear.eq(self.start),
            loops.clear.eq(self.start), fetch.start.eq(self.start),
            fetch.program.eq(self.program), fetch.length.eq(self.length),
        ]

        state = Signal(_State)
        held = Signal(word_layout(), reset_less=True)
        opcode, values = held.opcode, held.operands
        following = Signal(PC_BITS, reset_less=True)  # pc + 1
        target = Signal(PC_BITS, reset_less=True)  # the next instruction, where NEXT looks at it
        weights = Signal()
        own_fault = Signal(4)
        bad_index = Signal()  # own_fault was found by the vector unit
        running = Signal()
        m.d.comb += [
            running.eq(state != _State.IDLE), fetch.run.eq(running & (state != _State.FAULT)),
            decoder.word.eq(fetch.word), decoder.weights.eq(weights),
            alu.opcode.eq(opcode), alu.a.eq(values[0]), alu.b.eq(values[1]),
            fetch.keep.eq(Mux(loops.keep_valid & (loops.keep < self.pc), loops.keep, self.pc)),
        ]

        # Registers are cleared while the first instructions are on their way.
        clearing = Signal(ceil_log2(isa.NUM_REGISTERS) + 1, init=isa.NUM_REGISTERS)
        cleared = clearing == isa.NUM_REGISTERS
        with m.If(self.start):
            m.d.sync += clearing.eq(0)
        with m.Elif(~cleared):
            m.d.sync += clearing.eq(clearing + 1)
            m.d.comb += [reg_write.en.eq(1), reg_write.addr.eq(clearing)]

        # Operands in registers are read one a cycle: the first while the word is decoded.
        pending, reading = Signal(isa.NUM_OPERANDS), Signal(range(isa.NUM_OPERANDS))
        remaining, first = Signal(isa.NUM_OPERANDS), Signal(range(isa.NUM_OPERANDS))
        in_decode = state == _State.DECODE
        m.d.comb += remaining.eq(Mux(in_decode, fetch.word.regmask,
                                     pending & ~(1 << reading)[:isa.NUM_OPERANDS]))
        for i in reversed(range(isa.NUM_OPERANDS)):
            with m.If(remaining[i]):
                m.d.comb += [
                    first.eq(i),
                    reg_read.addr.eq(Mux(in_decode, fetch.word.operands[i], values[i])),
                ]
        m.d.comb += reg_read.en.eq(1)
        m.d.sync += [pending.eq(remaining), reading.eq(first)]

        def go_to(index):
            m.d.comb += fetch.pc.eq(index)
            m.d.sync += [
                self.pc.eq(index),
                state.eq(Mux(fetch.hit & (index < self.length), _State.DECODE, _State.FETCH)),
            ]

        def go_on(index):
            """Go to ``index`` unless a loop ends there."""
            m.d.comb += loops.pc.eq(index)
            with m.If(~loops.at_end):
                go_to(index)
            with m.Else():
                m.d.comb += loops.step.eq(1)
                with m.If(loops.again):
                    go_to(loops.start)
                with m.Else():
                    m.d.sync += [target.eq(index), state.eq(_State.NEXT)]

        def fail(cause):
            m.d.sync += [own_fault.eq(cause), state.eq(_State.DRAIN)]

        m.d.comb += fetch.pc.eq(self.pc)
        stride = data.View(header_layout(Opcode.STRIDE), held.as_value()[:isa.HEADER_BITS])
        alu_view = data.View(header_layout(Opcode.ADD), held.as_value()[:isa.HEADER_BITS])
        matmul = data.View(header_layout(Opcode.MATMUL), held.as_value()[:isa.HEADER_BITS])
        m.d.comb += [
            checker.i.payload.word.eq(held), checker.i.payload.pc.eq(self.pc),
            checker.stride_index.eq(stride.x), checker.stride.s0.eq(values[0]),
            checker.stride.s1.eq(values[1]), checker.stride.s2.eq(values[2]),
            loops.new_start.eq(following), loops.new_end.eq(values[1]),
            loops.new_count.eq(values[0]),
        ]
        writes_rd = Signal()
        result = Mux(state == _State.PRODUCT, alu.product, alu.result)
        with m.If(writes_rd):
            m.d.comb += [reg_write.en.eq(1), reg_write.addr.eq(alu_view.rd),
                         reg_write.data.eq(result)]
        activity = self.activities[Unit.SCALAR]  # type: ignore[attr-defined]
        m.d.comb += activity.eq(Activity.BUSY)
        drained = checker.idle & scoreboard.empty

        row, lane = values[0], values[1]
        lanes = Array(self.acc_read.data.word_select(i, 32) for i in range(config.dim))
        arriving = Signal(READ_LATENCY)  # the row that ``read`` asked for, last bit: it is there
        m.d.comb += self.acc_read.addr.eq(row)
        m.d.sync += arriving.eq(Cat(self.acc_read.valid & self.acc_read.ready, arriving))

        with m.Switch(state):
            with m.Case(_State.IDLE):
                m.d.comb += activity.eq(Activity.IDLE)
                with m.If(self.start):
                    m.d.sync += [self.pc.eq(0), weights.eq(0), own_fault.eq(Fault.NONE),
                                 bad_index.eq(0), state.eq(_State.FETCH)]
            with m.Case(_State.FETCH):
                m.d.comb += activity.eq(Activity.WAIT_BUS)
                with m.If(self.pc >= self.length):
                    fail(Fault.PC_RANGE)
                with m.Elif(fetch.failed):
                    fail(Fault.BUS_FETCH)
                with m.Elif(fetch.hit & cleared):
                    m.d.sync += state.eq(_State.DECODE)
            with m.Case(_State.DECODE):
                m.d.sync += [held.eq(fetch.word), following.eq(self.pc + 1)]
                with m.If(decoder.fault != Fault.NONE):
                    fail(decoder.fault)
                with m.Elif(remaining.any()):
                    m.d.sync += state.eq(_State.READ)
                with m.Else():
                    m.d.sync += state.eq(_State.EXECUTE)
            with m.Case(_State.READ):
                m.d.sync += Array(values)[reading].eq(reg_read.data)
                with m.If(~remaining.any()):
                    m.d.sync += state.eq(_State.EXECUTE)
            with m.Case(_State.EXECUTE):
                with m.Switch(opcode):
                    with m.Case(*map(int, _ALU)):
                        m.d.comb += [writes_rd.eq(1), self.retired.eq(1)]
                        go_on(following)
                    with m.Case(Opcode.MUL):
                        m.d.sync += state.eq(_State.PRODUCT)
                    with m.Case(*map(int, _BRANCHES)):
                        m.d.comb += self.retired.eq(1)
                        with m.If(alu.taken):
                            m.d.sync += [state.eq(_State.NEXT),
                                         target.eq(Mux(opcode == Opcode.JUMP, values[0],
                                                       values[2]))]
                        with m.Else():
                            go_on(following)
                    with m.Case(Opcode.LOOP):
                        skip, empty = values[0] == 0, values[1] == following
                        with m.If(loops.full & ~skip & ~empty):
                            fail(Fault.LOOP_DEPTH)
                        with m.Else():
                            m.d.comb += [self.retired.eq(1), loops.push.eq(~skip & ~empty)]
                            m.d.sync += [target.eq(Mux(skip, values[1], following)),
                                         state.eq(_State.NEXT)]
                    with m.Case(Opcode.STRIDE):
                        m.d.comb += checker.stride_write.eq(checker.idle)
                        with m.If(checker.idle):
                            m.d.comb += self.retired.eq(1)
                            go_on(following)
                        with m.Else():
                            m.d.comb += activity.eq(Activity.WAIT_UNIT)
                    with m.Case(*map(int, _TENSOR)):
                        m.d.comb += checker.i.valid.eq(1)
                        with m.If(checker.i.ready):
                            m.d.comb += self.retired.eq(1)
                            with m.If((opcode == Opcode.MATMUL) & matmul.wload):
                                m.d.sync += weights.eq(1)
                            go_on(following)
                        with m.Else():
                            m.d.comb += activity.eq(Activity.WAIT_UNIT)
                    with m.Case(Opcode.HALT, Opcode.FENCE):
                        m.d.sync += state.eq(_State.DRAIN)
                    with m.Case(Opcode.READ):
                        m.d.sync += state.eq(_State.DRAIN)
                        with m.If(row >= config.acc_rows):
                            fail(Fault.ACC_RANGE)
                        with m.Elif(lane >= config.dim):
                            fail(Fault.INDEX_RANGE)
                    with m.Default():  # nop
                        m.d.comb += self.retired.eq(1)
                        go_on(following)
            with m.Case(_State.PRODUCT):
                m.d.comb += [writes_rd.eq(1), self.retired.eq(1)]
                go_on(following)
            with m.Case(_State.NEXT):
                go_on(target)
            with m.Case(_State.DRAIN):
                m.d.comb += activity.eq(Activity.WAIT_DEPS)
                with m.If(drained & (own_fault == Fault.NONE)):
                    m.d.comb += self.retired.eq(opcode != Opcode.READ)
                    with m.Switch(opcode):
                        with m.Case(Opcode.HALT):
                            m.d.comb += self.halted.eq(1)
                            m.d.sync += state.eq(_State.IDLE)
                        with m.Case(Opcode.READ):
                            m.d.comb += self.acc_read.valid.eq(1)
                            with m.If(self.acc_read.ready):
                                m.d.sync += state.eq(_State.ROW)
                        with m.Default():  # fence
                            go_on(following)
            with m.Case(_State.ROW):
                with m.If(arriving[-1]):  # what remains to be done is a mov
                    m.d.sync += [values[0].eq(lanes[lane]), opcode.eq(Opcode.MOV),
                                 state.eq(_State.EXECUTE)]
            with m.Case(_State.FAULT):
                m.d.comb += activity.eq(Activity.IDLE)

        # A bus error stops the run at once; any other fault, once everything older has finished. Of
        # those, an older instruction's is found later: in a unit, then the checker, then here.
        bus_error = scoreboard.error & (scoreboard.error_unit != Unit.VPU)
        with m.If(running & (state != _State.FAULT)):
            with m.If(bus_error):
                m.d.comb += [
                    self.fault_valid.eq(1), self.fault.pc.eq(scoreboard.error_pc),
                    self.fault.cause.eq(Mux(scoreboard.error_unit == Unit.LOAD, Fault.BUS_READ,
                                            Fault.BUS_WRITE)),
                    self.fault.addr.eq(scoreboard.error_detail),
                ]
            with m.Elif(scoreboard.error & ~bad_index):
                fail(Fault.INDEX_RANGE)
                m.d.sync += [bad_index.eq(1), self.pc.eq(scoreboard.error_pc),
                             lane.eq(scoreboard.error_detail)]
            with m.Elif((checker.fault != Fault.NONE) & ~bad_index):
                m.d.comb += [
                    self.fault_valid.eq(scoreboard.empty), self.fault.cause.eq(checker.fault),
                    self.fault.pc.eq(checker.fault_pc), self.fault.addr.eq(checker.fault_addr),
                ]
            with m.Elif((state == _State.DRAIN) & (own_fault != Fault.NONE)):
                m.d.comb += [
                    self.fault_valid.eq(scoreboard.empty
                                        & (checker.idle | (checker.fault != Fault.NONE))),
                    self.fault.cause.eq(own_fault), self.fault.pc.eq(self.pc),
                ]
                with m.Switch(own_fault):
                    with m.Case(Fault.PC_RANGE, Fault.BUS_FETCH):
                        m.d.comb += self.fault.addr.eq(self.pc)
                    with m.Case(Fault.ILLEGAL_OPCODE):
                        m.d.comb += self.fault.addr.eq(opcode)
                    with m.Case(Fault.ACC_RANGE):
                        m.d.comb += self.fault.addr.eq(row)
                    with m.Case(Fault.INDEX_RANGE):
                        m.d.comb += self.fault.addr.eq(lane)
            with m.If(self.fault_valid):
                m.d.sync += state.eq(_State.FAULT)
        return m
