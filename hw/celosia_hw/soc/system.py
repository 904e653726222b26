"""A chip, its memory and the host link, as they are on a board."""

from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.board import MemoryKind
from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw import top
from celosia_hw.bus.axi import AxiLiteSignature, AxiReadSignature, AxiWriteSignature
from celosia_hw.grid import ports
from celosia_hw.soc.lights import add_lights
from celosia_hw.soc.link.host_link import HostLink
from celosia_hw.soc.memory_arbiter import MemoryArbiter
from celosia_hw.soc.on_chip_memory import OnChipMemory
from celosia_hw.soc.sdram import SdramController, sdram_pins
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["MODULE_NAME", "System", "SystemConfig"]

#: Verilog module of the system.
MODULE_NAME = "celosia_system"


@dataclass(frozen=True)
class SystemConfig:
    """What is around the chip.

    Parameters
    ----------
    link
        Clock, wire and memory size; ``memory_bytes`` a power of two.
    memory
        ``"sdram"`` or ``"on-chip"``.
    sdram
        The device.
    pad_cycles
        Cycles that registers at the pads of the SDRAM add, see `SdramController`.

    Raises
    ------
    ValueError
        If the memory is another than the link tells the host.
    """

    link: LinkConfig
    memory: MemoryKind = "on-chip"
    sdram: SdramTiming = field(default_factory=SdramTiming)
    pad_cycles: int = 0

    def __post_init__(self) -> None:
        """Check what can be seen without a chip."""
        if self.memory not in ("sdram", "on-chip"):
            raise ValueError(f"SystemConfig.memory must be 'sdram' or 'on-chip', not "
                             f"{self.memory!r}")
        if self.memory == "sdram" and self.link.memory_bytes > self.sdram.bytes:
            raise ValueError(f"SystemConfig.link.memory_bytes must be at most {self.sdram.bytes}, "
                             f"the SDRAM, not {self.link.memory_bytes}")


class System(wiring.Component):
    """The chip on its memory, and a host link to both. One clock, ``sync``; resets as a whole.

    It is for Verilog (`celosia_hw.verilog.chip.system_verilog`): the chip is an instance of its own
    module.

    Members
    -------
    rx : In(1), tx : Out(1)
        The host's wire.
    heartbeat : Out(1)
        Changes four times a second.
    fault : Out(1)
        An access beyond the memory was answered with an error since the reset.
    busy : Out(1)
        The chip used the memory in the last quarter to half of a second.
    cke, cs_n, ras_n, cas_n, we_n, ba, a, dqm, dq_o, dq_oe : Out, dq_i : In
        With an SDRAM: as of `SdramController`.
    """

    rx: Signal
    tx: Signal
    heartbeat: Signal
    fault: Signal
    busy: Signal

    def __init__(self, config: TpuConfig, system: SystemConfig):
        self._config, self._system = config, system
        self._device = sdram_pins(system.sdram) if system.memory == "sdram" else {}
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1),  # type: ignore[call-arg]
            "heartbeat": Out(1), "fault": Out(1), "busy": Out(1), **self._device,
        })

    def elaborate(self, platform):  # noqa: D102
        if not hasattr(platform, "add_module"):
            raise TypeError("System can only be written as Verilog, by system_verilog, not be "
                            f"elaborated for {platform!r}")
        m = Module()
        config, system = self._config, self._system
        link = HostLink(config, system.link)
        arbiter = MemoryArbiter(config, system.link.memory_bytes)
        memory: Any
        if system.memory == "sdram":
            memory = SdramController(config, system.link.clock_hz, system.sdram,
                                     pad_cycles=system.pad_cycles)
        else:
            memory = OnChipMemory(config, system.link.memory_bytes)
        m.submodules.link, m.submodules.arbiter, m.submodules.memory = link, arbiter, memory
        m.d.comb += [link.rx.eq(self.rx), self.tx.eq(link.tx)]
        for name in self._device:
            pin = getattr(self, name)
            m.d.comb += memory.dq_i.eq(pin) if name == "dq_i" else pin.eq(getattr(memory, name))

        lite: Any = AxiLiteSignature().create()
        read: Any = AxiReadSignature(config.bus_bytes).create()
        write: Any = AxiWriteSignature(config.bus_bytes).create()
        wiring.connect(m, link.axil, wiring.flipped(lite))
        wiring.connect(m, link.read, arbiter.link_read)
        wiring.connect(m, link.write, arbiter.link_write)
        wiring.connect(m, read, arbiter.chip_read)
        wiring.connect(m, write, arbiter.chip_write)
        wiring.connect(m, arbiter.read, memory.read)
        wiring.connect(m, arbiter.write, memory.write)
        chip = top.Celosia(config)
        wires = {"clk": ClockSignal(), "rst": ResetSignal(), "irq": link.irq}
        for prefix, bus, channels in (
                ("s_axil", lite, ("aw", "w", "b", "ar", "r")), ("m_axi", read, ("ar", "r")),
                ("m_axi", write, ("aw", "w", "b"))):
            for channel in channels:
                wires |= _channel(f"{prefix}_{channel}", getattr(bus, channel))
        connections = {}
        for letter, name, value in ports(chip):
            # What the streams leave out is constant in the chip, or it ignores it (prot, B's ID).
            connections[f"{letter}_{name}"] = wires.pop(name, Signal.like(value, name=name))
        if wires:
            raise RuntimeError(f"the chip has no pins {', '.join(wires)}")
        platform.add_module(top.MODULE_NAME, chip)
        m.submodules.chip = Instance(top.MODULE_NAME, **connections)

        add_lights(m, system.link.clock_hz, read.ar.valid | write.aw.valid, self.heartbeat,
                   self.busy)
        with m.If(arbiter.beyond):
            m.d.sync += self.fault.eq(1)
        return m


def _channel(prefix: str, stream) -> dict[str, Any]:
    """Values of a stream by the pins of its AXI channel."""
    wires = {f"{prefix}valid": stream.valid, f"{prefix}ready": stream.ready}
    if isinstance(stream.payload, data.View):
        layout: Any = stream.payload.shape()
        return wires | {f"{prefix}{name}": stream.payload[name] for name in layout.members}
    return wires | {f"{prefix}{'resp' if prefix.endswith('b') else 'addr'}": stream.payload}
