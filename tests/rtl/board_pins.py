"""A board at its pins, for drivers in the same process."""

from celosia.driver.link import LinkTransport
from celosia_sim.board import STRICTEST
from celosia_sim.board_library import BoardLibrary, BuiltBoard

#: Fast, so that most of the simulated time is not that of the serial line. Those of
#: tests/e2e/test_board_demo.py where it has the board too, which is then compiled once.
BAUDS = {"ulx3s": 10_000_000, "tangprimer20k": 6_250_000}


class Pins:
    """A board as a wire: time passes while the host waits for a byte."""

    name = "the pins"

    def __init__(self, built: BuiltBoard, part=STRICTEST, **options):
        self.built, self.library = built, BoardLibrary(built, part, **options)
        self.byte_seconds = 10 / built.baud

    def clock(self) -> float:
        return self.library.now / self.built.freq_hz

    def write(self, data: bytes) -> None:
        self.library.send(data)

    def read(self, seconds: float) -> bytes:
        end = self.library.now + seconds * self.built.freq_hz
        while self.library.now < end:
            if data := self.library.run(200):
                return data
        return b""

    def close(self) -> None:
        pass  # the driver goes, the board stays

    def open(self, **options) -> LinkTransport:
        self.library.run(1000)  # it hears nothing until it is out of reset
        return LinkTransport(self, self.built.config, clock=self.clock, **options)
