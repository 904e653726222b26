"""Instructions of chips with ports: as data, beside those of every chip."""

from celosia.arch import isa
from celosia.arch.encoding import insn
from celosia.arch.faults import FAULT_DOCS, FAULTS, Fault, LinkFault
from celosia.arch.isa import DmaFormat, Mem, RecvOp
from celosia.arch.messages import MessageCommand
from celosia.arch.streams import Stream
from celosia.arch.vector import ReduceOp


def test_every_reduction_can_be_received():
    assert {op.name: op - 1 for op in RecvOp if op} == {op.name: int(op) for op in ReduceOp}


def test_chips_without_ports_have_none_of_them():
    assert isa.instructions(0) == isa.INSTRUCTIONS
    assert [each.mnemonic for each in isa.instructions(1)[len(isa.INSTRUCTIONS):]] == [
        "chip", "send", "recv"]
    assert len({each.opcode for each in isa.instructions(1)}) == len(isa.instructions(1))


def test_faults_of_links_follow_the_others():
    assert [int(fault) for fault in LinkFault] == [max(Fault) + 1, max(Fault) + 2]
    assert list(FAULTS) == list(range(len(FAULTS)))
    assert set(FAULT_DOCS) == set(FAULTS.values())


def test_commands():
    strides = [(0, 0, 0), (5, 7, 9)]

    def command(made):
        return MessageCommand.of(made.fields, [each.value for each in made.operands], strides)

    sent = command(insn("send", mem="acc", fmt="bf16", port=3, tag=9, row=4, n0=2, n1=3))
    assert sent == MessageCommand(3, 9, Mem.ACC, DmaFormat.BF16, Stream.linear(4, (2, 3, 1)), None)
    taken = command(insn("recv", mem="ub", fmt="w32", op="set", xrow=1, row=4, n0=2))
    assert taken == MessageCommand(0, 0, Mem.UB, DmaFormat.W32,
                                   Stream(4, (2, 1, 1), (5, 7, 9)), RecvOp.SET)
