"""No bit of the hardware is idle: each changes at some time, and something reads it.

A signal that is wider than what it holds makes no difference to what the chip does, but takes
wires and flip-flops. Those that may be are listed, with what they are for.
"""

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.soc.link.host_link import HostLink
from celosia_hw.soc.memory_arbiter import MemoryArbiter
from celosia_hw.soc.on_chip_memory import OnChipMemory
from celosia_hw.soc.sdram import SdramController
from celosia_hw.top import Celosia
from hw.netlist import netlist, stuck, unread

#: It has what there is: both formats, and a link.
CHIP = TpuConfig("all", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8, ports=1)
#: A walk of two loops is one of three whose third is done once; it has no third stride.
TWO_LOOPS = {f"{unit}.walk{part}": bits for unit in (
    "load.unpacker", "store.fetch", "link.sender.fetch", "link.receiver.unpacker")
    for part, bits in {
        ".agen: $signal": 1, ".agen: n": 15, ".agen: rises": 1, ".agen: s": 6, ": counts": 16,
        ": stream": 7}.items()}
STUCK = TWO_LOOPS | {
    # Bursts begin at a beat: so do their addresses. Three of the four users of the bus have an ID.
    "bus.bursts: held": 4, "bus.bursts: i__payload": 4, "bus.loads: held": 4,
    "bus.loads: o__payload": 4, "bus.writes: m_axi_awaddr": 3, "bus.writes: m_axi_awid": 1,
    "load.walker: axi__ar__payload": 1, "load.walker: i__payload": 1,
    "load.walker: load__ar__payload": 4, "load.walker: o__payload": 1,
    "store.walker: axi__aw__payload": 1, "store.walker: i__payload": 1,
    "store.walker: o__payload": 1, "store.walker: store__aw__payload": 4,
    "scalar.fetch: fetch__ar__payload": 9,
    # A port that comes first is never refused.
    ": events": 2, "acc: conflicts": 2, "ub: conflicts": 2, "host.counters: events": 2,
    "host.counters: narrow_conflicts_ub_read_mxu_acts": 7,
    "host.counters: narrow_conflicts_ub_write_vpu": 7,
    "host.counters: tick_conflicts_ub_read_mxu_acts": 1,
    "host.counters: tick_conflicts_ub_write_vpu": 1,
    # Low and high words lie beside one another.
    "host.counters: read_addr": 2, "host.counters: write_addr": 2,
    # OKAY and SLVERR differ in one of their bits; a check has few of the faults.
    "host.responder: s_axil_bresp": 1, "host.responder: s_axil_rresp": 1,
    "scalar.operands.decoder: fault": 2, "scalar.operands: illegal": 2,
    "scalar.tensor.checker.spans: fault": 2, "scalar.tensor.scoreboard: failed": 1,
    # A link has no bus that errs, and follows nobody; words have bits to spare.
    "link.layer.sender: head": 6, "link.receiver.joiner: o__payload": 2,
    "link.receiver.unpacker: bad": 1, "link.receiver.unpacker: o__payload": 1,
    "link.receiver.unpacker: unit_error": 1, "link.receiver.writes: error": 1,
    "link.receiver: i__payload": 4, "link.receiver: port_rx0__detail": 1,
    "link.sender.fetch: there": 1, "link.sender: i__payload": 4, "link: link_status": 4,
    # Sums of values without bits below the last one.
    "link.receiver.joiner: join_sum_big_sig": 3, "link.receiver.joiner: join_sum_lost": 3,
    "link.receiver.joiner: join_sum_small_sig": 3,
    # The matrix unit has no stream whose rows fall; commands are of one format.
    "load.split: i__payload": 1, "store.split: i__payload": 1, "mxu.streamer.acc: rises": 1,
    "mxu.streamer.acts: rises": 1, "mxu.streamer.rows: behind": 2,
    "mxu.streamer.rows: o__payload": 2, "mxu.streamer: i__payload": 2,
    # N2 has ten bits; what an operation has no operand for is 0.
    "scalar.tensor.scoreboard.dispatcher: port__command__payload": 6, "vpu.fetch: i__payload": 8,
    "vpu.fetch: p__payload": 8, "vpu.indexer: walk__payload": 74, "vpu.issue.agen: n": 6,
    "vpu.issue.route: rows__0": 1, "vpu.issue.route: third": 1, "vpu.issue: bound_high": 16,
    "vpu.issue: bound_low": 16, "vpu.issue: hold_a": 1, "vpu.issue: third": 1,
    "vpu.p.requests: latest": 1, "vpu.p.requests: tag": 1, "vpu.p.walk.agen: n": 6,
    "vpu.p.walk.agen: rises": 1, "vpu.p.walk: i__payload": 1, "vpu.p.walk: tag": 1,
    "vpu.p: $signature__data": 1, "vpu.q.requests: latest": 2, "vpu.q.requests: tag": 2,
    "vpu.q.walk.agen: n": 6, "vpu.q.walk.agen: rises": 1, "vpu.q.walk: i__payload": 2,
    "vpu.q.walk: tag": 2, "vpu.q: $signature__data": 2, "vpu: i__payload": 7, "vpu: number": 32,
}
UNREAD = {
    # Ports that buses have.
    ": m_axi_arlock": 1, ": m_axi_awlock": 1, ": m_axi_bid": 1, ": s_axil_arprot": 3,
    ": s_axil_awprot": 3, "bus.beats: o__payload": 1,
    # Ports that never wait, and queues that have room for what was asked for.
    "acc: acc__granted": 1, "acc: acc_read__granted": 1, "acc: acc_write__granted": 1,
    "ub: acts__granted": 1, "ub: ub__granted": 1, "ub: ub_write__granted": 1,
    "ub: weights__granted": 1, "link.layer.receiver.queue: i__ready": 1,
    "link.sender.fetch.queue: i__ready": 1, "load.ends: i__ready": 1,
    "load.progress.queue: i__ready": 1, "store.fetch.queue: i__ready": 1,
    "vpu.writer.queue: i__ready": 1,
    # At the end of a chain, or of a product; what is made for all and of use to some.
    ": before": 12, "load.align_commands: command__payload": 12,
    "mxu.array.elements: take_left_o": 4, "mxu.array.elements: top_o": 64,
    "mxu.streamer.acc: last": 1, "scalar.alu: product": 16, "scalar.fetch: since_keep": 4,
    "scalar.tensor.scoreboard: activities__4": 3, "scalar.tensor.scoreboard: activities__5": 3,
    "vpu.p: i__payload": 1, "vpu.q: o__payload": 1,
}
#: The parts of a board, and theirs: a link asks for one beat and writes whole registers, an
#: on-chip memory is small, an SDRAM's address has bits for others.
PARTS = {
    "link": (lambda: HostLink(CHIP, LinkConfig(80_000_000, 1_000_000)),
             {": axil__w__payload": 4, ": read__ar__payload": 12, ": write__aw__payload": 12,
              ": write__w__payload": 1},
             {": ": 1, ": read__r__payload": 2, "requests.receiver: ": 1}),
    "arbiter": (lambda: MemoryArbiter(CHIP, 1 << 20), {}, {"data: i__ready": 1}),
    "on-chip": (lambda: OnChipMemory(CHIP, 1 << 14), {": read__r__payload": 2},
                {": read__ar__payload": 21, ": write__aw__payload": 30}),
    "sdram": (lambda: SdramController(CHIP, 80_000_000, pad_cycles=2),
              {"bursts: burst": 8, "reads: read__r__payload": 2},
              {": ": 1, "bursts: address": 10, "reads.queue: i__ready": 1, "upkeep: ": 1}),
}


def test_every_bit_of_the_chip_changes_and_is_read():
    found = netlist(Celosia(CHIP))
    assert stuck(found) == STUCK
    assert unread(found) == UNREAD


@pytest.mark.parametrize("name", PARTS)
def test_every_bit_of_a_board_changes_and_is_read(name):
    make, still, idle = PARTS[name]
    found = netlist(make())
    assert stuck(found) == still
    assert unread(found) == idle


class Circuit(wiring.Component):
    """A register of ten bits that begins with 0, of inputs of four bits."""

    def __init__(self, make):
        self._make = make
        super().__init__({"a": In(4), "b": In(4), "o": Out(10)})

    def elaborate(self, platform):
        m = Module()
        held = Signal(10)
        m.d.sync += held.eq(self._make(m, self.a, self.b, held))
        m.d.comb += self.o.eq(held)
        return m


def case(m, a, b, held):
    chosen = Signal(10)
    with m.Switch(a):
        with m.Case("1---"):
            m.d.comb += chosen.eq(b)
        with m.Case("01--"):
            m.d.comb += chosen.eq(0x30)
    return chosen


@pytest.mark.parametrize(("make", "bits"), [
    (lambda m, a, b, held: held + 1, 0), (lambda m, a, b, held: a, 6),
    (lambda m, a, b, held: a + b, 5), (lambda m, a, b, held: a * b, 2),
    (lambda m, a, b, held: a << 2, 6), (lambda m, a, b, held: (a << 6) >> b[:1], 5),
    (lambda m, a, b, held: Cat(a & 5, a | 5, ~(a ^ a[::-1])), 2),
    (lambda m, a, b, held: Mux(a == b, 3, 5), 7), (lambda m, a, b, held: Mux(a == 16, 3, 5), 8),
    (lambda m, a, b, held: Cat(a < 16, a <= b, a < b, a > 15, a >= 15, Const(0, 1) < a), 5),
    (lambda m, a, b, held: Cat(held[0], ~held[1]), 9),
    (lambda m, a, b, held: Cat(a.any(), a.all(), (a | 1).any(), (a & 7).all()), 7),
    (lambda m, a, b, held: Const(0x31, 6).word_select(a[:2], 2), 8), (case, 4)])
def test_bits_that_never_change_are_found(make, bits):
    assert stuck(netlist(Circuit(make))).get(": o", 0) == bits


def test_bits_that_nothing_reads_are_found():
    def make(m, a, b, held):
        wide = Signal(6)
        m.d.sync += wide.eq(a + b)
        return wide[1:4]

    assert unread(netlist(Circuit(make))) == {": wide": 3}
