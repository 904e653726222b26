"""Performance counters, kept in a RAM."""

from amaranth.hdl import Array, Module, Mux, Signal, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia_hw.commands import Activity

__all__ = ["READ_LATENCY", "PerfCounters", "events_layout"]

#: Cycles from ``read`` to the value.
READ_LATENCY = 3


def events_layout() -> data.StructLayout:
    """What is counted in a cycle.

    ``retired``: an instruction was executed or dispatched. ``read_beat``, ``write_beat``: a beat
    moved on the memory port. ``activity``: of each unit. ``conflicts``: of each port of the
    on-chip memories, valid and not ready.
    """
    return data.StructLayout({
        "retired": 1, "read_beat": 1, "write_beat": 1,
        "activity": data.StructLayout({unit: Activity for unit in registers.UNIT_NAMES}),
        "conflicts": data.StructLayout({port: 1 for port in registers.PORTS}),
    })


class PerfCounters(wiring.Component):
    """One counter of COUNTER_BITS for each name of ``registers.counter_names()``.

    Every cycle with ``run`` counts, so the six states of a unit sum to ``cycles``. Events are
    counted in narrow counters; a sweep that moves on by one counter a cycle adds them to the RAM.
    That is a fifth of the logic of wide counters. A read pauses the sweep for two cycles; the
    narrow counters have room for that as long as it is not more than every other cycle.

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
        Read counter ``index``, which stays for two cycles. Reads are at least READ_LATENCY + 1
        cycles apart.
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
        self._totals = Memory(shape=registers.COUNTER_BITS, depth=len(self._names), init=[])
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

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bits, count = registers.COUNTER_BITS, len(self._names)
        m.submodules.totals = self._totals
        source, sink = self._totals.read_port(), self._totals.write_port()

        run = Signal()
        events = Signal(events_layout(), reset_less=True)
        m.d.sync += run.eq(self.run)
        with m.If(self.run):
            m.d.sync += events.eq(self.events)

        position = Signal(range(count))  # of the sweep
        fresh = Signal(init=1)  # totals from ``position`` on are stale: to be taken as 0
        sweep, sample = Signal(), Signal()  # sample: the second cycle of a read
        m.d.sync += sample.eq(self.read)
        m.d.comb += [
            sweep.eq(run & ~self.read & ~sample),
            source.addr.eq(Mux(sample, self.index, position)), source.en.eq(sweep | sample),
        ]
        with m.If(self.clear):
            m.d.sync += [position.eq(0), fresh.eq(1)]
        with m.Elif(sweep):
            m.d.sync += position.eq(position + 1)
            with m.If(position == count - 1):
                m.d.sync += [position.eq(0), fresh.eq(0)]

        # Between two visits lie at most 2 * count cycles.
        narrow = [Signal(bits_for(2 * count), name=f"narrow_{name}") for name in self._names]
        visited = Signal(count)
        m.d.comb += visited.eq(sweep << position)
        ticks = self._ticks(events)
        for i, (name, counter) in enumerate(zip(self._names, narrow, strict=True)):
            tick = Signal(name=f"tick_{name}")
            m.d.comb += tick.eq(run & ticks[name])
            with m.If(self.clear):
                m.d.sync += counter.eq(0)
            with m.Elif(tick | visited[i]):
                m.d.sync += counter.eq(Mux(visited[i], 0, counter) + tick)

        part = Signal.like(narrow[0], reset_less=True)
        stale = Signal(reset_less=True)
        total = Signal(bits)
        with m.If(sweep | sample):
            m.d.sync += [part.eq(Array(narrow)[source.addr]),
                         stale.eq(fresh & (source.addr >= position))]
        m.d.comb += [total.eq(Mux(stale, 0, source.data) + part), sink.data.eq(total)]
        m.d.sync += [sink.en.eq(sweep), sink.addr.eq(position)]

        answer, in_bytes = Signal(), Signal(reset_less=True)
        first_byte, last_byte = map(self._names.index, ("bytes_read", "bytes_written"))
        m.d.sync += [answer.eq(sample),
                     in_bytes.eq((self.index >= first_byte) & (self.index <= last_byte))]
        with m.If(answer):
            shift = exact_log2(self._config.bus_bytes)
            m.d.sync += self.value.eq(Mux(in_bytes, total << shift, total))
        return m
