"""The control of the scalar unit: one instruction after another, a state a cycle."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.faults import Fault
from celosia.arch.isa import OPCODE_BITS, Opcode
from celosia.arch.registers import Activity
from celosia_hw.commands import CAUSE_BITS
from celosia_hw.scalar.execute import Next

__all__ = ["ScalarControl", "ScalarState"]


class ScalarState(enum.Enum):
    """What the scalar unit does in a cycle.

    ``FETCH``: the instruction at the program counter is looked at. ``READ``: operands are read out
    of registers. ``EXECUTE``. ``RESULT``: what takes a cycle longer is written back. ``BRANCH``:
    it is known whether the program branches. ``LOOP``: it is known whether a loop can be entered.
    ``TARGET``, ``LOOP_END``: whether a loop ends at a new target becomes known. ``DRAIN``:
    everything older finishes. ``ACC_REQUEST``, ``ACC_DATA``: ``read`` asks for a row, and waits for
    it. ``FAULT``: the run has stopped.
    """

    IDLE = 0
    FETCH = 1
    READ = 2
    EXECUTE = 3
    RESULT = 4
    BRANCH = 5
    TARGET = 6
    LOOP_END = 7
    DRAIN = 8
    ACC_REQUEST = 9
    ACC_DATA = 10
    FAULT = 11
    LOOP = 12


class ScalarControl(wiring.Component):
    """The state machine of the scalar unit.

    Members
    -------
    start : In(1)
        Begin a run.
    state : Out(ScalarState)
    cleared : In(1)
        The first instruction may be fetched: registers are cleared.
    hit, past_end, failed : In(1)
        The instruction is there; there is none at the program counter; it cannot be fetched.
    more : In(1)
        Operands are left to read.
    opcode : In, illegal : In
        The instruction, and what the decoder finds in it.
    following : In(Next), retired : In(1)
        Of `Execute`; ``retired`` as it is where ``state`` is EXECUTE.
    misplaced : In
        What is wrong with what ``read`` asks for; ``Fault.NONE`` for other instructions. From the
        cycle after EXECUTE on.
    taken : In(1)
        As of `Alu`.
    popping, too_deep : In(1)
        As of `ProgramCounter`.
    drained : In(1)
        Nothing older is on its way.
    acc_granted, acc_arrived : In(1)
        The row that ``read`` asks for is granted; it is there.
    cause : In, drain, stop : In(1)
        As of `FaultReport`: a fault that waits; wait now; stop now.
    leave : Out(1)
        The instruction is through.
    fail : Out
        It has met a fault, ``Fault.NONE`` if not.
    halted : Out(1)
        High for one cycle: the program has ended and everything has finished.
    finished : Out(1)
        An instruction was executed or handed to the checker.
    activity : Out(Activity)
    """

    start: Signal
    state: Signal
    cleared: Signal
    hit: Signal
    past_end: Signal
    failed: Signal
    more: Signal
    opcode: Signal
    illegal: Signal
    following: Signal
    retired: Signal
    misplaced: Signal
    taken: Signal
    popping: Signal
    too_deep: Signal
    drained: Signal
    acc_granted: Signal
    acc_arrived: Signal
    cause: Signal
    drain: Signal
    stop: Signal
    leave: Signal
    fail: Signal
    halted: Signal
    finished: Signal
    activity: Signal

    def __init__(self):
        super().__init__({
            "state": Out(ScalarState), "opcode": In(OPCODE_BITS), "following": In(Next),
            **{name: In(CAUSE_BITS) for name in ("illegal", "misplaced", "cause")},
            **{name: In(1) for name in (
                "start", "cleared", "hit", "past_end", "failed", "more", "retired", "taken",
                "popping", "too_deep", "drained", "acc_granted", "acc_arrived", "drain", "stop")},
            "fail": Out(CAUSE_BITS), "leave": Out(1), "halted": Out(1), "finished": Out(1),
            "activity": Out(Activity),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        state = self.state

        def go(to: ScalarState) -> None:
            m.d.sync += state.eq(to)

        def advance() -> None:
            """To the next instruction, unless a loop has ended and the one around it may, too."""
            m.d.comb += self.leave.eq(1)
            m.d.sync += state.eq(Mux(self.popping, ScalarState.TARGET, ScalarState.FETCH))

        def fail(cause) -> None:
            m.d.comb += self.fail.eq(cause)
            go(ScalarState.DRAIN)

        m.d.comb += self.activity.eq(Activity.BUSY)
        with m.Switch(state):
            with m.Case(ScalarState.IDLE):
                m.d.comb += self.activity.eq(Activity.IDLE)
                with m.If(self.start):
                    go(ScalarState.FETCH)
            with m.Case(ScalarState.FETCH):
                with m.If(self.cleared & self.past_end):
                    fail(Fault.PC_RANGE)
                with m.Elif(self.cleared & self.failed):
                    fail(Fault.BUS_FETCH)
                with m.Elif(self.cleared & self.hit):
                    go(ScalarState.READ)
                with m.Else():
                    m.d.comb += self.activity.eq(Activity.WAIT_BUS)
            with m.Case(ScalarState.READ):
                with m.If(~self.more):
                    go(ScalarState.EXECUTE)
            with m.Case(ScalarState.EXECUTE):
                with m.If(self.illegal != Fault.NONE):
                    fail(self.illegal)
                with m.Else():
                    m.d.comb += self.finished.eq(self.retired)
                    with m.Switch(self.following):
                        with m.Case(Next.ADVANCE):
                            advance()
                        with m.Case(Next.RESULT):
                            go(ScalarState.RESULT)
                        with m.Case(Next.BRANCH):
                            go(ScalarState.BRANCH)
                        with m.Case(Next.TARGET):
                            go(ScalarState.TARGET)
                        with m.Case(Next.LOOP):
                            go(ScalarState.LOOP)
                        with m.Case(Next.DRAIN):
                            go(ScalarState.DRAIN)
                        with m.Case(Next.STALL):
                            m.d.comb += self.activity.eq(Activity.WAIT_UNIT)
            with m.Case(ScalarState.RESULT):
                m.d.comb += self.finished.eq(1)
                advance()
            with m.Case(ScalarState.BRANCH):
                m.d.comb += self.finished.eq(1)
                with m.If(self.taken):
                    go(ScalarState.TARGET)
                with m.Else():
                    advance()
            with m.Case(ScalarState.LOOP):
                with m.If(self.too_deep):
                    fail(Fault.LOOP_DEPTH)
                with m.Else():
                    m.d.comb += self.finished.eq(1)
                    go(ScalarState.LOOP_END)
            with m.Case(ScalarState.TARGET):
                go(ScalarState.LOOP_END)
            with m.Case(ScalarState.LOOP_END):
                advance()
            with m.Case(ScalarState.DRAIN):
                m.d.comb += self.activity.eq(Activity.WAIT_DEPS)
                with m.If((self.misplaced != Fault.NONE) & (self.cause == Fault.NONE)):
                    fail(self.misplaced)
                with m.Elif(self.drained & (self.cause == Fault.NONE)):
                    m.d.comb += self.finished.eq(self.opcode != Opcode.READ)
                    with m.Switch(self.opcode):
                        with m.Case(Opcode.HALT):
                            m.d.comb += self.halted.eq(1)
                            go(ScalarState.IDLE)
                        with m.Case(Opcode.READ):
                            go(ScalarState.ACC_REQUEST)
                        with m.Default():  # fence
                            advance()
            with m.Case(ScalarState.ACC_REQUEST):
                with m.If(self.acc_granted):
                    go(ScalarState.ACC_DATA)
            with m.Case(ScalarState.ACC_DATA):
                with m.If(self.acc_arrived):
                    go(ScalarState.RESULT)
            with m.Case(ScalarState.FAULT):
                m.d.comb += self.activity.eq(Activity.IDLE)
        with m.If(self.drain):
            go(ScalarState.DRAIN)
        with m.If(self.stop):
            go(ScalarState.FAULT)
        return m
