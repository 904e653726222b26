"""What an instruction does once its operands are values."""

from amaranth.hdl import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.faults import Fault
from celosia.arch.isa import OPCODE_BITS, Opcode
from celosia_hw.commands import CAUSE_BITS

__all__ = ["Execute", "Next"]

_ALU = (Opcode.MOV, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR)
_PIPELINED = (Opcode.MUL, Opcode.SHL, Opcode.SHR, Opcode.SAR, Opcode.SLT, Opcode.SLTU)
_BRANCHES = (Opcode.BEQ, Opcode.BNE, Opcode.BLT, Opcode.BGE, Opcode.BLTU, Opcode.BGEU)
_TENSOR = (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL, Opcode.VECTOR)


class Next(enum.Enum):
    """What follows on the cycle in which an instruction executes.

    ``ADVANCE``: the next instruction. ``RESULT``: its result comes a cycle later. ``BRANCH``:
    whether it branches is known then. ``TARGET``: the target has changed. ``LOOP``: whether the
    loop can be entered is known then. ``DRAIN``: it waits until everything older has finished.
    ``STALL``: it executes again, for the checker is busy. ``FAIL``: a fault.
    """

    ADVANCE = 0
    RESULT = 1
    BRANCH = 2
    TARGET = 3
    DRAIN = 4
    STALL = 5
    FAIL = 6
    LOOP = 7


class Execute(wiring.Component):
    """Executes an instruction. Combinational.

    Parameters
    ----------
    ports
        Of the chip: with some there are more instructions.

    Members
    -------
    valid : In(1), opcode : In
        A legal instruction whose operands are values.
    row_fault, lane_fault : In(1)
        Of ``read``: there is no such row, no such lane.
    checker_idle, checker_ready : In(1)
        Nothing is being checked; the checker takes an instruction.
    following : Out(Next), fault : Out
        What follows; the fault, ``Fault.NONE`` without one.
    retired : Out(1)
        The instruction was executed or handed to the checker.
    write_rd, write_stride, branch, enter, issue : Out(1)
        Write its register, its stride; go to its target; enter a loop; offer it to the checker.
    """

    valid: Signal
    opcode: Signal
    row_fault: Signal
    lane_fault: Signal
    checker_idle: Signal
    checker_ready: Signal
    following: Signal
    fault: Signal
    retired: Signal
    write_rd: Signal
    write_stride: Signal
    branch: Signal
    enter: Signal
    issue: Signal

    def __init__(self, ports: int = 0):
        self._ports = ports
        super().__init__({
            "opcode": In(OPCODE_BITS), "fault": Out(CAUSE_BITS), "following": Out(Next),
            **{name: In(1) for name in ("valid", "row_fault", "lane_fault", "checker_idle",
                                        "checker_ready")},
            **{name: Out(1) for name in ("retired", "write_rd", "write_stride", "branch", "enter",
                                         "issue")},
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()

        def fail(cause: Fault) -> None:
            m.d.comb += [self.following.eq(Next.FAIL), self.fault.eq(cause)]

        def execute() -> None:
            alu, tensor = (*_ALU,), (*_TENSOR,)
            if self._ports:
                alu, tensor = (*alu, Opcode.CHIP), (*tensor, Opcode.SEND, Opcode.RECV)
            with m.Switch(self.opcode):
                with m.Case(*map(int, alu)):
                    m.d.comb += [self.write_rd.eq(1), self.retired.eq(1)]
                with m.Case(*map(int, _PIPELINED)):
                    m.d.comb += self.following.eq(Next.RESULT)
                with m.Case(*map(int, _BRANCHES)):
                    m.d.comb += self.following.eq(Next.BRANCH)
                with m.Case(Opcode.JUMP):
                    m.d.comb += [self.retired.eq(1), self.branch.eq(1),
                                 self.following.eq(Next.TARGET)]
                with m.Case(Opcode.LOOP):
                    m.d.comb += [self.enter.eq(1), self.following.eq(Next.LOOP)]
                with m.Case(Opcode.STRIDE):
                    m.d.comb += [self.write_stride.eq(self.checker_idle),
                                 self.retired.eq(self.checker_idle)]
                    with m.If(~self.checker_idle):
                        m.d.comb += self.following.eq(Next.STALL)
                with m.Case(*map(int, tensor)):
                    m.d.comb += [self.issue.eq(1), self.retired.eq(self.checker_ready)]
                    with m.If(~self.checker_ready):
                        m.d.comb += self.following.eq(Next.STALL)
                with m.Case(Opcode.HALT, Opcode.FENCE):
                    m.d.comb += self.following.eq(Next.DRAIN)
                with m.Case(Opcode.READ):
                    m.d.comb += self.following.eq(Next.DRAIN)
                    with m.If(self.row_fault):
                        fail(Fault.ACC_RANGE)
                    with m.Elif(self.lane_fault):
                        fail(Fault.INDEX_RANGE)
                with m.Default():  # nop
                    m.d.comb += self.retired.eq(1)

        with m.If(self.valid):
            execute()
        return m
