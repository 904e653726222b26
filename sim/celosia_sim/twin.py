"""The RTL and the golden model side by side: the first instruction that differs is named."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from celosia.arch import registers
from celosia.arch.commands import Command
from celosia.arch.config import TpuConfig
from celosia.arch.faults import FAULTS, AnyFault, Fault
from celosia.arch.isa import Unit
from celosia.arch.probe import BY_NAME, STATES
from celosia.arch.registers import UNIT_NAMES, Status
from celosia.driver.errors import Divergence
from celosia.model import Machine, Memory
from celosia.model.checks import Stop
from celosia.model.written import written
from celosia_sim.library import RunEnd
from celosia_sim.rtl import RtlTransport, SimOptions

__all__ = ["TwinTransport"]

#: Cycles in which no instruction ends before the chip is taken to hang.
_QUIET = 2_000_000
_SLICE = 20_000
_DONE = {unit: BY_NAME[f"{UNIT_NAMES[unit]}_done"].mask for unit in Unit if unit != Unit.SCALAR}
#: Units whose instructions may be done when the ones behind them have begun to write.
_LATE = {Unit.LOAD: BY_NAME["load_take"].mask, Unit.STORE: BY_NAME["store_take"].mask}
_FIXED = {registers.BY_NAME[name].offset: name for name in (
    "PROGRAM", "LENGTH", *(f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS)
                           for end in ("BASE", "LAST")))}
_MOST_SHOWN = 8


@dataclass(frozen=True)
class _Written:
    """What the model says of an instruction that the chip has not finished."""

    order: int
    pc: int
    unit: Unit
    memory: str
    places: NDArray[np.int64]
    values: NDArray


class TwinTransport:
    """A chip's RTL whose every instruction is compared with the golden model's, as it ends.

    What an instruction has written is looked at in the cycle in which its unit is done with it, and
    whole memories at the end of the run; the chip's timing is what it would be alone. Registers are
    the RTL's.

    Parameters
    ----------
    config
        The chip.
    options
        As of `RtlTransport`, without ``probe``: a twin looks at it itself.
    verilog, quiet
        As of `RtlTransport`.

    Raises
    ------
    Divergence
        From `wait_interrupt`, naming the first instruction that differs.
    ValueError
        If the options are with ``probe``, or the chip has ports: what comes in at them is another
        chip's, of which the model beside it knows nothing.
    """

    def __init__(self, config: TpuConfig, options: SimOptions | None = None, *,
                 verilog: str | None = None, quiet: bool = False):
        if options is not None and options.probe:
            raise ValueError("SimOptions.probe must be False for a twin, which looks at it itself")
        if config.ports:
            raise ValueError(f"TpuConfig.ports of a chip beside its model must be 0, not "
                             f"{config.ports}: use celosia_sim.pod.RtlPod and celosia.model.Pod")
        self.config = config
        self.rtl = RtlTransport(config, options, verilog=verilog, quiet=quiet)
        self.memory_bytes = self.rtl.memory_bytes
        self.machine = Machine(config, Memory(self.memory_bytes))
        self._values = {name: registers.BY_NAME[name].init for name in _FIXED.values()}

    def read_register(self, offset: int) -> int:
        """Return a register of the RTL."""
        return self.rtl.read_register(offset)

    def write_register(self, offset: int, value: int) -> None:
        """Write a register of the RTL."""
        self.rtl.write_register(offset, value)
        if offset in _FIXED:
            self._values[_FIXED[offset]] = value

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of the RTL's external memory."""
        return self.rtl.read_memory(address, size)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes into both external memories."""
        self.rtl.write_memory(address, data)
        self.machine.memory.write(address, data)

    def close(self) -> None:
        """Free the chip; closing twice does nothing."""
        self.rtl.close()

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Run until the interrupt is high (True) or ``timeout_cycles`` have passed (False)."""
        compared = _Comparison(self)
        chip = self.rtl.chip
        first = quiet_since = chip.now
        chip.probe_set(STATES, sum(_DONE.values()))
        try:
            while True:
                left = _SLICE if timeout_cycles is None else timeout_cycles - (chip.now - first)
                if left <= 0:
                    return False
                settling = compared.settling
                end, _ = chip.run(1 if settling else min(_SLICE, left),
                                  until_interrupt=not settling)
                compared.settle()
                compared.seen(chip.probe_read())
                if end is RunEnd.PROBE:
                    quiet_since = chip.now
                    compared.done()
                elif end is RunEnd.INTERRUPT:
                    compared.ended()
                    return True
                elif chip.now - quiet_since > _QUIET:
                    compared.hangs()
                if progress is not None and end is not RunEnd.PROBE:
                    progress(chip.now - first)
        finally:
            chip.probe_set(0)

    def windows(self) -> list[tuple[int, int]]:
        """Return first and last byte of each open window."""
        spans = [(self._values[f"WINDOW{i}_BASE"], self._values[f"WINDOW{i}_LAST"])
                 for i in range(registers.NUM_WINDOWS)]
        return [span for span in spans if span[0] <= span[1]]

    def program(self) -> tuple[int, int]:
        """Return address and length of the program."""
        return self._values["PROGRAM"], self._values["LENGTH"]

    def look(self, memory: str, places: NDArray[np.int64]) -> NDArray:
        """Return rows or bytes of the RTL, as the model has them."""
        if not len(places):
            return np.zeros(0, np.uint8)
        first, last = int(places.min()), int(places.max())
        if memory == "memory":
            return self.rtl.read_memory(first, last + 1 - first)[places - first]
        rows = self.rtl.peek(memory, first, last + 1 - first)
        return rows.view(getattr(self.machine, memory).dtype)[places - first]


class _Comparison:
    """A run of both."""

    def __init__(self, twin: TwinTransport):
        self._twin, self._machine = twin, twin.machine
        self._begin = twin.rtl.now
        self._word, self._since = 0, self._begin
        #: Instructions that a unit has taken, and is not done with.
        self._under_way = dict.fromkeys(_LATE, 0)
        self._waiting: dict[Unit, deque[_Written]] = {unit: deque() for unit in _DONE}
        #: What has ended, and is not compared yet.
        self.settling: list[_Written] = []
        self._order = 0
        self._running = True
        self._stop: Stop | None = None
        self._machine.observer = self._observe
        self._run = self._machine.start(*twin.program(), twin.windows())

    def _observe(self, pc: int, command: Command) -> None:
        memory, places = written(command, self._machine)
        values = (self._bytes(places) if memory == "memory"
                  else getattr(self._machine, memory)[places])
        self._order += 1
        self._waiting[command.unit].append(
            _Written(self._order, pc, command.unit, memory, places, values.copy()))

    def _bytes(self, places: NDArray[np.int64]) -> NDArray[np.uint8]:
        if not len(places):
            return np.zeros(0, np.uint8)
        first, last = int(places.min()), int(places.max())
        return self._machine.memory.read(first, last + 1 - first)[places - first]

    def _step(self) -> bool:
        """Execute the model's next instruction; False: it has come to its end."""
        if self._running:
            try:
                self._running = self._run.step()
                return True
            except Stop as stop:
                self._running, self._stop = False, stop
        return False

    def seen(self, records: NDArray[np.uint64]) -> None:
        """Follow the probe to the cycle that was last."""
        for cycle, word in records.tolist():
            self._pass(cycle)
            self._word = word
        self._pass(self._twin.rtl.now)

    def _pass(self, until: int) -> None:
        for unit, mask in _LATE.items():
            if self._word & mask:
                self._under_way[unit] += until - self._since
        self._since = until

    def done(self) -> None:
        """Note what has ended in this cycle."""
        for unit, mask in _DONE.items():
            if self._word & mask:
                while not self._waiting[unit] and self._step():
                    pass
                if self._waiting[unit]:
                    self.settling.append(self._waiting[unit].popleft())
                elif self._stop is None:
                    self._fail(self._run.pc, f"the {UNIT_NAMES[unit]} unit has finished an "
                                             f"instruction, but the program ends here")
                # Else behind a fault, of which the chip knows when its unit does.
                if unit in _LATE:
                    self._under_way[unit] -= 1
        self._compare({Unit.LOAD, Unit.STORE})

    def settle(self) -> None:
        """Compare what was written by what ended in the cycle before."""
        self._compare(set(Unit))

    def _compare(self, units: set[Unit]) -> None:
        """Compare what some units have written, in the program's order.

        The last rows of the others are in the memories behind the cycle after the one in which
        they are done, in which those of the instruction that follows may be, too.
        """
        ready = [each for each in self.settling if each.unit in units]
        self.settling = [each for each in self.settling if each.unit not in units]
        for each in sorted(ready, key=lambda each: each.order):
            chip = self._twin.look(each.memory, each.places)
            wrong = (chip != each.values).reshape(len(chip), -1).any(axis=1)
            if wrong.any() and each.unit in _LATE:
                wrong &= ~np.isin(each.places, self._rewritten(each))
            if wrong.any():
                self._differs(each, chip, wrong)

    def _rewritten(self, each: _Written) -> NDArray[np.int64]:
        """Return what the instructions write that the same unit has taken since."""
        ahead = self._under_way[each.unit]
        while len(self._waiting[each.unit]) < ahead and self._step():
            pass
        later = [other.places for other in list(self._waiting[each.unit])[:ahead]
                 if other.memory == each.memory]
        return np.concatenate(later) if later else np.zeros(0, np.int64)

    def _differs(self, each: _Written, chip: NDArray, wrong: NDArray[np.bool_]) -> NoReturn:
        at = int(np.flatnonzero(wrong)[0])
        place, count = int(each.places[at]), int(wrong.sum())
        if each.memory == "memory":
            where, kind = f"byte {place:#x} of external memory", "bytes"
            wanted, got = each.values[at:at + _MOST_SHOWN], chip[at:at + _MOST_SHOWN]
        else:
            lanes = np.flatnonzero(chip[at] != each.values[at])
            where, kind = f"{each.memory} row {place}, lanes {_short(lanes)}", "rows"
            wanted, got = each.values[at][lanes], chip[at][lanes]
        self._fail(each.pc, f"{where} must be {_short(wanted, True)}, not {_short(got, True)} "
                            f"({count} of its {len(chip)} {kind} differ)", each.order)

    def _fail(self, pc: int, what: str, order: int = 0) -> NoReturn:
        cycle = self._twin.rtl.now - self._begin
        self._machine.observer = None
        raise Divergence(pc, what, cycle, self._twin.rtl.now, order)

    def hangs(self) -> NoReturn:
        """Name the oldest instruction that the chip has not finished."""
        while not any(self._waiting.values()) and self._step():
            pass
        waiting = [each[0] for each in self._waiting.values() if each]
        if not waiting:
            pc = self._twin.rtl.read_register(registers.BY_NAME["PC"].offset)
            self._fail(pc, f"the run must end, but nothing has happened for {_QUIET:,} cycles")
        oldest = min(waiting, key=lambda each: each.order)
        self._fail(oldest.pc, f"the {UNIT_NAMES[oldest.unit]} unit must finish it, but nothing has "
                              f"for {_QUIET:,} cycles", oldest.order)

    def ended(self) -> None:
        """Compare how both end, and all that they leave."""
        while self._step():
            pass
        self._machine.observer = None
        read = {name: self._twin.rtl.read_register(registers.BY_NAME[name].offset)
                for name in ("STATUS", "FAULT_CAUSE", "FAULT_PC", "FAULT_ADDR")}
        cause = FAULTS.get(read["FAULT_CAUSE"], Fault.NONE)
        if cause == Fault.WATCHDOG:
            return  # the driver's limit, of which the model knows nothing
        mine = self._stop
        ends = (cause, read["FAULT_PC"], read["FAULT_ADDR"])  # zeros where there was none
        wanted = (mine.fault, self._run.pc, mine.addr) if mine else (Fault.NONE, 0, 0)
        if ends != wanted:
            pc = min(each[1] for each in (ends, wanted) if each[0])
            self._fail(pc, f"the run must end {_end(*wanted)}, not {_end(*ends)}")
        if read["STATUS"] == Status.DONE:
            self._left()

    def _left(self) -> None:
        unfinished = [each[0] for each in self._waiting.values() if each]
        if unfinished:
            oldest = min(unfinished, key=lambda each: each.order)
            self._fail(oldest.pc, "the chip must execute it before it ends, and has not",
                       oldest.order)
        machine, twin = self._machine, self._twin
        spans = [("ub", 0, len(machine.ub) - 1), ("acc", 0, len(machine.acc) - 1),
                 *(("memory", *span) for span in twin.windows())]
        for memory, first, last in spans:
            places = np.arange(first, last + 1)
            mine = self._bytes(places) if memory == "memory" else getattr(machine, memory)
            chip = twin.look(memory, places)
            bad = np.flatnonzero((chip != mine).reshape(len(mine), -1).any(axis=1))
            if len(bad):
                what = "byte" if memory == "memory" else f"{memory} row"
                self._fail(self._run.pc, f"{what} {first + int(bad[0]):#x} is not what the model "
                                         f"has at the end, though no instruction is to write it "
                                         f"but as it was seen to be; so are {len(bad) - 1} more")


def _end(cause: AnyFault, pc: int, addr: int) -> str:
    return f"by fault {cause.name} at instruction {pc}, address {addr:#x}" if cause else "well"


def _short(values: NDArray, hexadecimal: bool = False) -> str:
    """Return the first of some numbers as text."""
    shown = [f"{int(value):#x}" if hexadecimal else str(int(value))
             for value in values.reshape(-1)[:_MOST_SHOWN]]
    return " ".join(shown) + (" .." if values.size > _MOST_SHOWN else "")
