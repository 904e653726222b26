"""The chip: every unit of the block diagram, wired together behind AXI pins."""

from typing import Any

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import Flow, In, Out
from amaranth.utils import exact_log2

from celosia.arch import probe, registers
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia_hw.bus.port import MemoryPort
from celosia_hw.dma.load import LoadEngine
from celosia_hw.dma.store import StoreEngine
from celosia_hw.host.interface import HostInterface
from celosia_hw.ici.port import LinkPort
from celosia_hw.memory.banked import BankedMemory
from celosia_hw.memory.ports import ReadPortSignature, row_bits
from celosia_hw.mxu.unit import MatrixUnit
from celosia_hw.scalar.unit import ScalarUnit
from celosia_hw.vpu.unit import VectorUnit

__all__ = ["MODULE_NAME", "Celosia"]

#: Verilog module of the chip.
MODULE_NAME = "celosia"

#: AXI4 constants: INCR bursts, normal non-cacheable bufferable memory, unprivileged secure data.
_BURST_INCR, _CACHE, _PROT = 0b01, 0b0011, 0b000


def _pins(config: TpuConfig, probed: bool) -> dict[str, Any]:
    """Pins of the chip by their AXI names."""
    width, lite = 8 * config.bus_bytes, registers.ADDRESS_BITS
    pins: dict[str, Any] = {"clk": In(1), "rst": In(1), "irq": Out(1)}

    def add(prefix: str, channel: str, towards, **signals: int) -> None:
        away = Out if towards is In else In
        for name, bits in signals.items():
            pins[f"{prefix}_{channel}{name}"] = towards(bits)
        pins[f"{prefix}_{channel}valid"] = towards(1)
        pins[f"{prefix}_{channel}ready"] = away(1)

    add("s_axil", "aw", In, addr=lite, prot=3)
    add("s_axil", "w", In, data=32, strb=4)
    add("s_axil", "b", Out, resp=2)
    add("s_axil", "ar", In, addr=lite, prot=3)
    add("s_axil", "r", Out, data=32, resp=2)
    for channel in ("aw", "ar"):
        add("m_axi", channel, Out, id=1, addr=32, len=8, size=3, burst=2, lock=1, cache=4, prot=3)
    add("m_axi", "w", Out, data=width, strb=config.bus_bytes, last=1)
    add("m_axi", "b", In, id=1, resp=2)
    add("m_axi", "r", In, id=1, data=width, resp=2, last=1)
    for port in range(config.ports):
        for way, flow in (("tx", Out), ("rx", In)):
            pins[f"link{port}_{way}_kind"] = flow(2)
            pins[f"link{port}_{way}_data"] = flow(8 * config.link_bytes)
    if probed:
        pins["probe"] = Out(probe.PROBE_BITS)
    return pins


def _of_links(links: list[LinkPort], *names: str) -> dict[str, Any]:
    """Return the ports of memories that links have by some names."""
    return {f"link{i}_{name.partition('_')[2]}": getattr(link, name)
            for i, link in enumerate(links) for name in names}


class Celosia(wiring.Component):
    """The chip.

    ``rst`` resets everything; the soft reset of the host interface resets the units, while the host
    interface, the memory port and the rows of the on-chip memories live on.

    Parameters
    ----------
    config
        What it is.
    probed
        With the pin ``probe``, for simulations.

    Members
    -------
    clk, rst : In(1)
    irq : Out(1)
        Level interrupt.
    probe : Out(PROBE_BITS)
        What the units do in this cycle, ``celosia.arch.probe``; only of a chip that is ``probed``.
    s_axil_* : AXI4-Lite subordinate, 32-bit data
        Registers, ``celosia.arch.registers``.
    m_axi_* : AXI4 manager
        External memory.
    linkN_tx_kind, linkN_tx_data, linkN_rx_kind, linkN_rx_data
        The link of port N: a word and what it is (``celosia.arch.ici``) in every cycle.
    """

    clk: Signal
    rst: Signal
    irq: Signal

    def __init__(self, config: TpuConfig, *, probed: bool = False):
        self._config, self._probed = config, probed
        super().__init__(_pins(config, probed))

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = self._config
        # Both domains have one clock signal, so that nothing races between them in a simulator.
        sync: Any = ClockDomain("sync")
        units: Any = ClockDomain("units")
        m.domains += [sync, units]
        units.clk = sync.clk
        m.submodules.host = host = HostInterface(config)
        m.submodules.bus = bus = MemoryPort(config)
        m.d.comb += [sync.clk.eq(self.clk), sync.rst.eq(self.rst), units.rst.eq(host.unit_reset)]
        into_units = DomainRenamer("units")

        scalar, load, store = ScalarUnit(config), LoadEngine(config), StoreEngine(config)
        mxu, vpu = MatrixUnit(config), VectorUnit(config)
        bits = row_bits(config)
        borrowed = self._borrowed(m, bits, store, scalar)
        links = [LinkPort(config, i) for i in range(config.ports)]
        self._links(m, scalar, host, links)
        # Order is priority: the MXU first, then the vector unit, which would lose every other row
        # behind a load of 32-bit words; what links send, then DMA; what they receive, for load
        # knows of those before it only.
        ub_reads = {"mxu_acts": mxu.acts, "mxu_weights": mxu.weights, "vpu_p": vpu.ub_p,
                    "vpu_q": vpu.ub_q, **_of_links(links, "ub_send"), "store": store.ub}
        ub_writes = {"vpu": vpu.ub_write, "load": load.ub, **_of_links(links, "ub_recv")}
        acc_reads = {"mxu": mxu.acc_read, "vpu_p": vpu.acc_p, "vpu_q": vpu.acc_q,
                     **_of_links(links, "acc_join", "acc_send"), "store": borrowed}
        acc_writes = {"mxu": mxu.acc_write, "vpu": vpu.acc_write, "load": load.acc,
                      **_of_links(links, "acc_recv")}
        folded: Any = {"narrow": dict.fromkeys(("vpu", "vpu_p", "vpu_q"), config.fold),
                       "banks": config.banks}
        ub = BankedMemory(config.ub_rows, bits, config.ub_row_bits, [*ub_reads], [*ub_writes],
                          knowing=("read_mxu_weights", "write_load"), **folded)
        acc = BankedMemory(config.acc_rows, bits, config.acc_row_bits, [*acc_reads], [*acc_writes],
                           knowing=("write_vpu", "write_load"), **folded)
        for name, unit in (("scalar", scalar), ("load", load), ("store", store), ("mxu", mxu),
                           ("vpu", vpu), ("ub", ub), ("acc", acc),
                           *((f"link{number}", link) for number, link in enumerate(links))):
            m.submodules[name] = into_units(unit)

        for memory, kind, users in ((ub, "read", ub_reads), (ub, "write", ub_writes),
                                    (acc, "read", acc_reads), (acc, "write", acc_writes)):
            for name, user in users.items():
                wiring.connect(m, getattr(memory, f"{kind}_{name}"), user)

        for unit, part in ((Unit.LOAD, load), (Unit.STORE, store), (Unit.MXU, mxu),
                           (Unit.VPU, vpu)):
            wiring.connect(m, getattr(scalar, f"port_{unit.name.lower()}"), part.port)
        for manager, port in ((scalar, bus.fetch), (load, bus.load), (store, bus.store)):
            wiring.connect(m, manager.axi, port)

        part = exact_log2(config.fold)  # bits of a beat's address that say which of its row
        for asked, port, bits in ((load.before.acc[0], mxu.acc_write, 0),
                                  (load.before.acc[1], vpu.acc_write, part),
                                  (load.before.ub[0], vpu.ub_write, part)):
            m.d.comb += [asked.valid.eq(port.valid), asked.row.eq(port.addr[bits:])]
        m.d.comb += [mxu.coming.eq(load.coming), store.written.eq(mxu.written),
                     vpu.first.eq(load.before.acc[0]),
                     store.following.eq(scalar.following)]

        events = host.events
        conflicts = {f"{name}_{port}": memory.conflicts[port]
                     for name, memory in (("ub", ub), ("acc", acc))
                     for port in memory.conflicts.shape().members}
        m.d.comb += [
            *(getattr(scalar, name).eq(getattr(host, name))
              for name in ("start", "prepare", "forget", "program")),
            scalar.length.eq(host.length), scalar.windows.eq(host.windows),
            host.halted.eq(scalar.halted), host.fault_valid.eq(scalar.fault_valid),
            host.fault.eq(scalar.fault), host.pc.eq(scalar.pc), self.irq.eq(host.irq),
            *(part.abort.eq(host.abort) for part in (bus, load, store)),
            host.drained.eq(bus.drained), events.retired.eq(scalar.retired),
            events.read_beat.eq(bus.read_beat), events.write_beat.eq(bus.write_beat),
            *(events.activity[name].eq(scalar.activities[i])
              for i, name in enumerate(registers.UNIT_NAMES)),
            # The MXU's ports on the accumulators come first and never wait.
            *(events.conflicts[name].eq(conflicts[name]) for name in registers.PORTS),
        ]
        for prefix, port, driven, field in (
                ("s_axil_aw", host.axil.aw, In, "addr"), ("s_axil_w", host.axil.w, In, ""),
                ("s_axil_b", host.axil.b, Out, "resp"), ("s_axil_ar", host.axil.ar, In, "addr"),
                ("s_axil_r", host.axil.r, Out, ""), ("m_axi_aw", bus.write.aw, Out, ""),
                ("m_axi_w", bus.write.w, Out, ""), ("m_axi_b", bus.write.b, In, "resp"),
                ("m_axi_ar", bus.read.ar, Out, ""), ("m_axi_r", bus.read.r, In, "")):
            m.d.comb += self._join(prefix, port, driven, field)
        for prefix in ("m_axi_aw", "m_axi_ar"):
            for name, value in (("size", exact_log2(config.bus_bytes)), ("burst", _BURST_INCR),
                                ("cache", _CACHE), ("prot", _PROT)):
                m.d.comb += self._pin(prefix + name).eq(value)
        if self._probed:
            m.d.comb += self._pin("probe").eq(self._states(host, {
                "load": load.port, "store": store.port, "mxu": mxu.port, "vpu": vpu.port}))
        return m

    @staticmethod
    def _borrowed(m: Module, bits: int, store: StoreEngine, scalar: ScalarUnit) -> Any:
        """Return the port of the accumulators that the scalar unit borrows of the store engine.

        It reads while no other unit works.
        """
        borrowed: Any = ReadPortSignature(bits, len(store.acc.data)).create()
        m.d.comb += [
            borrowed.valid.eq(store.acc.valid | scalar.acc_read.valid),
            borrowed.addr.eq(Mux(scalar.acc_read.valid, scalar.acc_read.addr, store.acc.addr)),
        ]
        # Nothing else asks then, so what it asks for is granted in that cycle.
        lent = Signal()  # what was granted in the cycle before is the scalar unit's
        m.d.units += lent.eq(scalar.acc_read.valid)
        for user, its in ((store.acc, ~lent), (scalar.acc_read, lent)):
            m.d.comb += [user.ready.eq(borrowed.ready), user.data.eq(borrowed.data),
                         user.granted.eq(borrowed.granted & its)]
        return borrowed

    @staticmethod
    def _states(host: HostInterface, ports: dict[str, Any]) -> Value:
        """Return the word of the probe."""
        events = host.events
        values: dict[str, Any] = {
            "running": host.running, "pc": host.pc,
            **{name: events[name] for name in ("retired", "read_beat", "write_beat")},
            **{f"{name}_activity": events.activity[name] for name in registers.UNIT_NAMES},
            **{f"{name}_take": port.command.valid & port.command.ready
               for name, port in ports.items()},
            **{f"{name}_done": port.done for name, port in ports.items()},
            **{f"conflicts_{name}": events.conflicts[name] for name in registers.PORTS},
        }
        return Cat(values[field.name][:field.bits] for field in probe.FIELDS)

    def _links(self, m: Module, scalar: ScalarUnit, host: HostInterface,
               links: list[LinkPort]) -> None:
        """Connect ports to the scoreboard and their pins."""
        for i, link in enumerate(links):
            wiring.connect(m, getattr(scalar, f"port_tx{i}"), link.port_tx)
            wiring.connect(m, getattr(scalar, f"port_rx{i}"), link.port_rx)
            for name in ("kind", "data"):
                m.d.comb += [self._pin(f"link{i}_tx_{name}").eq(link.tx[name]),
                             link.rx[name].eq(self._pin(f"link{i}_rx_{name}"))]
        if links:
            m.d.comb += [scalar.device.eq(host.device),
                         host.links.eq(Cat(link.up for link in links)),
                         *(host.link_status[i].eq(link.status) for i, link in enumerate(links)),
                         *(host.link_counts[i].eq(link.counts) for i, link in enumerate(links))]

    def _pin(self, name: str) -> Signal:
        return getattr(self, name)

    def _join(self, prefix: str, port: stream.Interface, driven: Flow, field: str) -> list[Any]:
        """Join a channel to its pins, which are ``driven`` from outside (In) or from here.

        A payload that is not a structure is the pin ``field``.
        """
        payload = {field: port.payload} if field else {
            name: port.payload[name] for name in port.payload.shape().members}
        forth = {"valid": port.valid, **payload}
        if driven is In:
            return [*(value.eq(self._pin(prefix + name)) for name, value in forth.items()),
                    self._pin(f"{prefix}ready").eq(port.ready)]
        return [*(self._pin(prefix + name).eq(value) for name, value in forth.items()),
                port.ready.eq(self._pin(f"{prefix}ready"))]
