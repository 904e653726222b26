"""A chip's registers by name, and the steps of a run."""

from collections.abc import Sequence

from celosia.arch import registers
from celosia.arch.registers import Control, Status
from celosia.driver.errors import DeviceError
from celosia.driver.transport import Transport, read_registers, write_registers

__all__ = ["Chip"]

#: Reads of STATUS after which a soft reset is given up; bursts in flight take far fewer.
_RESET_POLLS = 100_000


class Chip:
    """Registers of the chip behind a transport.

    Parameters
    ----------
    transport
        The way to the chip.
    """

    def __init__(self, transport: Transport):
        self._transport = transport

    def read(self, name: str) -> int:
        """Return a register."""
        return self._transport.read_register(registers.BY_NAME[name].offset)

    def write(self, name: str, value: int) -> None:
        """Write a register."""
        self._transport.write_register(registers.BY_NAME[name].offset, int(value))

    def start(self, program: int, length: int, windows: Sequence[tuple[int, int]],
              watchdog: int) -> None:
        """Start a run.

        Parameters
        ----------
        program
            Address of the first instruction.
        length
            Instructions.
        windows
            First and last byte of each DMA window; those that are left are closed.
        watchdog
            Cycles that the run may take; 0: no limit.
        """
        # LENGTH makes the chip fetch the program, which it does while the rest is written.
        values = {"PROGRAM": program, "LENGTH": length}
        closed = [(1, 0)] * (registers.NUM_WINDOWS - len(windows))
        for i, (base, last) in enumerate([*windows, *closed]):
            values |= {f"WINDOW{i}_BASE": base, f"WINDOW{i}_LAST": last}
        values |= {"WATCHDOG": watchdog, "IRQ_STATUS": 1, "IRQ_ENABLE": 1,
                   "CONTROL": Control.START}
        write_registers(self._transport, [(registers.BY_NAME[name].offset, int(value))
                                          for name, value in values.items()])

    def counters(self) -> dict[str, int]:
        """Return the performance counters of the last run."""
        words = read_registers(self._transport, [
            at for offset in registers.COUNTERS.values() for at in (offset, offset + 4)])
        return {name: low | high << 32 for name, low, high in zip(
            registers.COUNTERS, words[::2], words[1::2], strict=True)}

    def reset(self) -> None:
        """Soft-reset the chip, and return when it is idle.

        Raises
        ------
        DeviceError
            If it does not become idle.
        """
        self.write("CONTROL", Control.RESET)
        status = Status.RESETTING
        for _ in range(_RESET_POLLS):
            status = self.read("STATUS")
            if status == Status.IDLE:
                return
        raise DeviceError(f"register STATUS must become {Status.IDLE.value} (idle) after a soft "
                          f"reset, but it stays {status}")
