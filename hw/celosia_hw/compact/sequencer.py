"""The processor of the compact chip: RV32I and multiplication, several cycles an instruction."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia_hw.compact.decode import Kind, immediate, loaded, stored, strobes
from celosia_hw.memory.ram import Ram

__all__ = ["BusSignature", "Sequencer"]


class BusSignature(wiring.Signature):
    """The sequencer's side of its memory.

    A request, ``read`` or any of ``strobes``, stands until a cycle with ``ready`` or is withdrawn
    after one without; what a read gets is at ``read_data`` in the cycle after that with ``ready``,
    only. There is one request at a time.

    Members
    -------
    addr : Out(30)
        Of a word.
    read : Out(1)
    strobes : Out(4), write_data : Out(32)
        Bytes that are written.
    ready : In(1), read_data : In(32)
    """

    def __init__(self) -> None:
        super().__init__({
            "addr": Out(30), "read": Out(1), "strobes": Out(4), "write_data": Out(32),
            "ready": In(1), "read_data": In(32),
        })


class Sequencer(wiring.Component):
    """Executes RV32I with Zmmul, beginning at ``reset_address`` after a reset.

    There are no CSRs, interrupts or exceptions. FENCE does nothing; ECALL, EBREAK, and whatever
    else has bits 4 to 6 set (an erased flash memory has), stops for ever. Other words that are no
    instructions do anything. Addresses of loads, stores and jumps that are not aligned are taken as
    those below which are.

    Cycles, with a memory that is always ready:

    ================================= ==========================
    add, logic, compare, LUI, AUIPC   3
    load, store                       4
    branch                            3, not taken 4
    JAL, JALR                         3
    shift by n                        3 + n // 4 + n % 4
    multiplication                    35
    ================================= ==========================

    Members
    -------
    bus : Out(BusSignature)
        ``addr`` comes out of registers; a path leads from ``read_data`` to the registers' RAM.
    halted : Out(1)
    """

    bus: Any
    halted: Signal

    def __init__(self, reset_address: int = 0):
        if reset_address not in range(0, 1 << 32, 4):
            raise ValueError("reset_address must be a multiple of 4 below 2**32, not "
                             f"{reset_address!r}")
        self._reset_address = reset_address
        super().__init__({"bus": Out(BusSignature()), "halted": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bus = self.bus
        word = Signal(32)  # the instruction
        funct3 = word[12:15]
        kind = Kind(m, word)
        addr, next_pc = Signal(30, init=self._reset_address >> 2), Signal(30)
        lane = Signal(2)  # of a load or store

        # Registers: two copies, so that two can be read at a time. Register 0 is never written.
        m.submodules.first, m.submodules.second = first, second = Ram(32, 32), Ram(32, 32)
        get, put, result = Signal(), Signal(), Signal(32)
        for copy, place in ((first, 15), (second, 20)):
            m.d.comb += [
                copy.read_en.eq(get), copy.read_addr.eq(bus.read_data[place:place + 5]),
                copy.write_en.eq(put & word[7:12].any()), copy.write_addr.eq(word[7:12]),
                copy.write_data.eq(result),
            ]
        rs1, rs2 = first.read_data, second.read_data

        # What is done with the operands. b may be inverted: then 1 is added. `low` takes what is
        # shifted to the left, and the bits that leave a in a multiplication.
        a, b, low, inverted = Signal(32), Signal(32), Signal(32), Signal()
        total, logic, function = Signal(33), Signal(32), Signal(2)
        m.d.comb += total.eq(a + b + inverted)
        for code, value in enumerate((a ^ b, a, a | b, a & b)):
            with m.If(function == code):
                m.d.comb += logic.eq(value)
        less, taken = Signal(), Signal()
        unsigned = Mux(kind.branch, funct3[1], funct3[0])
        m.d.comb += [
            less.eq(Mux((a[31] == b[31]) & ~unsigned, a[31], ~total[32])),
            taken.eq(Mux(funct3[2], less, logic.all()) ^ funct3[0]),
        ]
        from_logic, from_low, from_compare = Signal(), Signal(), Signal()
        own = Mux(from_logic, logic, Mux(from_low, low, total[:32]))
        m.d.comb += result.eq(Mux(kind.load, loaded(funct3, lane, bus.read_data),
                                  Mux(kind.jump, Cat(0, 0, next_pc),
                                      Mux(from_compare, less, own))))

        # A step of a shift or a multiplication.
        count, four, last = Signal(6), Signal(), Signal()
        add = kind.multiply & low[0]
        signed = Mux(kind.multiply, funct3[:2] == 1, word[30])
        moved = Mux(add, total[:32], a)
        fill = signed & Mux(add, a[31] ^ b[31], a[31]) ^ (add & total[32])
        m.d.comb += [four.eq(~kind.multiply & count[2:].any()),
                     last.eq(count == Mux(four, 4, 1))]
        amount = Mux(kind.op, rs2[:5], word[20:25])
        # To MULH and MULHSU a negative first operand was 2**32 more than it is.
        correct = kind.multiply & (funct3[0] ^ funct3[1]) & rs1[31]

        # Where the instruction wants to go, or to access memory.
        here, value = Cat(0, 0, addr), immediate(kind, word)
        place = Signal(32)
        m.d.comb += [
            place.eq(Mux(kind.branch | kind.jal, here, rs1) + value),
            bus.addr.eq(addr), bus.write_data.eq(stored(funct3, rs2)),
        ]
        # These are of use in the cycle after OPERANDS only, or after a STEP.
        m.d.sync += [
            a.eq(Mux(kind.auipc, here, rs1) & ~(kind.lui | kind.multiply).replicate(32)),
            b.eq(Mux(kind.op | kind.branch, rs2, value) ^ kind.subtract.replicate(32)),
            inverted.eq(kind.subtract), low.eq(rs1), count.eq(Mux(kind.multiply, 32, amount)),
        ]
        with m.FSM():
            with m.State("FETCH"):
                m.d.comb += bus.read.eq(1)
                with m.If(bus.ready):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += get.eq(1)
                m.d.sync += [word.eq(bus.read_data), next_pc.eq(addr + 1)]
                m.next = "OPERANDS"
            with m.State("OPERANDS"):
                m.d.sync += [
                    function.eq(kind.function), from_logic.eq(kind.from_logic),
                    from_low.eq(kind.from_low), from_compare.eq(kind.from_compare),
                    addr.eq(Mux(kind.places, place[2:], next_pc)), lane.eq(place[:2]),
                ]
                m.next = "EXECUTE"
                with m.If(kind.load | kind.store):
                    m.next = "ACCESS"
                with m.If(kind.multiply | kind.shift & amount.any()):
                    m.next = "STEP"
                with m.If(kind.halt):
                    m.next = "HALT"
            with m.State("STEP"):
                m.d.sync += [
                    count.eq(count - Mux(four, 4, 1)),
                    a.eq(Mux(four, Cat(a[4:], fill.replicate(4)), Cat(moved[1:], fill))),
                    low.eq(Mux(kind.multiply, Cat(low[1:], moved[0]), low << Mux(four, 4, 1))),
                    b.eq(rs2 ^ (last & correct).replicate(32)), inverted.eq(last & correct),
                ]
                with m.If(last):
                    m.next = "EXECUTE"
                    with m.If(correct):
                        m.d.sync += from_logic.eq(0)
            with m.State("EXECUTE"):
                m.d.comb += [put.eq(kind.writes), bus.read.eq(1)]
                m.next = "FETCH"
                with m.If(kind.branch & ~taken):
                    m.d.sync += addr.eq(next_pc)
                with m.Elif(bus.ready):
                    m.next = "READ"
            with m.State("ACCESS"):
                m.d.comb += bus.read.eq(kind.load)
                with m.If(kind.store):
                    m.d.comb += bus.strobes.eq(strobes(funct3, lane))
                with m.If(bus.ready):
                    m.d.sync += addr.eq(next_pc)
                    m.next = "FETCH"
                    with m.If(kind.load):
                        m.next = "LOADED"
            with m.State("LOADED"):
                m.d.comb += [put.eq(1), bus.read.eq(1)]
                m.next = "FETCH"
                with m.If(bus.ready):
                    m.next = "READ"
            with m.State("HALT"):
                m.d.comb += self.halted.eq(1)
        return m
