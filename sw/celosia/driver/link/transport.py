"""A chip behind a link as a transport of the driver."""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.link import MAX_PAYLOAD, PAGE_BYTES, WORD_BYTES, ReplyStatus, RequestKind
from celosia.arch.registers import ADDRESS_BITS, REGISTERS
from celosia.driver.discovery import differences
from celosia.driver.errors import BusError, DeviceError
from celosia.driver.link.host import Link, Reply, Request
from celosia.driver.link.wire import Wire

__all__ = ["LinkTransport"]

#: Pauses between two looks at the interrupt, in seconds; each is twice the one before.
_FIRST_PAUSE, _LAST_PAUSE = 0.0005, 0.02
_NAMES = {register.offset: register.name for register in REGISTERS}


def _name(offset: int) -> str:
    return _NAMES.get(offset, f"{offset:#05x}")


def _okay(reply: Reply, what: str) -> Reply:
    if response := reply.status & ReplyStatus.RESPONSE:
        raise BusError(f"the chip must answer OKAY to a {what}, not {response.value}")
    return reply


class LinkTransport:
    """Registers, memory and interrupt of a chip behind a wire; implements the driver's Transport.

    Parameters
    ----------
    wire
        The way to the board; closed with the transport.
    config
        The chip that must be there; None: any.
    timeout, attempts, clock
        As of `celosia.driver.link.host.Link`.

    Attributes
    ----------
    link
        The session.

    Raises
    ------
    DeviceLost
        If no board answers.
    DeviceError
        If the board holds another chip, or is of another version.
    """

    def __init__(self, wire: Wire, config: TpuConfig | None = None, *, timeout: float = 0.5,
                 attempts: int = 10, clock: Callable[[], float] = time.monotonic):
        self._wire, self._closed = wire, False
        try:
            self.link = Link(wire, timeout=timeout, attempts=attempts, clock=clock)
            fingerprint = self.link.identity["fingerprint"]
            if config is not None and config.fingerprint != fingerprint:
                raise DeviceError(f"the board on {wire.name} must hold the chip {config.name}, "
                                  f"not {differences(fingerprint, config)}")
        except BaseException:
            self.close()
            raise
        self.memory_bytes = self.link.identity["memory_pages"] * PAGE_BYTES

    def _one(self, request: Request) -> Reply:
        return self.link.transact((request,))[0]

    def read_register(self, offset: int) -> int:
        """Return a register; BusError if the chip answers with an error."""
        self._check_offset(offset)
        reply = self._one(Request(RequestKind.READ_REGISTER, offset, WORD_BYTES))
        return int.from_bytes(_okay(reply, f"read of register {_name(offset)}").payload, "little")

    def write_register(self, offset: int, value: int) -> None:
        """Write a register; BusError if the chip answers with an error."""
        self._check_offset(offset)
        if not 0 <= value < 1 << 32:
            raise ValueError(f"value of register {_name(offset)} must be 32 bits, not {value!r}")
        word = int(value).to_bytes(WORD_BYTES, "little")
        reply = self._one(Request(RequestKind.WRITE_REGISTER, offset, WORD_BYTES, word))
        _okay(reply, f"write of register {_name(offset)}")

    def read_memory(self, address: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of external memory."""
        self._check_span(address, size)
        requests = (Request(RequestKind.READ_MEMORY, at, min(MAX_PAYLOAD, address + size - at))
                    for at in range(address, address + size, MAX_PAYLOAD))
        replies = self.link.transact(requests)
        for i, reply in enumerate(replies):
            _okay(reply, f"read of memory at {address + i * MAX_PAYLOAD:#x}")
        return np.frombuffer(bytearray().join(reply.payload for reply in replies), np.uint8)

    def write_memory(self, address: int, data: bytes | NDArray[np.uint8]) -> None:
        """Write bytes (of an array: those in memory order) into external memory."""
        raw = bytes(data) if not isinstance(data, np.ndarray) else data.tobytes()
        self._check_span(address, len(raw))
        pieces = (raw[i:i + MAX_PAYLOAD] for i in range(0, len(raw), MAX_PAYLOAD))
        replies = self.link.transact(
            Request(RequestKind.WRITE_MEMORY, address + i * MAX_PAYLOAD, len(piece), piece)
            for i, piece in enumerate(pieces))
        for i, reply in enumerate(replies):
            _okay(reply, f"write of memory at {address + i * MAX_PAYLOAD:#x}")

    def wait_interrupt(self, timeout_cycles: int | None,
                       progress: Callable[[int], None] | None = None) -> bool:
        """Wait until the interrupt is high (True) or ``timeout_cycles`` have passed (False).

        The board counts the cycles; it is asked every 20 ms or more often.
        """
        if timeout_cycles is not None and timeout_cycles < 0:
            raise ValueError(f"timeout_cycles must be None or at least 0, not {timeout_cycles!r}")
        waited, before, pause = 0, None, _FIRST_PAUSE
        while True:
            reply = self._one(Request(RequestKind.POLL))
            now = int.from_bytes(reply.payload, "little")
            waited += 0 if before is None else (now - before) % (1 << 8 * WORD_BYTES)
            before = now
            if reply.status & ReplyStatus.INTERRUPT:
                return True
            if timeout_cycles is not None and waited >= timeout_cycles:
                return False
            if progress is not None:
                progress(waited)
            time.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE)

    def close(self) -> None:
        """Give the port back; closing twice does nothing."""
        if not self._closed:
            self._closed = True
            self._wire.close()

    def _check_span(self, address: int, size: int) -> None:
        if address < 0 or size < 0 or address + size > self.memory_bytes:
            raise BusError(f"access to memory must end inside its {self.memory_bytes} bytes, not "
                           f"at {address + size:#x}")

    @staticmethod
    def _check_offset(offset: int) -> None:
        if not 0 <= offset < 1 << ADDRESS_BITS:
            raise BusError(f"register offset must be from 0 to {(1 << ADDRESS_BITS) - 1:#x}, "
                           f"not {offset:#x}")
