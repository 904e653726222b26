"""A board at a serial port."""

import contextlib
import time
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.driver.errors import DeviceError, needs
from celosia.driver.link.transport import LinkTransport

__all__ = ["SerialTransport"]

#: The port hands on what has come at least this often.
_SLICE_SECONDS = 0.02
#: A write that takes longer has failed: the board holds less than the driver's queue does.
_WRITE_SECONDS = 5.0


def _open(port: str, baud: int) -> Any:
    try:
        import serial
    except ModuleNotFoundError as error:
        raise needs("backend 'serial'", error, "serial") from error
    try:
        opened = serial.Serial(port, baud, timeout=_SLICE_SECONDS, write_timeout=_WRITE_SECONDS,
                               exclusive=True)
    except (OSError, ValueError) as error:
        raise DeviceError(f"port {port!r} must be a serial port that can be opened: "
                          f"{error}") from error
    # USB adapters hold a short reply back for 16 ms; where they cannot be told, it works too.
    with contextlib.suppress(AttributeError, NotImplementedError, ValueError):
        opened.set_low_latency_mode(True)
    return opened


class _SerialWire:
    """A serial port, eight bits, no parity, one stop bit."""

    def __init__(self, port: str, baud: int):
        self.name, self.byte_seconds = port, 10 / baud
        self._serial = _open(port, baud)

    def write(self, data: bytes) -> None:
        self._serial.write(data)

    def read(self, seconds: float) -> bytes:
        deadline = time.monotonic() + seconds
        while True:
            data = self._serial.read(max(1, self._serial.in_waiting))
            if data or time.monotonic() >= deadline:
                return data

    def close(self) -> None:
        self._serial.close()


class SerialTransport(LinkTransport):
    """A chip behind a serial port; implements the driver's Transport.

    Parameters
    ----------
    config
        The chip that must be there; None: any.
    port
        Name of the port, such as ``/dev/ttyUSB0`` or ``COM3``; a pseudo-terminal will do.
    baud
        Bits a second; that of the board.
    timeout
        Seconds without an answer, beyond the time that the bytes take, after which requests are
        sent again.
    attempts
        Times that a request is sent before the board counts as lost.

    Raises
    ------
    ValueError
        If an argument is of the wrong kind.
    celosia.driver.link.DeviceLost
        If no board answers.
    DeviceError
        If the port cannot be opened, the board holds another chip or is of another version, or
        pyserial is not installed.
    """

    def __init__(self, config: TpuConfig | None = None, *, port: str = "", baud: int = 1_000_000,
                 timeout: float = 0.5, attempts: int = 10):
        if not isinstance(port, str) or not port:
            raise ValueError(f"port must be the name of a serial port, not {port!r}")
        if not isinstance(baud, int) or isinstance(baud, bool) or baud < 1:
            raise ValueError(f"baud must be a positive integer, not {baud!r}")
        super().__init__(_SerialWire(port, baud), config, timeout=timeout, attempts=attempts)
