"""What an instruction does once its operands are values."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.isa import Opcode

__all__ = ["Execute", "Next", "kind_layout", "kind_of"]

#: Instructions of a kind, which execute alike.
_KINDS = {
    "alu": (Opcode.MOV, Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.CHIP),
    "pipelined": (Opcode.MUL, Opcode.SHL, Opcode.SHR, Opcode.SAR, Opcode.SLT, Opcode.SLTU),
    "branch": (Opcode.BEQ, Opcode.BNE, Opcode.BLT, Opcode.BGE, Opcode.BLTU, Opcode.BGEU),
    "jump": (Opcode.JUMP,), "loop": (Opcode.LOOP,), "stride": (Opcode.STRIDE,),
    "tensor": (Opcode.LOAD, Opcode.STORE, Opcode.MATMUL, Opcode.VECTOR, Opcode.SEND, Opcode.RECV),
    "drain": (Opcode.HALT, Opcode.FENCE), "read": (Opcode.READ,), "nop": (Opcode.NOP,),
}


def kind_layout() -> data.StructLayout:
    """A bit for each kind of instruction, of which one is set."""
    return data.StructLayout({name: 1 for name in _KINDS})


def kind_of(opcode: Value) -> Value:
    """Return the kind of a legal instruction, laid out as `kind_layout`."""
    return Cat(Cat(opcode == each for each in opcodes).any() for opcodes in _KINDS.values())


class Next(enum.Enum):
    """What follows on the cycle in which an instruction executes.

    ``ADVANCE``: the next instruction. ``RESULT``: its result comes a cycle later. ``BRANCH``:
    whether it branches is known then. ``TARGET``: the target has changed. ``LOOP``: whether the
    loop can be entered is known then. ``DRAIN``: it waits until everything older has finished.
    ``STALL``: it executes again, for the checker is busy or another one waits for it.
    """

    ADVANCE = 0
    RESULT = 1
    BRANCH = 2
    TARGET = 3
    DRAIN = 4
    STALL = 5
    LOOP = 6


class Execute(wiring.Component):
    """Executes an instruction. Combinational.

    Members
    -------
    valid : In(1), kind : In(kind_layout())
        A legal instruction whose operands are values.
    checker_idle, checker_ready : In(1)
        Nothing is being checked; an instruction is taken, by the checker or to wait for it.
    following : Out(Next)
        What follows.
    retired : Out(1)
        The instruction was executed or handed to the checker.
    write_rd, write_stride, branch, enter, issue : Out(1)
        Write its register, its stride; go to its target; enter a loop; offer it to the checker.
    """

    valid: Signal
    kind: data.View
    checker_idle: Signal
    checker_ready: Signal
    following: Signal
    retired: Signal
    write_rd: Signal
    write_stride: Signal
    branch: Signal
    enter: Signal
    issue: Signal

    def __init__(self):
        super().__init__({
            "kind": In(kind_layout()), "following": Out(Next),
            **{name: In(1) for name in ("valid", "checker_idle", "checker_ready")},
            **{name: Out(1) for name in ("retired", "write_rd", "write_stride", "branch", "enter",
                                         "issue")},
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        kind = self.kind
        with m.If(self.valid):
            with m.If(kind.alu | kind.nop):
                m.d.comb += [self.write_rd.eq(kind.alu), self.retired.eq(1)]
            with m.If(kind.pipelined):
                m.d.comb += self.following.eq(Next.RESULT)
            with m.If(kind.branch):
                m.d.comb += self.following.eq(Next.BRANCH)
            with m.If(kind.jump):
                m.d.comb += [self.retired.eq(1), self.branch.eq(1),
                             self.following.eq(Next.TARGET)]
            with m.If(kind.loop):
                m.d.comb += [self.enter.eq(1), self.following.eq(Next.LOOP)]
            with m.If(kind.stride):
                m.d.comb += [self.write_stride.eq(self.checker_idle),
                             self.retired.eq(self.checker_idle)]
                with m.If(~self.checker_idle):
                    m.d.comb += self.following.eq(Next.STALL)
            with m.If(kind.tensor):
                m.d.comb += [self.issue.eq(1), self.retired.eq(self.checker_ready)]
                with m.If(~self.checker_ready):
                    m.d.comb += self.following.eq(Next.STALL)
            with m.If(kind.drain | kind.read):
                m.d.comb += self.following.eq(Next.DRAIN)
        return m
