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
from celosia.arch.registers import NUM_WINDOWS, Activity
from celosia_hw.bus.axi import AxiReadSignature
from celosia_hw.commands import LAYOUTS, UnitSignature, fault_layout, window_layout
from celosia_hw.memory.ports import READ_LATENCY, ReadPortSignature, row_bits
from celosia_hw.scalar.alu import Alu
from celosia_hw.scalar.check import Checker
from celosia_hw.scalar.decode import Decoder
from celosia_hw.scalar.encoding import PC_BITS, header_layout, reaches, word_layout
from celosia_hw.scalar.fetch import InstructionFetch
from celosia_hw.scalar.loops import LoopStack
from celosia_hw.scalar.scoreboard import TENSOR_UNITS, Scoreboard

__all__ = ["ScalarUnit"]

_ALU = (Opcode.MOV, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.SLT,
        Opcode.SLTU)
_LATE = (Opcode.MUL, Opcode.SHL, Opcode.SHR, Opcode.SAR)
_BRANCHES = (Opcode.JUMP, Opcode.BEQ, Opcode.BNE, Opcode.BLT, Opcode.BGE, Opcode.BLTU, Opcode.BGEU)
_TENSOR = (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL, Opcode.VECTOR)


class _State(enum.Enum):
    IDLE = 0
    FETCH = 1
    READ = 2
    EXECUTE = 3
    LATE = 4
    LOOK = 5
    NEXT = 6
    DRAIN = 7
    ASK = 8
    ROW = 9
    FAULT = 10


class ScalarUnit(wiring.Component):
    """Runs a program, an instruction at a time; tensor instructions go to the scoreboard.

    An instruction takes 3 cycles, 1 more for each operand in a register but the first, 1 more for
    mul and shifts, 2 more for taken branches and entering or leaving a loop; repeating a loop's
    body costs nothing. A tensor instruction waits in its last cycle until the checker is free.
    ``read`` takes 4 cycles more than ``fence``.

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
        reg_read, reg_write = registers.read_port(domain="comb"), registers.write_port()
        wiring.connect(m, wiring.flipped(self.axi), fetch.axi)  # type: ignore[attr-defined]
        wiring.connect(m, checker.ticket, scoreboard.ticket)
        for unit in TENSOR_UNITS:
            name = unit.name.lower()
            wiring.connect(m, wiring.flipped(getattr(self, f"port_{name}")),
                           getattr(scoreboard, f"port_{name}"))
            m.d.comb += self.activities[unit].eq(  # type: ignore[attr-defined]
                scoreboard.activities[unit])  # type: ignore[attr-defined]
        m.d.comb += [
            checker.windows.eq(self.windows),
            *(getattr(scoreboard, name).eq(getattr(checker, name))
              for name in ("word", "word_valid", "part", "part_index", "part_valid")),
            loops.clear.eq(self.start), fetch.start.eq(self.start),
            fetch.program.eq(self.program), fetch.length.eq(self.length),
        ]

        state = Signal(_State)
        held = Signal(word_layout(), reset_less=True)
        opcode, values = held.opcode, held.operands
        # The next instruction, but for a loop that ends there: pc + 1, or where a branch goes.
        target = Signal(PC_BITS, reset_less=True)
        weights = Signal()
        own_fault, illegal = Signal(4), Signal(4, reset_less=True)
        bad_index = Signal()  # own_fault was found by the vector unit
        running, past_end = Signal(), Signal()
        in_fetch, in_read = state == _State.FETCH, state == _State.READ
        m.d.comb += [
            running.eq(state != _State.IDLE), fetch.run.eq(running & (state != _State.FAULT)),
            decoder.word.eq(held), decoder.weights.eq(weights),
            alu.opcode.eq(opcode), alu.a.eq(values[0]), alu.b.eq(values[1]),
            alu.multiply.eq(opcode == Opcode.MUL),
            fetch.keep.eq(loops.keep), fetch.keep_valid.eq(loops.keep_valid), loops.pc.eq(target),
        ]

        # Registers and strides are cleared, a register a cycle, while the first instructions are
        # on their way: ``values`` are 0 then, and so is what the ALU makes of them.
        clearing = Signal(ceil_log2(isa.NUM_REGISTERS) + 1, init=isa.NUM_REGISTERS)
        cleared = Signal()
        m.d.comb += cleared.eq(clearing[-1])
        with m.If(self.start):
            m.d.sync += clearing.eq(0)
        with m.Elif(~cleared):
            m.d.sync += clearing.eq(clearing + 1)

        # Operands in registers are read one a cycle, while the word is decoded.
        pending, first = Signal(isa.NUM_OPERANDS), Signal(isa.NUM_OPERANDS)
        more = Signal()
        m.d.comb += [first.eq(pending & (~pending + 1)), more.eq((pending & ~first).any())]
        taken_in = Signal()  # the word is there, and no fault
        m.d.comb += taken_in.eq(in_fetch & cleared & fetch.hit & ~past_end)
        for i in range(isa.NUM_OPERANDS):
            with m.If(first[i]):
                m.d.comb += reg_read.addr.eq(values[i])
        with m.If(self.start):
            m.d.sync += held.as_value().eq(0)
        with m.Elif(taken_in):
            m.d.sync += [held.eq(fetch.word), pending.eq(fetch.word.regmask)]
        with m.Elif(in_read):
            m.d.sync += pending.eq(pending & ~first)
            for i in range(isa.NUM_OPERANDS):
                with m.If(first[i]):
                    m.d.sync += values[i].eq(reg_read.data)
        fresh = Signal()  # the first cycle of READ
        m.d.sync += fresh.eq(in_fetch)
        with m.If(fresh):
            m.d.sync += illegal.eq(decoder.fault)

        # Where to look for an instruction: in FETCH at ``pc``, else at the next one.
        leave, going = Signal(), Signal()  # the instruction is through; the next is known
        index = Mux(loops.at_end, loops.start, target)
        m.d.comb += [
            fetch.pc.eq(Mux(in_fetch, self.pc, index)), fetch.look.eq(going | in_fetch),
            going.eq(leave & (~loops.at_end | loops.again)), loops.step.eq(leave & loops.at_end),
        ]
        m.d.sync += past_end.eq(fetch.pc >= self.length)
        with m.If(self.start):
            m.d.sync += self.pc.eq(0)
        with m.Elif(going):
            m.d.sync += self.pc.eq(index)
        branches = Signal()  # a branch, or a loop that does not run at all
        with m.If(in_fetch):
            m.d.sync += target.eq(self.pc + 1)
        with m.Elif(branches):
            m.d.sync += target.eq(Mux(opcode == Opcode.LOOP, values[1],
                                      Mux(opcode == Opcode.JUMP, values[0], values[2])))

        def go_on():
            """Go to ``target`` unless a loop ends there for good, which asks for another look."""
            m.d.comb += leave.eq(1)
            m.d.sync += state.eq(Mux(loops.at_end & ~loops.again, _State.LOOK, _State.FETCH))

        def fail(cause):
            m.d.sync += [own_fault.eq(cause), state.eq(_State.DRAIN)]

        stride = data.View(header_layout(Opcode.STRIDE), held.as_value()[:isa.HEADER_BITS])
        alu_view = data.View(header_layout(Opcode.ADD), held.as_value()[:isa.HEADER_BITS])
        matmul = data.View(header_layout(Opcode.MATMUL), held.as_value()[:isa.HEADER_BITS])
        m.d.comb += [
            checker.i.payload.word.eq(held), checker.i.payload.pc.eq(self.pc),
            checker.stride_index.eq(Mux(cleared, stride.x, clearing)),
            checker.stride.s0.eq(values[0]), checker.stride.s1.eq(values[1]),
            checker.stride.s2.eq(values[2]),
            loops.new_end.eq(values[1]), loops.new_count.eq(values[0]),
        ]
        writes_rd, writes_stride = Signal(), Signal()
        m.d.comb += [
            reg_write.en.eq(writes_rd | ~cleared),
            reg_write.addr.eq(Mux(cleared, alu_view.rd, clearing)),
            reg_write.data.eq(Mux(state == _State.LATE, alu.late, alu.result)),
            checker.stride_write.eq(writes_stride | (~cleared & clearing[:3].any())),
        ]
        activity = self.activities[Unit.SCALAR]  # type: ignore[attr-defined]
        m.d.comb += activity.eq(Activity.BUSY)
        drained = checker.idle & scoreboard.empty

        row, lane = values[0], values[1]
        lanes = Array(self.acc_read.data.word_select(i, 32) for i in range(config.dim))
        arriving = Signal(READ_LATENCY)  # the row that ``read`` asked for, last bit: it is there
        m.d.comb += [self.acc_read.addr.eq(row), alu.passed.eq(lanes[lane])]
        m.d.sync += arriving.eq(Cat(self.acc_read.valid & self.acc_read.ready, arriving))

        def execute():
            with m.Switch(opcode):
                with m.Case(*map(int, _ALU)):
                    m.d.comb += [writes_rd.eq(1), self.retired.eq(1)]
                    go_on()
                with m.Case(*map(int, _LATE)):
                    m.d.sync += state.eq(_State.LATE)
                with m.Case(*map(int, _BRANCHES)):
                    m.d.comb += self.retired.eq(1)
                    with m.If(alu.taken):
                        m.d.comb += branches.eq(1)
                        m.d.sync += state.eq(_State.LOOK)
                    with m.Else():
                        go_on()
                with m.Case(Opcode.LOOP):
                    skip, empty = ~values[0].any(), values[1] == target
                    with m.If(loops.full & ~skip & ~empty):
                        fail(Fault.LOOP_DEPTH)
                    with m.Else():
                        m.d.comb += [self.retired.eq(1), loops.push.eq(~skip & ~empty),
                                     branches.eq(skip)]
                        m.d.sync += state.eq(_State.LOOK)
                with m.Case(Opcode.STRIDE):
                    m.d.comb += writes_stride.eq(checker.idle)
                    with m.If(checker.idle):
                        m.d.comb += self.retired.eq(1)
                        go_on()
                    with m.Else():
                        m.d.comb += activity.eq(Activity.WAIT_UNIT)
                with m.Case(*map(int, _TENSOR)):
                    m.d.comb += checker.i.valid.eq(1)
                    with m.If(checker.i.ready):
                        m.d.comb += self.retired.eq(1)
                        with m.If((opcode == Opcode.MATMUL) & matmul.wload):
                            m.d.sync += weights.eq(1)
                        go_on()
                    with m.Else():
                        m.d.comb += activity.eq(Activity.WAIT_UNIT)
                with m.Case(Opcode.HALT, Opcode.FENCE):
                    m.d.sync += state.eq(_State.DRAIN)
                with m.Case(Opcode.READ):
                    m.d.sync += state.eq(_State.DRAIN)
                    with m.If(reaches(row, config.acc_rows)):
                        fail(Fault.ACC_RANGE)
                    with m.Elif(reaches(lane, config.dim)):
                        fail(Fault.INDEX_RANGE)
                with m.Default():  # nop
                    m.d.comb += self.retired.eq(1)
                    go_on()

        with m.Switch(state):
            with m.Case(_State.IDLE):
                m.d.comb += activity.eq(Activity.IDLE)
                with m.If(self.start):
                    m.d.sync += [weights.eq(0), own_fault.eq(Fault.NONE), bad_index.eq(0),
                                 state.eq(_State.FETCH)]
            with m.Case(_State.FETCH):
                with m.If(cleared & past_end):
                    fail(Fault.PC_RANGE)
                with m.Elif(cleared & fetch.failed):
                    fail(Fault.BUS_FETCH)
                with m.Elif(cleared & fetch.hit):
                    m.d.sync += state.eq(_State.READ)
                with m.Else():
                    m.d.comb += activity.eq(Activity.WAIT_BUS)
            with m.Case(_State.READ):
                with m.If(~more):
                    m.d.sync += state.eq(_State.EXECUTE)
            with m.Case(_State.EXECUTE):
                with m.If(illegal != Fault.NONE):
                    fail(illegal)
                with m.Else():
                    execute()
            with m.Case(_State.LATE):
                m.d.comb += [writes_rd.eq(1), self.retired.eq(1)]
                go_on()
            with m.Case(_State.LOOK):
                m.d.sync += state.eq(_State.NEXT)
            with m.Case(_State.NEXT):
                go_on()
            with m.Case(_State.DRAIN):
                m.d.comb += activity.eq(Activity.WAIT_DEPS)
                with m.If(drained & (own_fault == Fault.NONE)):
                    m.d.comb += self.retired.eq(opcode != Opcode.READ)
                    with m.Switch(opcode):
                        with m.Case(Opcode.HALT):
                            m.d.comb += self.halted.eq(1)
                            m.d.sync += state.eq(_State.IDLE)
                        with m.Case(Opcode.READ):
                            m.d.sync += state.eq(_State.ASK)
                        with m.Default():  # fence
                            go_on()
            with m.Case(_State.ASK):
                m.d.comb += self.acc_read.valid.eq(1)
                with m.If(self.acc_read.ready):
                    m.d.sync += state.eq(_State.ROW)
            with m.Case(_State.ROW):
                m.d.comb += alu.pass_valid.eq(1)
                with m.If(arriving[-1]):
                    m.d.sync += state.eq(_State.LATE)
            with m.Case(_State.FAULT):
                m.d.comb += activity.eq(Activity.IDLE)

        # A bus error stops the run at once; any other fault, once everything older has finished. Of
        # those, an older instruction's is found later: in a unit, then the checker, then here.
        bus_error = scoreboard.error & (scoreboard.error_unit != Unit.VPU)
        with m.If(running & (state != _State.FAULT)):
            with m.If(bus_error):
                m.d.comb += self.fault_valid.eq(1)
            with m.Elif(scoreboard.error & ~bad_index):
                fail(Fault.INDEX_RANGE)
                m.d.sync += bad_index.eq(1)
            with m.Elif((checker.fault != Fault.NONE) & ~bad_index):
                m.d.comb += self.fault_valid.eq(scoreboard.empty)
            with m.Elif((state == _State.DRAIN) & (own_fault != Fault.NONE)):
                m.d.comb += self.fault_valid.eq(
                    scoreboard.empty & (checker.idle | (checker.fault != Fault.NONE)))
            with m.If(self.fault_valid):
                m.d.sync += state.eq(_State.FAULT)
        own_addr = Signal(32)
        with m.Switch(own_fault):
            with m.Case(Fault.PC_RANGE, Fault.BUS_FETCH):
                m.d.comb += own_addr.eq(self.pc)
            with m.Case(Fault.ILLEGAL_OPCODE):
                m.d.comb += own_addr.eq(opcode)
            with m.Case(Fault.ACC_RANGE):
                m.d.comb += own_addr.eq(row)
            with m.Case(Fault.INDEX_RANGE):
                m.d.comb += own_addr.eq(lane)
        m.d.comb += [
            self.fault.pc.eq(self.pc), self.fault.addr.eq(own_addr), self.fault.cause.eq(own_fault),
        ]
        with m.If(bus_error | bad_index):
            m.d.comb += [self.fault.pc.eq(scoreboard.error_pc),
                         self.fault.addr.eq(scoreboard.error_detail)]
        with m.Elif(checker.fault != Fault.NONE):
            m.d.comb += [self.fault.pc.eq(checker.fault_pc), self.fault.cause.eq(checker.fault),
                         self.fault.addr.eq(checker.fault_addr)]
        with m.If(bus_error):
            m.d.comb += self.fault.cause.eq(
                Mux(scoreboard.error_unit == Unit.LOAD, Fault.BUS_READ, Fault.BUS_WRITE))
        return m
