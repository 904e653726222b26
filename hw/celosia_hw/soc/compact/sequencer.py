"""The processor of the compact chip: RV32I and multiplication, two and more cycles each."""

from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia_hw.memory.ram import Ram
from celosia_hw.soc.compact.decode import (
    RiscvKind,
    immediate,
    is_relative,
    loaded,
    relative,
    stored,
    strobes,
)
from celosia_hw.soc.compact.memory_map import REGION_BITS

__all__ = ["CODE_BITS", "BusSignature", "Sequencer"]

#: Of the address of a word: those that a branch or JAL changes.
CODE_BITS = 12


class BusSignature(wiring.Signature):
    """The sequencer's side of its memory, for data.

    A request, ``read`` or any of ``strobes``, stands until a cycle with ``ready``; what a read gets
    is at ``read_data`` two cycles after that, only. There is one request at a time.

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
    those below which are. A store does not change the instruction behind it.

    A branch or JAL stays within the ``1 << CODE_BITS`` words around it, counted from a multiple of
    that: so little is added that the address may go to the memory in the same cycle.

    Memory has a register at its output, so a word comes two cycles after its address. The next
    instruction is on its way while one is executed, and so is the target of a branch or JAL::

        cycle      0         1         2         3         4
        add        operands  execute
        next                 read      operands  execute
        behind               fetch               read      operands

    An operand that is not in the registers yet is taken from where it comes.

    Parameters
    ----------
    reset_address
        A multiple of 4.
    own
        The `Region` whose memory is that of the instructions: where a load or store is of it,
        ``fetch_addr`` is its address too, and the bus must be ready in its first cycle. None: the
        bus has no part in that memory.

    Cycles, with a memory that is always ready:

    ================================= ==========================
    add, logic, compare, LUI, AUIPC   2
    load                              5
    store                             3
    branch                            2, taken 3
    JAL                               3
    JALR                              4
    shift by n                        2 + n // 4 + n % 4
    multiplication                    34
    ================================= ==========================

    Members
    -------
    fetch_addr : Out(30), fetched : In(32)
        An address of a word, and that word two cycles later.
    bus : Out(BusSignature)
        For loads and stores. ``addr``, ``read`` and ``strobes`` are registers, and so is what
        ``read_data`` goes to.
    halted : Out(1)
    """

    fetch_addr: Signal
    fetched: Signal
    bus: Any
    halted: Signal

    def __init__(self, reset_address: int = 0, own: int | None = 0):
        if reset_address not in range(0, 1 << 32, 4):
            raise ValueError("reset_address must be a multiple of 4 below 2**32, not "
                             f"{reset_address!r}")
        self._reset_address, self._own = reset_address, own
        super().__init__({"fetch_addr": Out(30), "fetched": In(32),
                          "bus": Out(BusSignature()), "halted": Out(1)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bus = self.bus
        word = Signal(32)  # the instruction
        funct3 = word[12:15]
        kind = RiscvKind(m, word)
        # The same from the cycle after OPERANDS on.
        late = SimpleNamespace(**{name: Signal(name=f"late_{name}") for name in (
            "load", "branch", "jump", "jalr", "multiply", "writes")})
        # Addresses: of the instruction, of the next one, and of that behind it; where the
        # instruction wants to go or to access memory, and the next one there.
        pc, next_pc, behind = Signal(30), Signal(30), Signal(30)
        addr, after = Signal(30, init=self._reset_address >> 2), Signal(30)
        lane = Signal(2)  # of a load or store

        # Registers: two copies, so that two can be read at a time. Register 0 is never written.
        # What is put there waits a cycle, and so may be read in the cycle before it is written, and
        # in that itself; two are never put there in succession.
        m.submodules.first, m.submodules.second = first, second = Ram(32, 32), Ram(32, 32)
        reads = Signal()  # an instruction
        put, puts, result = Signal(), Signal(), Signal(32)
        waits, where, written = Signal(), Signal(5), Signal(32, reset_less=True)
        for copy, place in ((first, 15), (second, 20)):
            m.d.comb += [
                copy.read_en.eq(reads), copy.read_addr.eq(self.fetched[place:place + 5]),
                copy.write_en.eq(waits), copy.write_addr.eq(where), copy.write_data.eq(written),
            ]
        m.d.comb += puts.eq(put & word[7:12].any())
        m.d.sync += waits.eq(puts)
        with m.If(put):
            m.d.sync += [written.eq(result), where.eq(word[7:12])]
        operands = []
        for copy in (first, second):
            just = Signal(name=f"just_written{len(operands)}")
            with m.If(reads):
                m.d.sync += just.eq(puts & (word[7:12] == copy.read_addr)
                                    | waits & (where == copy.read_addr))
            operands.append(Mux(just, written, copy.read_data))
        rs1, rs2 = operands

        # What is done with the operands. b may be inverted: then 1 is added. `low` takes what is
        # shifted to the left, and the bits that leave a in a multiplication.
        a, b, low, inverted = Signal(32), Signal(32), Signal(32), Signal()
        total, logic, function = Signal(33), Signal(32), Signal(2)
        m.d.comb += total.eq(a + b + inverted)
        for code, value in enumerate((a ^ b, a, a | b, a & b)):
            with m.If(function == code):
                m.d.comb += logic.eq(value)
        less, taken = Signal(), Signal()
        unsigned = Mux(late.branch, funct3[1], funct3[0])
        m.d.comb += [
            less.eq(Mux((a[31] == b[31]) & ~unsigned, a[31], ~total[32])),
            taken.eq(Mux(funct3[2], less, logic.all()) ^ funct3[0]),
        ]
        from_logic, from_low, from_compare = Signal(), Signal(), Signal()
        own = Mux(from_logic, logic, Mux(from_low, low, total[:32]))
        m.d.comb += result.eq(Mux(late.load, loaded(funct3, lane, low),
                                  Mux(late.jump, Cat(0, 0, next_pc),
                                      Mux(from_compare, less, own))))

        # A step of a shift or a multiplication.
        count, four, last = Signal(6), Signal(), Signal()
        add = late.multiply & low[0]
        signed = Mux(late.multiply, funct3[:2] == 1, word[30])
        moved = Mux(add, total[:32], a)
        fill = signed & Mux(add, a[31] ^ b[31], a[31]) ^ (add & total[32])
        m.d.comb += [four.eq(~late.multiply & count[2:].any()),
                     last.eq(count == Mux(four, 4, 1))]
        amount = Mux(kind.op, rs2[:5], word[20:25])
        # To MULH and MULHSU a negative first operand was 2**32 more than it is.
        correct = late.multiply & (funct3[0] ^ funct3[1]) & rs1[31]

        here, value = Cat(0, 0, pc), immediate(kind, word)
        place, target = Signal(32), Signal(CODE_BITS)
        # What is fetched, decided a cycle before: in OPERANDS the target of a branch or JAL, one of
        # these, or the next instruction.
        turns, other = Signal(), Signal(30)
        from_addr, from_after, from_behind = Signal(init=1), Signal(), Signal()
        own = Signal()  # a load or store goes to the memory of the instructions
        jumped = Signal()  # to the instruction that is read
        m.d.comb += [
            place.eq(rs1 + value), target.eq(pc + relative(word)),
            other.eq(Mux(from_addr, addr, Mux(from_after, after,
                                              Mux(from_behind, behind, next_pc)))),
            own.eq(False if self._own is None else place[REGION_BITS:REGION_BITS + 3] == self._own),
            self.fetch_addr.eq(Mux(turns, Cat(target, pc[CODE_BITS:]), other)),
            bus.addr.eq(addr), bus.write_data.eq(stored(funct3, rs2)),
        ]
        # These are of use in the cycle after OPERANDS only, or after a STEP.
        m.d.sync += [
            a.eq(Mux(kind.auipc, here, rs1) & ~(kind.lui | kind.multiply).replicate(32)),
            b.eq(Mux(kind.op | kind.branch, rs2, value) ^ kind.subtract.replicate(32)),
            inverted.eq(kind.subtract), low.eq(rs1), count.eq(Mux(kind.multiply, 32, amount)),
        ]
        m.d.sync += turns.eq(reads & is_relative(self.fetched))
        with m.If(reads):
            m.d.sync += [
                word.eq(self.fetched), pc.eq(Mux(jumped, addr, next_pc)),
                next_pc.eq(Mux(jumped, after, behind)), behind.eq(Mux(jumped, after, behind) + 1),
            ]
        m.d.sync += [after.eq(addr + 1), from_addr.eq(0), from_after.eq(0), from_behind.eq(0)]
        with m.FSM():
            with m.State("FETCH"):
                m.next = "FETCHED"
            with m.State("FETCHED"):
                m.d.sync += from_after.eq(1)
                m.next = "READ"
            with m.State("READ"):
                m.d.comb += [reads.eq(1), jumped.eq(1)]
                m.next = "OPERANDS"
            with m.State("OPERANDS"):
                m.d.sync += [
                    function.eq(kind.function), from_logic.eq(kind.from_logic),
                    from_low.eq(kind.from_low), from_compare.eq(kind.from_compare),
                    addr.eq(Mux(turns, Cat(target, pc[CODE_BITS:]), place[2:])),
                    lane.eq(place[:2]), bus.read.eq(kind.load),
                    bus.strobes.eq(strobes(funct3, place[:2]) & kind.store.replicate(4)),
                    *(signal.eq(getattr(kind, name)) for name, signal in vars(late).items()),
                    from_addr.eq(kind.jalr), from_behind.eq(~kind.jalr),
                ]
                m.next = "EXECUTE"
                with m.If(kind.load | kind.store):
                    m.d.sync += [from_addr.eq(own), from_behind.eq(0)]
                    m.next = "ACCESS"
                with m.If(kind.multiply | kind.shift & amount.any()):
                    m.d.sync += from_behind.eq(0)
                    m.next = "STEP"
                with m.If(kind.halt):
                    m.next = "HALT"
            with m.State("STEP"):
                m.d.sync += [
                    count.eq(count - Mux(four, 4, 1)),
                    a.eq(Mux(four, Cat(a[4:], fill.replicate(4)), Cat(moved[1:], fill))),
                    low.eq(Mux(late.multiply, Cat(low[1:], moved[0]), low << Mux(four, 4, 1))),
                    b.eq(rs2 ^ (last & correct).replicate(32)), inverted.eq(last & correct),
                ]
                with m.If(last):
                    m.d.sync += from_behind.eq(1)
                    m.next = "EXECUTE"
                    with m.If(correct):
                        m.d.sync += from_logic.eq(0)
            with m.State("EXECUTE"):
                m.d.comb += [put.eq(late.writes), reads.eq(1)]
                m.next = "OPERANDS"
                with m.If(late.jump | late.branch & taken):
                    # What has been read is of no use.
                    m.d.sync += [turns.eq(0), from_after.eq(1)]
                    m.next = "READ"
                with m.If(late.jalr):
                    m.d.sync += from_after.eq(0)
                    m.next = "FETCHED"
            with m.State("ACCESS"):
                with m.If(bus.ready):
                    m.d.sync += [bus.read.eq(0), bus.strobes.eq(0), from_behind.eq(~late.load)]
                    m.next = "WRITE"
                    with m.If(late.load):
                        m.next = "WAIT"
            with m.State("WAIT"):
                m.next = "LOADED"
            with m.State("LOADED"):
                m.d.sync += [low.eq(bus.read_data), from_behind.eq(1)]
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [put.eq(late.load), reads.eq(1)]
                m.next = "OPERANDS"
            with m.State("HALT"):
                m.d.comb += self.halted.eq(1)
        return m
