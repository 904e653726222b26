"""What a port says of itself to the host: on a line that comes back to it."""

import functools

from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem, RecvOp
from celosia.arch.registers import LINK_COUNTERS, LINK_STATUS
from celosia_hw.ici import receiver
from celosia_hw.ici.port import LinkPort
from hw.keeper import Keeper
from hw.simulation import World

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2)
#: Cycles after which a link is down, here.
QUIET = 200


class Loop(wiring.Component):
    """A port whose line ends at itself."""

    def __init__(self):
        self.port = LinkPort(CONFIG, 4)
        super().__init__({"cut": wiring.In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.port = port = self.port
        with m.If(~self.cut):
            m.d.sync += port.rx.eq(port.tx)
        with m.Else():
            m.d.sync += port.rx.eq(0)
        return m


@functools.cache
def world():
    """The port, made once."""
    before, receiver.QUIET_CYCLES = receiver.QUIET_CYCLES, QUIET
    try:
        return World(Loop())
    finally:
        receiver.QUIET_CYCLES = before


def run(cycles, sends, receives, *, cut=lambda cycle: False):
    """Return status and counts by cycle, rows that were written, and detail of errors.

    ``sends`` and ``receives`` have tag and rows by the cycle from which each is there.
    """
    dut = world().component
    port, states, counts, rows, errors = dut.port, [], [], [], []

    async def process(ctx):
        keepers = [Keeper(each, lambda: False) for each in (port.ub_send, port.ub_recv)]
        for each in (port.ub_send, port.ub_recv, port.acc_send, port.acc_recv):
            ctx.set(each.ready, 1)
        waiting = [(port.port_tx, dict(sends)), (port.port_rx, dict(receives))]
        for cycle in range(cycles):
            ctx.set(dut.cut, cut(cycle))
            for unit, items in waiting:
                at = next(iter(items), cycles)
                ctx.set(unit.command.valid, at <= cycle)
                if at <= cycle:
                    tag, count = items[at]
                    ctx.set(unit.command.payload, {
                        "mem": Mem.UB, "fmt": DmaFormat.I8, "op": RecvOp.SET, "tag": tag,
                        "row": tag & 0xF, "linear": 1, "n0": count, "n1": 1})
            _, _, status, counted, up, read, written, row, *units = await ctx.tick().sample(
                port.status, port.counts.as_value(), port.up, port.ub_send.valid,
                port.ub_recv.valid, port.ub_recv.addr, *(each for unit, _ in waiting for each in (
                    unit.command.ready, unit.error, unit.detail)))
            for keeper, asked in zip(keepers, (read, written), strict=True):
                keeper.answer(ctx, asked or None)
            states.append({name: status >> first & (1 << bits) - 1
                           for name, (first, bits) in LINK_STATUS.items()})
            assert status >> 28 == 0
            assert states[-1]["up"] == up
            counts.append({name: counted >> 32 * n & 0xFFFF_FFFF
                           for n, name in enumerate(LINK_COUNTERS)})
            if written:
                rows.append(row)
            for (_, items), (ready, error, detail) in zip(waiting, (units[:3], units[3:]),
                                                          strict=True):
                if ready and next(iter(items), cycles) <= cycle:
                    del items[next(iter(items))]
                if error:
                    errors.append((cycle, detail))

    world().run(process)
    return states, counts, rows, errors


def changes(states):
    """Return the states that differ from the one before, with their cycles."""
    return [(cycle, tuple(state.values())) for cycle, state in enumerate(states)
            if cycle == 0 or state != states[cycle - 1]]


def test_status_has_what_is_under_way_with_its_tag():
    messages = {40: (0x12A, 20), 41: (0xFED, 1)}
    states, counts, rows, errors = run(160, messages, {10: messages[40], 41: messages[41]})
    # Up, down, sending, receiving, and the tags of these.
    assert changes(states) == [
        (0, (0, 0, 0, 0, 0, 0)), (7, (1, 0, 0, 0, 0, 0)), (11, (1, 0, 0, 1, 0, 0x12A)),
        (41, (1, 0, 1, 1, 0x12A, 0x12A)), (67, (1, 0, 1, 1, 0xFED, 0x12A)),
        (69, (1, 0, 0, 1, 0xFED, 0x12A)), (87, (1, 0, 0, 0, 0xFED, 0x12A)),
        (88, (1, 0, 0, 1, 0xFED, 0xFED)), (91, (1, 0, 0, 0, 0xFED, 0xFED))]
    assert (rows, errors) == ([*range(10, 30), 13], [])
    # The first message's 21 words leave in frames of 9, and the second is in the last of these.
    # Each word leaves in a cycle of its own; some rows are written in cycles in which words come.
    assert counts[-1] == {"sent": 3, "resent": 0, "received": 3, "garbled": 0, "tx_busy": 23,
                          "rx_busy": 28, "rx_wait": 52}
    assert all(before[name] <= after[name] <= before[name] + 1 for name in LINK_COUNTERS
               for before, after in zip(counts, counts[1:], strict=False))


def test_a_line_that_is_cut_is_down_and_what_waits_for_it_is_at_fault():
    states, counts, rows, errors = run(300, {40: (0x12A, 20)}, {10: (0x12A, 20)},
                                       cut=lambda cycle: cycle >= 62)
    assert changes(states)[-2:] == [(67, (1, 0, 0, 1, 0x12A, 0x12A)),
                                    (262, (0, 1, 0, 1, 0x12A, 0x12A))]
    # What came in a whole frame is there.
    assert (rows, errors) == ([*range(10, 18)], [(263, 4 | 1 << 32)])
    assert {name: counts[-1][name] for name in ("sent", "received", "tx_busy")} == {
        "sent": 3, "received": 1, "tx_busy": 21}


def test_frames_that_a_gap_has_spoilt_are_counted_and_sent_again():
    states, counts, rows, errors = run(150, {40: (1, 20)}, {10: (1, 20)},
                                       cut=lambda cycle: cycle == 50)
    assert (rows, errors) == ([*range(1, 21)], [])
    assert {name: counts[-1][name] for name in ("sent", "resent", "received", "garbled")} == {
        "sent": 6, "resent": 3, "received": 3, "garbled": 1}
    assert changes(states)[-1][1][2:4] == (0, 0)
