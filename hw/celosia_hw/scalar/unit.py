"""The scalar unit: fetches, executes scalar instructions, hands tensor instructions out."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode, Unit
from celosia.arch.registers import NUM_WINDOWS, Activity
from celosia_hw.bus.axi import AxiRead, AxiReadSignature
from celosia_hw.commands import CAUSE_BITS, fault_layout, window_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.scalar.accread import AccumulatorRead
from celosia_hw.scalar.alu import Alu
from celosia_hw.scalar.control import ScalarControl, ScalarState
from celosia_hw.scalar.counter import ProgramCounter
from celosia_hw.scalar.dispatch import TENSOR_UNITS, issue_units, unit_signature
from celosia_hw.scalar.encoding import PC_BITS, instruction, reaches
from celosia_hw.scalar.execute import Execute, kind_layout, kind_of
from celosia_hw.scalar.faults import FaultReport
from celosia_hw.scalar.fetch import InstructionFetch
from celosia_hw.scalar.operands import OperandRead
from celosia_hw.scalar.tensor import TensorIssue

__all__ = ["ScalarUnit"]


class ScalarUnit(wiring.Component):
    """Runs a program, an instruction at a time; tensor instructions go to the scoreboard.

    An instruction takes 3 cycles, 1 more for each operand in a register but the first, 1 more for
    mul, shifts, comparisons and branches but jump, 2 more for taken branches and entering or
    leaving a loop; repeating a loop's
    body costs nothing. A tensor instruction waits in its last cycle while the one before it waits
    for the checker.
    ``read`` takes 5 cycles more than ``fence``.

    Members
    -------
    start : In(1)
        Begin a run at instruction 0. Only when no run is under way.
    prepare, forget : In(1)
        Fetch the program already, as far as it has room, and clear registers; no longer, for it is
        another one. Only when no run is under way.
    program, length : In(32)
    windows : In
        DMA windows.
    axi : Out(AxiReadSignature)
        Instruction fetch.
    acc_read : Out(ReadPortSignature)
        Accumulator rows for ``read``, while no unit works.
    port_load, port_store, port_mxu, port_vpu : Out(UnitSignature)
    following : Out(1)
        As of `Scoreboard`.
    halted : Out(1)
        High for one cycle: the program has ended and everything has finished.
    fault_valid : Out(1), fault : Out(fault_layout())
        High for one cycle: the run has stopped.
    pc : Out(32)
    retired : Out(1)
        An instruction was executed or handed to the checker.
    activities : Out
        Activity of each unit, in the order of ``isa.Unit``.
    port_tx0, port_rx0, .. : Out(UnitSignature), device : In(32)
        On a chip with ports: units of each, and the number of the chip.
    """

    start: Signal
    prepare: Signal
    forget: Signal
    program: Signal
    length: Signal
    windows: data.View
    axi: AxiRead
    acc_read: ReadPort
    following: Signal
    halted: Signal
    fault_valid: Signal
    fault: data.View
    pc: Signal
    retired: Signal
    activities: list[Signal]
    device: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "prepare": In(1), "forget": In(1), "program": In(32),
            "length": In(32),
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "axi": Out(AxiReadSignature(config.bus_bytes)),
            "acc_read": Out(ReadPortSignature(row_bits(config), config.acc_row_bits)),
            **{f"port_{unit.name.lower()}": Out(unit_signature(config, unit))
               for unit in issue_units(config)},
            "following": Out(1), "halted": Out(1), "fault_valid": Out(1),
            "fault": Out(fault_layout(config.ports)), "pc": Out(PC_BITS), "retired": Out(1),
            "activities": Out(Activity).array(len(Unit)),
            **({"device": In(32)} if config.ports else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        m.submodules.fetch = fetch = InstructionFetch(config)
        m.submodules.counter = counter = ProgramCounter(config)
        m.submodules.operands = operands = OperandRead(config)
        m.submodules.alu = alu = Alu()
        m.submodules.execute = execute = Execute()
        m.submodules.control = control = ScalarControl()
        m.submodules.accumulators = accumulators = AccumulatorRead(config)
        m.submodules.faults = faults = FaultReport(config)
        m.submodules.tensor = tensor = TensorIssue(config)
        self._connect(m, fetch, accumulators, tensor)
        held, state = operands.held, control.state
        opcode = held.opcode
        stride, matmul, loop, read, alu_insn, branch, jump = (
            instruction(each, held) for each in (
                Opcode.STRIDE, Opcode.MATMUL, Opcode.LOOP, Opcode.READ, Opcode.ADD, Opcode.BEQ,
                Opcode.JUMP))
        in_fetch, running = state == ScalarState.FETCH, state != ScalarState.IDLE
        branching = state == ScalarState.BRANCH
        active = running & (state != ScalarState.FAULT)
        begin, prepared = self._begin(m)
        kind, misplaced = self._known(m, held)

        # Fetch: the word of the instruction at ``pc``, or of the next one as this one leaves.
        m.d.comb += [
            *(part.start.eq(self.start) for part in (counter, control)),
            *(part.start.eq(begin) for part in (fetch, operands)),
            fetch.program.eq(self.program), fetch.length.eq(self.length),
            fetch.run.eq(active | prepared),
            fetch.look.eq(counter.look), fetch.which.eq(counter.which),
            *(pc.eq(place) for pc, place in zip(fetch.pcs, counter.places, strict=True)),
            fetch.keep.eq(counter.keep), fetch.keep_valid.eq(counter.keep_valid),
            counter.length.eq(self.length), counter.fetch.eq(in_fetch & ~begin),
            counter.leave.eq(control.leave),
            counter.branch.eq(execute.branch | (branching & alu.taken)),
            counter.enter.eq(execute.enter), counter.count.eq(loop.count), counter.end.eq(loop.end),
            counter.destination.eq(Mux(opcode == Opcode.JUMP, jump.target, branch.target)),
            self.pc.eq(counter.pc),
        ]

        # Read and decode.
        m.d.comb += [
            operands.word.eq(fetch.word), operands.read.eq(state == ScalarState.READ),
            operands.take.eq(in_fetch & operands.cleared & fetch.hit & ~counter.past_end),
            operands.weights.eq(execute.issue & tensor.i.ready & (opcode == Opcode.MATMUL)
                                & matmul.wload),
        ]

        # Execute. What is written while registers are cleared is what the ALU makes of zeros.
        m.d.comb += [
            execute.valid.eq((state == ScalarState.EXECUTE) & (operands.illegal == Fault.NONE)),
            execute.kind.eq(kind),
            execute.checker_idle.eq(tensor.checked), execute.checker_ready.eq(tensor.i.ready),
            alu.opcode.eq(opcode), alu.a.eq(alu_insn.a), alu.b.eq(alu_insn.b),
            alu.passed.eq(accumulators.word),
            alu.pass_valid.eq(state == ScalarState.ACC_DATA),
            operands.write.eq(execute.write_rd | (state == ScalarState.RESULT)),
            operands.rd.eq(alu_insn.rd),
            operands.data.eq(self._result(opcode, state, alu)),
            # ``read``: a word of the accumulators passes the ALU.
            accumulators.request.eq(state == ScalarState.ACC_REQUEST),
            *(getattr(accumulators, name).eq(read[name]) for name in ("row", "lane")),
        ]

        # Check and issue. Strides are cleared with the registers.
        m.d.comb += [
            self.following.eq(tensor.following), tensor.windows.eq(self.windows),
            tensor.i.valid.eq(execute.issue),
            tensor.i.payload.word.eq(held), tensor.i.payload.pc.eq(self.pc),
            tensor.stride_index.eq(Mux(operands.cleared, stride.x, operands.clearing)),
            tensor.stride_write.eq(execute.write_stride | (
                ~operands.cleared & operands.clearing[:len(tensor.stride_index)].any())),
            *(tensor.stride[name].eq(stride[name]) for name in ("s0", "s1", "s2")),
        ]

        m.d.comb += [
            control.opcode.eq(opcode),
            *(getattr(control, name).eq(getattr(source, name)) for source, names in (
                (fetch, ("hit", "failed")), (alu, ("taken",)),
                (counter, ("past_end", "popping", "too_deep")),
                (operands, ("cleared", "more", "illegal")),
                (execute, ("following", "retired")), (faults, ("cause", "drain")))
              for name in names),
            control.misplaced.eq(misplaced), control.stop.eq(faults.valid),
            control.drained.eq(tensor.checked & tensor.finished),
            control.acc_granted.eq(accumulators.granted),
            control.acc_arrived.eq(accumulators.arrived),
            self.halted.eq(control.halted), self.retired.eq(control.finished),
            self.activities[Unit.SCALAR].eq(control.activity),
            faults.begin.eq(~running & self.start), faults.active.eq(active),
            faults.fail.eq(control.fail), faults.draining.eq(state == ScalarState.DRAIN),
            faults.pc.eq(self.pc), faults.opcode.eq(opcode), faults.row.eq(read.row),
            faults.lane.eq(read.lane),
            faults.checked.eq(tensor.fault), faults.checker_idle.eq(tensor.checked),
            faults.error.eq(tensor.error), faults.empty.eq(tensor.finished),
            self.fault_valid.eq(faults.valid), self.fault.eq(faults.fault),
        ]
        return m

    def _connect(self, m: Module, fetch: InstructionFetch, accumulators: AccumulatorRead,
                 tensor: TensorIssue) -> None:
        """Connect what stands behind the ports of the unit."""
        wiring.connect(m, wiring.flipped(self.axi), fetch.axi)
        wiring.connect(m, accumulators.port, wiring.flipped(self.acc_read))
        for unit in issue_units(self._config):
            name = f"port_{unit.name.lower()}"
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(tensor, name))
        for unit in TENSOR_UNITS:
            m.d.comb += self.activities[unit].eq(tensor.activities[unit])

    def _result(self, opcode: Value, state: Value, alu: Alu) -> Value:
        """Return what an instruction writes into its register."""
        soon: Value = alu.result
        if self._config.ports:
            soon = Mux(opcode == Opcode.CHIP, self.device, soon)
        return Mux(state == ScalarState.RESULT, alu.pipelined, soon)

    def _begin(self, m: Module) -> tuple[Value, Value]:
        """Return whether fetch and clearing begin, a cycle after they are told to, and whether they
        have before the run.
        """
        begin, prepared = Signal(), Signal()
        m.d.sync += begin.eq(self.prepare | (self.start & ~prepared))
        with m.If(self.prepare):
            m.d.sync += prepared.eq(1)
        with m.Elif(self.start | self.forget):
            m.d.sync += prepared.eq(0)
        return begin, prepared

    def _known(self, m: Module, held: data.View) -> tuple[data.View, Signal]:
        """Return the kind of the instruction that is held, once its operands are read; and, a cycle
        later, what is wrong with what ``read`` asks for.
        """
        kind, misplaced = Signal(kind_layout(), reset_less=True), Signal(CAUSE_BITS)
        read = instruction(Opcode.READ, held)
        m.d.sync += [
            kind.as_value().eq(kind_of(held.opcode)),
            misplaced.eq(Mux(~kind.read, Fault.NONE, Mux(
                reaches(read.row, self._config.acc_rows), Fault.ACC_RANGE, Mux(
                    reaches(read.lane, self._config.dim), Fault.INDEX_RANGE, Fault.NONE)))),
        ]
        return kind, misplaced
