"""A whole compact chip, as it is on a board: sequencer, memories, matrix engine, devices."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.boards.lane_ram import LaneRam
from celosia_hw.boards.lights import add_lights
from celosia_hw.boards.system import MODULE_NAME
from celosia_hw.compact.boot import boot_program
from celosia_hw.compact.devices import Devices
from celosia_hw.compact.firmware import RAM_BYTES
from celosia_hw.compact.matrix_engine import MatrixEngine
from celosia_hw.compact.memories import SPRAM_WORDS, BlockMemory, SpramMemory
from celosia_hw.compact.memory_map import ENGINE_BASE, REGION_BITS, Region
from celosia_hw.compact.sequencer import Sequencer
from celosia_hw.emit import Emission, verilog
from celosia_hw.memory.ram import Ram

__all__ = ["CompactSystem", "compact_verilog"]

#: With SPRAM, the unified buffer is in the upper half of what holds the external memory too.
_SPRAM_HALF = 2 * SPRAM_WORDS


class CompactSystem(wiring.Component):
    """The compact chip with its external memory and its devices. One clock, ``sync``.

    The matrix engine reads the unified buffer and reads and writes the accumulators by rows. While
    it is busy the sequencer waits where it wants either, the external memory or the engine's
    registers, which are those of the devices from 0x80 on. The accumulators are written by words
    only; regions wrap, and have no other end.

    Parameters
    ----------
    config
        A chip of int8 only, with ``dim`` 2 or 4.
    link
        Clock, wire and sizes.
    firmware
        Words of the sequencer's RAM from address 0 on (`celosia_hw.compact.firmware.image`); not
        with ``spram``.
    spram
        For an iCE40UP: firmware, unified buffer and external memory are in SB_SPRAM256KA, and the
        firmware comes from the flash memory (`celosia_hw.compact.boot`).

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
                 spram: bool = False):
        if config.dim not in (2, 4):
            raise ValueError(f"config.dim must be 2 or 4, not {config.dim!r}")
        size = link.memory_bytes
        if size & (size - 1):
            raise ValueError(f"link.memory_bytes must be a power of two, not {size!r}")
        for what, inside in (("config.ub_bytes", config.ub_bytes), ("link.memory_bytes", size)):
            if spram and inside > _SPRAM_HALF:
                raise ValueError(f"{what} must be at most {_SPRAM_HALF}, half of two blocks of "
                                 f"SPRAM, not {inside!r}")
        if len(firmware) > (0 if spram else RAM_BYTES // 4):
            raise ValueError(f"firmware must be of {RAM_BYTES // 4} words at most, none with "
                             f"spram, not {len(firmware)}")
        self._config, self._link, self._firmware, self._spram = config, link, firmware, spram
        pins: dict[str, Any] = {
            "flash_cs_n": Out(1, init=1),  # type: ignore[call-arg]
            "flash_clk": Out(1), "flash_mosi": Out(1), "flash_miso": In(1)}
        self._flash_pins = tuple(pins) if spram else ()
        super().__init__({
            "rx": In(1, init=1), "tx": Out(1, init=1),  # type: ignore[call-arg]
            "heartbeat": Out(1), "fault": Out(1), "busy": Out(1), **(pins if spram else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, link = self._config, self._link
        reset_address = Region.BOOT.value << REGION_BITS if self._spram else 0
        m.submodules.sequencer = sequencer = Sequencer(reset_address)
        # Its DSP blocks have no model here.
        mac16 = self._spram and isinstance(platform, Emission)
        m.submodules.engine = engine = MatrixEngine(config, mac16=mac16)
        m.submodules.devices = devices = Devices(link, flash=self._spram)
        for name in ("rx", "tx", *self._flash_pins):
            inside, outside = getattr(devices, name), getattr(self, name)
            m.d.comb += inside.eq(outside) if name in ("rx", "flash_miso") else outside.eq(inside)

        bus = sequencer.bus
        region = Signal(Region)
        of_engine = bus.addr[exact_log2(ENGINE_BASE) - 2]  # of the devices
        # A cycle late: between two accesses to data the sequencer fetches an instruction.
        working = Signal()
        m.d.sync += working.eq(engine.busy)
        m.d.comb += [
            region.eq(bus.addr[REGION_BITS - 2:REGION_BITS + 1]),
            bus.ready.eq(~working | (region == Region.FIRMWARE)
                         | (region == Region.DEVICES) & ~of_engine),
        ]

        def chosen(item: Region) -> tuple[Any, Any]:
            """Whether a word is read, which bytes are written, if it is there."""
            here = bus.ready & (region == item)
            return bus.read & here, bus.strobes & here.replicate(4)

        # Whether a word is read, and the word a cycle later.
        found: list[tuple[Any, Any]] = [
            self._firmware_memory(m, bus, *chosen(Region.FIRMWARE)),
            *self._accumulators(m, bus, engine, *chosen(Region.ACCUMULATORS)),
            (chosen(Region.DEVICES)[0], devices.found),
        ]
        uses = [chosen(item) for item in (Region.UNIFIED_BUFFER, Region.EXTERNAL)]
        if self._spram:
            found += [self._shared_memory(m, bus, engine, region, uses),
                      self._boot_memory(m, bus, chosen(Region.BOOT)[0])]
        else:
            found += [self._unified_buffer(m, bus, engine, *uses[0]),
                      self._external_memory(m, bus, *uses[1])]
        answer: Any = 0
        for k, (asked, word) in enumerate(found):
            answers = Signal(name=f"answers{k}")
            m.d.sync += answers.eq(asked)
            answer |= word & answers.replicate(32)
        m.d.comb += bus.read_data.eq(answer)

        read, strobes = chosen(Region.DEVICES)
        m.d.comb += [
            devices.word.eq(bus.addr), devices.read.eq(read & ~of_engine),
            devices.write.eq(strobes.any() & ~of_engine), devices.data.eq(bus.write_data),
            engine.write.eq(strobes.any() & of_engine), engine.word.eq(bus.addr),
            engine.data.eq(bus.write_data),
        ]
        m.d.sync += self.fault.eq(devices.fault | sequencer.halted)
        add_lights(m, link.clock_hz, engine.busy | (region == Region.EXTERNAL), self.heartbeat,
                   self.busy)
        return m

    def _memory(self, m: Module, name: str, memory, bus, read, strobes, addr=None):
        """Put a memory of words behind the bus."""
        m.submodules[name] = memory
        m.d.comb += [
            memory.addr.eq(bus.addr if addr is None else addr), memory.read.eq(read),
            memory.strobes.eq(strobes), memory.data.eq(bus.write_data),
        ]
        return read, memory.found

    def _firmware_memory(self, m: Module, bus, read, strobes):
        memory = SpramMemory() if self._spram else BlockMemory(
            RAM_BYTES // 4, self._firmware, name="firmware")
        return self._memory(m, "firmware", memory, bus, read, strobes)

    def _external_memory(self, m: Module, bus, read, strobes):
        memory = BlockMemory(self._link.memory_bytes // 4, name="external")
        return self._memory(m, "external", memory, bus, read, strobes)

    def _boot_memory(self, m: Module, bus, read):
        words = boot_program(RAM_BYTES)
        m.submodules.boot = memory = Memory(
            shape=32, depth=1 << ceil_log2(len(words)), init=words)
        port = memory.read_port()
        m.d.comb += port.addr.eq(bus.addr)
        return read, port.data

    def _shared_memory(self, m: Module, bus, engine: MatrixEngine, region, uses):
        """External memory and the unified buffer, whose rows go to the engine before all."""
        (read0, strobes0), (read1, strobes1) = uses
        low = exact_log2(4 // self._config.dim)  # rows of a word
        upper, bits = ceil_log2(SPRAM_WORDS // 2), exact_log2(self._link.memory_bytes // 4)
        external = region == Region.EXTERNAL
        own = Cat(bus.addr[:bits], bus.addr[bits:upper] & ~external.replicate(upper - bits))
        row = Cat(engine.ub_row[low:], Const(0, upper))[:upper]
        addr = Mux(engine.ub_read, Cat(row, 1), Cat(own, ~external))
        _, word = self._memory(m, "shared", SpramMemory(), bus, read0 | read1 | engine.ub_read,
                               strobes0 | strobes1, addr)
        self._engine_row(m, engine, word)
        return read0 | read1, word

    def _unified_buffer(self, m: Module, bus, engine: MatrixEngine, read, strobes):
        low, depth = exact_log2(4 // self._config.dim), self._config.ub_bytes // 4
        words = []
        for lane in range(4):
            m.submodules[f"buffer{lane}"] = ram = LaneRam(depth)
            m.d.comb += [
                ram.write_en.eq(strobes[lane]), ram.write_addr.eq(bus.addr),
                ram.write_data.eq(bus.write_data.word_select(lane, 8)),
                ram.read_en.eq(read | engine.ub_read),
                ram.read_addr.eq(Mux(engine.ub_read, engine.ub_row[low:], bus.addr)),
            ]
            words.append(ram.read_data)
        self._engine_row(m, engine, Cat(*words))
        return read, Cat(*words)

    def _engine_row(self, m: Module, engine: MatrixEngine, word) -> None:
        """Give the engine its row of a word of the unified buffer."""
        half = Signal()
        m.d.sync += half.eq(engine.ub_row[0])
        m.d.comb += engine.ub_data.eq(word if self._config.dim == 4 else word.word_select(half, 16))

    def _accumulators(self, m: Module, bus, engine: MatrixEngine, read, strobes):
        dim, low = self._config.dim, exact_log2(self._config.dim)
        words = []
        for k in range(dim):
            here = bus.addr[:low] == k
            m.submodules[f"accumulators{k}"] = ram = Ram(32, self._config.acc_rows)
            m.d.comb += [
                ram.read_en.eq(read | engine.acc_read),
                ram.read_addr.eq(Mux(engine.acc_read, engine.acc_read_row, bus.addr[low:])),
                ram.write_en.eq(engine.acc_write | strobes.any() & here),
                ram.write_addr.eq(Mux(engine.acc_write, engine.acc_write_row, bus.addr[low:])),
                ram.write_data.eq(Mux(engine.acc_write, engine.acc_sums.word_select(k, 32),
                                      bus.write_data)),
                engine.acc_data.word_select(k, 32).eq(ram.read_data),
            ]
            words.append((read & here, ram.read_data))
        return words


def compact_verilog(config: TpuConfig, link: LinkConfig, firmware: Sequence[int] = (), *,
                    spram: bool = False) -> str:
    """Verilog of the system for synthesis, module `MODULE_NAME`."""
    return verilog(CompactSystem(config, link, firmware, spram=spram), name=MODULE_NAME,
                   simulation=False)
