"""A whole compact chip, as it is on a board: sequencer, memories, matrix engine, devices."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.soc.compact.boot import boot_program
from celosia_hw.soc.compact.devices import Devices
from celosia_hw.soc.compact.firmware import variant
from celosia_hw.soc.compact.line_buffer import LineBuffer
from celosia_hw.soc.compact.matrix_engine import MatrixEngine
from celosia_hw.soc.compact.memories import BlockMemory, SpramMemory
from celosia_hw.soc.compact.memory_map import ENGINE_BASE, REGION_BITS, Zone
from celosia_hw.soc.compact.row_memories import (
    SPRAM_HALF,
    Accumulators,
    SharedMemory,
    UnifiedBuffer,
)
from celosia_hw.soc.compact.sequencer import Sequencer
from celosia_hw.soc.lights import add_lights
from celosia_hw.soc.sdram import SdramController, sdram_pins
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["CompactSystem"]

class CompactSystem(wiring.Component):
    """The compact chip with its external memory and its devices. One clock, ``sync``.

    The matrix engine reads the unified buffer and reads and writes the accumulators by rows. While
    it is busy the sequencer waits where it wants either, the external memory or the engine's
    registers, which are those of the devices from 0x80 on. The accumulators are written by words
    only; regions wrap, and have no other end. Loads from memories other than the firmware's take a
    cycle more than the sequencer says, those from an SDRAM as the `LineBuffer` does.

    Parameters
    ----------
    config
        A chip of int8 with ``dim`` 2, 4 or 8, or of int8 and bf16 with ``dim`` 2 or 4.
    link
        Clock, wire and sizes.
    firmware
        Words of the sequencer's RAM from address 0 on (`celosia_hw.soc.compact.firmware.image`);
        not with ``spram``.
    spram
        For an iCE40UP: firmware, unified buffer and external memory are in SB_SPRAM256KA, and the
        firmware comes from the flash memory (`celosia_hw.soc.compact.boot`).
    sdram, pad_cycles
        The external memory is an SDRAM, see `SdramController`; not with ``spram``.

    Members
    -------
    rx : In(1), tx : Out(1)
        The host's wire.
    heartbeat : Out(1)
        Changes four times a second.
    fault : Out(1)
        There was an access beyond the memory since the reset, or the sequencer has stopped.
    busy : Out(1)
        The external memory or the matrix engine was used in the last quarter to half of a second.
    flash_cs_n, flash_clk, flash_mosi : Out(1), flash_miso : In(1)
        With ``spram``.
    cke, cs_n, ras_n, cas_n, we_n, ba, a, dqm, dq_o, dq_oe : Out, dq_i : In
        With ``sdram``: as of `SdramController`.

    Raises
    ------
    ValueError
        If the chip or its memory is none that this is made for.
    """

    rx: Signal
    tx: Signal
    heartbeat: Signal
    fault: Signal
    busy: Signal

    def __init__(self, config: TpuConfig, link: LinkConfig, firmware: Sequence[int] = (), *,
                 spram: bool = False, sdram: SdramTiming | None = None, pad_cycles: int = 0):
        if config.dim not in (2, 4, 8):
            raise ValueError(f"config.dim must be 2, 4 or 8, not {config.dim!r}")
        if spram and (sdram or config.dim > 4 or config.bf16):
            raise ValueError("spram must be False with an SDRAM, with config.dim 8 or with bf16, "
                             "not True")
        size = link.memory_bytes
        if size & (size - 1):
            raise ValueError(f"link.memory_bytes must be a power of two, not {size!r}")
        if sdram and size > sdram.bytes:
            raise ValueError(f"link.memory_bytes must be at most {sdram.bytes}, the SDRAM, not "
                             f"{size!r}")
        for what, inside in (("config.ub_bytes", config.ub_bytes), ("link.memory_bytes", size)):
            if spram and inside > SPRAM_HALF:
                raise ValueError(f"{what} must be at most {SPRAM_HALF}, half of two blocks of "
                                 f"SPRAM, not {inside!r}")
        self._ram_bytes = variant(config).ram_bytes
        if len(firmware) > (0 if spram else self._ram_bytes // 4):
            raise ValueError(f"firmware must be of {self._ram_bytes // 4} words at most, none with "
                             f"spram, not {len(firmware)}")
        self._config, self._link, self._firmware, self._spram = config, link, firmware, spram
        self._sdram, self._pad_cycles = sdram, pad_cycles
        flash: dict[str, Any] = {
            "flash_cs_n": Out(1, init=1),  # type: ignore[call-arg]
            "flash_clk": Out(1), "flash_mosi": Out(1), "flash_miso": In(1)}
        self._flash_pins = flash if spram else {}
        self._sdram_pins = sdram_pins(sdram) if sdram else {}
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1),  # type: ignore[call-arg]
            "heartbeat": Out(1), "fault": Out(1), "busy": Out(1), **self._flash_pins,
            **self._sdram_pins,
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, link = self._config, self._link
        reset_address = Zone.BOOT.value << REGION_BITS if self._spram else 0
        m.submodules.sequencer = sequencer = Sequencer(reset_address, Zone.FIRMWARE)
        # Its DSP blocks have no model here.
        mac16 = self._spram and hasattr(platform, "add_file")
        m.submodules.engine = engine = MatrixEngine(config, mac16=mac16)
        m.submodules.devices = devices = Devices(link, flash=self._spram)
        for name in ("rx", "tx", *self._flash_pins):
            inside, outside = getattr(devices, name), getattr(self, name)
            m.d.comb += inside.eq(outside) if name in ("rx", "flash_miso") else outside.eq(inside)

        bus = sequencer.bus
        region = Signal(Zone)
        of_engine = bus.addr[exact_log2(ENGINE_BASE) - 2]  # of the devices
        # A cycle late: between two accesses to data the sequencer executes an instruction.
        working = Signal()
        m.d.sync += working.eq(engine.busy)
        # What memories but that of the firmware are asked for goes into a register first.
        asked = Signal()
        m.d.sync += asked.eq(bus.read & ~(working | asked))
        ready: dict[Zone, Any] = dict.fromkeys(Zone, ~working & (asked | ~bus.read))
        ready[Zone.FIRMWARE], ready[Zone.DEVICES] = Const(1), ~(working & of_engine)
        m.d.comb += region.eq(bus.addr[REGION_BITS - 2:REGION_BITS + 1])

        def strobes(item: Zone):
            """Bytes of a word that are written, if it is there."""
            return bus.strobes & (ready[item] & (region == item)).replicate(4)

        def kept(name: str, word) -> Signal:
            signal = Signal(32, name=f"kept_{name}")
            m.d.sync += signal.eq(word)
            return signal

        # Words, two cycles after that with `ready`.
        found = {
            Zone.FIRMWARE: self._firmware_memory(m, sequencer, region == Zone.FIRMWARE),
            Zone.DEVICES: kept("devices", devices.found),
            Zone.ACCUMULATORS: self._accumulators(m, bus, engine, strobes(Zone.ACCUMULATORS)),
        }
        changes = strobes(Zone.UNIFIED_BUFFER)
        if self._spram:
            m.submodules.buffer = buffer = SharedMemory(config, link.memory_bytes)
            m.d.comb += buffer.external.eq(region == Zone.EXTERNAL)
            changes |= strobes(Zone.EXTERNAL)
            found[Zone.EXTERNAL] = buffer.found
        else:
            m.submodules.buffer = buffer = UnifiedBuffer(config)
            if self._sdram:
                line = self._line(m, bus, self._sdram, (region == Zone.EXTERNAL) & ~working)
                ready[Zone.EXTERNAL], word = line.ready, line.found
            else:
                word = self._block_memory(m, bus, strobes(Zone.EXTERNAL))
            found[Zone.EXTERNAL] = kept("external", word)
        found[Zone.UNIFIED_BUFFER] = self._buffer(m, bus, engine, buffer, changes)
        answer: Any = 0
        for item, word in found.items():
            answers = Signal(2, name=f"answers_{item.name.lower()}")
            m.d.sync += answers.eq(Cat(bus.read & (region == item), answers))
            answer |= word & answers[1].replicate(32)
            with m.If(region == item):
                m.d.comb += bus.ready.eq(ready[item])
        m.d.comb += bus.read_data.eq(answer)

        here = region == Zone.DEVICES
        m.d.comb += [
            devices.word.eq(bus.addr), devices.read.eq(bus.read & here & ~of_engine),
            devices.write.eq(bus.strobes.any() & here & ~of_engine),
            devices.data.eq(bus.write_data),
        ]
        m.d.sync += [
            engine.write.eq(strobes(Zone.DEVICES).any() & of_engine), engine.word.eq(bus.addr),
            engine.data.eq(bus.write_data), self.fault.eq(devices.fault | sequencer.halted),
        ]
        add_lights(m, link.clock_hz, engine.busy | (region == Zone.EXTERNAL), self.heartbeat,
                   self.busy)
        return m

    def _firmware_memory(self, m: Module, sequencer: Sequencer, chosen):
        """Instructions, and data where the bus wants some."""
        bus = sequencer.bus
        strobes = bus.strobes & chosen.replicate(4)
        m.submodules.firmware = memory = SpramMemory() if self._spram else BlockMemory(
            self._ram_bytes // 4, self._firmware, name="firmware")
        m.d.comb += [
            memory.addr.eq(sequencer.fetch_addr), memory.data.eq(bus.write_data),
            memory.strobes.eq(strobes), memory.read.eq(~strobes.any()),
        ]
        fetched = Signal(32)
        m.d.sync += fetched.eq(memory.found)
        m.d.comb += sequencer.fetched.eq(fetched)
        if self._spram:
            words = boot_program(self._ram_bytes)
            m.submodules.boot = boot = Memory(
                shape=32, depth=1 << ceil_log2(len(words)), init=words)
            port, boots, booting = boot.read_port(), Signal(2), Signal(32)
            region = sequencer.fetch_addr[REGION_BITS - 2:REGION_BITS + 1]
            m.d.comb += [port.addr.eq(sequencer.fetch_addr),
                         sequencer.fetched.eq(Mux(boots[1], booting, fetched))]
            m.d.sync += [boots.eq(Cat(region == Zone.BOOT, boots)), booting.eq(port.data)]
        return fetched

    def _accumulators(self, m: Module, bus, engine: MatrixEngine, strobes):
        m.submodules.accumulators = memory = Accumulators(self._config)
        for k in range(self._config.dim):
            for name in ("acc_read", "acc_read_row", "acc_write", "acc_write_row", "acc_sums"):
                m.d.comb += getattr(memory, name)[k].eq(getattr(engine, name)[k])
            m.d.comb += engine.acc_data[k].eq(memory.acc_data[k])
        return self._memory(m, bus, memory, strobes)

    def _buffer(self, m: Module, bus, engine: MatrixEngine, memory, strobes):
        m.d.comb += [memory.ub_read.eq(engine.ub_read), memory.ub_row.eq(engine.ub_row),
                     engine.ub_data.eq(memory.ub_data)]
        return self._memory(m, bus, memory, strobes)

    @staticmethod
    def _memory(m: Module, bus, memory, strobes):
        m.d.comb += [memory.addr.eq(bus.addr), memory.strobes.eq(strobes),
                     memory.data.eq(bus.write_data)]
        return memory.found

    def _block_memory(self, m: Module, bus, strobes):
        m.submodules.external = memory = BlockMemory(
            self._link.memory_bytes // 4, name="external")
        m.d.sync += [memory.addr.eq(bus.addr), memory.strobes.eq(strobes),
                     memory.data.eq(bus.write_data)]
        m.d.comb += memory.read.eq(1)
        return memory.found

    def _line(self, m: Module, bus, timing: SdramTiming, wanted) -> LineBuffer:
        m.submodules.line = line = LineBuffer(self._link.memory_bytes)
        m.submodules.sdram = sdram = SdramController(
            replace(self._config, bus_bytes=4), self._link.clock_hz, timing,
            pad_cycles=self._pad_cycles)
        wiring.connect(m, line.memory_read, sdram.read)
        wiring.connect(m, line.memory_write, sdram.write)
        m.d.comb += [line.addr.eq(bus.addr), line.read.eq(bus.read & wanted),
                     line.strobes.eq(bus.strobes & wanted.replicate(4)),
                     line.data.eq(bus.write_data)]
        for name in self._sdram_pins:
            inside, pin = getattr(sdram, name), getattr(self, name)
            m.d.comb += inside.eq(pin) if name == "dq_i" else pin.eq(inside)
        return line
