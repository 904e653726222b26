"""Performance counters, kept in a RAM."""

from itertools import pairwise
from typing import NamedTuple

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.memory.ram import Ram
from celosia_hw.stream import delayed

__all__ = ["PAUSE", "READ_LATENCY", "PerfCounters", "events_layout"]

#: Cycles for which a read keeps the sweep from going on.
PAUSE = 6
#: Cycles from ``read`` to the value.
READ_LATENCY = 8
#: Bits of a narrow counter; it counts to 2**_BITS - 2.
_BITS = 7
#: Inputs of the tables that FPGAs are made of.
_TABLE_BITS = 4
#: Narrow counters that one step of the choice of one of them goes over.
_GROUP = 8


def events_layout() -> data.StructLayout:
    """What is counted in a cycle.

    ``retired``: an instruction was executed or dispatched. ``read_beat``, ``write_beat``: a beat
    moved on the memory port, in the cycle before. ``activity``: of each unit. ``conflicts``: of
    each port of the on-chip memories, a request was refused in the cycle before.
    """
    return data.StructLayout({
        "retired": 1, "read_beat": 1, "write_beat": 1,
        "activity": data.StructLayout({unit: Activity for unit in registers.UNIT_NAMES}),
        "conflicts": data.StructLayout({port: 1 for port in registers.PORTS}),
    })


def _next(state: Value) -> Value:
    """State of a narrow counter after ``state``; the first one is 0."""
    return Cat(~(state[_BITS - 1] ^ state[_BITS - 2]), state[:-1])


def _numbers() -> list[int]:
    """How many states of a narrow counter come before each; 0 for the one that is no state."""
    value, mask = 0, (1 << _BITS) - 1
    numbers = [0] * (mask + 1)
    for i in range(mask):
        numbers[value] = i
        value = value << 1 & mask | (~(value >> _BITS - 1 ^ value >> _BITS - 2) & 1)
    assert value == 0
    return numbers


def _number(m: Module, state: Signal) -> Signal:
    """Return how many states of a narrow counter come before ``state``."""
    numbers = _numbers()
    # The low bits of the state are what a table of an FPGA takes; the others choose among tables.
    size = 1 << _TABLE_BITS
    parts = [Signal(_BITS, name=f"numbers{first}") for first in range(0, len(numbers) - 1, size)]
    for k, part in enumerate(parts):
        m.d.comb += part.eq(Array(numbers[k * size:(k + 1) * size])[state[:_TABLE_BITS]])
    number = Signal(_BITS)
    m.d.comb += number.eq(Array(parts)[state[_TABLE_BITS:]])
    return number


def _looked_up(m: Module, state: Signal) -> Value:
    """As `_number`, in the form that simulates fast."""
    m.submodules.numbers = numbers = Memory(shape=_BITS, depth=1 << _BITS, init=_numbers())
    read = numbers.read_port(domain="comb")
    m.d.comb += read.addr.eq(state)
    return read.data


class _Sweep(NamedTuple):
    """What narrow counters are told: ``run`` to count the ``events``, ``clear``, ``sweep`` to clear
    the one at ``position``. ``at``: the one that is looked at; ``place``: that of the cycle before.
    """

    events: data.View
    run: Signal
    clear: Signal
    sweep: Signal
    position: Signal
    at: Signal
    place: Signal


class PerfCounters(wiring.Component):
    """One counter of COUNTER_BITS for each name of ``registers.counter_names()``.

    Every cycle with ``run`` counts, so the six states of a unit sum to ``cycles``. Events are
    counted in narrow counters; a sweep that moves on by one counter a cycle adds them to the RAM.
    A narrow counter is a shift register with feedback, which costs a fifth of an adder's logic
    (:func:`_next`); one table, through which the sweep goes, has the numbers of its states. What a
    platform says is ``simulated`` has them as planes: a register of bits for all, which a host
    evaluates in a few instructions.

    A read pauses the sweep for PAUSE cycles, in which sums that are under way reach the RAM. The
    narrow counters have room for that.

    A read adds up what the RAM and the narrow counter hold, so it is exact: it holds every event
    up to the cycle before ``read``.

    Members
    -------
    run : In(1)
        Count the events of this cycle.
    clear : In(1)
        Set all counters to 0; not together with ``run``.
    events : In(events_layout())
    read : In(1)
        Read counter ``index``, which stays for two cycles. Reads are at least 2 * PAUSE cycles
        apart.
    index : In
        Position in ``counter_names()``. Beyond the last, the value has no meaning.
    value : Out(COUNTER_BITS)
        Valid READ_LATENCY cycles after ``read``, until the next read. Byte counters wrap in bytes.
    """

    run: Signal
    clear: Signal
    events: data.View
    read: Signal
    index: Signal
    value: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        self._names = registers.counter_names()
        # As deep as block RAMs are: a RAM of logic would be as large as all else here.
        self._totals = Ram(registers.COUNTER_BITS, 256)
        super().__init__({
            "run": In(1), "clear": In(1), "events": In(events_layout()),
            "read": In(1), "index": In(range(len(self._names))),
            "value": Out(registers.COUNTER_BITS),
        })

    def _ticks(self, events: data.View) -> dict[str, ValueLike]:
        """Return for each counter the condition under which it counts."""
        ticks: dict[str, ValueLike] = {
            "cycles": 1, "instructions": events.retired,
            "bytes_read": events.read_beat, "bytes_written": events.write_beat,
        }
        for unit in registers.UNIT_NAMES:
            for state in Activity:
                ticks[f"{unit}_{state.name.lower()}"] = events.activity[unit] == state
        for port in registers.PORTS:
            ticks[f"conflicts_{port}"] = events.conflicts[port]
        return ticks

    def _apart(self, m: Module, told: _Sweep) -> tuple[list[tuple[Signal, Value]], Value]:
        """A register for each narrow counter, the form for synthesis.

        Returns registers for the narrow counter of each group that is looked at and its tick, with
        what goes into them in the cycle in which it is; and from them state and tick of the one.
        """
        ticks = self._ticks(told.events)
        narrow = []  # each with its tick of this cycle
        for i, name in enumerate(self._names):
            counter = Signal(_BITS, name=f"narrow_{name}")
            tick = Signal(name=f"tick_{name}")
            m.d.comb += tick.eq(told.run & ticks[name])
            with m.If(told.clear | (told.sweep & (told.position == i))):
                m.d.sync += counter.eq(0)
            with m.Elif(tick):
                m.d.sync += counter.eq(_next(counter))
            narrow.append(Cat(counter, tick))
        groups = [Signal(_BITS + 1, name=f"group{i}", reset_less=True)
                  for i in range(0, len(narrow), _GROUP)]
        values = [Array(narrow[k * _GROUP:(k + 1) * _GROUP])[told.at % _GROUP]
                  for k in range(len(groups))]
        return (list(zip(groups, values, strict=True)),
                Array(groups)[told.place // _GROUP])

    def _planes(self, m: Module, told: _Sweep) -> tuple[list[tuple[Signal, Value]], Value]:
        """As `_apart`, in the form that simulates fast: a register for each bit of all of them, and
        one group.
        """
        count, events = len(self._names), told.events
        ticks, cleared, one = Signal(count), Signal(count), Const(1, count)
        with m.If(told.run):
            m.d.comb += ticks.eq(Cat(
                Const(1, 1), events.retired, events.read_beat, events.write_beat,
                *((Const(1, len(Activity)) << events.activity[unit])[:len(Activity)]
                  for unit in registers.UNIT_NAMES), events.conflicts))
        with m.If(told.clear):
            m.d.comb += cleared.eq(-1)
        with m.Elif(told.sweep):
            m.d.comb += cleared.eq(one << told.position)
        planes = [Signal(count, name=f"plane{bit}") for bit in range(_BITS)]
        counted = [~(planes[-1] ^ planes[-2]), *planes[:-1]]
        m.d.sync += [plane.eq((ticks & then | ~ticks & plane) & ~cleared)
                     for plane, then in zip(planes, counted, strict=True)]
        chosen = Signal(_BITS + 1, reset_less=True)
        return [(chosen, Cat(bits.bit_select(told.at, 1) for bits in (*planes, ticks)))], chosen

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bits, count = registers.COUNTER_BITS, len(self._names)
        m.submodules.totals = totals = self._totals

        run, clear = Signal(), Signal()
        events = Signal(events_layout(), reset_less=True)
        m.d.sync += [run.eq(self.run), clear.eq(self.clear), events.eq(self.events)]

        position = Signal(range(count))  # of the sweep
        fresh = Signal(init=1)  # totals from ``position`` on are stale: to be taken as 0
        # The cycles of a read: the second is that in which its narrow counter is looked at, in the
        # last but one the sum is made.
        steps = Signal(READ_LATENCY)
        sweep, sample = Signal(), steps[1]
        m.d.comb += [steps[0].eq(self.read), sweep.eq(run & ~steps[:PAUSE].any())]
        m.d.sync += steps[1:].eq(steps)
        with m.If(clear):
            m.d.sync += [position.eq(0), fresh.eq(1)]
        with m.Elif(sweep):
            m.d.sync += position.eq(position + 1)
            with m.If(position == count - 1):
                m.d.sync += [position.eq(0), fresh.eq(0)]

        # Between two visits lie at most 2 * count cycles, and a pause.
        assert 2 * count + PAUSE <= (1 << _BITS) - 2
        at = Signal.like(position)
        place = Signal.like(position, reset_less=True)
        stale = Signal(reset_less=True)
        # What a simulator of Verilog evaluates fast is slow to synthesise, and the other way round.
        simulated = getattr(platform, "simulated", False)
        narrow = self._planes if simulated else self._apart
        groups, chosen = narrow(m, _Sweep(events, run, clear, sweep, position, at, place))
        # First cycle: one of each group of narrow counters. A sample stays as long as the sweep is
        # paused.
        m.d.comb += at.eq(Mux(sample, self.index, position))
        with m.If(sweep | sample):
            m.d.sync += [
                place.eq(at), stale.eq(fresh & (sweep | (self.index >= position))),
                *(group.eq(value) for group, value in groups)]
        # Second: one of the groups. Third: its number. Fourth: in bytes, and the total from the
        # RAM. Then their sum. A sample's tick is of a cycle that it does not hold.
        shift = exact_log2(self._config.bus_bytes)
        beats = [self._names.index(name) for name in ("bytes_read", "bytes_written")]
        state = Signal(_BITS, reset_less=True)
        one = Signal(reset_less=True)
        in_bytes = Cat(place == i for i in beats).any()
        part = Signal(_BITS + 1 + shift, reset_less=True)
        old, total = Signal(bits, reset_less=True), Signal(bits, reset_less=True)
        valid = Signal(5)  # a sum of the sweep is in this stage
        places = [place, *(Signal.like(place, name=f"place{k}", reset_less=True)
                           for k in range(4))]
        in_bytes, forget = (delayed(m, value, 2, name=name, reset_less=True)[-1]
                            for name, value in (("in_bytes", in_bytes), ("forget", stale)))
        number = Signal(_BITS + 1, reset_less=True)
        m.d.sync += [
            valid.eq(Cat(sweep, valid)), *(b.eq(a) for a, b in pairwise(places)),
            Cat(state, one).eq(chosen),
            number.eq((_looked_up if simulated else _number)(m, state) + (one & valid[1])),
            part.eq(Mux(in_bytes, number << shift, number)),
            old.eq(totals.read_data), total.eq(old + part),
        ]
        m.d.comb += [
            totals.read_addr.eq(places[1]), totals.read_en.eq(1),
            totals.write_addr.eq(places[4]), totals.write_data.eq(total),
            totals.write_en.eq(valid[4]),
        ]
        with m.If(forget):
            m.d.sync += old.eq(0)
        with m.If(steps[-1]):
            m.d.sync += self.value.eq(old + part)
        return m
